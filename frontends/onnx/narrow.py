"""Element types of eight bits and fewer - float8, float4, int4, int2 - held in bytes: to and from wider numbers.

A float8 or float4 tensor is a tensor of its codes. Reading one looks its value up in a table; writing finds the code
among the values half way between neighbours, where the tie goes to the even code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.frontends.builder import Value
    from lamina.frontends.onnx.builder import Builder, Node

HELD: dict[str, str] = {
    **{t: "uint8" for t in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0")},
    **{"float4e2m1": "uint8", "int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"},
    "string": "int64",
}
"""Element types, as `type_name` calls them, that are held in another: their codes, their values in a byte each, or of
strings their numbers in the model's table."""
_INTEGERS = {"int4": (-8, 4), "uint4": (0, 4), "int2": (-2, 2), "uint2": (0, 2)}
"""The least value and the number of bits."""
_NO_NUMBERS, _LABELS = "casts of strings are not supported", "LabelEncoder maps strings to numbers"
LIMITS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}


@dataclass(frozen=True)
class Format:
    """A float format: the values of all codes, the codes of numbers that have no finite code."""

    bits: int
    values: NDArray[np.float32]
    nan: int | None
    infinity: int | None
    """The code of a number beyond the range that is not saturated; None where it always is."""

    @property
    def positive(self) -> NDArray[np.float32]:
        """The finite values of the codes 0, 1, ... without a sign, ascending."""
        half = self.values[: 1 << (self.bits - 1)]
        return half[np.isfinite(half)]


@cache
def float_format(logical: str) -> Format:
    """The format of a type such as `float8e4m3fn`, its values from ml_dtypes."""
    import ml_dtypes

    names = {"float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2",
             "float8e5m2fnuz": "float8_e5m2fnuz", "float4e2m1": "float4_e2m1fn"}  # fmt: skip
    bits = 4 if logical == "float4e2m1" else 8
    dtype = np.dtype(getattr(ml_dtypes, names[logical]))
    values = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float32)
    if bits == 4:
        return Format(4, values, 0x8, None)  # NaN is -0 there, as in ml_dtypes
    nan = 0x80 if logical.endswith("uz") else 0x7F if logical == "float8e4m3fn" else 0x7E
    return Format(8, values, nan, 0x7C if logical == "float8e5m2" else nan)


def is_float_code(logical: str) -> bool:
    """Whether a type is one of the floats held as codes."""
    return logical in HELD and logical.startswith("float") and logical != "float8e8m0"


def widened(b: Builder, x: Value) -> Value:
    """The numbers that a held tensor stands for: floats as float32, integers in the type that holds them."""
    if x.logical in _INTEGERS:
        return b.plain(x)
    if x.logical == "string":
        raise UnsupportedError(_NO_NUMBERS, where=b.where, hint=_LABELS)
    if x.logical == "float8e8m0":
        exponents = np.arange(256, dtype=np.float64) - 127
        table = np.append(np.exp2(exponents[:-1]), np.nan).astype(np.float32)
    else:
        table = float_format(x.logical).values
    return b.op("take", b.constant(table), b.cast(b.plain(x), "int32"), axis=0, mode="clip")


def narrowed(n: Node, b: Builder, x: Value, logical: str, saturate: bool, round_mode: str = "up") -> Value:
    """Numbers in a held type. Integers wrap around; floats are rounded to the nearest, ties to even."""
    if logical in _INTEGERS:
        return b.held(_wrapped(b, x, logical), logical)
    if logical == "string":
        raise n.unsupported(_NO_NUMBERS, _LABELS)
    if x.dtype != "float32":
        if x.dtype == "float64":
            raise n.unsupported(f"a cast of float64 to {logical} is not supported", "cast to float32 first")
        x = b.cast(x, "float32")
    if logical == "float8e8m0":
        return b.held(_exponent(b, x, saturate, round_mode), logical)
    return b.held(_code(b, x, float_format(logical), logical, saturate), logical)


def _wrapped(b: Builder, x: Value, logical: str) -> Value:
    low, bits = _INTEGERS[logical]
    whole = b.cast(x, "int32")
    shifted = b.op("subtract", whole, b.scalar(low, whole)) if low else whole
    kept = b.op("bitwise_and", shifted, b.scalar((1 << bits) - 1, whole))
    return b.cast(b.op("add", kept, b.scalar(low, whole)) if low else kept, HELD[logical])


def _code(b: Builder, x: Value, form: Format, logical: str, saturate: bool) -> Value:
    positive = form.positive.astype(np.float64)
    count = len(positive)
    # A further value would follow the last: half way to it begins what is out of range.
    beyond = 2 * positive[-1] - positive[-2]
    ties = (positive + np.append(positive[1:], beyond)) / 2
    bounds = ties.astype(np.float32)
    # `searchsorted` counts the bounds below a number; one at an odd code has to count when it is met, too.
    odd = np.arange(count) % 2 == 1
    bounds[odd] = np.nextafter(bounds[odd], np.float32(-np.inf))
    over = form.infinity if form.infinity is not None and not saturate else count - 1
    magnitudes = b.op("searchsorted", b.constant(bounds), b.op("abs", x))
    codes = b.constant(np.append(np.arange(count), over).astype(np.int32))
    code = b.op("take", codes, magnitudes, axis=0, mode="clip")
    zero = b.scalar(0, x)
    # The sign of -0 shows in its reciprocal.
    minus = b.op("less", b.op("where", b.op("equal", x, zero), b.op("divide", b.scalar(1, x), x), x), zero)
    sign = b.scalar(1 << (form.bits - 1), code)
    signed = b.op("add", code, sign)
    if logical.endswith("uz"):  # no negative zero, and NaN has no sign
        minus = b.op("logical_and", minus, b.op("greater", code, b.scalar(0, code)))
        if form.nan is not None:
            minus = b.op("logical_and", minus, b.op("not_equal", code, b.scalar(form.nan, code)))
    code = b.op("where", minus, signed, code)
    if form.nan is not None:
        code = b.op("where", b.op("isnan", x), b.scalar(form.nan, code), code)
    return b.cast(code, "uint8")


def _exponent(b: Builder, x: Value, saturate: bool, round_mode: str) -> Value:
    """Codes of powers of two, 2**(code - 127): of the magnitude, rounded up, down or to the nearest."""
    powers = np.exp2(np.arange(255, dtype=np.float64) - 127)
    if round_mode == "up":
        bounds, right = powers, False
    elif round_mode == "down":
        bounds, right = powers[1:], True
    else:
        bounds, right = powers * 1.5, True
    below = b.op("searchsorted", b.constant(bounds.astype(np.float32)), b.op("abs", x), right=right)
    top = 254 if saturate else 255
    code = b.op("minimum", below, b.scalar(top, below))
    strange = b.op("isnan", x)
    if not saturate:
        strange = b.op("logical_or", strange, b.op("isinf", x))
    return b.cast(b.op("where", strange, b.scalar(255, code), code), "uint8")


def plain_array(array: NDArray[Any], logical: str) -> NDArray[Any]:
    """An ml_dtypes array of a held type in the type that holds it."""
    dtype = np.dtype(HELD[logical])
    return array.astype(dtype) if logical in _INTEGERS else array.view(dtype)
