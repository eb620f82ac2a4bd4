"""NumPy's products of matrices, and norms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy import ufuncs
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.functions_reduce import summed
from lamina.frontends.numpy.functions_shape import normal_axes, normal_axis
from lamina.frontends.numpy.table import implements


def _arrays(b: NumpyBuilder, *operands: Any, dtype: str | None = None) -> list[Value]:
    """Operands of one type: numbers of Python are arrays here, and have the types of such."""
    return b.alike(*(b.tensor(o) for o in operands), dtype=dtype)


@implements("dot")
def dot(b: NumpyBuilder, a: Any, b_: Any = None, **given: Any) -> Value:
    x, y = _arrays(b, a, given.get("b", b_))
    if not x.rank or not y.rank:
        return b.op("multiply", x, y)
    if x.rank <= 2 and y.rank <= 2:
        return _matmul(b, x, y)
    return _contracted(b, x, y, [x.rank - 1], [y.rank - 2 if y.rank > 1 else 0])


def _matmul(b: NumpyBuilder, x: Value, y: Value) -> Value:
    inner = y.shape[-2] if y.rank > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise UsageError(f"shapes {x.shape} and {y.shape} are not aligned: {x.shape[-1]} and {inner}", where=b.where)
    return b.aten("matmul", x, y)


def _contracted(b: NumpyBuilder, x: Value, y: Value, axes: list[int], others: list[int]) -> Value:
    """The sum of products over pairs of axes, what is left of the first in front of what is left of the second."""
    pairs = list(zip(axes, others, strict=True))
    if any(x.shape[i] != y.shape[k] for i, k in pairs):
        raise UsageError(f"axes {axes} of shape {x.shape} do not fit axes {others} of shape {y.shape}", where=b.where)
    rest, after = ([k for k in range(v.rank) if k not in gone] for v, gone in ((x, axes), (y, others)))
    count = prod(x.shape[k] for k in axes)
    left = b.reshape(b.transpose(x, [*rest, *axes]), (prod(x.shape[k] for k in rest), count))
    right = b.reshape(b.transpose(y, [*others, *after]), (count, prod(y.shape[k] for k in after)))
    shape = (*(x.shape[k] for k in rest), *(y.shape[k] for k in after))
    return b.reshape(b.aten("matmul", left, right), shape)


@implements("inner")
def inner(b: NumpyBuilder, a: Any, b_: Any, /) -> Value:
    x, y = _arrays(b, a, b_)
    if not x.rank or not y.rank:
        return b.op("multiply", x, y)
    return _contracted(b, x, y, [x.rank - 1], [y.rank - 1])


@implements("vdot")
def vdot(b: NumpyBuilder, a: Any, b_: Any, /) -> Value:
    x, y = _arrays(b, a, b_)
    return _matmul(b, *(b.reshape(v, (prod(v.shape),)) for v in (x, y)))


@implements("outer", "linalg.outer")
def outer(b: NumpyBuilder, a: Any, b_: Any = None, /, **given: Any) -> Value:
    x, y = (b.tensor(v) for v in (a, given.get("b", b_)))
    return ufuncs.outer(b, np.multiply, *(b.reshape(v, (prod(v.shape),)) for v in (x, y)))


@implements("tensordot", "linalg.tensordot")
def tensordot(b: NumpyBuilder, a: Any, b_: Any = None, axes: Any = 2, **given: Any) -> Value:
    x, y = _arrays(b, a, given.get("b", b_))
    if isinstance(axes, int):
        return _contracted(b, x, y, list(range(x.rank - axes, x.rank)), list(range(axes)))
    first, second = axes
    return _contracted(b, x, y, normal_axes(b, first, x.rank), normal_axes(b, second, y.rank))


@implements("einsum")
def einsum(b: NumpyBuilder, *operands: Any, optimize: Any = False, dtype: Any = None, **_: Any) -> Value:
    equation, *rest = operands
    if not isinstance(equation, str):
        raise b.unsupported("axes as lists are not supported", "write the equation as a string")
    kind = None if dtype is None else b.dtype_of(dtype, "")
    values = _arrays(b, *rest, dtype=kind)
    if any(0 in v.shape for v in values):
        # All products are of no elements: the result has zeros, or no elements either.
        nothing = [np.broadcast_to(np.zeros((), numpy_dtype(v.dtype)), v.shape) for v in values]
        return b.zeros(np.einsum(equation, *nothing).shape, values[0].dtype)
    return b.aten("einsum", equation.replace(" ", ""), values)


@implements("linalg.matmul")
def matmul(b: NumpyBuilder, x1: Any, x2: Any, /) -> Value:
    return ufuncs.call(b, np.matmul, (x1, x2))


@implements("linalg.vecdot")
def vecdot(b: NumpyBuilder, x1: Any, x2: Any, /, *, axis: int = -1) -> Value:
    product = ufuncs.call(b, np.multiply, (x1, x2))
    return summed(b, product, axis, product.dtype)


@implements("linalg.multi_dot")
def multi_dot(b: NumpyBuilder, arrays: Any) -> Value:
    found, *rest = _arrays(b, *arrays)
    for factor in rest:
        found = _matmul(b, found, factor)
    return found


@implements("linalg.matrix_power")
def matrix_power(b: NumpyBuilder, a: Any, n: int) -> Value:
    value = b.tensor(a)
    if n < 0:
        raise b.unsupported("inverses of matrices are not supported")
    if not n:
        return b.broadcast(b.constant(np.eye(value.shape[-1], dtype=numpy_dtype(value.dtype))), value.shape)
    found, square = None, value
    while n:
        if n % 2:
            found = square if found is None else b.aten("matmul", found, square)
        n //= 2
        if n:
            square = b.aten("matmul", square, square)
    assert found is not None
    return found


@implements("kron")
def kron(b: NumpyBuilder, a: Any, b_: Any = None, /, **given: Any) -> Value:
    return b.aten("kron", *_arrays(b, a, given.get("b", b_)))


@implements("cross", "linalg.cross")
def cross(
    b: NumpyBuilder, a: Any, b_: Any = None, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None,
    **given: Any,
) -> Value:  # fmt: skip
    x, y = _arrays(b, a, given.get("b", b_))
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (b.aten("movedim", v, normal_axis(b, k, v.rank), -1) for v, k in ((x, axisa), (y, axisb)))
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise b.unsupported("cross products of vectors that do not have three elements are not supported")
    found = b.aten("linalg_cross", *b.spread(x, y), dim=-1)
    return b.aten("movedim", found, -1, axisc)


@implements("trace", "linalg.trace")
def trace(b: NumpyBuilder, a: Any, offset: int = 0, axis1: Any = None, axis2: Any = None, dtype: Any = None) -> Value:
    ends = (-2, -1) if "linalg" in b.function else (0, 1)
    first, second = (e if given is None else given for e, given in zip(ends, (axis1, axis2), strict=True))
    return summed(b, b.aten("diagonal", b.tensor(a), offset, first, second), -1, dtype)


def _float(b: NumpyBuilder, x: Any) -> Value:
    value = b.tensor(x)
    return value if is_float(value.dtype) else b.cast(value, "float64")


@implements("linalg.norm")
def norm(b: NumpyBuilder, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Value:
    value = _float(b, x)
    if axis is None and ord is None:
        axes = list(range(value.rank))
        return b.aten("linalg_vector_norm", value, 2, axes, keepdims)
    axes = normal_axes(b, axis, value.rank)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise UsageError(f"there is no norm {ord!r} of vectors", where=b.where)
        return b.aten("linalg_vector_norm", value, 2 if ord is None else ord, axes, keepdims)
    return _matrix_norm(b, value, ord, axes, keepdims)


def _matrix_norm(b: NumpyBuilder, x: Value, order: Any, axes: Sequence[int], keepdims: bool) -> Value:
    if len(axes) != 2:
        raise UsageError(f"{len(axes)} axes have no norm", where=b.where)
    if order in (None, "fro"):
        return b.aten("linalg_vector_norm", x, 2, list(axes), keepdims)
    if order not in (1, -1, np.inf, -np.inf):
        raise b.unsupported(f"the norm {order!r} of matrices is not supported")
    row, column = axes
    along, across = (row, column) if abs(order) == 1 else (column, row)
    sums = b.op("sum", b.op("abs", x), axis=[along], keepdims=True)
    found = b.op("max" if order > 0 else "min", sums, axis=[across], keepdims=True)
    return found if keepdims else b.reshape(found, [e for k, e in enumerate(x.shape) if k not in axes])


@implements("linalg.vector_norm")
def vector_norm(b: NumpyBuilder, x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Value:
    value = _float(b, x)
    return b.aten("linalg_vector_norm", value, ord, normal_axes(b, axis, value.rank), keepdims)


@implements("linalg.matrix_norm")
def matrix_norm(b: NumpyBuilder, x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Value:
    value = _float(b, x)
    return _matrix_norm(b, value, ord, [value.rank - 2, value.rank - 1], keepdims)


@implements("linalg.matrix_transpose", view=True)
def matrix_transpose(b: NumpyBuilder, x: Value, /) -> Value:
    return b.swapped(x)
