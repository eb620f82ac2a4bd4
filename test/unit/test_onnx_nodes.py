"""ONNX's own test cases for single operators: what is imported computes, by the numpy oracles, what ONNX expects."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from onnx import ModelProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from lamina.dialects.dtypes import is_float
from lamina.errors import LaminaError, UnsupportedError
from lamina.frontends.onnx import load_onnx
from lamina.frontends.onnx.registry import converters
from lamina.runtime.relay_reference import main_function, run_relay

# The stored results of these are rounded to four digits, or to steps of bfloat16 that differ by the order of steps.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad", "test_celu_bfloat16", "test_celu_bfloat16_expanded"}
# Reductions of no elements that have no neutral element in Relay.
REFUSED = {
    *("test_reduce_log_sum_exp_empty_set", "test_reduce_max_empty_set", "test_reduce_min_empty_set"),
    "test_reduce_max_empty_set_bool",
}


@cache
def cases() -> list[Any]:
    with np.errstate(all="ignore"):
        return list(collect_testcases(None))


def with_constants(model: ModelProto, arrays: list[np.ndarray]) -> tuple[ModelProto, list[int]]:
    """Small integer inputs (shapes, axes) become initialisers: only constant ones can be compiled."""
    bound: list[int] = []
    first = 0 if model.graph.node[0].op_type in ("ConstantOfShape", "Range") else 1
    frozen = ModelProto()
    frozen.CopyFrom(model)
    for k in reversed(range(first, min(len(arrays), len(model.graph.input)))):
        array = arrays[k]
        if array.size <= 64 and (array.dtype.kind == "i" or array.size <= 2):
            frozen.graph.initializer.append(numpy_helper.from_array(array, model.graph.input[k].name))
            bound.append(k)
            del frozen.graph.input[k]
    frozen.ir_version = max(4, frozen.ir_version)
    return frozen, bound


def test_operators_compute_what_onnx_expects() -> None:
    outcome: Counter[str] = Counter()
    wrong: list[str] = []
    for case in cases():
        inputs: list[Any] = case.data_sets[0][0]
        outputs: list[Any] = case.data_sets[0][1]
        if [i for i in inputs if isinstance(i, list | None) or getattr(i, "dtype", None) in (object, None)]:
            continue
        arrays = [np.asarray(i) for i in inputs]
        model, bound = with_constants(case.model, arrays)
        try:
            imported = load_onnx(model)
        except UnsupportedError:
            outcome["unsupported"] += 1
            continue
        except LaminaError as e:
            if case.name not in REFUSED:
                wrong.append(f"{case.name}: {e}")
            continue
        imported.module.verify()
        given = [a for k, a in enumerate(arrays) if k not in bound]
        results = run_relay(main_function(imported.module), given, imported.store)
        try:
            for result, expected in zip(results, outputs, strict=False):
                assert_equal(result, np.asarray(expected))
            outcome["right"] += 1
        except AssertionError as e:
            if case.name not in ROUNDED:
                wrong.append(f"{case.name}: {e}")
    assert not wrong, "\n".join(wrong)
    assert outcome["right"] > 950, outcome


def assert_equal(result: np.ndarray, expected: np.ndarray) -> None:
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    if not is_float(str(expected.dtype)):
        np.testing.assert_array_equal(result, expected)
        return
    rtol = 2e-3 if expected.dtype.itemsize == 2 else 1e-4
    np.testing.assert_allclose(result.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=1e-5)


def test_every_converter_has_a_standard_operator() -> None:
    import onnx

    names = {s.name for s in onnx.defs.get_all_schemas_with_history() if not s.domain}
    assert {name for domain, name in converters() if not domain} <= names
