"""Quantised operators that put elements together or fill in, and the ways in and between quantised types."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.fixed_point import rounded
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.quantized import (
    activated,
    quantization,
    scale,
    values_of,
    whole,
    zero_point,
)


@TABLE.op("QUANTIZE")
def quantize(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Floats as integers of the result's scale, halves away from zero; integers of another scale or type rescaled."""
    target = quantization(b, node.results[0])
    source = node.operands[0]
    if x.dtype == "float32":
        scales = b.constant(target.scale if target.is_per_axis else target.scale.reshape(-1)[0])
        zeros = target.zero_point if target.is_per_axis else target.zero_point.reshape(-1)[0]
        return b.op(
            "qnn.quantize", x, scales, whole(b, zeros), axis=target.axis if target.is_per_axis else -1,
            rounding="TFLITE", out_dtype=node.dtype(),
        )  # fmt: skip
    if x.dtype not in ("int8", "uint8", "int16", "int32") or node.dtype() not in ("int8", "uint8", "int16", "int32"):
        raise b.unsupported(f"{x.dtype} as {node.dtype()} is not supported")
    mine = b.constant(scale(b, node.results[0])), whole(b, zero_point(b, node.results[0]))
    theirs = b.constant(scale(b, source)), whole(b, zero_point(b, source))
    return b.op("qnn.requantize", x, *theirs, *mine, rounding="TFLITE", out_dtype=node.dtype())


@TABLE.op("quantized CAST")
def cast(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The integers as another type, whatever they stand for."""
    return b.cast(x, node.dtype())


@TABLE.op("quantized CONCATENATION")
def concatenation(b: TfliteBuilder, node: TfliteNode, *xs: Value) -> Value:
    """The tensors one after the other on an axis; bytes without sign are brought to the result's scale."""
    axis = b.axis(int(node.attr("axis", 0)), xs[0].rank)
    mine = scale(b, node.results[0]), zero_point(b, node.results[0])
    parts: list[Value] = []
    for x, tensor in zip(xs, node.operands, strict=True):
        theirs = scale(b, tensor), zero_point(b, tensor)
        if theirs == mine:
            parts.append(x)
            continue
        if x.dtype != "uint8":
            raise b.unsupported(f"{x.dtype} tensors of other scales than the result's are not supported")
        factor = theirs[0] * (np.float32(1) / mine[0])
        steps = values_of(x.dtype).astype(np.float32) * factor + np.float32(-theirs[1]) * factor
        parts.append(b.looked_up(x, np.clip(rounded(steps) + mine[1], 0, 255).astype(np.uint8)))
    return activated(b, node, parts[0] if len(parts) == 1 else b.op("concatenate", *parts, axis=axis))


@TABLE.op("quantized PACK")
def pack(b: TfliteBuilder, node: TfliteNode, *xs: Value) -> Value:
    """Tensors of one shape and one scale side by side on a new axis."""
    return b.op("stack", *xs, axis=b.axis(int(node.attr("axis", 0)), xs[0].rank + 1))


@TABLE.op("quantized PAD", "quantized PADV2")
def pad(b: TfliteBuilder, node: TfliteNode, x: Value, widths: Value, value: Value | None = None) -> Value:
    """The tensor with more elements around it: the real zero, or the integer that is given."""
    room = b.extents(widths, "the widths")
    number = zero_point(b, node.results[0]) if value is None else b.number(value, "the number")
    return x if not any(room) else b.op("nn.pad", x, pad_width=room, pad_value=float(number))


@TABLE.op("quantized SPACE_TO_BATCH_ND")
def space_to_batch(b: TfliteBuilder, node: TfliteNode, x: Value, block: Value, widths: Value) -> Value:
    """The pixels of the image, padded with the real zero, at each place in a block, as images of their own."""
    sizes, room = b.extents(block, "the block"), b.extents(widths, "the widths")
    number = zero_point(b, node.results[0])
    return b.op("nn.space_to_batch_nd", x, block_shape=sizes, paddings=room, pad_value=float(number))
