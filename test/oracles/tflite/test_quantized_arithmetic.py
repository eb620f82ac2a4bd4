"""Quantised arithmetic, comparisons and what moves elements give LiteRT's integers, to the bit."""

# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check, draw  # noqa: E402
from quantized_cases import check_whole, integers, q  # noqa: E402
from tflite_build import T, one  # noqa: E402

SHAPES = [((7, 33), (7, 33)), ((2, 5, 31), (31,)), ((4, 1, 9), (3, 1)), ((5, 17), ())]
TYPES = ("int8", "uint8")


def zero(dtype: str, number: int) -> int:
    return number + 128 if dtype == "uint8" else number


def broadcast(a: Any, b: Any) -> Any:
    return np.broadcast_shapes(a, b)


@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_arithmetic(name: str, dtype: str, a: Any, b: Any) -> None:
    x, y = q(a, 0.031, zero(dtype, -7), dtype), q(b, 0.047, zero(dtype, 21), dtype)
    z = q(broadcast(a, b), 0.09, zero(dtype, 5), dtype)
    check_whole(one(name, [x, y], [z]), x, y)


@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("activation", ["RELU", "RELU6", "RELU_N1_TO_1"])
def test_activations_bound_it(name: str, activation: str) -> None:
    x, y, z = q((61, 17), 0.031, -128), q((61, 17), 0.002, 127), q((61, 17), 0.0313, -3)
    check_whole(one(name, [x, y], [z], fused_activation_function=activation), x, y)


@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL"])
def test_arithmetic_of_16_bits(name: str) -> None:
    x, y, z = q((61, 17), 0.00031, 0, "int16"), q((61, 17), 0.00047, 0, "int16"), q((61, 17), 0.0007, 0, "int16")
    check_whole(one(name, [x, y], [z], **({} if name == "MUL" else {"pot_scale_int16": False})), x, y)


@pytest.mark.parametrize("name", ["ADD", "SUB"])
def test_sums_of_16_bits_by_powers_of_two(name: str) -> None:
    x, y, z = q((61, 17), 2.0**-14, 0, "int16"), q((61, 17), 2.0**-12, 0, "int16"), q((61, 17), 2.0**-12, 0, "int16")
    check_whole(one(name, [x, y], [z], pot_scale_int16=True), x, y)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("units", "activation"), [((0.03, 0.05, 0.02), "NONE"), ((0.5, 0.02, 0.3), "RELU6")])
def test_div(dtype: str, units: Any, activation: str) -> None:
    points = [zero(dtype, z) for z in (-7, 21, 5)]
    x, y, z = (q((64, 65), u, p, dtype) for u, p in zip(units, points, strict=True))
    above, below = integers(x.shape, dtype, 11), integers(y.shape, dtype, 12)
    below[below == points[1]] += 1
    # LiteRT shifts by more than 31 bits for the least numerators, which gives no certain number.
    above[np.abs(above.astype(int) - points[0]) < 3] += 6
    check(one("DIV", [x, y], [z], fused_activation_function=activation), [above, below])


def test_squared_difference() -> None:
    x, y, z = q((61, 17), 0.031, -8), q((61, 17), 0.047, 27), q((61, 17), 0.3, -128)
    check_whole(one("SQUARED_DIFFERENCE", [x, y], [z]), x, y)


@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL", "SQUARED_DIFFERENCE"])
@pytest.mark.parametrize("units", [(0.0213, 0.0481, 0.0712), (0.11, 0.0137, 0.303), (0.05, 0.05, 0.05)])
def test_every_pair_of_bytes(name: str, units: Any) -> None:
    x, y = q((256, 1), units[0], -8), q((1, 256), units[1], 27)
    every = np.arange(-128, 128).astype(np.int8)
    data = one(name, [x, y], [q((256, 256), units[2], -3)])
    check(data, [every.reshape(256, 1), every.reshape(1, 256)])


@pytest.mark.parametrize("name", ["MAXIMUM", "MINIMUM"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_extremes(name: str, dtype: str) -> None:
    x, y, z = q((7, 9), 0.03, 0, dtype), q((9,), 0.03, 0, dtype), q((7, 9), 0.03, 0, dtype)
    check_whole(one(name, [x, y], [z]), x, y)


@pytest.mark.parametrize("name", ["EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"])
@pytest.mark.parametrize("dtype", TYPES)
def test_comparisons(name: str, dtype: str) -> None:
    x, y = q((256, 1), 0.03, zero(dtype, -3), dtype), q((1, 256), 0.06, zero(dtype, 20), dtype)
    low = 0 if dtype == "uint8" else -128
    every = np.arange(low, low + 256).astype(dtype)
    check(one(name, [x, y], [T((256, 256), "bool")]), [every.reshape(256, 1), every.reshape(1, 256)])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_quantize(dtype: str) -> None:
    y = q((64, 33), 0.043, 0 if dtype == "int16" else zero(dtype, 11), dtype)
    x = draw((64, 33), low=-9, high=9)
    x[0] = (np.arange(33) - 16) * np.float32(0.043) / 2
    check(one("QUANTIZE", [T((64, 33))], [y]), [x])


@pytest.mark.parametrize(("source", "target"), [
    ("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8"), ("int16", "int16"), ("int16", "int8"),
    ("int8", "int16"), ("int16", "int32"), ("int32", "int16"), ("int32", "int8"),
])  # fmt: skip
@pytest.mark.parametrize("ratio", [1.0, 0.37, 2.9])
def test_requantize(source: str, target: str, ratio: float) -> None:
    zeros = {"int8": -13, "uint8": 99, "int16": 0, "int32": 0}
    unit = {"int8": 0.02, "uint8": 0.02, "int16": 0.0001, "int32": 1e-9}
    x, y = q((64, 33), unit[source] * ratio, zeros[source], source), q((64, 33), unit[target], zeros[target], target)
    check_whole(one("QUANTIZE", [x], [y]), x)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_dequantize(dtype: str) -> None:
    x = q((64, 33), 0.043, 0 if dtype == "int16" else zero(dtype, 11), dtype)
    check(one("DEQUANTIZE", [x], [T((64, 33))]), [integers((64, 33), dtype)], tolerance=0)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_concatenation(dtype: str) -> None:
    xs = [q((2, n, 3), 0.03, 0, dtype) for n in (1, 4, 2)]
    check_whole(one("CONCATENATION", xs, [q((2, 7, 3), 0.03, 0, dtype)], axis=1), *xs)


def test_concatenation_of_other_scales() -> None:
    xs = [q((2, 99), s, z, "uint8") for s, z in ((0.03, 100), (0.05, 140), (0.011, 3))]
    check_whole(one("CONCATENATION", xs, [q((2, 297), 0.04, 120, "uint8")], axis=1), *xs)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_pad(dtype: str) -> None:
    point = 0 if dtype == "int16" else zero(dtype, 11)
    x, y = q((2, 3), 0.03, point, dtype), q((4, 6), 0.03, point, dtype)
    check_whole(one("PAD", [x, T.of(np.array([[1, 1], [0, 3]]))], [y]), x)


def test_pad_with_a_number() -> None:
    x, y = q((2, 3), 0.03, 4), q((4, 6), 0.03, 4)
    number = T.of(np.array([-77], np.int8), scale=0.03, zero_point=4)
    check_whole(one("PADV2", [x, T.of(np.array([[1, 1], [0, 3]])), number], [y]), x)


def test_pack() -> None:
    xs = [q((2, 3), 0.03, 4) for _ in range(3)]
    check_whole(one("PACK", xs, [q((2, 3, 3), 0.03, 4)], axis=1, values_count=3), *xs)


def test_space_to_batch() -> None:
    x, y = q((1, 5, 6, 3), 0.03, 9), q((4, 3, 4, 3), 0.03, 9)
    block, room = T.of(np.array([2, 2])), T.of(np.array([[0, 1], [1, 1]]))
    check_whole(one("SPACE_TO_BATCH_ND", [x, block, room], [y]), x)
