"""Words of the stair's rules: types and constants of values, and Relay's ops under shorter names.

A rule that is no equation applies Relay's terms to values: what it makes stands before the op that it lowers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects import relay as r
from lamina.dialects.dtypes import numpy_dtype
from lamina.dialects.infos import TensorInfo, tensor_info
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import attrs_of
from lamina.dialects.relay.core import ConstantOp, constant_array
from lamina.dialects.relay.params import ParamAttr, array_dense
from lamina.dialects.relay.shape.indexing import StridedSliceOp
from lamina.dialects.relay.shape.join import ConcatenateOp
from lamina.dialects.relay.shape.views import BroadcastToOp
from lamina.dialects.rules.terms import insert
from lamina.errors import UnsupportedError

FOLDED_BYTES = 4096
"""Larger constants are not looked into, nor made."""


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor. Raises TypeMismatch for another type."""
    return info_of(value).shape


def dtype_of(value: SSAValue) -> str:
    """The element type of a tensor."""
    return info_of(value).dtype


def info_of(value: SSAValue) -> TensorInfo:
    """The type of a tensor."""
    return tensor_info(value.type)


def unsupported(op: Operation, what: str, hint: str = "") -> UnsupportedError:
    """The error of an op that is not lowered, for a reason."""
    return UnsupportedError(f"{op.name}: {what}", hint=hint, op=op)


# -- constants --------------------------------------------------------------------------------------


def known(value: SSAValue) -> Any | None:
    """The array of a small constant, None for anything else."""
    owner: Any = value.owner
    info = info_of(value)
    if prod(info.shape) * numpy_dtype(info.dtype).itemsize > FOLDED_BYTES:
        return None
    if type(owner) is BroadcastToOp:
        source = known(owner.operands[0])
        return None if source is None else np.broadcast_to(source, info.shape)
    return None if type(owner) is not ConstantOp or isinstance(owner.value, ParamAttr) else constant_array(owner, None)


def known_number(value: SSAValue) -> Any | None:
    """The one number that a constant repeats, None for anything else."""
    owner: Any = value.owner
    if type(owner) is ConstantOp:
        attr: Any = owner.value
        if isinstance(attr, ParamAttr):
            return None
        array = constant_array(owner, None)
        if array.size == 0 or array.size > 1 and not attr.is_splat():
            return None
        return array.reshape(-1)[0]
    if isinstance(owner, Operation) and owner.name in ("relay.broadcast_to", "relay.reshape", "relay.full"):
        return known_number(owner.operands[0])
    return None


def constant(array: Any, dtype: str | None = None) -> SSAValue:
    """A constant in the place of the op that is lowered."""
    array = np.asarray(array) if dtype is None else np.asarray(array).astype(numpy_dtype(dtype))
    made = ConstantOp.make(array_dense(array))
    insert(made)
    return made.results[0]


def number(value: Any, like: SSAValue) -> SSAValue:
    """One number of another value's element type."""
    return constant(np.asarray(value), dtype_of(like))


def is_exact(value: Any) -> bool:
    """Whether a number, which an attribute holds as a float64, stays what it is there."""
    return value.dtype.kind not in "iu" or abs(int(value)) <= 1 << 53 or int(float(value)) == int(value) < 1 << 62


# -- shapes -----------------------------------------------------------------------------------------


def reshape(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The elements under another shape; itself where it has that one."""
    return value if tuple(shape) == shape_of(value) else r.reshape(value, newshape=tuple(shape), allowzero=True)


def broadcast(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A tensor repeated along axes of one element."""
    return value if tuple(shape) == shape_of(value) else r.broadcast_to(value, shape=tuple(shape))


def transpose(value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """The axes in another order."""
    return value if tuple(axes) == tuple(range(len(axes))) else r.transpose(value, axes=tuple(axes))


def cast(value: SSAValue, dtype: str) -> SSAValue:
    """The numbers in another element type."""
    return value if dtype_of(value) == dtype else r.cast(value, dtype=dtype)


def cut(value: SSAValue, begin: Sequence[int], end: Sequence[int], strides: Sequence[int] | None = None) -> SSAValue:
    """A slice of every axis; itself where that is all."""
    steps = tuple(strides or (1,) * len(begin))
    if tuple(end) == shape_of(value) and not any(begin) and set(steps) <= {1}:
        return value
    source: Any = value.owner
    if set(steps) <= {1} and isinstance(source, Operation):
        # What unrolled loops put together is not taken apart again, and slices of slices do not pile up.
        extents = [b - a for a, b in zip(begin, end, strict=True)]
        if type(source) is BroadcastToOp and prod(shape_of(source.operands[0])) == 1:
            return broadcast(reshape(source.operands[0], ()), extents)
        if type(source) is ConcatenateOp:
            found = _part(source, list(begin), list(end))
            if found is not None:
                return found
        if type(source) is StridedSliceOp:
            given = attrs_of(source)
            first: tuple[int, ...] = given["begin"]
            plain = len(first) == len(begin) and set(given["strides"]) <= {1} and not given["axes"]
            if plain and given["slice_mode"] == "end":
                ends = [f + b for f, b in zip(first, end, strict=True)]
                return cut(source.operands[0], [f + a for f, a in zip(first, begin, strict=True)], ends)
    return r.strided_slice(value, begin=tuple(begin), end=tuple(end), strides=steps, axes=(), slice_mode="end")


def _part(source: ConcatenateOp, begin: list[int], end: list[int]) -> SSAValue | None:
    """A slice of tensors put together that is in one of them."""
    axis, at = source.axis.value.data % len(begin), 0
    for piece in source.operands:
        size = shape_of(piece)[axis]
        if at <= begin[axis] and end[axis] <= at + size:
            begin[axis], end[axis] = begin[axis] - at, end[axis] - at
            return cut(piece, begin, end)
        at += size
    return None


def total(op: str, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """A reduction over axes, which go."""
    if not axes:
        return value
    return getattr(r, op)(value, axis=tuple(axes), keepdims=False, exclude=False)


def concatenate(values: Sequence[SSAValue], axis: int) -> SSAValue:
    """Tensors one behind the other."""
    return values[0] if len(values) == 1 else r.concatenate(*values, axis=axis)


def combine(word: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """Two tensors element by element: `add`, `mul`, `min`, `max`, `and`, `or`, `update`."""
    if word == "update":
        return y
    of_bool = dtype_of(x) == "bool"
    names = {
        "add": "logical_or" if of_bool else "add",
        "mul": "logical_and" if of_bool else "multiply",
        "min": "logical_and" if of_bool else "minimum",
        "max": "logical_or" if of_bool else "maximum",
        "and": "logical_and" if of_bool else "bitwise_and",
        "or": "logical_or" if of_bool else "bitwise_or",
        "xor": "logical_xor" if of_bool else "bitwise_xor",
    }
    return getattr(r, names[word])(x, y)


def broadcast_hlo(value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """One number repeated, as an op of StableHLO's: what it stands for is lowered later."""
    from xdsl.dialects.builtin import DenseArrayBase, i64

    from lamina.dialects.dtypes import tensor_type
    from lamina.dialects.stablehlo.shape import BroadcastInDimOp

    made = BroadcastInDimOp.create(
        operands=[value], result_types=[tensor_type(tuple(shape), dtype_of(value))],
        properties={"broadcast_dimensions": DenseArrayBase.from_list(i64, [])},
    )  # fmt: skip
    insert(made)
    return made.results[0]
