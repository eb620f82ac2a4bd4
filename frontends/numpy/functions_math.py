"""NumPy's functions of elements that are no ufuncs, and of polynomials and grids."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy import ufuncs
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.functions_shape import normal_axes, normal_axis, taken_by
from lamina.frontends.numpy.table import implements


@implements("clip")
def clip(
    b: NumpyBuilder,
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    dtype: Any = None,
) -> Value:
    found = b.tensor(a)
    for ufunc, bound, other in ((np.maximum, a_min, min), (np.minimum, a_max, max)):
        given = other if bound is None or bound is np._NoValue else bound  # type: ignore[attr-defined]
        if given is not None and given is not np._NoValue:  # type: ignore[attr-defined]
            found = ufuncs.call(b, ufunc, (found, given), dtype)
    return found


@implements("round", "around")
def round_(b: NumpyBuilder, a: Any, decimals: int = 0) -> Value:
    value = b.tensor(a)
    if not is_float(value.dtype):
        if decimals >= 0:
            return value if value.dtype != "bool" else b.cast(value, "float16")
        raise b.unsupported("integers cannot be rounded to tens")
    if not decimals:
        return b.op("round", value)
    scale = b.scalar(10.0 ** abs(decimals), value)
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return b.op(back, b.op("round", b.op(there, value, scale)), scale)


@implements("fix")
def fix(b: NumpyBuilder, x: Any) -> Value:
    return ufuncs.call(b, np.trunc, (x,))


@implements("where")
def where(b: NumpyBuilder, condition: Any, x: Any = None, y: Any = None, /) -> Value:
    if x is None or y is None:
        raise b.unsupported("the places where a condition holds have a shape that is known at run time only",
                            "numpy.where(condition, x, y) keeps the shape")  # fmt: skip
    values = b.alike(x, y)
    mask, first, second = b.spread(b.tensor(condition, "bool"), *values)
    return b.op("where", mask, first, second)


@implements("select")
def select(b: NumpyBuilder, condlist: Any, choicelist: Any, default: Any = 0) -> Value:
    found = default
    values = b.alike(*choicelist, default)
    found = values.pop()
    for condition, value in reversed(list(zip(condlist, values, strict=True))):
        mask, value, found = b.spread(b.tensor(condition, "bool"), value, found)
        found = b.op("where", mask, value, found)
    return found


@implements("choose")
def choose(b: NumpyBuilder, a: Any, choices: Any, mode: str = "raise") -> Value:
    index, *values = b.spread(b.tensor(a, "int64"), *b.alike(*([choices] if isinstance(choices, Value) else choices)))
    if mode == "wrap":
        index = ufuncs.call(b, np.remainder, (index, len(values)))
    found = values[-1]
    for k in range(len(values) - 2, -1, -1):
        found = b.op("where", b.one("less_equal", index, k), values[k], found)
    return found


@implements("nan_to_num")
def nan_to_num(
    b: NumpyBuilder, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Value:
    value = b.tensor(x)
    return b.aten("nan_to_num", value, nan, posinf, neginf) if is_float(value.dtype) else value


@implements("isclose")
def isclose(
    b: NumpyBuilder, a: Any, b_: Any = None, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False, **given: Any
) -> Value:
    x, y = a, given.get("b", b_)
    kind = str(np.result_type(*(numpy_dtype(b.tensor(v).dtype) for v in (x, y)), np.float16))
    x, y = b.spread(b.tensor(x, kind), b.tensor(y, kind))
    return b.aten("isclose", x, y, rtol, atol, equal_nan)


@implements("allclose")
def allclose(
    b: NumpyBuilder, a: Any, b_: Any = None, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False, **given: Any
) -> Value:
    near = isclose(b, a, b_, rtol, atol, equal_nan, **given)
    return b.op("all", near, axis=list(range(near.rank)), keepdims=False) if near.rank else near


@implements("array_equal")
def array_equal(b: NumpyBuilder, a1: Any, a2: Any, equal_nan: bool = False) -> Value:
    x, y = b.tensor(a1), b.tensor(a2)
    if x.shape != y.shape:
        return b.constant(np.asarray(False))
    same = ufuncs.call(b, np.equal, (x, y))
    if equal_nan:
        same = b.op("logical_or", same, b.op("logical_and", b.aten("isnan", x), b.aten("isnan", y)))
    return b.op("all", same, axis=list(range(same.rank)), keepdims=False) if same.rank else same


@implements("isin")
def isin(b: NumpyBuilder, element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
         kind: Any = None) -> Value:  # fmt: skip
    value, others = b.alike(b.tensor(element), b.tensor(test_elements))
    each = b.reshape(others, (prod(others.shape),))
    same = b.op("equal", b.reshape(value, (*value.shape, 1)), each)
    found = b.op("any", same, axis=[value.rank], keepdims=False)
    return b.op("logical_not", found) if invert else found


@implements("isneginf", "isposinf")
def _infinite(b: NumpyBuilder, x: Any) -> Value:
    value = b.tensor(x)
    sign = -np.inf if b.function.endswith("isneginf") else np.inf
    return b.one("equal", value, sign) if is_float(value.dtype) else b.zeros(value.shape, "bool")


@implements("real", of_complex=True)
def real(b: NumpyBuilder, val: Any) -> Any:
    return b.tensor(val) if isinstance(val, Value) else val.real


@implements("imag", of_complex=True)
def imag(b: NumpyBuilder, val: Any) -> Any:
    return b.zeros(val.shape, val.dtype) if isinstance(val, Value) else val.imag


@implements("angle", of_complex=True)
def angle(b: NumpyBuilder, z: Any, deg: bool = False) -> Any:
    if not isinstance(z, Value):
        found = np.arctan2(z.imag, z.real)
        return np.degrees(found) if deg else found
    value = z if is_float(z.dtype) else b.cast(z, "float64")
    turned = b.aten("atan2", b.zeros(value.shape, value.dtype), value)
    return b.aten("rad2deg", turned) if deg else turned


@implements("real_if_close")
def real_if_close(b: NumpyBuilder, a: Any, tol: float = 100) -> Value:
    return b.tensor(a)


@implements("iscomplexobj", of_complex=True)
def iscomplexobj(b: NumpyBuilder, x: Any) -> bool:
    return not isinstance(x, Value)


@implements("isrealobj", of_complex=True)
def isrealobj(b: NumpyBuilder, x: Any) -> bool:
    return isinstance(x, Value)


@implements("result_type")
def result_type(b: NumpyBuilder, *arrays_and_dtypes: Any) -> Any:
    return np.result_type(*(numpy_dtype(a.dtype) if isinstance(a, Value) else a for a in arrays_and_dtypes))


@implements("can_cast")
def can_cast(b: NumpyBuilder, from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(numpy_dtype(from_.dtype) if isinstance(from_, Value) else from_, to, casting)


@implements("sinc")
def sinc(b: NumpyBuilder, x: Any) -> Value:
    value = b.tensor(x)
    return b.aten("sinc", value if is_float(value.dtype) else b.cast(value, "float64"))


@implements("gradient")
def gradient(b: NumpyBuilder, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    value = b.tensor(f)
    value = value if is_float(value.dtype) else b.cast(value, "float64")
    axes = normal_axes(b, axis, value.rank)
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    if edge_order != 1 or any(b.tensor(s).rank for s in steps):
        raise b.unsupported("only even steps and edges of the first order are supported")
    made: list[Value] = []
    for at, step in zip(axes, steps, strict=True):
        n = value.shape[at]
        if n < 2:
            raise UsageError("a gradient needs two elements along each axis", where=b.where)
        one = b.tensor(step, value.dtype)
        ends = [b.div(b.sub(b.slice(value, at, k + 1, k + 2), b.slice(value, at, k, k + 1)), one) for k in (0, n - 2)]
        inner = b.div(b.sub(b.slice(value, at, 2, n), b.slice(value, at, 0, n - 2)), b.mul(one, 2)) if n > 2 else None
        made.append(b.aten("cat", [ends[0], *([inner] if inner is not None else []), ends[1]], at))
    return made[0] if len(made) == 1 else tuple(made)


@implements("polyval")
def polyval(b: NumpyBuilder, p: Any, x: Any) -> Value:
    coefficients, value = b.tensor(p), b.tensor(x)
    kind = str(np.result_type(numpy_dtype(coefficients.dtype), numpy_dtype(value.dtype)))
    coefficients, value = b.cast(coefficients, kind), b.cast(value, kind)
    found = b.zeros(value.shape, kind)
    for k in range(coefficients.shape[0]):
        found = b.op("add", b.op("multiply", found, value), b.aten("select", coefficients, 0, k))
    return found


@implements("interp")
def interp(b: NumpyBuilder, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Value:
    if period is not None:
        raise b.unsupported("the argument period is not supported")
    places, known, values = (b.tensor(v, "float64") for v in (x, xp, fp))
    n = known.shape[0]
    after = b.aten("searchsorted", known, places, right=True)
    after = b.reshape(after, places.shape)
    low = b.aten("clamp", b.sub(after, 1), 0, max(n - 2, 0))
    high = b.aten("clamp", b.add(low, 1), 0, n - 1)
    at, x0, x1 = places, *(b.op("take", known, k, axis=0, mode="clip") for k in (low, high))
    y0, y1 = (b.op("take", values, k, axis=0, mode="clip") for k in (low, high))
    slope = b.div(b.sub(y1, y0), b.sub(x1, x0))
    found = b.add(b.mul(slope, b.sub(at, x0)), y0)
    first, last = (b.aten("select", v, 0, k) for v in (values,) for k in (0, n - 1))
    lower = first if left is None else b.tensor(left, "float64")
    upper = last if right is None else b.tensor(right, "float64")
    end, begin = b.aten("select", known, 0, n - 1), b.aten("select", known, 0, 0)
    found = b.op("where", b.op("equal", at, end), b.broadcast(last, at.shape), found)
    found = b.op("where", b.op("greater", at, end), b.broadcast(upper, at.shape), found)
    found = b.op("where", b.op("less", at, begin), b.broadcast(lower, at.shape), found)
    return b.choose(b.aten("isnan", at), at, found)


# -- indices ---------------------------------------------------------------------------------------


@implements("take")
def take(b: NumpyBuilder, a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Value:
    value, at = b.tensor(a), b.tensor(indices)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    along = normal_axis(b, 0 if axis is None else axis, value.rank)
    extent = value.shape[along]
    if at.dtype == "bool":
        at = b.cast(at, "int64")
    if mode == "wrap":
        at = ufuncs.call(b, np.remainder, (at, extent))
    elif mode == "clip":
        at = clip(b, at, 0, extent - 1)
    flat = b.aten("index_select", value, along, b.reshape(b.cast(at, "int64"), (prod(at.shape),)))
    return b.reshape(flat, (*value.shape[:along], *at.shape, *value.shape[along + 1 :]))


@implements("take_along_axis")
def take_along_axis(b: NumpyBuilder, arr: Any, indices: Any, axis: Any = -1) -> Value:
    value, at = b.tensor(arr), b.tensor(indices, "int64")
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    along = normal_axis(b, 0 if axis is None else axis, value.rank)
    if 0 in (*value.shape, *at.shape):
        return b.zeros(
            np.take_along_axis(np.empty(value.shape, bool), np.zeros(at.shape, int), along).shape, value.dtype
        )
    return b.aten("take_along_dim", value, at, along)


@implements("compress")
def compress(b: NumpyBuilder, condition: Any, a: Any, axis: Any = None) -> Value:
    value = b.tensor(a)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    places = np.flatnonzero(np.asarray(b.known(condition, "which elements are kept")))
    return taken_by(b, value, places, normal_axis(b, 0 if axis is None else axis, value.rank))


@implements("delete")
def delete(b: NumpyBuilder, arr: Any, obj: Any, axis: Any = None) -> Value:
    value = b.tensor(arr)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    at = normal_axis(b, 0 if axis is None else axis, value.rank)
    places = np.delete(np.arange(value.shape[at]), b.known(obj, "what is deleted"))
    return taken_by(b, value, places, at)


@implements("insert")
def insert(b: NumpyBuilder, arr: Any, obj: Any, values: Any, axis: Any = None) -> Value:
    value = b.tensor(arr)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    at = normal_axis(b, 0 if axis is None else axis, value.rank)
    where_ = b.known(obj, "where something is inserted")
    n = value.shape[at]
    order = np.insert(np.arange(n), where_, -1)
    count = len(order) - n
    new = b.tensor(values, value.dtype)
    if np.ndim(where_) == 0 and new.rank:
        new = b.aten("movedim", new, 0, at) if new.rank == value.rank and at else new
    shape = [count if k == at else e for k, e in enumerate(value.shape)]
    both = b.aten("cat", [value, b.broadcast(new, shape)], at)
    order[order < 0] = n + np.arange(count)
    return taken_by(b, both, order, at)


@implements("tril", "triu")
def triangle(b: NumpyBuilder, m: Any, k: Any = 0) -> Value:
    value = b.tensor(m)
    rows, columns = value.shape[-2:] if value.rank > 1 else (value.shape[0],) * 2
    diagonal = np.arange(columns) - np.arange(rows)[:, None]
    compare = np.greater_equal if b.function.endswith("triu") else np.less_equal
    kept = ufuncs.call(b, compare, (diagonal, b.tensor(k, "int64")))
    if value.rank == 1:
        value = b.broadcast(value, kept.shape)
    return b.choose(b.broadcast(kept, value.shape), value, b.scalar(0, value))


@implements("diagonal", view=True)
def diagonal(b: NumpyBuilder, a: Value, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Value:
    return b.aten("diagonal", a, offset, axis1, axis2)


@implements("linalg.diagonal", view=True)
def matrix_diagonal(b: NumpyBuilder, x: Value, /, *, offset: int = 0) -> Value:
    return b.aten("diagonal", x, offset, -2, -1)


@implements("diag")
def diag(b: NumpyBuilder, v: Any, k: int = 0) -> Value:
    return b.aten("diag", b.tensor(v), k)


@implements("diagflat")
def diagflat(b: NumpyBuilder, v: Any, k: int = 0) -> Value:
    value = b.tensor(v)
    return b.aten("diag", b.reshape(value, (prod(value.shape),)), k)


@implements("vander")
def vander(b: NumpyBuilder, x: Any, N: int | None = None, increasing: bool = False) -> Value:
    value = b.tensor(x)
    value = value if is_float(value.dtype) else b.cast(value, "int64")
    powers = [b.broadcast(b.scalar(1, value), value.shape)]
    for _ in range(1, value.shape[0] if N is None else N):
        powers.append(b.mul(powers[-1], value))
    return b.aten("stack", powers if increasing else powers[::-1], 1)


# -- written in place ------------------------------------------------------------------------------


@implements("copyto", writes=True)
def copyto(b: NumpyBuilder, dst: Value, src: Any, casting: str = "same_kind", where: Any = True) -> Value:
    value = b.broadcast(b.tensor(src, dst.dtype), dst.shape)
    if where is True:
        return value
    return b.op("where", b.broadcast(b.tensor(where, "bool"), dst.shape), value, dst)


@implements("putmask", writes=True)
def putmask(b: NumpyBuilder, a: Value, mask: Any, values: Any) -> Value:
    value, size = b.tensor(values, a.dtype), prod(a.shape)
    flat = b.reshape(value, (prod(value.shape),))
    repeated = taken_by(b, flat, np.resize(np.arange(prod(value.shape)), size), 0)
    return b.op("where", b.tensor(mask, "bool"), b.reshape(repeated, a.shape), a)


@implements("fill_diagonal", writes=True)
def fill_diagonal(b: NumpyBuilder, a: Value, val: Any, wrap: bool = False) -> Value:
    if wrap:
        raise b.unsupported("the argument wrap is not supported")
    mark = np.zeros(a.shape, bool)
    np.fill_diagonal(mark, True)
    places = np.cumsum(mark.reshape(-1)) - 1
    value = b.tensor(val, a.dtype)
    count = int(mark.sum())
    flat = taken_by(b, b.reshape(value, (prod(value.shape),)), np.resize(np.arange(prod(value.shape)), count), 0)
    spread = taken_by(b, flat, np.clip(places, 0, None), 0)
    return b.op("where", b.constant(mark), b.reshape(spread, a.shape), a)


@implements("put_along_axis", writes=True)
def put_along_axis(b: NumpyBuilder, arr: Value, indices: Any, values: Any, axis: Any) -> Value:
    at = b.tensor(indices, "int64")
    along = normal_axis(b, axis, arr.rank)
    at = b.choose(b.one("less", at, 0), b.add(at, arr.shape[along]), at)
    return b.aten("scatter", arr, along, at, b.broadcast(b.tensor(values, arr.dtype), at.shape))
