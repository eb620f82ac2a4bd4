"""NumPy's indexing: x[key] and x[key] = y (https://numpy.org/doc/stable/user/basics.indexing.html)."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy.builder import NumpyBuilder, has_tensors


class Key:
    """An index, its parts in the order of the axes: slices, integers, new axes, and arrays of integers or booleans."""

    def __init__(self, b: NumpyBuilder, given: Any, shape: tuple[int, ...]) -> None:
        self.shape = shape
        parts = [_part(b, p) for p in (given if isinstance(given, tuple) else (given,))]  # pyright: ignore[reportUnknownVariableType]
        consumed = sum(_axes_of(p) for p in parts)
        if consumed > len(shape):
            what = f"{consumed} indices for an array of {len(shape)} axes"
            raise UsageError(what, where=b.where)
        rest = [slice(None)] * (len(shape) - consumed)
        at = next((k for k, p in enumerate(parts) if p is Ellipsis), len(parts))
        self.parts: list[Any] = [*parts[:at], *rest, *parts[at + 1 :]]

    @property
    def is_basic(self) -> bool:
        """Whether it has slices, integers and new axes only, so that what it takes is a view."""
        return all(p is None or isinstance(p, (int, slice)) for p in self.parts)

    @property
    def is_known(self) -> bool:
        """Whether all of it is known now."""
        return all(not isinstance(p, Value) or p.array is not None for p in self.parts)

    def plain(self) -> tuple[Any, ...]:
        """The index with arrays of NumPy in the place of known tensors."""
        return tuple(p.array if isinstance(p, Value) else p for p in self.parts)

    def places(self, b: NumpyBuilder) -> Any:
        """The places in the flat array of what it takes."""
        try:
            return np.arange(int(np.prod(self.shape))).reshape(self.shape)[self.plain()]
        except IndexError as e:
            raise UsageError(str(e), where=b.where) from None


def _part(b: NumpyBuilder, part: Any) -> Any:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        ends: Any = part  # pyright: ignore[reportUnknownVariableType]
        return slice(*(_number(b, e) for e in (ends.start, ends.stop, ends.step)))
    if isinstance(part, (bool, np.bool_)):
        return b.constant(np.asarray(part))
    if isinstance(part, (int, np.integer)):
        return int(part)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(part, Value) and part.array is not None and not part.rank and part.array.dtype.kind in "iu":
        return int(part.array)
    if isinstance(part, Value):
        found = part
    elif isinstance(part, (list, tuple)) and has_tensors(part):
        found = b.tensor(part)
    else:
        array: Any = np.asarray(part)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        found = b.constant(array.astype(np.int64) if not array.size else array)
    if "int" not in found.dtype and found.dtype != "bool":
        raise UsageError(f"an index is {found.dtype}: integers and booleans are", where=b.where)
    return found


def _number(b: NumpyBuilder, end: Any) -> int | None:
    if end is None:
        return None
    return int(b.known(end, "an end of a slice"))


def _axes_of(part: Any) -> int:
    """The axes of the array that a part stands for."""
    if part is None or part is Ellipsis:
        return 0
    return part.rank if isinstance(part, Value) and part.dtype == "bool" else 1


def taken(b: NumpyBuilder, x: Value, key: Key) -> Value:
    """x[key]."""
    if x.array is not None and key.is_known:
        return b.constant(x.array[key.plain()])
    if key.is_basic:
        return _basic(b, x, key)
    x, indices = _advanced(b, x, key)
    return b.aten("index.Tensor", x, indices)


def _basic(b: NumpyBuilder, x: Value, key: Key) -> Value:
    """A part by slices and integers."""
    x = _sliced(b, x, [p for p in key.parts if p is not None])
    shape: list[int] = []
    axis = 0
    for p in key.parts:
        if p is None:
            shape.append(1)
            continue
        if isinstance(p, slice):
            shape.append(x.shape[axis])
        axis += 1
    return b.reshape(x, shape)


def _sliced(b: NumpyBuilder, x: Value, parts: list[Any]) -> Value:
    """The part of a tensor that slices and integers take, with an axis for each of them."""
    axes: list[int] = []
    begins: list[int] = []
    ends: list[int] = []
    steps: list[int] = []
    for axis, p in enumerate(parts):
        extent = x.shape[axis]
        if isinstance(p, int):
            if not -extent <= p < extent:
                what = f"index {p} is out of bounds for axis {axis} with size {extent}"
                raise UsageError(what, where=b.where)
            begin, end, step = p % extent, p % extent + 1, 1
        else:
            begin, end, step = p.indices(extent)
        count = len(range(begin, end, step))
        if step < 0 and count:
            # The slice forwards, and turned around.
            x = b.aten("flip", x, [axis])
            begin, step = extent - 1 - begin, -step
            end = begin + (count - 1) * step + 1
        end = begin + (count - 1) * step + 1 if count else begin
        if (begin, count, step) != (0, extent, 1):
            axes.append(axis)
            begins.append(begin)
            ends.append(end)
            steps.append(step)
    if not axes:
        return x
    if any(begin >= end for begin, end in zip(begins, ends, strict=True)):
        shape = [len(range(e)[p]) if isinstance(p, slice) else 1 for e, p in zip(x.shape, parts, strict=True)]
        return b.zeros(shape, x.dtype)
    return b.op("strided_slice", x, begin=begins, end=ends, strides=steps, axes=axes)


def _advanced(b: NumpyBuilder, x: Value, key: Key) -> tuple[Value, list[Value | None]]:
    """A tensor after the slices of an index, and the indices that are left, None where there is none."""
    slices: list[Any] = []
    for p in key.parts:
        if p is None:
            continue
        slices += [p] if isinstance(p, slice) else [slice(None)] * _axes_of(p)
    x = _sliced(b, x, slices)
    shape: list[int] = []
    indices: list[Value | None] = []
    axis = 0
    for p in key.parts:
        if p is None:
            shape.append(1)
            indices.append(None)
            continue
        shape += x.shape[axis : axis + _axes_of(p)]
        axis += _axes_of(p)
        indices.append(None if isinstance(p, slice) else b.constant(np.asarray(p)) if isinstance(p, int) else p)
    while indices and indices[-1] is None:
        indices.pop()
    return b.reshape(x, shape), indices


def written(b: NumpyBuilder, x: Value, key: Key, value: Value) -> Value:
    """x after x[key] = value."""
    if key.is_basic:
        return _basic_written(b, x, key, value)
    slices: list[Any] = [p for p in key.parts if isinstance(p, slice)]
    if all(p is not None for p in key.parts) and all(p == slice(None) for p in slices):
        indices = [None if isinstance(p, slice) else b.tensor(p) for p in key.parts]
        while indices[-1] is None:
            indices.pop()
        return b.aten("index_put", x, indices, value)
    if any(p is None for p in key.parts):
        raise b.unsupported("new axes beside arrays in an index that is written to", "reshape the array before")
    whole: list[list[Any]] = [[p] if isinstance(p, slice) else [slice(None)] * _axes_of(p) for p in key.parts]
    box = Key(b, tuple(p for parts in whole for p in parts), x.shape)
    inner = _basic(b, x, box)
    rest = Key(b, tuple(slice(None) if isinstance(p, slice) else p for p in key.parts), inner.shape)
    return _basic_written(b, x, box, written(b, inner, rest, value))


def _basic_written(b: NumpyBuilder, x: Value, key: Key, value: Value) -> Value:
    """A tensor with a part by slices and integers replaced by a value of its shape."""
    parts = [p for p in key.parts if p is not None]
    shape = [len(range(e)[p]) if isinstance(p, slice) else 1 for e, p in zip(x.shape, parts, strict=True)]
    if 0 in shape:
        return x
    value = b.broadcast(value, np.empty(x.shape, bool)[tuple(key.parts)].shape)
    value = b.reshape(value, shape)
    for axis, (extent, p) in enumerate(zip(x.shape, parts, strict=True)):
        if isinstance(p, slice) and p.indices(extent)[2] < 0:
            begin, _, step = p.indices(extent)
            value = b.aten("flip", value, [axis])
            parts[axis] = slice(begin + (shape[axis] - 1) * step, begin + 1, -step)
    return _box_written(b, x, parts, value, 0)


def _box_written(b: NumpyBuilder, x: Value, parts: list[Any], value: Value, axis: int) -> Value:
    """A tensor with a box from an axis on replaced."""
    if axis == x.rank:
        return value
    extent = x.shape[axis]
    p = parts[axis]
    at = slice(p % extent, p % extent + 1) if isinstance(p, int) else p
    begin, end, step = at.indices(extent)
    if (begin, end, step) == (0, extent, 1):
        return _box_written(b, x, parts, value, axis + 1)
    count = len(range(begin, end, step))
    inner = b.op("strided_slice", x, begin=[begin], end=[begin + (count - 1) * step + 1], strides=[step], axes=[axis])
    made = _box_written(b, inner, parts, value, axis + 1)
    return b.aten("slice_scatter", x, made, axis, begin, end, step)
