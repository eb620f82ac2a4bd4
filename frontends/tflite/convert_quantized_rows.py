"""Quantised softmax and norms along the last axis, in the fixed-point arithmetic of gemmlowp.

What depends on an element alone is a table of the 256 distances from the greatest one; a row's reciprocal or root is
computed with as many bits as it has, by Newton's method.
"""

from __future__ import annotations

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
    interpolated,
    multiplied,
    same_type,
    scale,
    scaled,
    whole,
)

SUM_BITS = 12
"""Integer bits of a sum of exponentials."""
MOST_SHARES = 255


def high(b: TfliteBuilder, x: Value, y: Value) -> Value:
    """x * y / 2**31, halves up."""
    return b.op("rounding_doubling_high_multiply", x, y)


def bit_length(b: TfliteBuilder, x: Value) -> Value:
    """The number of bits of int32 numbers above zero whose last axis has one element."""
    powers = whole(b, [1 << k for k in range(31)])
    return b.op("sum", b.cast(b.op("greater_equal", x, powers), "int32"), axis=[x.rank - 1], keepdims=True)


def reciprocal(b: TfliteBuilder, a: Value) -> Value:
    """1 / (1 + a) of a in 0 .. 1, Q0.31 both: three steps of Newton's method."""
    half = b.add(b.op("right_shift", a, whole(b, 1)), whole(b, 1 << 30))
    x = b.add(whole(b, 1515870810), high(b, half, whole(b, -1010580540)))  # 48/17 - 32/17 half, Q2.29
    for _ in range(3):
        rest = b.sub(whole(b, 1 << 29), high(b, half, x))
        x = b.add(x, b.op("left_shift", high(b, x, rest), whole(b, 2)))
    most = b.op("greater_equal", x, whole(b, 1 << 30))
    return b.op("where", most, whole(b, fp.MOST), b.op("left_shift", x, whole(b, 1)))


def exponentials(ratio: float) -> Any:
    """exp(-ratio k) of k in 0 .. 255 as Q0.31, and 0 where the argument leaves Q5.26."""
    multiplier, shift = fp.quantized_multiplier(min(ratio * 2.0**26, 2.0**31 - 1))
    radius = int(31 * 2.0**26 / 2.0**shift)
    distances = -np.arange(256)
    made = fp.exp_of_negative(fp.multiplied(distances, multiplier, shift), 5)
    return np.where(distances >= -radius, made, 0)


@TABLE.op("quantized SOFTMAX")
def softmax(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """exp(beta x) over its sum along the last axis."""
    if x.dtype == "int16":
        return _softmax_16(b, node, x)
    dtype = same_type(b, node, "int8", "uint8")
    axis = [x.rank - 1]
    wide = b.cast(x, "int32")
    distance = b.sub(b.op("max", wide, axis=axis, keepdims=True), wide)
    table = exponentials(float(np.float32(node.attr("beta", 1.0))) * float(scale(b, node.operands[0])))
    powers = b.op("take", whole(b, table), distance)
    parts = b.op("take", whole(b, fp.right_shift(table, SUM_BITS)), distance)
    total = b.op("sum", parts, axis=axis, keepdims=True)
    headroom = b.sub(whole(b, 32), bit_length(b, total))
    fraction = b.op("bitwise_and", b.op("left_shift", total, headroom), whole(b, fp.MOST))
    share = high(b, reciprocal(b, fraction), powers)
    low, most = integer_range(dtype)
    shift = b.sub(whole(b, SUM_BITS + 31 - 8), headroom)
    if x.shape[-1] > MOST_SHARES:
        # Sums above this make shifts of more than 31 bits, where LiteRT gives up.
        share = b.op("right_shift", share, b.op("maximum", b.sub(shift, whole(b, 31)), whole(b, 0)))
        shift = b.op("minimum", shift, whole(b, 31))
    made = b.op("rounding_right_shift", share, shift)
    return bounded(b, b.add(made, whole(b, low)) if low else made, low, most, dtype)


def _softmax_16(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Softmax of int16: exp and 1 / (1 + x) are tables of 513 entries, and lines between these."""
    axis = [x.rank - 1]
    wide = b.cast(x, "int32")
    difference = b.sub(wide, b.op("max", wide, axis=axis, keepdims=True))
    steps = scaled(b, difference, np.float64(scale(b, node.operands[0]) * np.float32(node.attr("beta", 1.0)))
                   / (10.0 / 65535.0))  # fmt: skip
    place = b.op("clip", b.add(steps, whole(b, 32767)), a_min=-32768.0, a_max=32767.0)
    powers = interpolated(b, place, fp.interpolation_table(np.exp, 10.0 / 65535, 32767, 2.0 / 65535, 0))
    total = b.op("sum", powers, axis=axis, keepdims=True)
    bits = bit_length(b, total)
    # The sum's leading bits without the first one, 16 of them: x = sum - 1 in 0 .. 1.
    moved = b.op("left_shift", b.cast(total, "int64"), b.cast(b.sub(whole(b, 31), bits), "int64"))
    lead = b.op("right_shift", b.add(moved, b.constant(np.int64(1 << 13))), b.constant(np.int64(14)))
    inner = b.op("clip", b.sub(b.cast(lead, "int32"), whole(b, (1 << 15) + (1 << 16))), a_min=-32768.0, a_max=32767.0)
    inverse_table = fp.interpolation_table(_inverse, 1.0 / 65535, -32768, 2.0 / 65535, 0)
    inverse = interpolated(b, inner, inverse_table)
    shift = b.sub(bits, whole(b, 1))
    half = b.op("left_shift", whole(b, 1), b.sub(shift, whole(b, 1)))
    product = b.mul(b.cast(powers, "int64"), b.cast(inverse, "int64"))
    made = b.op("right_shift", b.add(product, b.cast(half, "int64")), b.cast(shift, "int64"))
    return bounded(b, b.cast(made, "int32"), 0, 32767, "int16")


def _inverse(x: Any) -> Any:
    return 1.0 / (1.0 + x)


@TABLE.op("quantized LOG_SOFTMAX")
def log_softmax(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x less the logarithm of the sum of exponentials along the last axis."""
    same_type(b, node, "int8")
    axis = [x.rank - 1]
    unit = float(scale(b, node.operands[0]))
    multiplier, shift = fp.quantized_multiplier(min(unit * 2.0**26, 2.0**31 - 1))
    radius = int(31 * 2.0**26 / 2.0**shift)
    table = exponentials(unit)
    wide = b.cast(x, "int32")
    distance = b.sub(b.op("max", wide, axis=axis, keepdims=True), wide)
    parts = b.op("take", whole(b, fp.right_shift(table, SUM_BITS)), distance)
    log = logarithm(b, b.op("sum", parts, axis=axis, keepdims=True))
    steps = b.op("take", whole(b, fp.multiplied(-np.arange(256), multiplier, shift)), distance)
    made = b.add(b.op("rounding_right_shift", b.sub(steps, log), whole(b, 22)), whole(b, 127))
    # What lies so far below that the difference would leave Q5.26 is the least.
    back = fp.quantized_multiplier(float(1 << (31 - shift)) / multiplier)
    least = multiplied(b, b.add(log, whole(b, fp.LEAST)), [back])
    least = b.op("maximum", least, whole(b, -radius - 1))
    is_far = b.op("less_equal", b.op("negative", distance), least)
    return b.op("where", is_far, b.constant(np.int8(-128)), bounded(b, made, -128, 127, "int8"))


def logarithm(b: TfliteBuilder, z: Value) -> Value:
    """The logarithm of rows' sums Q12.19 as Q5.26.

    z is r 2^k with r next to the fourth root of a half; log r is a quotient of polynomials in r less that root.
    """
    fourth, quarter, root = whole(b, 1805811301), whole(b, 1 << 23), whole(b, 1518500250)

    def saturated_shift(v: Value, bits: Value) -> Value:
        wide = b.op("left_shift", b.cast(v, "int64"), b.cast(bits, "int64"))
        return b.cast(b.op("minimum", wide, b.constant(np.int64(fp.MOST))), "int32")

    room = b.sub(whole(b, 32), bit_length(b, z))
    first = saturated_shift(high(b, b.op("left_shift", z, b.sub(room, whole(b, 1))), root), whole(b, 1))
    power = b.add(b.op("left_shift", b.sub(whole(b, SUM_BITS), room), whole(b, 25)), quarter)
    other_room = b.sub(whole(b, 31), bit_length(b, high(b, z, root)))
    second = saturated_shift(z, other_room)
    other = b.sub(b.op("left_shift", b.sub(whole(b, SUM_BITS), other_room), whole(b, 25)), quarter)
    ratio, power = b.op("minimum", first, second), b.op("maximum", power, other)
    one = b.constant(np.int64(1))
    both = b.add(b.add(b.cast(ratio, "int64"), b.cast(fourth, "int64")), one)
    mean = b.cast(b.op("right_shift", both, one), "int32")
    q = b.op("left_shift", b.sub(ratio, fourth), whole(b, 1))
    square = high(b, q, q)
    above = b.add(high(b, q, ratio), high(b, high(b, q, square), whole(b, 117049297)))
    inner = b.add(b.add(whole(b, 1057819769), q), high(b, whole(b, 127690142), square))
    below = b.add(high(b, mean, inner), high(b, whole(b, 638450708), q))
    quotient = high(b, b.op("rounding_right_shift", above, whole(b, 6)), reciprocal(b, below))
    return b.op("left_shift", b.add(high(b, power, whole(b, 1488522236)), quotient), whole(b, 1))


@TABLE.op("quantized L2_NORMALIZATION")
def l2_normalization(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x over its norm along the last axis, in steps of 1/128."""
    dtype = same_type(b, node, "int8", "uint8")
    value = centred(b, x, node.operands[0])
    squares = b.op("sum", b.mul(value, value), axis=[x.rank - 1], keepdims=True)
    multiplier, exponent = inverse_root(b, squares)
    if dtype == "uint8":
        value = b.op("left_shift", value, whole(b, 7))
    else:
        exponent = b.add(exponent, whole(b, 7))
    moved = b.op("left_shift", value, b.op("maximum", exponent, whole(b, 0)))
    made = b.op("rounding_right_shift", high(b, moved, multiplier),
                b.op("maximum", b.op("negative", exponent), whole(b, 0)))  # fmt: skip
    low, most = integer_range(dtype)
    return bounded(b, b.add(made, whole(b, 128)) if dtype == "uint8" else made, low, most, dtype)


def inverse_root(b: TfliteBuilder, x: Value) -> tuple[Value, Value]:
    """1 / sqrt(x) of int32 numbers as multipliers and exponents, as `fixed_point.inverse_root` has it."""
    is_large = b.op("greater_equal", x, whole(b, 1 << 29))
    small = b.op("where", is_large, b.op("right_shift", x, whole(b, 2)), x)
    left = b.sub(b.op("right_shift", b.sub(whole(b, 31), bit_length(b, small)), whole(b, 1)), whole(b, 1))
    exponent = b.sub(b.add(whole(b, 11), b.cast(is_large, "int32")), left)
    moved = b.op("left_shift", small, b.op("left_shift", left, whole(b, 1)))
    half = b.op("rounding_right_shift", b.op("right_shift", moved, whole(b, 1)), whole(b, 1))
    y = whole(b, 1 << 28)
    for _ in range(5):
        cube = b.op("left_shift", high(b, high(b, y, y), y), whole(b, 6))
        rest = b.sub(high(b, whole(b, 3 << 27), y), high(b, half, cube))
        y = b.op("left_shift", rest, whole(b, 3))
    y = high(b, y, whole(b, 1518500250))
    y = b.op("left_shift", y, b.op("maximum", b.op("negative", exponent), whole(b, 0)))
    exponent = b.op("negative", b.op("maximum", exponent, whole(b, 0)))
    is_one = b.op("less_equal", x, whole(b, 1))
    return b.op("where", is_one, whole(b, fp.MOST), y), b.op("where", is_one, whole(b, 0), exponent)
