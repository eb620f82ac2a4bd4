"""Quantised functions of one tensor: tables of bytes, and rescalings by a ratio for each side of zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.builder import Value
from lamina.frontends.tflite import fixed_point as fp
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.quantized import (
    bounded,
    centred,
    of_function,
    result,
    same_type,
    scale,
    scaled,
    values_of,
    whole,
    zero_point,
)

RELUS = {"RELU": (0.0, None), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0), "RELU_0_TO_1": (0.0, 1.0)}


def in_double(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of float32 arrays, computed in float64 and rounded once, as a good C library gives it."""

    def of_array(x: Any) -> Any:
        return np.asarray([function(float(v)) for v in np.ravel(x)], np.float32).reshape(np.shape(x))

    return of_array


@TABLE.op(*(f"quantized {name}" for name in RELUS))
def relu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x within the bounds of a rectifier, rescaled."""
    dtype = same_type(b, node, "int8", "uint8", "int16")
    tensor = node.results[0]
    low, high = integer_range(dtype)
    mine, zero = scale(b, tensor), zero_point(b, tensor)
    bounds = RELUS[node.op.split()[1]]
    least = max(low, zero + int(fp.rounded(np.float32(bounds[0]) / mine)))
    most = high if bounds[1] is None else min(high, zero + int(fp.rounded(np.float32(bounds[1]) / mine)))
    made = scaled(b, centred(b, x, node.operands[0]), scale(b, node.operands[0]) / mine)
    return bounded(b, b.add(made, whole(b, zero)) if zero else made, least, most, dtype)


@TABLE.op("quantized LEAKY_RELU")
def leaky_relu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x, or alpha x where that is below zero."""
    same_type(b, node, "int8", "uint8", "int16")
    source, target = scale(b, node.operands[0]), scale(b, node.results[0])
    value = centred(b, x, node.operands[0])
    below = scaled(b, value, source * np.float32(node.attr("alpha", 0.0)) / target)
    above = scaled(b, value, source / target)
    return result(b, node, b.op("where", b.op("less", value, whole(b, 0)), below, above))


@TABLE.op("quantized PRELU")
def prelu(b: TfliteBuilder, node: TfliteNode, x: Value, alpha: Value) -> Value:
    """x, or alpha x where that is below zero; alpha broadcasts."""
    same_type(b, node, "int8", "uint8")
    source, target = scale(b, node.operands[0]), scale(b, node.results[0])
    value = centred(b, x, node.operands[0])
    product = b.mul(value, centred(b, alpha, node.operands[1]))
    below = scaled(b, product, source * scale(b, node.operands[1]) / target)
    above = scaled(b, value, source / target)
    return result(b, node, b.op("where", b.op("less", value, whole(b, 0)), below, above))


@TABLE.op("quantized ABS")
def absolute(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The absolute value."""
    same_type(b, node, "int8", "int16")
    value = b.op("abs", centred(b, x, node.operands[0]))
    return result(b, node, scaled(b, value, scale(b, node.operands[0]) / scale(b, node.results[0])))


@TABLE.op("quantized NEG")
def negative(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The integers with the other sign, whatever they stand for: LiteRT's kernel knows no scales."""
    return b.op("negative", x)


@TABLE.op("quantized SQRT")
def square_root(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The square root, in float32 and cut off; of what is below zero that of zero."""
    same_type(b, node, "int8")
    above = np.maximum(values_of("int8") - zero_point(b, node.operands[0]), 0).astype(np.float32)
    steps = np.trunc(np.sqrt(scale(b, node.operands[0]) * above) / scale(b, node.results[0]))
    return b.looked_up(x, np.clip(steps + zero_point(b, node.results[0]), -128, 127).astype(np.int8))


# -- tables ----------------------------------------------------------------------------------------


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)) in float32."""
    one = np.float32(1)
    return one / (one + in_double(lambda v: math.exp(min(v, 700.0)))(-x))


@TABLE.op("quantized LOGISTIC")
def logistic(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return _of_16_bits(b, node, x) if x.dtype == "int16" else of_function(b, node, x, sigmoid)


@TABLE.op("quantized TANH")
def tanh(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The hyperbolic tangent."""
    return _of_16_bits(b, node, x) if x.dtype == "int16" else of_function(b, node, x, in_double(math.tanh))


def _of_16_bits(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """LOGISTIC or TANH of int16, from a table of 256 sigmoids and a line between two of them.

    The argument becomes |x| in units of 1/3 2^-12, of which 2^9 are a step of LOGISTIC's table and 2^8 of TANH's, whose
    sigmoid is that of 2 x. The line is rounded; below zero it is taken from one.
    """
    is_tanh = node.op.endswith("TANH")
    multiplier, shift = float(scale(b, node.operands[0])) * 4096.0 * 3.0, 0
    log = math.log2(float(scale(b, node.operands[0])))
    power = abs(log - round(log)) < 1e-3 * math.log2(math.e) and round(log) + 12 in ((0, 1) if is_tanh else (0,))
    if power:
        factor, shift = 3 << (round(log) + 12), 0
    else:
        while multiplier <= 32767.0 / 2 and shift <= 30:
            multiplier, shift = multiplier * 2, shift + 1
        factor = int(multiplier)
    wide = b.mul(b.cast(x, "int32"), whole(b, factor))
    if shift:
        wide = b.op("right_shift", b.add(wide, whole(b, 1 << (shift - 1))), whole(b, shift))
    step = 8 if is_tanh else 9
    magnitude = b.op("abs", wide)
    place = b.op("right_shift", magnitude, whole(b, step))
    rest = b.op("bitwise_and", magnitude, whole(b, (1 << step) - 1))
    table = fp.sigmoid_table()
    first = b.op("take", whole(b, table), b.op("minimum", place, whole(b, 255)))
    second = b.op("take", whole(b, np.append(table[1:], table[-1])), b.op("minimum", place, whole(b, 255)))
    line = b.add(b.op("left_shift", first, whole(b, step)), b.mul(rest, b.sub(second, first)))
    far = whole(b, 0xFFFF << step if is_tanh else 0x7FFF << 10)
    line = b.op("where", b.op("greater_equal", place, whole(b, 255)), far, line)
    is_positive = b.op("greater_equal", wide, whole(b, 0))
    one, half = 1 << (16 + step), 1 << (step if not is_tanh else step - 1)
    if is_tanh:
        above = b.sub(line, whole(b, (1 << 23) - half))
        below = b.add(b.op("negative", line), whole(b, (1 << 23) + half - 1))
        return b.cast(b.op("right_shift", b.op("where", is_positive, above, below), whole(b, step)), "int16")
    above = b.add(line, whole(b, half))
    below = b.add(b.op("negative", line), whole(b, one + half - 1))
    return b.cast(b.op("right_shift", b.op("where", is_positive, above, below), whole(b, 10)), "int16")


@TABLE.op("quantized EXP")
def exponential(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """exp(x)."""
    same_type(b, node, "int8", "int16")
    return of_function(b, node, x, in_double(lambda v: math.exp(min(v, 80.0))))


@TABLE.op("quantized LOG")
def logarithm(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The natural logarithm; of what is not above zero the least number that the result has."""
    dtype = same_type(b, node, "int8", "int16")
    least = np.float32(integer_range(dtype)[0] - zero_point(b, node.results[0])) * scale(b, node.results[0])
    return of_function(b, node, x, in_double(lambda v: math.log(v) if v > 0 else float(least)))


@TABLE.op("quantized ELU")
def elu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x, or exp(x) - 1 where that is below zero."""
    same_type(b, node, "int8")
    return of_function(b, node, x, in_double(lambda v: math.expm1(v) if v < 0 else v))


@TABLE.op("quantized GELU")
def gelu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x times the normal distribution at x, or its approximation by tanh, in float32."""
    same_type(b, node, "int8", "uint8")

    def by_erfc(v: Any) -> Any:
        root = np.float32(math.sqrt(0.5))
        return np.float32(0.5) * v * in_double(math.erfc)(v * -root)

    def by_tanh(v: Any) -> Any:
        factor = np.float32(2 / math.sqrt(math.pi)) * np.float32(math.sqrt(0.5))
        cube = v + np.float32(0.044715) * v * v * v
        return np.float32(0.5) * v * (np.float32(1) + in_double(math.tanh)(factor * cube))

    return of_function(b, node, x, by_tanh if node.attr("approximate") else by_erfc)


@TABLE.op("quantized RSQRT")
def rsqrt(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """1 / sqrt(x) in fixed point; of zero, and of what is below it, the greatest number that the result has."""
    if same_type(b, node, "int8", "int16") == "int16":
        most = float(np.float32(32767) * scale(b, node.results[0]))
        return of_function(b, node, x, in_double(lambda v: 1 / float(np.sqrt(np.float32(v))) if v > 0 else most))
    root = np.sqrt(scale(b, node.operands[0]))
    multiplier, exponent = fp.quantized_multiplier(float(1.0 / np.float64(root * scale(b, node.results[0]))))
    zero, mine = zero_point(b, node.operands[0]), zero_point(b, node.results[0])
    table: list[int] = []
    for q in values_of("int8"):
        made = 127
        if q > zero:
            inverse, shift = fp.inverse_root(int(q) - zero)
            made = int(fp.multiplied(fp.multiplied(1, inverse, shift + 20), multiplier, exponent - 20)) + mine
        table.append(min(max(made, -128), 127))
    return b.looked_up(x, np.asarray(table, np.int8))


@TABLE.op("quantized HARD_SWISH")
def hard_swish(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x * clip(x + 3, 0, 6) / 6 in fixed point of 16 bits: a table."""
    dtype = same_type(b, node, "int8", "uint8")
    fine = np.float32(1 / 128) * scale(b, node.operands[0])
    out = fp.short_multiplier(float(fine / scale(b, node.results[0])))
    inner = fp.short_multiplier(float(fine / np.float32(3 / 32768)))
    if out[1] > 0:
        raise b.unsupported("the result's scale is too fine for the operand's")
    made = fp.hard_swish_16((values_of(dtype) - zero_point(b, node.operands[0])) << 7, out, inner)
    low, high = integer_range(dtype)
    return b.looked_up(x, np.clip(made + zero_point(b, node.results[0]), low, high).astype(dtype))
