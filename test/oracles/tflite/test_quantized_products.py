"""Quantised convolutions and matrix products give LiteRT's integers, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from quantized_cases import bias, channel_scales, check_whole, q, weight  # noqa: E402
from tflite_build import T, one  # noqa: E402

ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
TYPES = {"int32": 2, "int64": 4}
"""The schema's numbers of the types of biases."""


def products(x: float, w: Any) -> Any:
    return np.float32(x) * np.asarray(w, np.float32)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(
    ("size", "kernel", "channels", "options"),
    [
        ((1, 7, 9, 3), (3, 3), 5, {"padding": "SAME", "stride_h": 1, "stride_w": 1}),
        ((2, 8, 7, 16), (1, 1), 16, {"padding": "VALID", "stride_h": 1, "stride_w": 1}),
        ((1, 11, 6, 4), (5, 2), 33, {"padding": "SAME", "stride_h": 2, "stride_w": 3}),
        ((1, 9, 9, 2), (3, 3), 8, {"padding": "VALID", "dilation_h_factor": 2, "dilation_w_factor": 2, "stride_h": 1,
                                   "stride_w": 1}),
    ],
)  # fmt: skip
def test_conv_2d(size: Any, kernel: Any, channels: int, options: Any, activation: str) -> None:
    scales = channel_scales(channels)
    x, w = q(size, 0.021, -13), weight((channels, *kernel, size[3]), scales)
    y = q(_out(size, kernel, channels, options), 0.043, 9)
    data = one("CONV_2D", [x, w, bias(channels, products(0.021, scales))], [y], fused_activation_function=activation,
               **options)  # fmt: skip
    check_whole(data, x)


def _out(size: Any, kernel: Any, channels: int, options: Any) -> tuple[int, ...]:
    strides = options.get("stride_h", 1), options.get("stride_w", 1)
    dilated = options.get("dilation_h_factor", 1), options.get("dilation_w_factor", 1)
    found = []
    for e, k, s, d in zip(size[1:3], kernel, strides, dilated, strict=True):
        found.append(-(-e // s) if options["padding"] == "SAME" else (e - (k - 1) * d - 1) // s + 1)
    return (size[0], *found, channels)


@pytest.mark.parametrize("output_scale", [0.0007, 0.9])
def test_conv_2d_saturates_or_vanishes(output_scale: float) -> None:
    x, w, y = q((1, 6, 6, 8), 0.02, 127), weight((12, 3, 3, 8), 0.008), q((1, 6, 6, 12), output_scale, -128)
    data = one("CONV_2D", [x, w, bias(12, products(0.02, 0.008))], [y], padding="SAME", stride_h=1, stride_w=1)
    check_whole(data, x)


@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
def test_conv_2d_of_unsigned_bytes(activation: str) -> None:
    x, y = q((1, 9, 8, 5), 0.017, 121, "uint8"), q((1, 5, 4, 7), 0.03, 88, "uint8")
    w = weight((7, 3, 3, 5), 0.0061, dtype="uint8", zero=131)
    data = one("CONV_2D", [x, w, bias(7, products(0.017, 0.0061))], [y], padding="SAME", stride_h=2, stride_w=2,
               fused_activation_function=activation)  # fmt: skip
    check_whole(data, x)


@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_conv_2d_of_16_bits(kind: str) -> None:
    scales = channel_scales(6)
    x, w, y = q((1, 7, 5, 4), 0.0003, 0, "int16"), weight((6, 3, 3, 4), scales), q((1, 7, 5, 6), 0.0007, 0, "int16")
    data = one("CONV_2D", [x, w, bias(6, products(0.0003, scales), kind)], [y], padding="SAME", stride_h=1, stride_w=1,
               quantized_bias_type=TYPES[kind])  # fmt: skip
    check_whole(data, x)


@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6"])
@pytest.mark.parametrize(("channels", "multiplier", "stride"), [(5, 1, 1), (16, 1, 2), (3, 4, 1), (1, 8, 2)])
def test_depthwise_conv_2d(channels: int, multiplier: int, stride: int, activation: str) -> None:
    n = channels * multiplier
    scales = channel_scales(n)
    x, w = q((1, 9, 7, channels), 0.031, 17), weight((1, 3, 3, n), scales, axis=3)
    y = q((1, -(-9 // stride), -(-7 // stride), n), 0.027, -40)
    data = one("DEPTHWISE_CONV_2D", [x, w, bias(n, products(0.031, scales), size=500)], [y], padding="SAME",
               stride_h=stride, stride_w=stride, depth_multiplier=multiplier,
               fused_activation_function=activation)  # fmt: skip
    check_whole(data, x)


def test_depthwise_conv_2d_of_unsigned_bytes() -> None:
    x, y = q((1, 9, 8, 6), 0.017, 121, "uint8"), q((1, 9, 8, 6), 0.03, 88, "uint8")
    w = weight((1, 3, 3, 6), 0.0061, dtype="uint8", zero=131)
    data = one("DEPTHWISE_CONV_2D", [x, w, bias(6, products(0.017, 0.0061))], [y], padding="SAME", stride_h=1,
               stride_w=1, depth_multiplier=1, fused_activation_function="RELU6")  # fmt: skip
    check_whole(data, x)


def test_depthwise_conv_2d_of_16_bits() -> None:
    scales = channel_scales(6)
    x, y = q((1, 7, 5, 6), 0.0003, 0, "int16"), q((1, 7, 5, 6), 0.0007, 0, "int16")
    w = weight((1, 3, 3, 6), scales, axis=3)
    data = one("DEPTHWISE_CONV_2D", [x, w, bias(6, products(0.0003, scales), "int64")], [y], padding="SAME",
               stride_h=1, stride_w=1, depth_multiplier=1)  # fmt: skip
    check_whole(data, x)


@pytest.mark.parametrize(("size", "out", "stride", "padding"), [
    ((1, 4, 5, 3), (8, 10), 2, "SAME"), ((1, 3, 3, 4), (7, 7), 2, "VALID"), ((2, 4, 4, 2), (4, 4), 1, "SAME"),
    ((1, 3, 4, 2), (9, 12), 3, "SAME"),
])  # fmt: skip
def test_transpose_conv(size: Any, out: Any, stride: int, padding: str) -> None:
    scales = channel_scales(5)
    x, w, y = q(size, 0.031, 17), weight((5, 3, 3, size[3]), scales), q((size[0], *out, 5), 0.05, -4)
    shape = T.of(np.asarray(y.shape, np.int32))
    data = one("TRANSPOSE_CONV", [shape, w, x, bias(5, products(0.031, scales))], [y], padding=padding,
               stride_h=stride, stride_w=stride)  # fmt: skip
    check_whole(data, x)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("rows", "inner", "units"), [((1,), 7, 5), ((4,), 64, 33), ((2, 3), 16, 8)])
def test_fully_connected(rows: Any, inner: int, units: int, activation: str) -> None:
    x, w, y = q((*rows, inner), 0.031, -7), weight((units, inner), 0.0043), q((*rows, units), 0.06, 5)
    data = one("FULLY_CONNECTED", [x, w, bias(units, products(0.031, 0.0043))], [y],
               keep_num_dims=len(rows) > 1, fused_activation_function=activation)  # fmt: skip
    check_whole(data, x)


def test_fully_connected_by_channel() -> None:
    scales = channel_scales(9)
    x, w, y = q((37, 20), 0.031, -7), weight((9, 20), scales), q((37, 9), 0.06, 5)
    check_whole(one("FULLY_CONNECTED", [x, w, bias(9, products(0.031, scales))], [y]), x)


def test_fully_connected_of_unsigned_bytes() -> None:
    x, y = q((370, 20), 0.031, 99, "uint8"), q((370, 90), 0.06, 130, "uint8")
    w = weight((90, 20), 0.004, dtype="uint8", zero=120)
    check_whole(one("FULLY_CONNECTED", [x, w, bias(90, products(0.031, 0.004))], [y]), x)


@pytest.mark.parametrize("kind", ["int64", "int32", None])
def test_fully_connected_of_16_bits(kind: str | None) -> None:
    x, w, y = q((37, 20), 0.0004, 0, "int16"), weight((9, 20), 0.004), q((37, 9), 0.0006, 0, "int16")
    more = [] if kind is None else [bias(9, products(0.0004, 0.004), kind)]
    check_whole(one("FULLY_CONNECTED", [x, w, *more], [y], quantized_bias_type=TYPES[kind or "int64"]), x)


@pytest.mark.parametrize("adj_x", [False, True])
@pytest.mark.parametrize("adj_y", [False, True])
def test_batch_matmul(adj_x: bool, adj_y: bool) -> None:
    x, y = q((2, 35, 7) if not adj_x else (2, 7, 35), 0.02, 4), q((2, 7, 6) if not adj_y else (2, 6, 7), 0.03, -9)
    check_whole(one("BATCH_MATMUL", [x, y], [q((2, 35, 6), 0.1, 2)], adj_x=adj_x, adj_y=adj_y), x, y)


def test_batch_matmul_of_16_bits() -> None:
    x, y = q((2, 3, 35, 7), 0.0002, 0, "int16"), q((3, 7, 6), 0.0003, 0, "int16")
    check_whole(one("BATCH_MATMUL", [x, y], [q((2, 3, 35, 6), 0.01, 0, "int16")]), x, y)


def nibbles(shape: tuple[int, ...], scale: Any, axis: int = 0) -> T:
    """Weights of four bits."""
    values = np.random.default_rng(9).integers(-7, 8, shape).astype(np.int8)
    return T.of(values, "int4", scale=scale, axis=axis)


def test_conv_2d_with_weights_of_four_bits() -> None:
    scales = channel_scales(8, 0.1)
    x, y = q((1, 7, 6, 4), 0.021, -13), q((1, 7, 6, 8), 0.05, 9)
    data = one("CONV_2D", [x, nibbles((8, 3, 3, 4), scales), bias(8, products(0.021, scales))], [y], padding="SAME",
               stride_h=1, stride_w=1)  # fmt: skip
    check_whole(data, x)


def test_depthwise_conv_2d_with_weights_of_four_bits() -> None:
    scales = channel_scales(6, 0.1)
    x, y = q((1, 7, 6, 6), 0.021, -13), q((1, 7, 6, 6), 0.05, 9)
    w = nibbles((1, 3, 3, 6), scales, 3)
    data = one("DEPTHWISE_CONV_2D", [x, w, bias(6, products(0.021, scales))], [y], padding="SAME", stride_h=1,
               stride_w=1, depth_multiplier=1)  # fmt: skip
    check_whole(data, x)


def test_fully_connected_with_weights_of_four_bits() -> None:
    x, y = q((37, 32), 0.031, -7), q((37, 9), 0.06, 5)
    check_whole(one("FULLY_CONNECTED", [x, nibbles((9, 32), 0.04), bias(9, products(0.031, 0.04))], [y]), x)
