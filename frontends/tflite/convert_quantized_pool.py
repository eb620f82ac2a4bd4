"""Quantised poolings, means and sums: divisions of whole numbers, and rescaled sums."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.convert_pool import pool_attributes
from lamina.frontends.tflite.convert_reduce import reduced_axes
from lamina.frontends.tflite.fixed_point import quantized_multiplier
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.quantized import (
    activated,
    activation_range,
    bounded,
    centred,
    fused,
    multiplied,
    result,
    same_type,
    scale,
    scaled_wide,
    whole,
    zero_point,
)

MOST_FACTORS = 256
"""The elements of a product, each of which is code of its own."""


@TABLE.op("quantized MAX_POOL_2D")
def max_pool_2d(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The greatest integer of each window."""
    return activated(b, node, b.op("nn.max_pool2d", x, **pool_attributes(b, node, x)))


@TABLE.op("quantized AVERAGE_POOL_2D")
def average_pool_2d(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The mean of the integers of each window without the padding, halves away from zero."""
    same_type(b, node, "int8", "uint8", "int16")
    attributes = pool_attributes(b, node, x)
    kernel, pads = attributes["pool_size"], attributes["padding"]
    whole_attributes = attributes | {"padding": [0, 0, 0, 0]}
    width = [0, 0, pads[0], pads[2], pads[1], pads[3], 0, 0]
    wide = b.cast(x, "int32")
    padded = b.op("nn.pad", wide, pad_width=width, pad_value=0.0) if any(pads) else wide
    # A pool of integers cuts its mean off: that of the elements times their number is the sum.
    sums = b.op("nn.avg_pool2d", b.mul(padded, b.scalar(prod(kernel), padded)), **whole_attributes)
    counts = whole(b, _counts(x.shape[1:3], kernel, attributes["strides"], pads, sums.shape[1:3]))
    half = b.op("right_shift", counts, whole(b, 1))
    away = b.op("where", b.op("greater", sums, whole(b, 0)), b.add(sums, half), b.sub(sums, half))
    low, high = activation_range(b, node.results[0], fused(node))
    return bounded(b, b.op("trunc_divide", away, counts), low, high, x.dtype)


def _counts(
    extents: tuple[int, ...], kernel: list[int], strides: list[int], pads: list[int], out: tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """The number of elements in each window, [H', W', 1]."""
    sides: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = []
    for extent, k, s, before, n in zip(extents, kernel, strides, pads[:2], out, strict=True):
        first = np.arange(n) * s - before
        sides.append(np.minimum(first + k, extent) - np.maximum(first, 0))
    return (sides[0][:, None, None] * sides[1][:, None]).astype(np.int32)


@TABLE.op("quantized MEAN", "quantized SUM")
def mean(b: TfliteBuilder, node: TfliteNode, x: Value, axes: Value) -> Value:
    """The mean or the sum over axes: the sum of the integers without their zero point, rescaled."""
    same_type(b, node, "int8", "uint8", "int16")
    over, keep = reduced_axes(b, x, axes), bool(node.attr("keep_dims", False))
    count = prod(x.shape[a] for a in over)
    ratio = np.float64(scale(b, node.operands[0])) / np.float64(scale(b, node.results[0]))
    multiplier, exponent = quantized_multiplier(float(ratio))
    if node.op.endswith("MEAN"):
        # The multiplier is divided by the number of elements, with as many bits more as that has.
        shift = min(count.bit_length() - 1, 32, 31 + exponent)
        multiplier, exponent = (multiplier << shift) // count, exponent - shift
    wide = b.cast(x, "int32")
    total = b.op("sum", wide, axis=over, keepdims=keep) if over else wide
    zero = zero_point(b, node.operands[0]) * count
    total = b.sub(total, whole(b, zero)) if zero else total
    return result(b, node, multiplied(b, total, [(multiplier, exponent)]))


@TABLE.op("quantized REDUCE_PROD")
def product(b: TfliteBuilder, node: TfliteNode, x: Value, axes: Value) -> Value:
    """The product over axes, one element after the other: each step is rescaled by the root of the whole ratio."""
    same_type(b, node, "int8", "int16")
    over, keep = reduced_axes(b, x, axes), bool(node.attr("keep_dims", False))
    kept = [a for a in range(x.rank) if a not in over]
    count = prod(x.shape[a] for a in over)
    if not 0 < count <= MOST_FACTORS:
        raise b.unsupported(f"a product of {count} quantised elements is not supported")
    target = node.results[0]
    ratio = float(scale(b, node.operands[0])) / float(scale(b, target)) ** (1 / count)
    rows = b.reshape(b.transpose(x, [*kept, *over]), (prod(x.shape[a] for a in kept), count))
    factors = centred(b, rows, node.operands[0])
    made = b.slice(factors, 1, 0, 1)
    for k in range(1, count):
        step = b.mul(b.cast(made, "int64"), b.cast(b.slice(factors, 1, k, k + 1), "int64"))
        made = scaled_wide(b, step, ratio)
    made = result(b, node, scaled_wide(b, b.cast(made, "int64"), ratio))
    shape = [1 if a in over else e for a, e in enumerate(x.shape) if keep or a not in over]
    return b.reshape(made, shape)


@TABLE.op("quantized RESIZE_BILINEAR")
def resize_bilinear(b: TfliteBuilder, node: TfliteNode, x: Value, size: Value) -> Value:
    """The image in another size, between four pixels with weights of ten bits, halves away from zero."""
    if x.rank != 4:
        raise b.fail(f"the data {x} are no images")
    dtype = same_type(b, node, "int8", "int16")
    wide = b.cast(x, "int32" if dtype == "int8" else "int64")
    for axis, extent in zip((1, 2), b.extents(size, "the size"), strict=True):
        below, above, part = _between(b, node, x.shape[axis], extent)
        shape = [-1 if a == axis else 1 for a in range(4)]
        low, high = (b.op("take", wide, whole(b, place), axis=axis) for place in (below, above))
        first, second = (b.constant(w.reshape(shape).astype(wide.dtype)) for w in (1024 - part, part))
        wide = b.add(b.mul(low, first), b.mul(high, second))
    made = b.op("rounding_right_shift", wide, b.scalar(20, wide))
    low_end, high_end = integer_range(dtype)
    return bounded(b, made, low_end, high_end, dtype)


def _between(b: TfliteBuilder, node: TfliteNode, extent: int, made: int) -> tuple[Any, Any, Any]:
    """For each of `made` places the ones beside it among `extent`, and its distance from the first in 1/1024."""
    if made < 1 or extent < 1:
        raise b.fail(f"{extent} pixels as {made}")
    ends = bool(node.attr("align_corners")) and made > 1
    top, bottom = (extent - 1, made - 1) if ends else (extent, made)
    step = (1024 * top + bottom // 2) // bottom
    place = np.arange(made) * step
    if node.attr("half_pixel_centers"):
        place = place + step // 2 - 512
    below = np.maximum(np.trunc(place / 1024).astype(np.int64), 0)
    above = np.minimum(np.trunc((place + 1023) / 1024).astype(np.int64), extent - 1)
    return below, above, place - 1024 * below
