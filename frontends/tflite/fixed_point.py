"""Fixed-point arithmetic of TFLite's quantised kernels on known numbers, for the multipliers and tables of converters.

A number Qm.n in 32 bits has n = 31 - m fractional bits. The primitives are gemmlowp's: a product keeps the high half of
twice its value, halves up; a shift to the right rounds halves away from zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**31 - 1
LEAST = -(2**31)


def quantized_multiplier(ratio: float) -> tuple[int, int]:
    """A ratio as multiplier * 2**(exponent - 31), the multiplier in 2**30 .. 2**31 - 1; 0 below 2**-32."""
    if ratio == 0:
        return 0, 0
    significand, exponent = math.frexp(ratio)
    multiplier = math.floor(abs(significand) * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    return (0, 0) if exponent < -31 else (multiplier if ratio > 0 else -multiplier, exponent)


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return np.choose(np.asarray(condition, bool), [y, x])


def high_multiply(a: Any, b: Any) -> Any:
    """a * b / 2**31, halves up; int64 arrays of numbers of 32 bits."""
    return np.minimum((np.asarray(a, np.int64) * np.asarray(b, np.int64) + 2**30) >> 31, MOST)


def right_shift(x: Any, bits: Any) -> Any:
    """x / 2**bits, halves away from zero."""
    x, bits = np.asarray(x, np.int64), np.asarray(bits, np.int64)
    half: Any = (np.int64(1) << bits) >> 1
    return chosen(x < 0, -((half - x) >> bits), (x + half) >> bits)


def saturated(x: Any) -> Any:
    """The nearest number of 32 bits."""
    return np.clip(x, LEAST, MOST)


def multiplied(x: Any, multiplier: int, exponent: int) -> Any:
    """x * multiplier * 2**(exponent - 31) as MultiplyByQuantizedMultiplier has it."""
    wrapped = ((np.asarray(x, np.int64) << max(exponent, 0)) + 2**31) % 2**32 - 2**31
    return right_shift(high_multiply(wrapped, multiplier), max(-exponent, 0))


def scaled(x: Any, ratio: float) -> Any:
    """x times a ratio as MultiplyByQuantizedMultiplier has it."""
    return multiplied(x, *quantized_multiplier(ratio))


# -- functions -------------------------------------------------------------------------------------

EXP_STEPS = tuple((k, round(math.exp(-(2.0**k)) * 2**31)) for k in range(-2, 5))
"""exp(-2**k) in Q0.31, for the bits of an argument."""
EIGHTH = 2**28
THIRD = 715827883
EXP_OF_EIGHTH = 1895147668


def exp_of_negative(x: Any, integer_bits: int) -> Any:
    """exp(x) of x <= 0 in Q(integer_bits), as Q0.31.

    The argument is cut at quarters: exp of the rest, which is in -1/4 .. 0, is a polynomial of the fourth degree about
    -1/8, and each bit above has its factor.
    """
    x = np.asarray(x, np.int64)
    fraction = 31 - integer_bits
    quarter = 1 << (fraction - 2)
    rest = (x & (quarter - 1)) - quarter
    result: Any = _exp_beside_eighth(rest << integer_bits)
    left = rest - x
    for k, factor in EXP_STEPS:
        if integer_bits > k:
            result = chosen(left & (1 << (fraction + k)), high_multiply(result, factor), result)
    if integer_bits > 5:
        result = chosen(x < -(1 << (fraction + 5)), 0, result)
    return chosen(x == 0, MOST, result)


def _exp_beside_eighth(a: Any) -> Any:
    """exp(a) of a in -1/4 .. 0, Q0.31 both."""
    x = a + EIGHTH
    x2 = high_multiply(x, x)
    x3 = high_multiply(x2, x)
    x4_quarter = right_shift(high_multiply(x2, x2), 2)
    higher = right_shift(high_multiply(x4_quarter + x3, THIRD) + x2, 1)
    return saturated(EXP_OF_EIGHTH + high_multiply(EXP_OF_EIGHTH, x + higher))


def sigmoid_table() -> NDArray[Any]:
    """sigmoid(k / 24) of k in 0 .. 255 with 16 fractional bits, which LOGISTIC and TANH of int16 look up.

    Lines between the entries are to be halfway between chord and tangent: f - h^2 f'' / 16, of f'' < 0.
    """
    value = 1 / (1 + np.exp(-np.arange(256) / 24))
    bend = value * (1 - value) * (1 - 2 * value) / (16 * 24 * 24)
    table = np.floor(65536 * (value - bend) + 0.5).astype(np.int64)
    table[255] = 65535
    return table


def inverse_root(x: int) -> tuple[int, int]:
    """1 / sqrt(x) of a whole number as a multiplier and an exponent: five steps of Newton's method in Q3.28."""
    if x <= 1:
        return MOST, 0
    exponent = 11
    while x >= 1 << 29:
        x //= 4
        exponent += 1
    left = (32 - x.bit_length() - 1) // 2 - 1
    exponent -= left
    x <<= 2 * left
    half = int(right_shift(x >> 1, 1))
    y = 1 << 28
    for _ in range(5):
        cube = _by_power(int(high_multiply(int(high_multiply(y, y)), y)), 6)
        # y * 3/2 - (x/2) * y^3
        y = int(_by_power(int(high_multiply(3 << 27, y)) - int(high_multiply(half, cube)), 3))
    y = int(high_multiply(y, 1518500250))
    if exponent < 0:
        y, exponent = y << -exponent, 0
    return y, -exponent


def _by_power(x: int, bits: int) -> int:
    """x * 2**bits, saturated."""
    return int(saturated(x << bits))


def short_multiplier(ratio: float) -> tuple[int, int]:
    """A ratio as multiplier * 2**(exponent - 15), the multiplier one of 16 bits."""
    multiplier, exponent = quantized_multiplier(ratio)
    return (0x7FFF if multiplier >= MOST - (1 << 15) else (multiplier + (1 << 15)) >> 16), exponent


def hard_swish_16(x: Any, out: tuple[int, int], inner: tuple[int, int]) -> Any:
    """x * clip(x + 3, 0, 6) / 6 of int16 numbers with seven bits behind the point; multipliers of both scales."""

    def short(v: Any) -> Any:
        return np.clip(v, -(2**15), 2**15 - 1)

    def multiply(v: Any, by: int) -> Any:
        return short((v * by + 2**14) >> 15)

    x = np.asarray(x, np.int64)
    scaled_x = multiply(x, out[0])
    gate = short(x << (inner[1] - 1)) if inner[1] > 0 else x
    gate = multiply(gate, inner[0])
    gate = short(gate << 1) if inner[1] > 0 else right_shift(gate, -inner[1])
    gate = (gate + 2**15) >> 1
    product = gate * scaled_x
    cut = np.sign(product) * (np.abs(product) >> 15)
    return right_shift(cut, -out[1])


def interpolation_table(
    function: Any, scale: Any, zero_point: int, output_scale: Any, output_zero_point: int, real: Any = np.float64
) -> Any:
    """513 entries of a function of int16 numbers, each moved by half of the error that the line has in its middle."""
    first, last = (real(scale) * real(q - zero_point) for q in (-32768, 32767))
    step = (last - first) / real(512)
    low, high = (real(output_scale) * real(q - output_zero_point) for q in (-32768, 32767))
    inverse = real(65536) / (high - low)
    places = first + np.arange(512).astype(real) * step
    value = rounded(function(places) * inverse)
    following = function(first + np.arange(1, 513).astype(real) * step) * inverse
    middle = rounded((following + value) / 2) - rounded(function(places + step / real(2)) * inverse)
    table = np.append(value - rounded(middle / 2), rounded(function(np.asarray([last])) * inverse))
    return np.clip(table, -32768, 32767).astype(np.int64)


def rounded(x: Any) -> Any:
    """The nearest whole numbers, halves away from zero."""
    return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0)


def reciprocal(x: int) -> tuple[int, int]:
    """1 / x of a whole number, as Q0.31 in 1/2 .. 1 and a shift to the right: the bits of x but one."""
    bits = x.bit_length()
    a = (x << (32 - bits)) & MOST
    half = (a >> 1) + (1 << 30)
    y = 1515870810 + int(high_multiply(half, -1010580540))
    for _ in range(3):
        y += int(high_multiply(y, (1 << 29) - int(high_multiply(half, y)))) << 2
    return int(saturated(y << 1)), bits - 1


def sign_bits(x: int) -> int:
    """The number of bits behind the sign of a 32-bit number that equal it."""
    return 31 - x.bit_length() if x >= 0 else 32 - (2 * -x - 1).bit_length()
