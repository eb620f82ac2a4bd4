"""No division is left in a kernel whose quotient the bounds decide, judged by evaluation; and the judge can tell."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from xdsl.parser import Parser

from lamina.ir.context import LaminaContext

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test"), str(Path(__file__).parent)]
import models  # noqa: E402
from test_facets import NAMES, load, valid_samples  # noqa: E402
from test_ops_five_ways import TIR_PASSES, apply, module_of  # noqa: E402


def _judge() -> Any:
    spec = importlib.util.spec_from_file_location("index_expressions", ROOT / "bench" / "index_expressions.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


judge = _judge()


def undecided(found: list[Any]) -> list[Any]:
    return [f for f in found if f.verdict != "varies"]


def test_no_division_of_a_model_is_decided_by_bounds() -> None:
    found = judge.check_module(judge.final_tir(models.light_path("shufflenet")))
    assert len(found) > 100
    assert not undecided(found)


@pytest.mark.slow
def test_no_division_of_an_op_is_decided_by_bounds() -> None:
    count = 0
    wrong: list[str] = []
    for name in NAMES:
        op_type = load(name)
        for _, s in valid_samples(op_type)[::5]:
            module = module_of(op_type, s)
            apply(LaminaContext(), module, f"relay-fuse-ops,relay-to-te,cpu-schedule,te-to-tir,{TIR_PASSES}")
            found = judge.check_module(module)
            count += len(found)
            wrong += [f"{name} {s.attrs}: {f}" for f in undecided(found)]
    assert count > 100
    assert not wrong, "\n".join(wrong)


def verdicts(body: str) -> dict[str, str]:
    """The verdict of each division of a kernel, by the text of the division."""
    text = f"""tir.func @f(%n: index, %X: memref<64xf32>, %y: memref<64xf32>) attributes {{outputs = 1 : i64}} {{
      {body}
    }}"""
    module = Parser(LaminaContext(), text).parse_module()
    return {f.text.removeprefix("tir.load ").removeprefix("tir.for "): f.verdict for f in judge.check_module(module)}


def loads(index: str, guard: str = "") -> str:
    return f"%x = tir.load %X[{index}] {guard} : memref<64xf32>\n tir.store %x, %y[0] : memref<64xf32>"


def test_a_division_decided_by_its_box_is_found() -> None:
    body = f'tir.for %i = 0 to 8 "i" {{ {loads("%i floordiv 8 + %i floordiv 4 + (%i + 8) mod 8")} }}'
    assert verdicts(body) == {"i<8> floordiv 8": "constant", "i<8> floordiv 4": "varies", "i<8> mod 8": "constant"}


def test_a_division_decided_by_a_tail_or_a_guard_is_found() -> None:
    body = f"""tir.for %i = 0 to 3 "i" {{ tir.for %j = 0 to 4 min [%i * -4 + 10] "j" {{
      {loads("(%i * 4 + %j) floordiv 10 + (%j * 4 + %i) floordiv 10")} }} }}"""
    assert Counter(verdicts(body).values()) == {"constant": 1, "varies": 1}
    body = f"""tir.for %i = 0 to 64 "i" {{ tir.if [%i < %n, %n <= 7] {{
      {loads("%i floordiv 8", "where [%i >= 0]")} }} }}"""
    assert verdicts(body) == {"i<64> floordiv 8": "sampled"}  # n may be more than was tried


def test_a_division_that_nothing_reaches_is_found() -> None:
    body = f'tir.for %i = 0 to 8 "i" {{ {loads("%i floordiv 4", "where [%i >= 8]")} }}'
    assert verdicts(body) == {"i<8> floordiv 4": "never"}


def test_large_boxes_are_sampled_at_their_corners() -> None:
    body = f"""tir.for %i = 0 to 1000 "i" {{ tir.for %j = 0 to 1000 "j" {{ tir.for %k = 0 to 100 "k" {{
      {loads("(%i * 100000 + %j * 100 + %k) floordiv 99999999 + (%i + %j + %k) floordiv 10000")} }} }} }}"""
    assert sorted(verdicts(body).values()) == ["sampled", "varies"]
