"""Quantised arithmetic of two tensors, and comparisons: operands are brought to a common scale in fixed point.

Sums and differences have their operands shifted to the left by 20 bits (16-bit ones by 15), scaled by their part of
twice the greater scale, and the result scaled back: each step rounds as `quantized.scaled` does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite import fixed_point as fp
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.graph import TfliteNode, TfliteTensor
from lamina.frontends.tflite.quantized import (
    centred,
    fused,
    result,
    same_type,
    scale,
    scaled,
    whole,
    zero_point,
)

COMPARISONS = {
    "EQUAL": "equal", "NOT_EQUAL": "not_equal", "GREATER": "greater", "GREATER_EQUAL": "greater_equal",
    "LESS": "less", "LESS_EQUAL": "less_equal",
}  # fmt: skip


def shifted(b: TfliteBuilder, x: Value, tensor: TfliteTensor | None, bits: int, ratio: Any) -> Value:
    """An operand without its zero point, moved to the left and scaled."""
    moved = b.op("left_shift", centred(b, x, tensor), whole(b, bits))
    return scaled(b, moved, ratio)


@TABLE.op("quantized ADD", "quantized SUB")
def add(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """x + y or x - y."""
    dtype = same_type(b, node, "int8", "uint8", "int16")
    if dtype == "int16" and node.attr("pot_scale_int16", True):
        return _of_powers_of_two(b, node, x, y)
    bits = 15 if dtype == "int16" else 20
    first, second = (scale(b, t) for t in node.operands[:2])
    twice = 2 * np.float64(max(first, second))
    left = shifted(b, x, node.operands[0], bits, np.float64(first) / twice)
    right = shifted(b, y, node.operands[1], bits, np.float64(second) / twice)
    made = b.add(left, right) if node.op.endswith("ADD") else b.sub(left, right)
    by = twice / np.float64(np.float32(2**bits) * scale(b, node.results[0]))
    return result(b, node, scaled(b, made, by), fused(node))


def _of_powers_of_two(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """The sum of 16-bit data whose scales are powers of two: one operand is shifted to the right."""
    tensors = *node.operands[:2], node.results[0]
    logs = [math.log2(float(scale(b, t))) for t in tensors]
    if any(e != int(e) for e in logs) or any(zero_point(b, t) for t in tensors):
        raise b.unsupported("16-bit data whose scales are no powers of two are said to have such scales")
    parts: list[Value] = []
    for v, e in zip((x, y), logs[:2], strict=True):
        if e > logs[2]:
            raise b.unsupported("16-bit data with a scale greater than that of the result are not supported")
        wide = b.cast(v, "int32")
        parts.append(wide if e == logs[2] else b.op("rounding_right_shift", wide, whole(b, int(logs[2] - e))))
    return result(b, node, b.add(*parts) if node.op.endswith("ADD") else b.sub(*parts), fused(node))


@TABLE.op("quantized MUL")
def mul(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """x * y."""
    same_type(b, node, "int8", "uint8", "int16")
    product = b.mul(centred(b, x, node.operands[0]), centred(b, y, node.operands[1]))
    by = scale(b, node.operands[0]) * scale(b, node.operands[1]) / scale(b, node.results[0])
    return result(b, node, scaled(b, product, by), fused(node))


@TABLE.op("quantized DIV")
def divide(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """x / y of bytes: x with all of its bits times a reciprocal of y, shifted back. Nothing certain where y is zero."""
    same_type(b, node, "int8", "uint8")
    first, second, third = (scale(b, t) for t in (*node.operands[:2], *node.results))
    multiplier, exponent = fp.quantized_multiplier(float(first / (second * third)))
    above, below = centred(b, x, node.operands[0]), centred(b, y, node.operands[1])
    above = b.op("where", b.op("less", below, whole(b, 0)), b.op("negative", above), above)
    inverses, shifts = np.array([fp.reciprocal(max(k, 1)) for k in range(256)]).T
    below = b.op("abs", below)
    inverse, shift = b.op("take", whole(b, inverses), below), b.op("take", whole(b, shifts), below)
    spare = b.op("take", whole(b, [fp.sign_bits(k) for k in range(-255, 256)]), b.add(above, whole(b, 255)))
    quotient = b.op("rounding_doubling_high_multiply", b.op("left_shift", above, spare), inverse)
    product = b.op("rounding_doubling_high_multiply", quotient, whole(b, multiplier))
    bits = b.sub(b.add(shift, spare), whole(b, exponent))
    if exponent > 0:
        product = b.op("left_shift", product, b.op("maximum", b.op("negative", bits), whole(b, 0)))
    near = b.op("rounding_right_shift", product, b.op("clip", bits, a_min=0.0, a_max=31.0))
    return result(b, node, b.op("where", b.op("greater", bits, whole(b, 31)), whole(b, 0), near), fused(node))


@TABLE.op("quantized SQUARED_DIFFERENCE")
def squared_difference(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """The square of x - y."""
    same_type(b, node, "int8")
    first, second = (np.float64(scale(b, t)) for t in node.operands[:2])
    twice = 2 * max(first, second)
    left = shifted(b, x, node.operands[0], 7, first / twice)
    difference = b.sub(left, shifted(b, y, node.operands[1], 7, second / twice))
    by = twice * twice / (2.0**14 * np.float64(scale(b, node.results[0])))
    return result(b, node, scaled(b, b.mul(difference, difference), by))


@TABLE.op("quantized MAXIMUM", "quantized MINIMUM")
def maximum(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """The greater or the lesser one of the integers, which have one scale."""
    return b.op(node.op.split()[1].lower(), x, y)


@TABLE.op(*(f"quantized {name}" for name in COMPARISONS))
def compare(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """Whether a comparison holds, of numbers with eight bits behind the point, times their scales."""
    if x.dtype not in ("int8", "uint8"):
        return b.op(COMPARISONS[node.op.split()[1]], x, y)
    parts: list[Value] = []
    for v, t in zip((x, y), node.operands, strict=True):
        parts.append(shifted(b, v, t, 8, np.float64(scale(b, t))))
    return b.op(COMPARISONS[node.op.split()[1]], *parts)
