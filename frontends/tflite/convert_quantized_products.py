"""Quantised convolutions and matrix products: sums of integers, rescaled and rounded as LiteRT does it.

Ratios of scales are exact products of float64 for convolutions, which may have a scale for each channel, and products
of float32 for those of bytes without sign and for products of two tensors. Dense layers are rescaled in float64 and
rounded once.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.convert_nn import dilations_of, strides_of, window_padding
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.quantized import (
    fused,
    quantization,
    requantized,
    result,
    same_type,
    scale,
    scaled,
    scaled_wide,
    whole,
    zero_point,
)


def product_scale(b: TfliteBuilder, node: TfliteNode, data: int = 0, weight: int = 1) -> Any:
    """The scale of the sums: float64, or float32 for convolutions of bytes without sign."""
    x, w = scale(b, node.operands[data]), quantization(b, node.operands[weight]).scale
    if node.dtype() == "uint8":
        return x * np.float32(w.reshape(-1)[0])
    exact = np.float64(x) * w.astype(np.float64)
    return exact if exact.size > 1 else exact.reshape(())


def scales_of(b: TfliteBuilder, node: TfliteNode, data: int = 0, weight: int = 1) -> list[Value]:
    """The zero points and scales that a product carries."""
    w = quantization(b, node.operands[weight])
    zero = w.zero_point if w.is_per_axis and w.zero_point.any() else w.zero_point.reshape(-1)[0]
    return [
        whole(b, zero_point(b, node.operands[data])), whole(b, zero), b.constant(scale(b, node.operands[data])),
        b.constant(w.scale if w.is_per_axis else w.scale.reshape(())),
    ]  # fmt: skip


def finished(b: TfliteBuilder, node: TfliteNode, sums: Value, bias: Value | None, ratio: Any) -> Value:
    """The result of sums on the last axis, of a scale `ratio`: biased, rescaled, activated."""
    if sums.dtype == "int32":
        biased = sums if bias is None else b.op("nn.bias_add", sums, bias, axis=sums.rank - 1)
        return requantized(b, node, biased, ratio, sums.rank - 1)
    # Sums of int16 data in 64 bits; with a bias of 32 bits LiteRT's are of 32 bits.
    narrow = bias is not None and bias.dtype == "int32"
    sums = sums if bias is None else b.add(sums, b.cast(bias, "int64"))
    by = np.asarray(ratio, np.float64) / np.float64(scale(b, node.results[0]))
    made = scaled(b, b.cast(sums, "int32"), by) if narrow else scaled_wide(b, sums, by)
    return result(b, node, made, fused(node))


def rounded_away(b: TfliteBuilder, node: TfliteNode, sums: Value, bias: Value | None) -> Value:
    """The result of a dense layer's sums, rescaled in float64 and rounded, halves away from zero."""
    ratio = np.float64(scale(b, node.operands[0])) * quantization(b, node.operands[1]).scale.astype(np.float64)
    ratio = ratio if ratio.size > 1 else ratio.reshape(())
    if sums.dtype == "int32":
        biased = sums if bias is None else b.op("nn.bias_add", sums, bias, axis=1)
        return requantized(b, node, biased, ratio, 1, "float64")
    if bias is not None:
        sums = b.add(sums, b.cast(bias, "int64"))
    scaled_sums = b.mul(b.cast(sums, "float64"), b.constant(ratio / np.float64(scale(b, node.results[0]))))
    half = b.constant(np.nextafter(0.5, 0))
    away = b.op("where", b.op("less", scaled_sums, b.constant(0.0)), b.op("negative", half), half)
    nearest = b.op("trunc", b.add(scaled_sums, away))
    return result(b, node, b.cast(b.op("clip", nearest, a_min=-(2.0**30), a_max=2.0**30), "int32"), fused(node))


def sum_type(b: TfliteBuilder, node: TfliteNode) -> str:
    """The type of a product's sums."""
    return "int64" if same_type(b, node, "int8", "uint8", "int16") == "int16" else "int32"


@TABLE.op("quantized CONV_2D")
def conv_2d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, H, W, C], w [O, KH, KW, C / groups] -> [N, H', W', O]."""
    if x.rank != 4 or w.rank != 4 or w.shape[3] < 1 or x.shape[3] % w.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    strides, dilations = strides_of(node), dilations_of(node)
    pads = window_padding(b, node, x.shape[1:3], w.shape[1:3], strides, dilations)
    sums = b.op(
        "qnn.conv2d", x, b.transpose(w, (1, 2, 3, 0)), *scales_of(b, node), strides=strides, padding=pads,
        dilation=dilations, groups=x.shape[3] // w.shape[3], channels=w.shape[0], kernel_size=list(w.shape[1:3]),
        data_layout="NHWC", kernel_layout="HWIO", out_dtype=sum_type(b, node),
    )  # fmt: skip
    return finished(b, node, sums, bias, product_scale(b, node))


@TABLE.op("quantized DEPTHWISE_CONV_2D")
def depthwise_conv_2d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, H, W, C], w [1, KH, KW, C * M] -> [N, H', W', C * M]."""
    if x.rank != 4 or w.rank != 4 or w.shape[0] != 1 or x.shape[3] < 1 or w.shape[3] % x.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    strides, dilations = strides_of(node), dilations_of(node)
    pads = window_padding(b, node, x.shape[1:3], w.shape[1:3], strides, dilations)
    channels, multiplier = x.shape[3], w.shape[3] // x.shape[3]
    kernel = b.reshape(w, (*w.shape[1:3], channels, multiplier))
    kernel = b.reshape(kernel, (*w.shape[1:3], 1, channels * multiplier))
    sums = b.op(
        "qnn.conv2d", x, kernel, *scales_of(b, node), strides=strides, padding=pads, dilation=dilations,
        groups=channels, channels=w.shape[3], kernel_size=list(w.shape[1:3]), data_layout="NHWC",
        kernel_layout="HWIO", out_dtype=sum_type(b, node),
    )  # fmt: skip
    return finished(b, node, sums, bias, product_scale(b, node))


@TABLE.op("quantized TRANSPOSE_CONV")
def transpose_conv(
    b: TfliteBuilder, node: TfliteNode, shape: Value, w: Value, x: Value, bias: Value | None = None
) -> Value:
    """x [N, H, W, C], w [O, KH, KW, C] -> [N, H', W', O], the extents that `shape` gives."""
    extents = [int(e) for e in b.known(shape, "the shape of the result").reshape(-1)]
    if x.rank != 4 or w.rank != 4 or x.shape[3] != w.shape[3] or len(extents) != 4 or extents[3] != w.shape[0]:
        raise b.fail(f"data {x}, weight {w} and shape {extents} do not fit")
    strides = strides_of(node)
    spare = [(n - 1) * s + k - e for n, s, k, e in zip(x.shape[1:3], strides, w.shape[1:3], extents[1:3], strict=True)]
    pads = [max(s, 0) for s in spare]
    dtype = "int64" if x.dtype == "int16" else "int32"
    sums = b.op(
        "qnn.conv2d_transpose", x, b.transpose(w, (1, 2, 0, 3)), *scales_of(b, node, 2, 1), strides=strides,
        padding=[p // 2 for p in pads] + [p - p // 2 for p in pads], output_padding=[max(-s, 0) for s in spare],
        channels=w.shape[0], kernel_size=list(w.shape[1:3]), data_layout="NHWC", kernel_layout="HWOI", out_dtype=dtype,
    )  # fmt: skip
    return finished(b, node, sums, bias, product_scale(b, node, 2, 1))


@TABLE.op("quantized FULLY_CONNECTED")
def fully_connected(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [..., K], w [N, K] -> [M, N], or [..., N] where the rank is kept."""
    if w.rank != 2 or w.shape[1] < 1 or prod(x.shape) % w.shape[1]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    rows = b.reshape(x, (prod(x.shape) // w.shape[1], w.shape[1]))
    sums = b.op("qnn.dense", rows, w, *scales_of(b, node), units=w.shape[0], out_dtype=sum_type(b, node))
    y = rounded_away(b, node, sums, bias)
    return b.reshape(y, (*x.shape[:-1], w.shape[0])) if node.attr("keep_num_dims") else y


@TABLE.op("quantized BATCH_MATMUL")
def batch_matmul(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """x [..., M, K] times y [..., K, N], either of them transposed; leading axes broadcast."""
    dtype = same_type(b, node, "int8", "int16")
    left = b.swapped(x) if node.attr("adj_x") else x
    right = y if node.attr("adj_y") else b.swapped(y)
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])

    def stack(v: Value) -> Value:
        if prod(v.shape[:-2]) not in (1, prod(batch)):
            v = b.broadcast(v, (*batch, *v.shape[-2:]))
        return b.reshape(v, (prod(v.shape[:-2]), *v.shape[-2:]))

    operands = node.operands
    scales = [whole(b, zero_point(b, t)) for t in operands[:2]] + [b.constant(scale(b, t)) for t in operands[:2]]
    sums = b.op(
        "qnn.batch_matmul", stack(left), stack(right), *scales, out_dtype="int64" if dtype == "int16" else "int32"
    )
    sums = b.reshape(b.broadcast(sums, (prod(batch), *sums.shape[1:])), (*batch, *sums.shape[1:]))
    ratio = scale(b, operands[0]) * scale(b, operands[1])
    return finished(b, node, sums, None, ratio)
