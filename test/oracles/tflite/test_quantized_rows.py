"""Quantised softmax and norms give LiteRT's integers, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check  # noqa: E402
from quantized_cases import check_whole, q  # noqa: E402
from tflite_build import one  # noqa: E402


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("unit", [0.06, 0.4, 3.0])
@pytest.mark.parametrize(("shape", "beta"), [((33, 7), 1.0), ((5, 1000), 1.0), ((2, 3, 4, 2), 1.0), ((9, 33), 0.37)])
def test_softmax(dtype: str, unit: float, shape: Any, beta: float) -> None:
    x, y = q(shape, unit, 3, dtype), q(shape, 1 / 256, 0 if dtype == "uint8" else -128, dtype)
    data = one("SOFTMAX", [x], [y], beta=beta)
    check_whole(data, x)


def test_softmax_of_nearly_equal_ones() -> None:
    # LiteRT aborts where the sum of the exponentials is 256 or more.
    x, y = q((9, 250), 0.0003, 3), q((9, 250), 1 / 256, -128)
    check_whole(one("SOFTMAX", [x], [y], beta=1.0), x)


@pytest.mark.parametrize("unit", [0.0001, 0.003, 0.02])
@pytest.mark.parametrize("shape", [(33, 7), (5, 300), (3, 1)])
def test_softmax_of_16_bits(unit: float, shape: Any) -> None:
    x, y = q(shape, unit, 0, "int16"), q(shape, 1 / 32768, 0, "int16")
    check_whole(one("SOFTMAX", [x], [y], beta=1.0), x)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("shape", [(33, 7), (5, 300), (2, 3, 4, 2), (16, 1)])
def test_l2_normalization(dtype: str, shape: Any) -> None:
    point = 131 if dtype == "uint8" else 3
    x, y = q(shape, 0.03, point, dtype), q(shape, 1 / 128, 128 if dtype == "uint8" else 0, dtype)
    data = one("L2_NORMALIZATION", [x], [y])
    check_whole(data, x)
    few = np.random.default_rng(0).integers(point - 2, point + 3, shape).astype(dtype)
    check(data, [few])


@pytest.mark.parametrize("unit", [0.003, 0.06, 0.4, 3.0])
@pytest.mark.parametrize("shape", [(33, 7), (5, 1000), (2, 3, 4, 2), (16, 1)])
def test_log_softmax(unit: float, shape: Any) -> None:
    x, y = q(shape, unit, 3), q(shape, 16 / 256, 127)
    check_whole(one("LOG_SOFTMAX", [x], [y]), x)
