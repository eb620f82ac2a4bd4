"""Operators that torch makes of others when it traces a program: scripts keep them by name."""

from __future__ import annotations

from math import prod
from typing import Any

from lamina.dialects.dtypes import is_float
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_reduce import norm_of
from lamina.frontends.aten.convert_shape import cat, diagonal
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


@aten_op("cosine_similarity")
def cosine_similarity(b: AtenBuilder, x1: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Value:
    """The cosine of the angle between vectors, none of them taken as shorter than eps."""
    x, y = b.floats(x1, x2)
    shape = b.common_shape(x.shape, y.shape)
    x, y = b.broadcast(x, shape), b.broadcast(y, shape)
    axis = b.axis(dim, x.rank)
    x, y = (b.div(v, b.one("maximum", norm_of(b, v, 2.0, [axis], True), eps)) for v in (x, y))
    return b.op("sum", b.mul(x, y), axis=[axis])


@aten_op("pairwise_distance")
def pairwise_distance(
    b: AtenBuilder, x1: Value, x2: Value, p: float = 2, eps: float = 1e-6, keepdim: bool = False
) -> Value:
    # The difference is one of the type that they have, of uint8 modulo 256.
    (apart,) = b.floats(b.add(b.sub(*b.common(x1, x2)), eps))
    return norm_of(b, apart, float(p), [apart.rank - 1], keepdim)


@aten_op("dist")
def dist(b: AtenBuilder, self: Value, other: Value, p: float = 2) -> Value:
    apart = b.sub(*b.floats(self, other))
    return norm_of(b, apart, float(p), list(range(apart.rank)), False)


@aten_op("diff")
def diff(
    b: AtenBuilder, self: Value, n: int = 1, dim: int = -1, prepend: Value | None = None, append: Value | None = None
) -> Value:
    """The n-th difference along an axis, of what may stand before and behind."""
    axis = b.axis(dim, self.rank)
    if not n:
        return self
    x = cat(b, [v for v in (prepend, self, append) if v is not None], axis)
    for _ in range(min(n, x.shape[axis])):
        size = x.shape[axis]
        last, first = b.slice(x, axis, 1, size), b.slice(x, axis, 0, size - 1)
        x = b.op("not_equal", last, first) if x.dtype == "bool" else b.sub(last, first)
    return x


@aten_op("trace")
def trace(b: AtenBuilder, self: Value) -> Value:
    return _sum(b, diagonal(b, self), [0])


@aten_op("ldexp")
def ldexp(b: AtenBuilder, self: Value, other: Value) -> Value:
    """x * 2^y."""
    x, y = b.floats(self, other)
    return b.mul(x, b.op("power", b.filled(2, y.shape, y.dtype), y))


@aten_op("isin")
def isin(
    b: AtenBuilder, elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Value:
    """Whether each element is among others."""
    x, others = b.common(elements, test_elements)
    count = prod(others.shape)
    if not count:
        return b.filled(invert, x.shape, "bool")
    same = b.op("equal", b.reshape(x, (*x.shape, 1)), b.reshape(others, (count,)))
    found = b.op("any", same, axis=[x.rank])
    return b.op("logical_not", found) if invert else found


@aten_op("isreal")
def isreal(b: AtenBuilder, self: Value) -> Value:
    return b.filled(True, self.shape, "bool")


@aten_op("sum_to_size")
def sum_to_size(b: AtenBuilder, self: Value, size: Any) -> Value:
    """The sum over the axes that a shape does not have or has with one element."""
    wanted = b.ints(size)
    more = self.rank - len(wanted)
    axes = [a for a in range(self.rank) if a < more or (wanted[a - more] == 1 and self.shape[a] != 1)]
    if more < 0 or any(a not in axes and self.shape[a] != wanted[a - more] for a in range(more, self.rank)):
        raise b.fail(f"{self} has no sum of the shape {wanted}")
    return b.reshape(_sum(b, self, axes), wanted) if axes or not wanted else self


def _sum(b: AtenBuilder, x: Value, axes: list[int]) -> Value:
    """The sum over axes; integers are added as int64."""
    return b.op("sum", x if is_float(x.dtype) else b.tensor(x, "int64"), axis=axes)
