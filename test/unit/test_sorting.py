"""Sorting of rows of every length about the powers of two, against Python's sort, which is stable."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.meaning import te_func
from lamina.dialects.relay.shape.sort import ArgsortOp, SearchSortedOp, TopkOp
from lamina.interpreters.te_interpreter import run_te_func

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("length", [*range(1, 20), 31, 32, 33, 64, 65])
def test_rows_of_any_length_are_sorted(length: int, ascending: bool) -> None:
    generator = np.random.default_rng([length, ascending])
    few = np.array([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan], "float32")
    rows = generator.choice(few, (2, length))

    def key(row: int, place: int) -> tuple[bool, float]:
        value = float(rows[row, place])
        return (math.isnan(value), 0.0 if math.isnan(value) else (value if ascending else -value))

    expected = [sorted(range(length), key=lambda p, r=r: key(r, p)) for r in range(2)]
    func = te_func(ArgsortOp, [TensorInfo(rows.shape, "float32")], {"is_ascend": ascending})
    (order,) = run_te_func(func, [rows])
    np.testing.assert_array_equal(order, expected)
    values, places = run_te_func(
        te_func(TopkOp, [TensorInfo(rows.shape, "float32")], {"k": (length + 1) // 2, "is_ascend": ascending}), [rows]
    )
    np.testing.assert_array_equal(places, np.array(expected)[:, : (length + 1) // 2])
    np.testing.assert_array_equal(values, np.take_along_axis(rows, places, 1))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("length", range(0, 18))
def test_places_between_equal_elements_are_found(length: int, right: bool) -> None:
    row = np.sort(np.random.default_rng(length).integers(0, 5, length).astype("int32"))
    values = np.arange(-1, 7, dtype="int32")
    expected = [sum(1 for r in row if (r <= v if right else r < v)) for v in values]
    func = te_func(SearchSortedOp, [TensorInfo((length,), "int32"), TensorInfo((8,), "int32")], {"right": right})
    (found,) = run_te_func(func, [row, values])
    np.testing.assert_array_equal(found, expected)
