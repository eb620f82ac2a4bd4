"""Ops whose attributes depend on extents that only the run tells: the ops that take these as operands.

relay.reshape {newshape = [n, m]}              relay.reshape {newshape = [-1, 4]}, else relay.dyn.reshape %x, %shape
relay.strided_slice {begin = [n - 3], ...}     relay.dyn.strided_slice %x, %begin, %end, %strides
relay.split {indices_or_sections = [n]}        a slice for each part
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, NeedsExtentError
from lamina.frontends.onnx.extents import DRAWS, Draws, Entry, Extent, Number, Taken, fit, number_of
from lamina.frontends.onnx.merging import Merged, Varied
from lamina.frontends.onnx.open_values import (
    OpenValue,
    dims_of,
    emit,
    emitted,
    number,
    open_type,
    shaped,
    unknown,
    vector,
    with_draws,
)
from lamina.frontends.onnx.traces import Ref, TracedOp

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tensor: TypeAlias = "Value | OpenValue"
FAR = 2**62
"""Beyond the end of every axis: bounds are clamped as in Python."""


def emit_merged(
    b: Builder, merged: Merged, inputs: Sequence[Tensor], columns: Sequence[Sequence[Sequence[Draws]]]
) -> dict[Ref, Tensor]:
    """Emit the ops of a merged trace: their results. `columns` has the draws of each extent of each of them."""
    made: dict[Ref, Tensor] = {}

    def operand(ref: Ref) -> Tensor:
        kind, n, _ = ref
        if kind == "in":
            return inputs[n]
        if kind == "const" and ref not in made:
            constant = merged.constants[n]
            made[ref] = constant if isinstance(constant, Value) else _of_draws(b, constant, merged)
        return made[ref]

    for n, op in enumerate(merged.trace.ops):
        operands = [operand(r) for r in op.operands]
        found = merged.attrs[n]
        if any(map(_varies, found.values())):
            results = _dynamic(b, op, operands, found)
        else:
            dims = [_dims(op, r, columns[n][r]) for r in range(len(op.results))]
            declared = [open_type(d, i.dtype) for d, i in zip(dims, op.results, strict=True)]
            ssas = emit(b, op.type, operands, found, declared)
            results = [unknown(b, s, i.dtype) for s, i in zip(ssas, op.results, strict=True)]
        for r, value in enumerate(results):
            if isinstance(value, OpenValue) and value.ssa is not None:
                value = with_draws(value.ssa, value.dtype, "", columns[n][r])
            made["op", n, r] = value
    return made


def _dims(op: TracedOp, r: int, columns: Sequence[Draws]) -> list[Any]:
    """The extents of a result, for its type: the numbers that all draws agree on."""
    shape = op.results[r].shape
    return [e if {*c} - {None} == {e} else Extent(cast(Any, None), 0, c) for e, c in zip(shape, columns, strict=True)]


def _varies(value: Any) -> bool:
    return isinstance(value, Number) or (isinstance(value, list) and any(isinstance(v, Number) for v in value))  # pyright: ignore[reportUnknownVariableType]


def _of_draws(b: Builder, constant: Varied, merged: Merged) -> Tensor:
    """A constant that differs from draw to draw, as a tensor."""
    if constant.entries is None:
        return emit_varied(b, constant, merged.extents, merged.taken)
    dtype = str(next(iter(constant.arrays.values())).dtype)
    return shaped(b, vector(b, list(constant.entries.reshape(-1))), constant.entries.shape, dtype)


def emit_varied(b: Builder, constant: Varied, extents: Sequence[Extent], taken: Taken) -> Tensor:
    """A constant whose shape depends on extents: one number repeated, or numbers that count."""
    arrays = constant.arrays
    first = next(iter(arrays.values()))
    if len({a.ndim for a in arrays.values()}) != 1:
        raise _refused(b, "the rank of a constant depends on an extent")
    shape: list[Entry] = []
    for axis in range(first.ndim):
        found = fit({k: a.shape[axis] for k, a in arrays.items()}, extents, taken)
        if found is None:
            raise _refused(b, "the shape of a constant")
        shape.append(found)
    filled = [a for a in arrays.values() if a.size]
    number_ = filled[0].reshape(-1)[0] if filled else np.zeros((), first.dtype)
    if all(bool(np.all(a == number_)) for a in filled):
        value = emitted(b, "dyn.full", b.constant(number_), vector(b, shape), dtype=str(first.dtype))
    elif (counts := _counts(list(arrays.values()))) is not None:
        start, step = (b.constant(np.array([v], first.dtype)) for v in counts)
        value = counted(b, start, number(b, next(e for e in shape if e != 1)), step)
        if first.ndim > 1:
            value = emitted(b, "reshape", value, newshape=[1 if e == 1 else -1 for e in shape])
    else:
        raise _refused(b, "the elements of a constant")
    assert isinstance(value, OpenValue) and value.ssa is not None
    columns = [tuple(arrays[k].shape[a] if k in arrays else None for k in range(DRAWS)) for a in range(first.ndim)]
    return with_draws(value.ssa, value.dtype, "", columns)


def _counts(arrays: Sequence[NDArray[Any]]) -> tuple[int, int] | None:
    """Start and step, where integers count from one start in one step along the only axis that is not 1."""
    longest: NDArray[Any] = max(arrays, key=lambda a: a.size).reshape(-1)
    if longest.dtype.kind not in "iu" or longest.size < 2:
        return None
    start, step = int(longest[0]), int(longest[1]) - int(longest[0])
    for a in arrays:
        along = [e for e in a.shape if e != 1]
        if len(along) > 1 or not np.array_equal(a.reshape(-1), start + step * np.arange(a.size)):
            return None
    return start, step


def counted(b: Builder, start: Tensor, length: Tensor, step: Tensor) -> Tensor:
    """`length` numbers from `start` in steps, all of shape [1]: running sums of steps, the first one the start."""
    dtype = start.dtype
    one = b.constant(np.ones((), numpy_dtype(dtype)))
    ones = emitted(b, "dyn.full", one, length, dtype=dtype)
    places = emitted(b, "cumsum", ones, axis=0, dtype=dtype, exclusive=True)
    return emitted(b, "add", emitted(b, "multiply", places, step), start)


# -- ops by what they take ---------------------------------------------------------------------------------


def _dynamic(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    handler = _HANDLERS.get(op.type.name)
    if handler is None:
        varying = next(n for n, v in attrs.items() if _varies(v))
        raise _refused(b, f"{varying} of {op.type.name.removeprefix('relay.')}")
    return handler(b, op, operands, attrs)


def _refused(b: Builder, what: str) -> NeedsExtentError:
    return NeedsExtentError(
        f"{what} depends on an extent that is known at run time only",
        where=b.where,
        hint="give the model fixed extents",
    )


def _entries(value: Any) -> list[Entry]:
    return list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]


def _reshape(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    """With a 0 where an extent is copied and one -1, as far as these go."""
    (x,) = operands
    shape, dims = _entries(attrs["newshape"]), dims_of(x)
    plain: list[Any] = [_copied(e, dims[a] if a < len(dims) else None) for a, e in enumerate(shape)]
    opened = [a for a, e in enumerate(plain) if isinstance(e, Number)]
    if len(opened) <= 1 and 0 not in shape:
        plain = [-1 if isinstance(e, Number) else e for e in plain]
        # Where nothing is left to tell -1 by, extents of 0 have to be said.
        if not opened or all(isinstance(e, int) and e > 0 for a, e in enumerate(plain) if a not in opened):
            return [emitted(b, "reshape", x, newshape=plain)]
    return [emitted(b, "dyn.reshape", x, vector(b, shape), allowzero=True)]


def _copied(entry: Entry, dim: Any) -> Entry:
    if isinstance(entry, Number) and isinstance(dim, Extent) and entry.extent is not None:
        return 0 if entry.extent.draws == dim.draws else entry
    return entry


def _shape_operand(name: str, attr: str) -> Any:
    """An op whose shape is an operand behind the others."""

    def handler(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
        given = {k: v for k, v in attrs.items() if k != attr}
        return [emitted(b, name, *operands, vector(b, _entries(attrs[attr])), **given)]

    return handler


def _slice(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    (x,) = operands
    if attrs["slice_mode"] != "end":
        raise _refused(b, "the size of a slice")
    begin, end = _entries(attrs["begin"]), _entries(attrs["end"])
    axes = list(attrs["axes"]) or list(range(len(begin)))
    strides = list(attrs["strides"]) or [1] * len(begin)
    return [sliced(b, x, begin, end, strides, axes)]


def sliced(
    b: Builder, x: Tensor, begin: Sequence[Entry], end: Sequence[Entry], strides: Sequence[int], axes: Sequence[int]
) -> Tensor:
    """x[begin:end:strides] on some axes, bounds as in Python."""
    dims = dims_of(x)
    ends: list[Entry] = []
    for e, stride, a in zip(end, strides, axes, strict=True):
        dim = dims[a]
        if isinstance(e, Number) and isinstance(dim, Extent) and stride > 0:
            inner = replace(e, most=None).extent
            # The end of the axis, or the nearer of it and some place, is what a slice ends at anyway.
            if inner is not None and inner.draws == dim.draws and (e.most is None or e.most >= 0):
                e = FAR if e.most is None else e.most
        ends.append(e)
    if not any(isinstance(e, Number) for e in (*begin, *ends)):
        return emitted(b, "strided_slice", x, begin=list(begin), end=ends, strides=list(strides), axes=list(axes))
    count = max(axes) + 1
    bounds: list[list[Entry]] = [[0] * count, [FAR] * count, [1] * count]
    for k, a in enumerate(axes):
        bounds[0][a], bounds[1][a], bounds[2][a] = begin[k], ends[k], strides[k]
    return emitted(b, "dyn.strided_slice", x, *(vector(b, entries) for entries in bounds))


def _split(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    (x,) = operands
    axis: int = attrs["axis"]
    places = _entries(attrs["indices_or_sections"])
    axis += len(dims_of(x)) if axis < 0 else 0
    starts: list[Entry] = [0, *places]
    ends: list[Entry] = [*places, number_of(dims_of(x)[axis])]
    return [sliced(b, x, [s], [e], [1], [axis]) for s, e in zip(starts, ends, strict=True)]


def _one_number(name: str, attr: str) -> Any:
    """An op that takes one number as its last operand."""

    def handler(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
        from lamina.dialects.relay import find_op

        op_type = find_op(f"relay.{name}")
        assert op_type is not None
        given = {k: v for k, v in attrs.items() if k != attr and k in op_type.known_attributes()}
        ssas = emit(b, op_type, [*operands, number(b, attrs[attr])], given)
        return [unknown(b, s, i.dtype) for s, i in zip(ssas, op.results, strict=True)]

    return handler


def _pad(b: Builder, op: TracedOp, operands: list[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    (x,) = operands
    width = shaped(b, vector(b, _entries(attrs["pad_width"])), (len(dims_of(x)), 2), "int64")
    value = b.constant(np.asarray(attrs["pad_value"], np.float64).astype(numpy_dtype(x.dtype)))
    return [emitted(b, "dyn.nn.pad", x, width, value, pad_mode=attrs["pad_mode"])]


_HANDLERS: Mapping[str, Callable[[Builder, TracedOp, list[Tensor], dict[str, Any]], list[Tensor]]] = {
    "relay.reshape": _reshape,
    "relay.strided_slice": _slice,
    "relay.split": _split,
    "relay.broadcast_to": _shape_operand("dyn.broadcast_to", "shape"),
    "relay.full": _shape_operand("dyn.full", "shape"),
    "relay.zeros": _shape_operand("dyn.zeros", "shape"),
    "relay.ones": _shape_operand("dyn.ones", "shape"),
    "relay.tile": _shape_operand("dyn.tile", "reps"),
    "relay.topk": _one_number("dyn.topk", "k"),
    "relay.one_hot": _one_number("dyn.one_hot", "depth"),
    "relay.nn.pad": _pad,
}


__all__ = ["counted", "emit_merged", "emit_varied", "sliced"]
