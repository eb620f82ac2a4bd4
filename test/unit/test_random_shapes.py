"""bench/random_shapes.py: the same cases for the same seed, measured and compared with onnxruntime."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow


def _bench() -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "random_shapes.py"
    spec = importlib.util.spec_from_file_location("random_shapes", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["random_shapes"] = module
    spec.loader.exec_module(module)
    return module


bench: Any = _bench()


def test_a_case_depends_on_seed_and_number_alone() -> None:
    cases = [bench.draw(0, n) for n in range(200)]
    assert [str(bench.draw(0, n)) for n in (0, 77, 199)] == [str(cases[n]) for n in (0, 77, 199)]
    assert str(bench.draw(1, 77)) != str(cases[77])
    assert {c.family for c in cases} == {*bench.CONV_FAMILIES, *bench.MATMUL_FAMILIES}
    assert {c.shapes[0][0] for c in cases if c.operator == "Conv"} >= {1, 2, 3, 4}
    assert all(bench.WORK[0] <= c.operations <= bench.WORK[1] for c in cases)


def test_operations_are_those_of_the_definition() -> None:
    for number in range(60):
        case = bench.draw(3, number)
        data, inputs = bench.model(case)
        if case.operator != "MatMul":
            continue
        constants = {"w": None} if case.constants else {}
        left, right = (np.zeros(s) for s in case.shapes)
        assert case.operations == 2.0 * np.matmul(left, right).size * left.shape[-1]
        assert set(inputs) | set(constants) == {"x", "w"} and data


@pytest.mark.parametrize("number", [3, 10])
def test_a_measured_case_agrees_with_onnxruntime(number: int) -> None:
    pytest.importorskip("onnxruntime")
    row = bench.measure(bench.draw(0, number), samples=1, least=1e-6)
    assert row.difference <= bench.TOLERANCE and row.ours > 0 and row.theirs > 0
    assert row.plain()["ratio"] == row.theirs / row.ours


def test_the_report_starts_with_the_slowest_and_counts_them() -> None:
    case = bench.draw(0, 0)
    rows = [bench.Row(replace(case, number=n), 1.0, ratio, 0.0) for n, ratio in enumerate((2.0, 0.5, 1.0))]
    head, first, second, *rest = bench.report(rows, 2).splitlines()
    assert "ratio" in head and "#1 " in first and "#2 " in second
    assert rest[-1].split() == ["all", "3", "1.00", "0.50", "1"]
