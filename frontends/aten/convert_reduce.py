"""Reductions over axes, running ones, and orders along an axis."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, itemsize, numpy_dtype
from lamina.dialects.infos import is_symbolic
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import DType
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


def over(b: AtenBuilder, kind: str, x: Value, axes: list[int], keepdim: bool) -> Value:
    """A reduction over axes; a tensor of rank 0 has none."""
    if not x.rank or not axes:
        return x
    return b.op(kind, x, axis=axes, keepdims=keepdim)


def _shape(x: Value, axes: list[int], keepdim: bool) -> list[int]:
    return [1 if a in axes else e for a, e in enumerate(x.shape) if keepdim or a not in axes]


def _total(x: Value) -> str:
    """The type of a sum: that of floats, and of integers the widest."""
    return x.dtype if is_float(x.dtype) else "int64"


@aten_op("sum", "nansum", "prod")
def total(b: AtenBuilder, self: Value, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Value:
    assert b.call is not None
    kind = b.call.packet
    x = b.tensor(self, b.dtype(dtype, _total(self)))
    if kind == "nansum":
        x, kind = (b.choose(b.op("isnan", x), 0, x) if is_float(x.dtype) else x), "sum"
    axes = b.axes(dim, x.rank)
    if 0 in x.shape:
        return b.filled(1 if kind == "prod" else 0, _shape(x, axes, keepdim), x.dtype)
    return over(b, kind, x, axes, keepdim)


@aten_op("mean", "nanmean")
def mean(b: AtenBuilder, self: Value, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Value:
    assert b.call is not None
    x = b.tensor(self, b.dtype(dtype, self.dtype))
    axes = b.axes(dim, x.rank)
    if 0 in x.shape:
        return b.filled(np.nan, _shape(x, axes, keepdim), x.dtype)
    if b.call.packet == "nanmean":
        nan = b.op("isnan", x)
        counted = over(b, "sum", b.tensor(b.op("logical_not", nan), x.dtype), axes, keepdim)
        return b.div(over(b, "sum", b.choose(nan, 0.0, x), axes, keepdim), counted)
    return over(b, "mean", x, axes, keepdim)


def extreme(b: AtenBuilder, x: Value, axes: list[int], keepdim: bool, most: bool) -> Value:
    """The greatest (least) elements; of truths whether any (all) is true."""
    if x.dtype == "bool":
        return over(b, "any" if most else "all", x, axes, keepdim)
    return over(b, "max" if most else "min", x, axes, keepdim)


@aten_op("amax", "amin")
def extremes(b: AtenBuilder, self: Value, dim: Any = (), keepdim: bool = False) -> Value:
    assert b.call is not None
    return extreme(b, self, b.axes(dim, self.rank), keepdim, b.call.packet == "amax")


@aten_op("aminmax")
def aminmax(b: AtenBuilder, self: Value, *, dim: int | None = None, keepdim: bool = False) -> tuple[Value, Value]:
    axes = b.axes(None if dim is None else [dim], self.rank)
    low, high = (extreme(b, self, axes, keepdim, most) for most in (False, True))
    if dim is None and keepdim:
        low, high = (b.reshape(v, [1] * self.rank) for v in (low, high))
    return low, high


@aten_op("max.default", "min.default")
def extreme_of_all(b: AtenBuilder, self: Value) -> Value:
    assert b.call is not None
    return extreme(b, self, b.axes(None, self.rank), False, b.call.packet == "max")


@aten_op("max.other", "min.other")
def extreme_of_two(b: AtenBuilder, self: Value, other: Value) -> Value:
    assert b.call is not None
    x, y = b.common(self, other)
    most = b.call.packet == "max"
    if x.dtype == "bool":
        return b.op("logical_or" if most else "logical_and", x, y)
    return b.op("maximum" if most else "minimum", x, y)


def _in_order(b: AtenBuilder, x: Value, most: bool) -> Value:
    """Integers in the order of floats, both zeros the same one; what is no number is the greatest, or the least.

    The bits of floats that are not negative rise with them. Those of the others, which fall, are counted from the
    least integer, which is the negative zero's.
    """
    bits = f"int{8 * itemsize(x.dtype)}"
    info = np.iinfo(bits)
    number = b.op("reinterpret", x, dtype=bits)
    least = b.constant(np.asarray(info.min, bits))
    number = b.op("where", b.one("less", number, 0), b.op("subtract", least, number), number)
    return b.op("where", b.op("isnan", x), b.constant(np.asarray(info.max if most else info.min, bits)), number)


def _places(b: AtenBuilder, x: Value, axis: int | None, keepdim: bool, most: bool) -> Value:
    """The first place of the greatest (least) element, or of one that is no number."""
    given = b.op("cast", x, dtype="uint8") if x.dtype == "bool" else x
    if not given.rank:
        return b.zeros((), "int64")
    flat = given if axis is not None else b.reshape(given, (prod(given.shape),))
    at = [axis if axis is not None else 0]
    keys = _in_order(b, flat, most) if is_float(x.dtype) else flat
    found = b.tensor(b.op("argmax" if most else "argmin", keys, axis=at, keepdims=keepdim), "int64")
    if axis is None and keepdim:
        return b.reshape(found, [1] * x.rank)
    return found


@aten_op("argmax", "argmin")
def arg_extreme(b: AtenBuilder, self: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    assert b.call is not None
    axis = None if dim is None else b.axis(dim, self.rank)
    return _places(b, self, axis, keepdim, b.call.packet == "argmax")


@aten_op("max.dim", "min.dim")
def extreme_with_place(b: AtenBuilder, self: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    assert b.call is not None
    most = b.call.packet == "max"
    axis = b.axis(dim, self.rank)
    return extreme(b, self, [axis], keepdim, most), _places(b, self, axis, keepdim, most)


@aten_op("any", "all")
def truth(b: AtenBuilder, self: Value, dim: Any = None, keepdim: bool = False) -> Value:
    assert b.call is not None
    kind = b.call.packet
    axes = b.axes(dim, self.rank)
    x = b.tensor(self, "bool")
    if 0 in x.shape:
        found = b.filled(kind == "all", _shape(x, axes, keepdim), "bool")
    else:
        found = over(b, kind, x, axes, keepdim)
    return b.tensor(found, "uint8") if self.dtype == "uint8" else found


@aten_op("count_nonzero")
def count_nonzero(b: AtenBuilder, self: Value, dim: Any = None) -> Value:
    return over(b, "sum", b.tensor(b.tensor(self, "bool"), "int64"), b.axes(dim, self.rank), False)


# -- variances and norms ---------------------------------------------------------------------------


def moments(b: AtenBuilder, x: Value, axes: list[int], correction: float, keepdim: bool) -> tuple[Value, Value]:
    """The variance and the mean; with fewer elements than are needed there is no variance."""
    count = prod(x.shape[a] for a in axes) if x.rank else 1
    if not count:
        nothing = b.filled(np.nan, _shape(x, axes, keepdim), x.dtype)
        return nothing, nothing
    centre = over(b, "mean", x, axes, True)
    apart = b.sub(x, centre)
    squares = over(b, "sum", b.mul(apart, apart), axes, keepdim)
    whole = is_symbolic(count) and correction == int(correction)
    left = count - int(correction) if whole else max(count - correction, 0.0)
    if x.rank:
        centre = b.reshape(centre, _shape(x, axes, keepdim))
    variance = b.div(squares, left) if left else b.div(squares, b.zeros((), x.dtype))
    return variance, centre


def _correction(args: tuple[Any, ...], correction: Any, unbiased: Any) -> tuple[Any, bool, float]:
    """The axes, whether they stay, and the correction, of all the forms that the arguments have."""
    dims: Any = None
    keep = False
    rest = list(args)
    if len(rest) == 1 and isinstance(rest[0], bool):  # var(x, unbiased)
        unbiased = rest.pop(0)
    if rest:
        dims = rest.pop(0)
    if rest:  # var.dim(x, dim, unbiased, keepdim)
        unbiased = rest.pop(0)
    if rest:
        keep = bool(rest.pop(0))
    if unbiased is not None:
        return dims, keep, float(bool(unbiased))
    return dims, keep, 1.0 if correction is None else float(correction)


@aten_op("var", "std", "var_mean", "std_mean")
def variance(b: AtenBuilder, self: Value, *args: Any, dim: Any = None, correction: Any = None, unbiased: Any = None,
             keepdim: bool = False) -> Any:  # fmt: skip
    assert b.call is not None
    dims, keep, by = _correction(args, correction, unbiased)
    axes = b.axes(dims if dims is not None else dim, self.rank)
    spread, centre = moments(b, self, axes, by, keep or keepdim)
    if b.call.packet.startswith("std"):
        spread = b.op("sqrt", spread)
    return (spread, centre) if b.call.packet.endswith("mean") else spread


def norm_of(b: AtenBuilder, x: Value, order: float, axes: list[int], keepdim: bool) -> Value:
    """(sum of |x|**order) ** (1/order), and what that tends to for 0 and the infinities.

    Of 16 bits it is added in float32, as torch does: squares of ordinary float16 numbers are not finite.
    """
    if x.dtype in ("float16", "bfloat16"):
        return b.tensor(norm_of(b, b.tensor(x, "float32"), order, axes, keepdim), x.dtype)
    size = b.op("abs", x)
    if order == np.inf or order == -np.inf:
        return over(b, "max" if order > 0 else "min", size, axes, keepdim)
    if order == 0:
        return over(b, "sum", b.tensor(b.one("not_equal", x, 0.0), x.dtype), axes, keepdim)
    if order == 1:
        return over(b, "sum", size, axes, keepdim)
    if order == 2:
        return b.op("sqrt", over(b, "sum", b.mul(x, x), axes, keepdim)) if x.rank else size
    powers = b.op("power", size, b.scalar(order, x))
    found = over(b, "sum", powers, axes, keepdim)
    return b.op("power", found, b.scalar(1.0 / order, x))


@aten_op("linalg_vector_norm")
def vector_norm(b: AtenBuilder, x: Value, ord: Any = 2, dim: Any = None, keepdim: bool = False, *,
                dtype: DType | None = None) -> Value:  # fmt: skip
    (real,) = b.floats(x)
    given = b.tensor(real, b.dtype(dtype, real.dtype))
    return norm_of(b, given, float(ord), b.axes(dim, given.rank), keepdim)


@aten_op("norm")
def norm(b: AtenBuilder, self: Value, p: Any = 2, dim: Any = None, keepdim: bool = False, *,
         dtype: DType | None = None) -> Value:  # fmt: skip
    order = 2.0 if p is None else float(b.number(p, "the order of a norm"))
    x = b.tensor(self, b.dtype(dtype, self.dtype))
    return norm_of(b, x, order, b.axes(dim, x.rank), keepdim)


@aten_op("logsumexp", "special_logsumexp")
def logsumexp(b: AtenBuilder, self: Value, dim: Any, keepdim: bool = False) -> Value:
    """The greatest is taken out, so that exp stays in range; of infinities it is themselves."""
    (x,) = b.floats(self)
    if not x.rank:
        return x
    axes = b.axes(dim, x.rank)
    top = over(b, "max", x, axes, True)
    safe = b.choose(b.op("isfinite", top), top, 0.0)
    total = over(b, "sum", b.op("exp", b.sub(x, safe)), axes, keepdim)
    return b.add(b.op("log", total), b.reshape(safe, total.shape))


# -- running ones ----------------------------------------------------------------------------------


@aten_op("cumsum", "cumprod")
def cumulative(b: AtenBuilder, self: Value, dim: int, *, dtype: DType | None = None) -> Value:
    assert b.call is not None
    x = b.tensor(self, b.dtype(dtype, _total(self)))
    if not x.rank or 0 in x.shape:
        return x
    return b.op(b.call.packet, x, axis=b.axis(dim, x.rank))


@aten_op("cummax", "cummin")
def running_extreme(b: AtenBuilder, self: Value, dim: int) -> tuple[Value, Value]:
    assert b.call is not None
    if not self.rank:
        return self, b.zeros((), "int64")
    return _running(b, self, b.axis(dim, self.rank), b.call.packet == "cummax")


def _running(b: AtenBuilder, self: Value, axis: int, most: bool) -> tuple[Value, Value]:
    """The greatest (least) so far and its last place: in log2(n) steps, each over twice as many elements."""
    extent = self.shape[axis]
    x = b.op("cast", self, dtype="uint8") if self.dtype == "bool" else self
    line = np.arange(extent, dtype=np.int64).reshape([-1 if a == axis else 1 for a in range(x.rank)])
    place = b.broadcast(b.constant(line), x.shape)
    step = 1
    while step < extent:
        width = [0] * 2 * x.rank
        width[2 * axis] = step
        before = b.slice(x, axis, 0, extent - step)
        old_place = b.slice(place, axis, 0, extent - step)
        own, own_place = b.slice(x, axis, step, extent), b.slice(place, axis, step, extent)
        better = b.op("greater" if most else "less", before, own)
        if is_float(x.dtype):
            better = b.op("logical_and", b.op("logical_or", better, b.op("isnan", before)),
                          b.op("logical_not", b.op("isnan", own)))  # fmt: skip
        head, head_place = b.slice(x, axis, 0, step), b.slice(place, axis, 0, step)
        x = b.op("concatenate", head, b.choose(better, before, own), axis=axis)
        place = b.op("concatenate", head_place, b.choose(better, old_place, own_place), axis=axis)
        step *= 2
    return b.tensor(x, self.dtype), place


@aten_op("logcumsumexp")
def logcumsumexp(b: AtenBuilder, self: Value, dim: int) -> Value:
    """In log2(n) steps, each over twice as many elements."""
    if not self.rank:
        return self
    axis, x = b.axis(dim, self.rank), self
    step = 1
    while step < x.shape[axis]:
        extent = x.shape[axis]
        before, own = b.slice(x, axis, 0, extent - step), b.slice(x, axis, step, extent)
        most = b.op("maximum", before, own)
        least = b.op("minimum", before, own)
        safe = b.choose(b.op("isfinite", most), most, 0.0)
        more = b.add(b.op("log1p", b.op("exp", b.sub(least, safe))), most)
        joined = b.choose(b.op("isfinite", most), more, most)
        x = b.op("concatenate", b.slice(x, axis, 0, step), joined, axis=axis)
        step *= 2
    return x


# -- orders ----------------------------------------------------------------------------------------


@aten_op("sort", "sort.stable")
def sort(b: AtenBuilder, self: Value, *args: Any, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    """The elements in order, and their places; equal ones stay in their order."""
    given = [v for v in args if v is not None]
    if args and isinstance(args[0], bool):
        given = given[1:]
    if given:
        dim = int(given[0])
    if len(given) > 1:
        descending = bool(given[1])
    return _sorted(b, self, dim, descending)


def _sorted(b: AtenBuilder, x: Value, dim: int, descending: bool) -> tuple[Value, Value]:
    if not x.rank:
        return x, b.zeros((), "int64")
    axis = b.axis(dim, x.rank)
    given = b.op("cast", x, dtype="uint8") if x.dtype == "bool" else x
    if 0 in x.shape:
        return x, b.zeros(x.shape, "int64")
    places = b.op("argsort", given, axis=axis, is_ascend=not descending, dtype="int64")
    return b.tensor(b.op("gather", given, places, axis=axis), x.dtype), places


@aten_op("argsort", "argsort.stable")
def argsort(
    b: AtenBuilder, self: Value, *args: Any, stable: Any = None, dim: int = -1, descending: bool = False
) -> Value:
    return sort(b, self, *args, stable=stable, dim=dim, descending=descending)[1]


@aten_op("msort")
def msort(b: AtenBuilder, self: Value) -> Value:
    return _sorted(b, self, 0, False)[0]


@aten_op("topk")
def topk(b: AtenBuilder, self: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not self.rank:
        return self, b.zeros((), "int64")
    axis, count = b.axis(dim, self.rank), int(b.number(k, "the number of elements"))
    if not count:
        shape = [0 if a == axis else e for a, e in enumerate(self.shape)]
        return b.zeros(shape, self.dtype), b.zeros(shape, "int64")
    return b.ops("topk", self, k=count, axis=axis, is_ascend=not largest, dtype="int64")


@aten_op("kthvalue")
def kthvalue(b: AtenBuilder, self: Value, k: Any, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The k-th least element, counted from 1."""
    if not self.rank:
        return self, b.zeros((), "int64")
    axis, at = b.axis(dim, self.rank), int(b.number(k, "the place")) - 1
    values, places = _sorted(b, self, axis, False)
    found = [b.slice(v, axis, at, at + 1) for v in (values, places)]
    if not keepdim:
        found = [b.reshape(v, (*self.shape[:axis], *self.shape[axis + 1 :])) for v in found]
    return found[0], found[1]


@aten_op("median.dim", "nanmedian.dim")
def median(b: AtenBuilder, self: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    """The middle element in order, the lower one of two; one that is no number comes first of all."""
    assert b.call is not None
    if not self.rank:
        return self, b.zeros((), "int64")
    axis = b.axis(dim, self.rank)
    if is_float(self.dtype) and b.call.packet == "nanmedian":
        return _median_of_numbers(b, self, axis, keepdim)
    values, places = kthvalue(b, self, (self.shape[axis] - 1) // 2 + 1, axis, True)
    if is_float(self.dtype):
        nan = b.op("isnan", self)
        none = b.op("any", nan, axis=[axis], keepdims=True)
        first = b.tensor(b.op("argmax", b.op("cast", nan, dtype="uint8"), axis=[axis], keepdims=True), "int64")
        values, places = b.choose(none, np.nan, values), b.op("where", none, first, places)
    if not keepdim:
        shape = (*self.shape[:axis], *self.shape[axis + 1 :])
        values, places = b.reshape(values, shape), b.reshape(places, shape)
    return values, places


def _median_of_numbers(b: AtenBuilder, x: Value, axis: int, keepdim: bool) -> tuple[Value, Value]:
    """The middle one of the elements that are numbers: the others stand behind them in order."""
    nan = b.op("isnan", x)
    _, places = _sorted(b, b.choose(nan, np.inf, x), axis, False)
    counted = b.op("sum", b.tensor(b.op("logical_not", nan), "int64"), axis=[axis], keepdims=True)
    middle = b.one("maximum", b.one("floor_divide", b.sub(counted, 1), 2), 0)
    place = b.op("gather", places, middle, axis=axis)
    value = b.op("gather", x, place, axis=axis)
    if not keepdim:
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        value, place = b.reshape(value, shape), b.reshape(place, shape)
    return value, place


@aten_op("median.default", "nanmedian.default")
def median_of_all(b: AtenBuilder, self: Value) -> Value:
    if not self.rank:
        return self
    flat = b.reshape(self, (prod(self.shape),))
    return median(b, flat, 0)[0]


@aten_op("mode")
def mode(b: AtenBuilder, self: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    """The element that comes most often, the least of several, and its last place: the longest run in order."""
    if not self.rank:
        return self, b.zeros((), "int64")
    axis = b.axis(dim, self.rank)
    extent = self.shape[axis]
    line = b.constant(np.arange(extent, dtype=np.int64).reshape([-1 if a == axis else 1 for a in range(self.rank)]))
    values, places = _sorted(b, self, axis, False)
    same = b.op("equal", b.slice(values, axis, 1, extent), b.slice(values, axis, 0, extent - 1))
    first = b.filled(True, b.slice(values, axis, 0, 1).shape, "bool")
    begins = b.op("concatenate", first, b.op("logical_not", same), axis=axis) if extent > 1 else first
    begin = _running(b, b.choose(begins, b.broadcast(line, self.shape), 0), axis, True)[0]
    best = b.op("argmax", b.sub(line, begin), axis=[axis], keepdims=True)
    results = [b.op("gather", v, b.cast(best, "int64"), axis=axis) for v in (values, places)]
    if not keepdim:
        results = [b.op("squeeze", v, axis=[axis]) for v in results]
    return results[0], results[1]


@aten_op("searchsorted", "bucketize")
def searchsorted(b: AtenBuilder, first: Any, second: Any, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Value | None = None) -> Value:  # fmt: skip
    """The places where values would stand in sorted lines."""
    assert b.call is not None
    lines, given = (second, first) if b.call.packet == "bucketize" else (first, second)
    lines, values = b.common(lines, given)
    if 0 in lines.shape:
        return b.zeros(values.shape, "int32" if out_int32 else "int64")
    if sorter is not None:
        lines = b.op("gather", lines, sorter, axis=lines.rank - 1)
    scalar = not values.rank
    values = b.reshape(values, (1,)) if scalar else values
    shape = values.shape
    if lines.rank == 1:
        values = b.reshape(values, (prod(shape),))
    found = b.op("searchsorted", lines, values, right=right or side == "right", dtype="int32" if out_int32 else "int64")
    return b.reshape(found, () if scalar else shape)


@aten_op("histc")
def histc(b: AtenBuilder, self: Value, bins: int = 100, min: Any = 0, max: Any = 0) -> Value:
    x = b.reshape(self, (prod(self.shape),))
    if not x.shape[0]:
        return b.zeros((bins,), self.dtype)
    low, high = (b.tensor(v, x.dtype) for v in (min, max))
    if min == max:
        low, high = (b.op(k, x, axis=[0]) for k in ("min", "max"))
        flat = b.op("equal", low, high)
        low, high = b.choose(flat, b.sub(low, 1), low), b.choose(flat, b.add(high, 1), high)
    inside = b.op("logical_and", b.op("greater_equal", x, low), b.op("less_equal", x, high))
    at = b.op("floor", b.div(b.mul(b.sub(x, low), float(bins)), b.sub(high, low)))
    at = b.tensor(b.choose(inside, b.op("clip", at, a_min=0.0, a_max=bins - 1.0), 0.0), "int64")
    zeros = b.zeros((bins,), self.dtype)
    return b.op("scatter_elements", zeros, at, b.tensor(inside, self.dtype), axis=0, reduction="add")


@aten_op("histogram")
def histogram(
    b: AtenBuilder, self: Value, bins: Any = 100, *, range: Any = None, weight: Value | None = None,
    density: bool = False,
) -> tuple[Value, Value]:  # fmt: skip
    """Counts, or weights, between edges, the last of which belongs to its bin, and the edges."""
    x = b.reshape(self, (prod(self.shape),))
    weights = b.filled(1, x.shape, self.dtype) if weight is None else b.reshape(weight, x.shape)
    edges = bins if isinstance(bins, Value) else _edges(b, x, int(bins), range)
    count = edges.shape[0] - 1
    low, high = b.slice(edges, 0, 0, 1), b.slice(edges, 0, count, count + 1)
    inside = b.op("logical_and", b.op("greater_equal", x, low), b.op("less_equal", x, high))
    found = b.zeros((count,), self.dtype)
    if x.shape[0]:
        at = b.sub(b.op("searchsorted", edges, x, right=True, dtype="int64"), 1)
        at = b.op("clip", at, a_min=0.0, a_max=count - 1.0)
        given = b.choose(inside, weights, 0)
        found = b.op("scatter_elements", found, at, given, axis=0, reduction="add")
    if density:
        width = b.sub(b.slice(edges, 0, 1, count + 1), b.slice(edges, 0, 0, count))
        found = b.div(found, b.mul(b.op("sum", found, axis=[0]), width))
    return found, edges


def _edges(b: AtenBuilder, x: Value, bins: int, given: Any) -> Value:
    """Edges of bins of one width between bounds: those of the elements where none are given."""
    steps = b.constant(np.linspace(0, 1, bins + 1))
    if given is not None:
        low, high = (b.tensor(float(v), "float64") for v in given)
    elif not x.shape[0]:
        low, high = b.tensor(0.0, "float64"), b.tensor(1.0, "float64")
    else:
        low, high = (b.tensor(b.op(k, x, axis=[0]), "float64") for k in ("min", "max"))
    flat = b.op("equal", low, high)
    low, high = b.choose(flat, b.sub(low, 0.5), low), b.choose(flat, b.add(high, 0.5), high)
    line = b.add(b.mul(low, b.one("subtract", 1.0, steps)), b.mul(high, steps))
    return b.tensor(line, x.dtype)


def lowest(dtype: str) -> Any:
    """The least number of a type."""
    return -np.inf if is_float(dtype) else np.iinfo(numpy_dtype(dtype)).min
