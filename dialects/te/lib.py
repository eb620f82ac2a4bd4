"""Vocabulary of `te_compute` facets: the builder's names and the equations that several ops share."""

# ruff: noqa: F403, F405
from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from lamina.dialects.dtypes import is_unsigned, itemsize
from lamina.dialects.infos import exact_quotient, hint_of, is_always, is_symbolic, surely_equal
from lamina.dialects.te.build import *
from lamina.dialects.te.build import Index, Scalar, Tensor, compute, const
from lamina.dialects.te.indices import index as index
from lamina.dialects.te.scalars import *
from lamina.dialects.te.scalars import (
    abs,
    all,
    cast,
    equal,
    fma,
    if_then_else,
    maximum,
    minimum,
    not_equal,
    select,
    trunc,
    truncdiv,
)
from lamina.errors import UnsupportedError


def broadcast_index(tensor: Tensor, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The indices at which a tensor is read when it is broadcast to the rank of `indices`."""
    aligned = indices[len(indices) - tensor.ndim :]
    # An extent that may be 1 for some sizes is the result's, unless it is 1 always.
    return tuple(0 if is_always(extent, 1) else i for extent, i in zip(tensor.shape, aligned, strict=True))


def pad(x: Tensor, before: Sequence[int], after: Sequence[int], value: float = 0.0, name: str = "pad") -> Tensor:
    """`x` with `value` around it; the tensor itself where nothing is added."""
    if builtins.all(is_always(p, 0) for p in (*before, *after)):
        return x
    shape = [b + e + a for b, e, a in zip(before, x.shape, after, strict=True)]

    def element(*i: Index) -> Any:
        inner = [p - b for p, b in zip(i, before, strict=True)]
        inside = [c for p, e in zip(inner, x.shape, strict=True) for c in (p >= 0, p < e)]
        return if_then_else(all(*inside), x[tuple(inner)], const(value, x.dtype))

    return compute(shape, element, name)


# -- integer division and shifts that are defined everywhere ---------------------------------------


def _defined_divisor(b: Scalar) -> Scalar:
    """b, and 1 where a division by b may be undefined: for 0, and for -1 (the smallest integer / -1)."""
    undefined = equal(b, 0)
    if not is_unsigned(b.dtype):
        undefined = undefined | equal(b, -1)
    return select(undefined, 1, b)


def _defined_quotient(a: Scalar, b: Scalar, quotient: Scalar) -> Scalar:
    """The quotient by `_defined_divisor(b)`, and where that is not b: -a for -1, 0 for 0."""
    if not is_unsigned(b.dtype):
        quotient = select(equal(b, -1), -a, quotient)
    return select(equal(b, 0), 0, quotient)


def safe_truncdiv(a: Scalar, b: Scalar) -> Scalar:
    """a / b towards zero; 0 for a / 0, and the smallest integer / -1 wraps to itself."""
    return _defined_quotient(a, b, truncdiv(a, _defined_divisor(b)))


def safe_truncmod(a: Scalar, b: Scalar) -> Scalar:
    """a - safe_truncdiv(a, b) * b, 0 where b is 0."""
    divisor = _defined_divisor(b)
    return a - truncdiv(a, divisor) * divisor


def safe_floordiv(a: Scalar, b: Scalar) -> Scalar:
    """floor(a / b); 0 for a / 0, and the smallest integer / -1 wraps to itself."""
    divisor = _defined_divisor(b)
    quotient = truncdiv(a, divisor)
    if not is_unsigned(a.dtype):
        rest = a - quotient * divisor
        below = not_equal(rest, 0) & ((rest < 0) ^ (divisor < 0))
        quotient = quotient - cast(below, a.dtype)
    return _defined_quotient(a, b, quotient)


def safe_floormod(a: Scalar, b: Scalar) -> Scalar:
    """a - floor(a / b) * b, which has the sign of b; 0 where b is 0."""
    rest = safe_truncmod(a, b)
    if is_unsigned(a.dtype):
        return rest
    return select(not_equal(rest, 0) & ((rest < 0) ^ (b < 0)), rest + b, rest)


def safe_left_shift(a: Scalar, count: Scalar) -> Scalar:
    """a * 2^count, wrapped; 0 for a count outside 0 .. width-1."""
    inside = _count_inside(count)
    return select(inside, a << select(inside, count, 0), 0)


def safe_right_shift(a: Scalar, count: Scalar) -> Scalar:
    """floor(a / 2^count); all copies of the sign for a count outside 0 .. width-1."""
    inside = _count_inside(count)
    if is_unsigned(a.dtype):
        return select(inside, a >> select(inside, count, 0), 0)
    return a >> select(inside, count, itemsize(a.dtype) * 8 - 1)


def _count_inside(count: Scalar) -> Scalar:
    below = count < itemsize(count.dtype) * 8
    return below if is_unsigned(count.dtype) else below & (count >= 0)


# -- remainders of floats --------------------------------------------------------------------------


def fmod(a: Scalar, b: Scalar) -> Scalar:
    """a - trunc(a / b) * b as C's fmod, exact while |a / b| < 2^53. Narrow floats are computed in f64."""
    x, y = cast(a, "float64"), cast(b, "float64")
    rest = fma(-trunc(x / y), y, x)
    # The quotient may round up to a whole number, never down: then the rest is on the other side of 0.
    rest = select((rest < 0) & (x > 0), rest + abs(y), select((rest > 0) & (x < 0), rest - abs(y), rest))
    infinity = float("inf")
    return cast(select(equal(abs(y), infinity) & (abs(x) < infinity), x, rest), a.dtype)


def floor_fmod(a: Scalar, b: Scalar) -> Scalar:
    """a - floor(a / b) * b, which has the sign of b (numpy.mod)."""
    rest = fmod(a, b)
    return select(not_equal(rest, 0) & ((rest < 0) ^ (b < 0)), rest + b, rest)


# -- shapes ----------------------------------------------------------------------------------------


def reshaped_index(indices: Sequence[Any], shape: Sequence[int], target: Sequence[int]) -> tuple[Any, ...]:
    """The place of the element at `indices` of a tensor of `shape` in one of shape `target` with the same elements.

    Dimensions are taken in the smallest groups of equal size on both sides, so that only those that are really
    merged or split get divisions: (2, 3, 4) seen as (6, 4) is [i floordiv 3, i mod 3, j].
    """
    if has_no_elements(target):
        return (0,) * len(target)
    found: list[Any] = []
    a = b = 0
    while b < len(target):
        first_a, first_b = a, b
        size_a = size_b = 1
        while True:
            # One of each comes first: what counts as 1 for a hint would take the next one as well.
            is_first = a > first_a and b == first_b < len(target)
            if a < len(shape) and not is_first and (b == len(target) or hint_of(size_a) <= hint_of(size_b)):
                size_a, a = size_a * shape[a], a + 1
            elif b < len(target):
                size_b, b = size_b * target[b], b + 1
            else:
                raise UnsupportedError(f"a reshape of {tuple(target)} to {tuple(shape)}, whose sizes were not compared")
            if b > first_b and surely_equal(size_a, size_b):
                break
        flat: Any = 0
        open_ = is_symbolic(size_a)
        for i, extent in zip(indices[first_a:a], shape[first_a:a], strict=True):
            if not (open_ and is_always(extent, 1)):
                flat = i + flat * extent
        stride, outermost = size_b, True
        for extent in target[first_b:b]:
            if open_ and is_always(extent, 1):
                found.append(0)
                continue
            stride = exact_quotient(stride, extent)
            place = flat // stride
            found.append(place if outermost else place % extent)
            outermost = False
    return tuple(found)


def has_no_elements(shape: Sequence[int]) -> bool:
    """Whether a tensor has no elements whatever the sizes are."""
    return builtins.any(is_always(e, 0) for e in shape)


def reshape(x: Tensor, shape: Sequence[int], name: str = "reshape") -> Tensor:
    """The elements of `x` in row-major order under another shape of the same size."""
    if has_no_elements(shape):
        return compute(shape, lambda *i: const(0, x.dtype), name)
    try:
        return compute(shape, lambda *i: x[reshaped_index(i, shape, x.shape)], name)
    except UnsupportedError:
        from lamina.dialects.te.counted import counted_reshape, numbers_at_the_end

        own, other = numbers_at_the_end(x.shape, shape)
        if x.shape[own:] != tuple(shape[other:]):
            x = reshape(x, (*x.shape[:own], *shape[other:]), f"{name}_last")
        return counted_reshape(x, shape, name)


def clamped(index: Scalar, extent: int) -> Scalar:
    """An index read from memory, moved into 0 .. extent-1."""
    return minimum(maximum(cast(index, "int64"), 0), extent - 1)


def wrapped(index: Scalar, extent: int) -> Scalar:
    """An index read from memory, modulo the extent: negative ones count from the end."""
    return safe_floormod(cast(index, "int64"), const(extent, "int64"))


def joined(tensors: Sequence[Tensor], axis: int, name: str = "concatenate") -> Tensor:
    """The tensors one after the other along an axis: each read is guarded by its part of the axis."""
    starts = [0]
    for t in tensors:
        starts.append(starts[-1] + t.shape[axis])
    parts = [
        (t, low, high)
        for t, low, high in zip(tensors, starts, starts[1:], strict=False)
        if not is_always(high - low, 0)
    ]
    shape = [*tensors[0].shape[:axis], starts[-1], *tensors[0].shape[axis + 1 :]]

    def element(*i: Index) -> Any:
        place = i[axis]
        value: Any = const(0, tensors[0].dtype)
        for n, (t, low, high) in enumerate(reversed(parts)):
            inside = all(place >= low, place < high)
            part = if_then_else(inside, t[(*i[:axis], place - low, *i[axis + 1 :])], const(0, t.dtype))
            value = part if n == 0 else select(place < high, part, value)
        return value

    return compute(shape, element, name)
