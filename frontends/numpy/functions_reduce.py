"""NumPy's functions that make one value of many: sums, extremes, moments, scans, orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.functions_shape import normal_axes, normal_axis, taken_by
from lamina.frontends.numpy.table import implements


@cache
def result_type(function: Callable[..., Any], dtype: str) -> str:
    """The element type of a function of an array, as NumPy gives it."""
    with np.errstate(all="ignore"):
        return str(function(np.ones(1, numpy_dtype(dtype))).dtype)


def over(b: NumpyBuilder, kind: str, x: Value, axes: list[int], keepdims: bool) -> Value:
    """A reduction of Relay over axes."""
    if not axes:
        return x
    return b.op(kind, x, axis=axes, keepdims=keepdims)


def _where(b: NumpyBuilder, x: Value, where: Any, neutral: Any) -> Value:
    """A tensor with a neutral element where it does not count."""
    if where is True or where is np._NoValue:  # type: ignore[attr-defined]
        return x
    mask, wide = b.spread(b.tensor(where, "bool"), x)
    return b.choose(mask, wide, b.scalar(neutral, wide))


def _keep(keepdims: Any) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)  # type: ignore[attr-defined]


@implements("sum", "prod", "nansum", "nanprod")
def total(
    b: NumpyBuilder, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None,
    where: Any = True,
) -> Value:  # fmt: skip
    is_sum = b.function.endswith(("sum", "add.reduce"))
    value = b.tensor(a)
    if b.function.rpartition(".")[2].startswith("nan") and is_float(value.dtype):
        value = b.choose(b.aten("isnan", value), 0 if is_sum else 1, value)
    kind = b.dtype_of(dtype, result_type(np.sum if is_sum else np.prod, value.dtype))
    found = _total(b, b.cast(value, kind), axis, keepdims, where, is_sum)
    if initial is not None and initial is not np._NoValue:  # type: ignore[attr-defined]
        found = b.one("add" if is_sum else "multiply", found, b.tensor(initial, kind))
    return found


def summed(b: NumpyBuilder, x: Value, axis: Any, dtype: Any = None) -> Value:
    """The sum over an axis, of the type that NumPy's sums have or of another one."""
    return _total(b, b.cast(x, b.dtype_of(dtype, result_type(np.sum, x.dtype))), axis, False, True, True)


def _total(b: NumpyBuilder, x: Value, axis: Any, keepdims: Any, where: Any, is_sum: bool) -> Value:
    value = _where(b, x, where, 0 if is_sum else 1)
    axes = normal_axes(b, axis, value.rank)
    kind = value.dtype
    if kind == "bool":
        return over(b, "any" if is_sum else "all", value, axes, _keep(keepdims))
    # 16 bits are added in 32, as NumPy's are, and rounded once.
    wide = b.cast(value, "float32") if kind in ("float16", "bfloat16") else value
    return b.cast(over(b, "sum" if is_sum else "prod", wide, axes, _keep(keepdims)), kind)


@implements("mean", "nanmean")
def mean(
    b: NumpyBuilder, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, *, where: Any = True
) -> Value:
    value = b.tensor(a)
    if b.function.endswith("nanmean") and is_float(value.dtype):
        where = b.aten("logical_not", b.aten("isnan", value))
        value = b.choose(where, value, 0)
    kind = b.dtype_of(dtype, result_type(np.mean, value.dtype))
    inner = "float32" if kind in ("float16", "bfloat16") else kind
    wide = b.cast(value, inner)
    axes = normal_axes(b, axis, value.rank)
    if where is True or where is np._NoValue:  # type: ignore[attr-defined]
        count: Any = b.scalar(prod(value.shape[k] for k in axes), wide)
    else:
        mask = b.broadcast(b.tensor(where, "bool"), value.shape)
        count = over(b, "sum", b.cast(mask, inner), axes, _keep(keepdims))
    found = b.div(_total(b, wide, axis, keepdims, where, True), count)
    return b.cast(found, kind)


@implements("var", "std")
def variance(
    b: NumpyBuilder, a: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Value:  # fmt: skip
    if where is not True and where is not np._NoValue:  # type: ignore[attr-defined]
        raise b.unsupported("the argument where is not supported")
    value = b.tensor(a)
    kind = b.dtype_of(dtype, result_type(np.var, value.dtype))
    wide = b.cast(value, "float32" if kind in ("float16", "bfloat16") else kind)
    axes = normal_axes(b, axis, value.rank)
    by = correction if correction is not None and correction is not np._NoValue else ddof  # type: ignore[attr-defined]
    count = prod(value.shape[k] for k in axes)
    centre = b.div(over(b, "sum", wide, axes, True), b.scalar(count, wide)) if not isinstance(mean, Value) else mean
    off = b.op("subtract", wide, b.cast(centre, wide.dtype))
    found = b.div(over(b, "sum", b.mul(off, off), axes, _keep(keepdims)), b.scalar(max(count - by, 0), wide))
    if b.function.endswith("std"):
        found = b.op("sqrt", found)
    return b.cast(found, kind)


@implements("max", "min", "amax", "amin", "nanmax", "nanmin")
def extreme(
    b: NumpyBuilder, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Value:
    value = b.tensor(a)
    most = b.function.endswith(("max", "maximum.reduce"))
    axes = normal_axes(b, axis, value.rank)
    if initial is np._NoValue:  # type: ignore[attr-defined]
        initial = None
    if initial is None and any(not value.shape[k] for k in axes):
        raise UsageError("no elements have no extreme", where=b.where, hint="give initial=")
    if b.function.rpartition(".")[2].startswith("nan") and is_float(value.dtype):
        missing = b.aten("isnan", value)
        all_missing = over(b, "all", missing, axes, _keep(keepdims))
        found = _extreme(b, b.choose(missing, -np.inf if most else np.inf, value), axes, keepdims, most)
        return b.choose(all_missing, float("nan"), found)
    if where is not True and where is not np._NoValue:  # type: ignore[attr-defined]
        if initial is None:
            raise UsageError("where= needs initial=", where=b.where)
        value = _where(b, value, where, initial)
    found = _extreme(b, value, axes, keepdims, most)
    if initial is not None:
        found = b.op("maximum" if most else "minimum", found, b.tensor(initial, found.dtype))
    return found


def _extreme(b: NumpyBuilder, x: Value, axes: list[int], keepdims: Any, most: bool) -> Value:
    return b.aten("amax" if most else "amin", x, axes, _keep(keepdims)) if axes else x


@implements("ptp")
def ptp(b: NumpyBuilder, a: Any, axis: Any = None, keepdims: Any = False) -> Value:
    value = b.tensor(a)
    axes = normal_axes(b, axis, value.rank)
    return b.sub(*(_extreme(b, value, axes, keepdims, most) for most in (True, False)))


@implements("any", "all")
def truth(b: NumpyBuilder, a: Any, axis: Any = None, keepdims: Any = False, *, where: Any = True) -> Value:
    is_any = b.function.endswith(("any", "or.reduce"))
    value = _where(b, b.tensor(a, "bool"), where, not is_any)
    return over(b, "any" if is_any else "all", value, normal_axes(b, axis, value.rank), _keep(keepdims))


@implements("count_nonzero")
def count_nonzero(b: NumpyBuilder, a: Any, axis: Any = None, *, keepdims: bool = False) -> Value:
    value = b.cast(b.tensor(a, "bool"), "int64")
    return over(b, "sum", value, normal_axes(b, axis, value.rank), keepdims)


@implements("argmax", "argmin")
def arg_extreme(b: NumpyBuilder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    value = b.tensor(a)
    keep = _keep(keepdims)
    name = "argmax" if b.function.endswith("argmax") else "argmin"
    if axis is None:
        found = b.aten(name, b.reshape(value, (prod(value.shape),)), 0, False)
        return b.reshape(found, (1,) * value.rank) if keep else found
    return b.aten(name, value, normal_axis(b, axis, value.rank), keep)


@implements("average")
def average(
    b: NumpyBuilder, a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    value = b.tensor(a)
    if weights is None:
        found = mean(b, value, axis, None, keepdims)
        axes = normal_axes(b, axis, value.rank)
        total_weight = b.broadcast(b.scalar(prod(value.shape[k] for k in axes), found), found.shape)
        return (found, total_weight) if returned else found
    w = b.tensor(weights)
    if w.shape != value.shape:
        at = normal_axis(b, axis, value.rank)
        w = b.reshape(w, [e if k == at else 1 for k, e in enumerate(value.shape)])
    kind = str(
        np.result_type(numpy_dtype(value.dtype), numpy_dtype(w.dtype), *([] if is_float(value.dtype) else ["f8"]))
    )
    value, w = b.spread(b.cast(value, kind), b.cast(w, kind))
    scale = _total(b, w, axis, keepdims, True, True)
    found = b.div(_total(b, b.mul(value, w), axis, keepdims, True, True), scale)
    return (found, scale) if returned else found


@implements("cov", "corrcoef")
def covariance(
    b: NumpyBuilder, m: Any, y: Any = None, rowvar: bool = True, bias: Any = False, ddof: Any = None, **given: Any
) -> Value:
    if any(v is not None and v is not np._NoValue for v in given.values()):  # type: ignore[attr-defined]
        raise b.unsupported(f"the argument {next(iter(given))} is not supported")
    rows = [b.tensor(v) for v in (m, y) if v is not None]
    rows = [b.reshape(v, (1, *v.shape)) if v.rank < 2 else v if rowvar else b.swapped(v) for v in rows]
    kind = str(np.result_type(*(numpy_dtype(v.dtype) for v in rows), np.float64))
    x = b.aten("cat", [b.cast(v, kind) for v in rows], 0) if len(rows) > 1 else b.cast(rows[0], kind)
    count = x.shape[1]
    off = b.op("subtract", x, b.div(over(b, "sum", x, [1], True), count))
    by = ddof if ddof is not None and ddof is not np._NoValue else int(bias is False or bias is np._NoValue)  # type: ignore[attr-defined]
    found = b.div(b.aten("matmul", off, b.swapped(off)), max(count - by, 0))
    if b.function.endswith("corrcoef"):
        spread = b.op("sqrt", b.aten("diagonal", found))
        n = spread.shape[0]
        found = b.op("divide", b.op("divide", found, b.reshape(spread, (n, 1))), b.reshape(spread, (1, n)))
        found = b.aten("clamp", found, -1.0, 1.0)
    return b.reshape(found, ()) if found.shape == (1, 1) else found


# -- scans -----------------------------------------------------------------------------------------


@implements("cumsum", "cumprod", "nancumsum", "nancumprod")
def cumulative(b: NumpyBuilder, a: Any, axis: Any = None, dtype: Any = None) -> Value:
    is_sum = b.function.endswith(("cumsum", "add.accumulate"))
    value = b.tensor(a)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    if b.function.rpartition(".")[2].startswith("nan") and is_float(value.dtype):
        value = b.choose(b.aten("isnan", value), 0 if is_sum else 1, value)
    kind = b.dtype_of(dtype, result_type(np.cumsum if is_sum else np.cumprod, value.dtype))
    at = normal_axis(b, 0 if axis is None else axis, value.rank)
    return b.aten("cumsum" if is_sum else "cumprod", b.cast(value, kind), at)


@implements("diff")
def diff(b: NumpyBuilder, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Value:
    value = b.tensor(a)
    at = normal_axis(b, axis, value.rank)
    parts = [value]
    for extra, first in ((prepend, True), (append, False)):
        if extra is not None and extra is not np._NoValue:  # type: ignore[attr-defined]
            more = b.tensor(extra)
            if not more.rank:
                more = b.broadcast(more, [1 if k == at else e for k, e in enumerate(value.shape)])
            parts = [more, *parts] if first else [*parts, more]
    if len(parts) > 1:
        value = b.aten("cat", b.alike(*parts), at)
    for _ in range(n):
        later, earlier = (b.slice(value, at, s, value.shape[at] - 1 + s) for s in (1, 0))
        value = b.op("not_equal" if value.dtype == "bool" else "subtract", later, earlier)
    return value


@implements("ediff1d")
def ediff1d(b: NumpyBuilder, ary: Any, to_end: Any = None, to_begin: Any = None) -> Value:
    value = b.tensor(ary)
    found = diff(b, b.reshape(value, (prod(value.shape),)))
    parts = [b.tensor(p, found.dtype) for p in (to_begin, found, to_end) if p is not None]
    return b.aten("cat", [b.reshape(p, (prod(p.shape),)) for p in parts], 0)


@implements("trapezoid")
def trapezoid(b: NumpyBuilder, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Value:
    value = b.tensor(y)
    at = normal_axis(b, axis, value.rank)
    kind = str(np.result_type(numpy_dtype(value.dtype), 1.0))
    value = b.cast(value, kind)
    later, earlier = (b.slice(value, at, s, value.shape[at] - 1 + s) for s in (1, 0))
    if x is None:
        step = b.tensor(dx, kind)
    else:
        places = b.tensor(x, kind)
        step = diff(b, places, axis=at if places.rank == value.rank else -1)
        if places.rank != value.rank:
            step = b.reshape(step, [step.shape[0] if k == at else 1 for k in range(value.rank)])
    area = b.div(b.mul(b.op("add", later, earlier), b.broadcast(step, later.shape) if step.rank else step), 2)
    return over(b, "sum", area, [at], False)


# -- orders ----------------------------------------------------------------------------------------


@implements("sort")
def sort(b: NumpyBuilder, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Value:
    return _ordered(b, a, axis)[0]


@implements("argsort")
def argsort(
    b: NumpyBuilder, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Value:
    return _ordered(b, a, axis)[1]


def _ordered(b: NumpyBuilder, a: Any, axis: Any) -> tuple[Value, Value]:
    value = b.tensor(a)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    at = normal_axis(b, -1 if axis is None else axis, value.rank)
    found = b.aten("sort.stable", value, stable=True, dim=at)
    return found[0], found[1]


@implements("partition")
def partition(b: NumpyBuilder, a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Value:
    return _ordered(b, a, axis)[0]


@implements("argpartition")
def argpartition(
    b: NumpyBuilder, a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Value:
    return _ordered(b, a, axis)[1]


@implements("searchsorted")
def searchsorted(b: NumpyBuilder, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Value:
    known, values = b.alike(a, v)
    if sorter is not None:
        known = b.op("take", known, b.tensor(sorter, "int64"), axis=0, mode="clip")
    found = b.aten("searchsorted", known, values, right=side == "right")
    return b.reshape(b.cast(found, "int64"), values.shape)


@implements("digitize")
def digitize(b: NumpyBuilder, x: Any, bins: Any, right: bool = False) -> Value:
    edges = np.asarray(b.known(bins, "whether the edges of bins rise"))
    if edges.size > 1 and edges[0] > edges[-1]:
        found = searchsorted(b, edges[::-1], x, "right" if right else "left")
        return b.op("subtract", b.scalar(edges.size, found), found)
    return searchsorted(b, edges, x, "left" if right else "right")


@implements("median")
def median(b: NumpyBuilder, a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Value:
    value = b.tensor(a)
    return _quantile(b, value, 0.5, axis, _keep(keepdims), result_type(np.median, value.dtype))


@implements("quantile", "percentile")
def quantile(
    b: NumpyBuilder, a: Any, q: Any, axis: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Value:  # fmt: skip
    if method != "linear" or weights is not None:
        raise b.unsupported("only the method 'linear' without weights is supported")
    value = b.tensor(a)
    shares = np.asarray(b.known(q, "a share")) / (100.0 if b.function.endswith("percentile") else 1.0)
    if ((shares < 0) | (shares > 1)).any():
        raise UsageError("a share is not between 0 and 1, or 0 and 100 for percentile", where=b.where)
    kind = result_type(np.median, value.dtype)
    parts = [_quantile(b, value, float(s), axis, _keep(keepdims), kind) for s in shares.reshape(-1)]
    found = b.aten("stack", parts)
    return b.reshape(found, (*shares.shape, *parts[0].shape))


def _quantile(b: NumpyBuilder, x: Value, share: float, axis: Any, keepdims: bool, kind: str) -> Value:
    """A quantile between the two elements beside it; NaN where there is one."""
    axes = normal_axes(b, axis, x.rank)
    rest = [k for k in range(x.rank) if k not in axes]
    count = prod(x.shape[k] for k in axes)
    flat = b.reshape(b.transpose(x, [*rest, *axes]), (*(x.shape[k] for k in rest), count))
    ordered = b.cast(_ordered(b, flat, -1)[0], kind)
    last = ordered.rank - 1
    place = share * (count - 1)
    low = int(np.floor(place))
    first, second = (taken_by(b, ordered, [min(k, count - 1)], last) for k in (low, low + 1))
    found = first
    if place > low:
        off = b.mul(b.sub(second, first), place - low)
        found = b.choose(b.op("equal", first, second), first, b.op("add", first, off))
    if is_float(kind):
        # NaN stands behind all numbers.
        greatest = taken_by(b, ordered, [count - 1], last)
        found = b.choose(b.aten("isnan", greatest), float("nan"), found)
    shape = [1 if k in axes else e for k, e in enumerate(x.shape)] if keepdims else [x.shape[k] for k in rest]
    return b.reshape(found, shape)
