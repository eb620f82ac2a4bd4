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


def high_multiply(a: Any, b: Any) -> Any:
    """a * b / 2**31, halves up; int64 arrays of numbers of 32 bits."""
    return np.minimum((np.asarray(a, np.int64) * np.asarray(b, np.int64) + 2**30) >> 31, MOST)


def right_shift(x: Any, bits: Any) -> Any:
    """x / 2**bits, halves away from zero."""
    x, bits = np.asarray(x, np.int64), np.asarray(bits, np.int64)
    half: Any = (np.int64(1) << bits) >> 1
    up: Any = (x + half) >> bits
    return np.where(x < 0, -((half - x) >> bits), up)


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
            result = np.where(left & (1 << (fraction + k)), high_multiply(result, factor), result)
    if integer_bits > 5:
        result = np.where(x < -(1 << (fraction + 5)), 0, result)
    return np.where(x == 0, MOST, result)


def _exp_beside_eighth(a: Any) -> Any:
    """exp(a) of a in -1/4 .. 0, Q0.31 both."""
    x = a + EIGHTH
    x2 = high_multiply(x, x)
    x3 = high_multiply(x2, x)
    x4_quarter = right_shift(high_multiply(x2, x2), 2)
    higher = right_shift(high_multiply(x4_quarter + x3, THIRD) + x2, 1)
    return saturated(EXP_OF_EIGHTH + high_multiply(EXP_OF_EIGHTH, x + higher))


def sigmoid_table_16() -> NDArray[Any]:
    """uint16 sigmoid(10.7 k / 255) of k in 0 .. 255 as 16 fractional bits, which LOGISTIC and TANH of int16 look up."""
    steps = np.arange(256) * (32767.0 / 3 / 1024) / 255
    return np.floor(65536 / (1 + np.exp(-steps)) + 0.5).astype(np.int64)
