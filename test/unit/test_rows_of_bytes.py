"""Reductions along rows of small elements, compiled for this machine and for AVX2, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.driver.api import compile
from lamina.numpy.jit import jit

from .turns import by_turns

pytestmark = pytest.mark.slow

DTYPES = ("bool", "int8", "uint16")
WIDTHS = (5, 33, 64, 197)
"""Rows shorter than a vector, of parts of one, and as models have them."""


def programs(dtype: str) -> list[Any]:
    kinds: list[Any] = [np.any, np.all, np.argmax, np.max]
    return kinds if dtype == "bool" else [*kinds, np.min, wrapping_sum]


def wrapping_sum(x: Any, axis: int) -> Any:
    return np.sum(x, axis, dtype=x.dtype)


def rows(dtype: str, width: int) -> Any:
    random = np.random.default_rng([width, *dtype.encode()])
    if dtype == "bool":
        return random.random((67, width)) < 1 - 0.5 ** (1 / width)  # half of the rows have one that is true
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, (67, width), dtype, endpoint=True)


@pytest.mark.parametrize(("dtype", "target"), by_turns(DTYPES, ("cpu", "x86-64-v3")))
def test_rows_are_reduced_as_numpy_does(dtype: str, target: str) -> None:
    given = [rows(dtype, width) for width in WIDTHS]

    def program(*arrays: Any) -> Any:
        return [f(a, 1) for a in arrays for f in programs(dtype)]

    expected = program(*given)
    got = compile(jit(program).model(*given), target, threads=1, cache=False)(*given)
    for actual, wanted in zip(got, expected, strict=True):
        assert actual.dtype == wanted.dtype
        np.testing.assert_array_equal(actual, wanted)
