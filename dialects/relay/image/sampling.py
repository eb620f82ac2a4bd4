"""Places of the elements of a resized axis on the axis that it is made from, and their values there.

A place is exact: (slope * x + offset) / unit in whole numbers, so that its floor, and the nearest element of a place
half way between two, do not depend on how a float is rounded. Axes are interpolated one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, NamedTuple

from lamina.dialects.relay.declare import *

METHODS = ("nearest_neighbor", "linear", "cubic")
TRANSFORMATIONS = (
    "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "half_pixel_symmetric",
    "tf_crop_and_resize",
)  # fmt: skip
ROUNDINGS = ("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")

LARGEST_EXTENT = 1 << 24
"""Longer axes are refused: an f32 holds each of their places."""
FARTHEST = 1 << 20
"""Windows that reach beyond so many times the image are refused."""
_LARGEST_NUMBER = 1 << 60
_FINEST = 1 << 10
"""Bounds of a window are taken as fractions with at most this denominator, where one lies within a float's error."""


def one_of(what: str, given: str, known: Sequence[str]) -> str:
    """The word given. Raises TypeMismatch where it is none of the known ones."""
    if given not in known:
        raise TypeMismatch(f"{what} {given!r} is none of {', '.join(k for k in known if k)}")
    return given


class Places(NamedTuple):
    """Element x of a resized axis lies at (slope * x + offset) / unit of an axis of `extent` elements."""

    slope: int
    offset: int
    unit: int
    extent: int
    size: int

    @property
    def same(self) -> bool:
        """Whether the axis stays as it is: each place is an element, and no other takes part, be it infinite."""
        return (self.slope == self.unit or self.size == 1) and self.offset == 0 and self.size == self.extent

    def numerator(self, x: Any) -> Any:
        return x * self.slope + self.offset


def _fraction(value: float) -> Fraction:
    exact = Fraction(value)
    short = exact.limit_denominator(_FINEST)
    if abs(short - exact) <= abs(exact) * Fraction(1, 1 << 23):
        return short
    return Fraction(round(value * (1 << 20)), 1 << 20)


def places(transformation: str, extent: int, size: int, window: tuple[float, float] = (0.0, 1.0)) -> Places:
    """The places of `size` elements on an axis of `extent`. `window` is the part of it, from 0 to 1, that
    tf_crop_and_resize takes. Raises TypeMismatch where the numbers of a place are beyond 64 bits."""
    half = Fraction(1, 2)
    extent, size = int(extent), int(size)  # a symbol is asked for its number: a place has no form over it
    ratio = Fraction(extent, size)
    if transformation == "align_corners":
        slope, offset = Fraction(extent - 1, max(size - 1, 1)), Fraction(0)
    elif transformation == "asymmetric":
        slope, offset = ratio, Fraction(0)
    elif transformation == "tf_half_pixel_for_nn":
        slope, offset = ratio, half * ratio
    elif transformation == "tf_crop_and_resize":
        start, end = map(_fraction, window)
        slope = (end - start) * (extent - 1) / max(size - 1, 1)
        offset = start * (extent - 1) if size > 1 else half * (start + end) * (extent - 1)
    elif transformation == "pytorch_half_pixel" and size == 1:
        slope, offset = Fraction(0), Fraction(0)
    else:  # with a whole number of results, half_pixel_symmetric is half_pixel
        slope, offset = ratio, half * ratio - half
    unit = lcm(slope.denominator, offset.denominator)
    at = Places(int(slope * unit), int(offset * unit), unit, extent, size)
    if max(abs(at.numerator(0)), abs(at.numerator(size - 1)), unit * extent) >= _LARGEST_NUMBER:
        raise TypeMismatch(f"places from {window[0]} to {window[1]} of {extent} elements are too fine for 64 bits")
    return at


def nearest(x: Index, at: Places, rounding: str) -> Any:
    """The index of the element nearest to element x; beyond the ends it is the one at the end."""

    def index(i: Any) -> Any:
        n, d = at.numerator(i), at.unit
        if rounding == "floor":
            return n // d
        if rounding == "ceil":
            return (n + (d - 1)) // d
        if rounding == "round_prefer_floor":
            return (n * 2 + (d - 1)) // (2 * d)
        return (n * 2 + d) // (2 * d)  # halves go up; those below 0, which would go down, end at 0 all the same

    if 0 <= min(index(0), index(at.size - 1)) and max(index(0), index(at.size - 1)) < at.extent:
        return index(x)
    return te.clamped(te.cast(index(x), "int64"), at.extent)


def cubic_weights(t: Scalar, alpha: float) -> list[Scalar]:
    """The weights of the elements at -1, 0, 1 and 2 for a place t between 0 and 1: Keys' cubic convolution."""
    a, square = alpha, t * t
    cube = square * t
    return [
        (cube - square * 2.0 + t) * a,
        cube * (a + 2.0) - square * (a + 3.0) + 1.0,
        cube * -(a + 2.0) + square * (2.0 * a + 3.0) - t * a,
        (square - cube) * a,
    ]


def working_dtype(dtype: str) -> str:
    """The float in which elements of a type are interpolated: it holds integers of 8 and 16 bits exactly."""
    return "float64" if itemsize(dtype) > (4 if is_float(dtype) else 2) else "float32"


def as_result(value: Scalar, dtype: str) -> Scalar:
    """A float as an element of the result: towards zero and within the bounds of an integer type."""
    if is_float(dtype):
        return te.cast(value, dtype)
    value = te.cast(value, "float32") if itemsize(value.dtype) == 2 else value
    low, high = integer_bounds(dtype, value.dtype)
    return te.cast(te.minimum(te.maximum(value, low), high), dtype)


def integer_bounds(dtype: str, working: str) -> tuple[float, float]:
    """The least and the greatest number of a float type that an integer type has."""
    bits, precision = 8 * itemsize(dtype), 53 if working == "float64" else 24
    magnitude = bits if is_unsigned(dtype) else bits - 1
    low = 0.0 if is_unsigned(dtype) else -(2.0**magnitude)
    return low, float(2**magnitude - 2 ** max(magnitude - precision, 0))


def interpolated(x: Tensor, axis: int, at: Places, method: str, alpha: float, exclude: bool, letter: str) -> Tensor:
    """One axis of a tensor of any type interpolated, in its `working_dtype`.

    Linear takes the two elements around a place, cubic four; beyond an end they are the one at the end. With
    `exclude` those beyond count nothing, and the others make up for it.
    """
    dtype = working_dtype(x.dtype)

    def place(i: Index) -> Scalar:
        return te.cast(at.numerator(i) // at.unit, "int64")

    def between(i: Index) -> Scalar:
        return te.cast(te.cast(at.numerator(i) % at.unit, "int64"), dtype) / float(at.unit)

    def weight(i: Index, tap: int) -> Scalar:
        found = cubic_weights(between(i), alpha)
        if not exclude:
            return found[tap]
        for t in range(4):
            beyond = (first[i] + (t - 1) < 0) | (first[i] + (t - 1) >= at.extent)
            found[t] = te.select(beyond, 0.0, found[t])
        return found[tap] / (found[0] + found[1] + found[2] + found[3])

    first = te.compute([at.size], place, f"{letter}_place")
    if method == "linear":
        parts = [te.compute([at.size], between, f"{letter}_part")]
    else:
        parts = [te.compute([at.size], partial(weight, tap=t), f"{letter}_part{t}") for t in range(4)]

    def element(*i: Index) -> Scalar:
        def tap(t: int) -> Scalar:
            index = te.clamped(first[i[axis]] + t, at.extent)
            return te.cast(x[(*i[:axis], index, *i[axis + 1 :])], dtype)

        if method == "linear":
            part = parts[0][i[axis]]
            return tap(0) * (1.0 - part) + tap(1) * part
        terms = [tap(t - 1) * part[i[axis]] for t, part in enumerate(parts)]
        return terms[0] + terms[1] + terms[2] + terms[3]

    shape = [*x.shape[:axis], at.size, *x.shape[axis + 1 :]]
    return te.compute(shape, element, f"resize_{letter}")
