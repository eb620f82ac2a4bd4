"""Operators that pick elements by indices, and that write to them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import is_symbolic
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


def from_front(b: AtenBuilder, index: Value, extent: int) -> Value:
    """Indices counted from the front. Known ones are checked now; others are clamped where they are used."""
    if index.array is not None:
        known = index.array
        if known.dtype == object or is_symbolic(extent):
            return b.known_from_front(index, extent)
        if ((known < -extent) | (known >= extent)).any():
            raise b.fail(f"an index is out of range for an extent of {extent}")
        return b.constant(np.where(known < 0, known + extent, known).astype(np.int64))
    if index.dtype in ("uint8", "int8", "int16"):
        index = b.op("cast", index, dtype="int64")
    return b.choose(b.one("less", index, 0), b.add(index, extent), index)


@aten_op("index_select", "index_select_copy")
def index_select(b: AtenBuilder, self: Value, dim: int, index: Value) -> Value:
    if not self.rank:
        return self
    axis = b.axis(dim, self.rank)
    at = index if index.rank else b.reshape(index, (1,))
    if 0 in self.shape or 0 in at.shape:
        return b.zeros([at.shape[0] if a == axis else e for a, e in enumerate(self.shape)], self.dtype)
    return b.op("take", self, from_front(b, at, self.shape[axis]), axis=axis, mode="clip")


@aten_op("embedding")
def embedding(b: AtenBuilder, weight: Value, indices: Value, *_: Any, **__: Any) -> Value:
    if 0 in indices.shape:
        return b.zeros((*indices.shape, weight.shape[1]), weight.dtype)
    return b.op("take", weight, indices, axis=0, mode="clip")


@aten_op("take")
def take(b: AtenBuilder, self: Value, index: Value) -> Value:
    flat = b.reshape(self, (prod(self.shape),))
    if 0 in index.shape:
        return b.zeros(index.shape, self.dtype)
    return b.op("take", flat, from_front(b, index, flat.shape[0]), axis=0, mode="clip")


@aten_op("gather")
def gather(b: AtenBuilder, self: Value, dim: int, index: Value, *, sparse_grad: bool = False) -> Value:
    if 0 in index.shape:
        return b.zeros(index.shape, self.dtype)
    x, at = (v if v.rank else b.reshape(v, (1,)) for v in (self, index))
    axis = b.axis(dim, x.rank)
    for a in range(x.rank):
        if a != axis:
            x = b.slice(x, a, 0, at.shape[a])
    return b.reshape(b.op("gather", x, at, axis=axis), index.shape)


@aten_op("take_along_dim")
def take_along_dim(b: AtenBuilder, self: Value, indices: Value, dim: int | None = None) -> Value:
    if dim is None:
        x, at = (b.reshape(v, (prod(v.shape),)) for v in (self, indices))
        return b.op("gather", x, from_front(b, at, x.shape[0]), axis=0)
    axis = b.axis(dim, self.rank)
    shape = b.common_shape(*(tuple(1 if a == axis else e for a, e in enumerate(v.shape)) for v in (self, indices)))
    x, at = (b.broadcast(v, [v.shape[a] if a == axis else e for a, e in enumerate(shape)]) for v in (self, indices))
    return b.op("gather", x, from_front(b, at, x.shape[axis]), axis=axis)


# -- tensors as indices ----------------------------------------------------------------------------


def _index_places(b: AtenBuilder, x: Value, indices: Sequence[Value | None]) -> tuple[list[int], list[Value]]:
    """The indexed axes and their indices, broadcast to one shape; masks that are known are their places."""
    axes: list[int] = []
    found: list[Value] = []
    axis = 0
    for index in indices:
        if index is None:
            axis += 1
        elif index.dtype in ("bool", "uint8"):
            if index.array is None:
                raise b.unsupported("a mask as an index gives a shape that is known at run time only",
                                    "torch.where keeps the shape")  # fmt: skip
            places = np.nonzero(index.array) if index.rank else np.nonzero(index.array.reshape(1))
            axes += range(axis, axis + index.rank)
            found += [b.constant(p.astype(np.int64)) for p in places]
            axis += index.rank
        else:
            axes.append(axis)
            found.append(from_front(b, index, x.shape[axis]))
            axis += 1
    shape = b.common_shape(*(v.shape for v in found))
    return axes, [b.broadcast(b.tensor(v, "int64"), shape) for v in found]


def _linear(b: AtenBuilder, extents: Sequence[int], places: Sequence[Value]) -> Value:
    """The places in a tensor of such extents, counted through."""
    flat = places[0]
    for extent, place in zip(extents[1:], places[1:], strict=True):
        flat = b.add(b.mul(flat, extent), place)
    return flat


@aten_op("index.Tensor", "_unsafe_index.Tensor", "index", "_unsafe_index")
def index(b: AtenBuilder, self: Value, indices: Sequence[Value | None]) -> Value:
    """x[i, :, j]: the axes of the indices stand first, or where the indices stand if those are neighbours."""
    axes, places = _index_places(b, self, indices)
    if not axes:
        return self
    rest = [a for a in range(self.rank) if a not in axes]
    shape = places[0].shape
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    first = axes[0] if together else 0
    after = [self.shape[a] for a in rest]
    if 0 in (*shape, *after):
        return b.zeros((*after[:first], *shape, *after[first:]), self.dtype)
    if len(axes) == 1:
        found = b.op("take", self, places[0], axis=axes[0], mode="clip")
        return found if first == axes[0] else found
    order = [*rest[:first], *axes, *rest[first:]]
    x = b.transpose(self, order)
    extents = [self.shape[a] for a in axes]
    x = b.reshape(x, (*x.shape[:first], prod(extents), *x.shape[first + len(axes) :]))
    return b.op("take", x, _linear(b, extents, places), axis=first, mode="clip")


@aten_op("index_put", "_unsafe_index_put", "_index_put_impl", "index_put_")
def index_put(b: AtenBuilder, self: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False,
              unsafe: bool = False) -> Value:  # fmt: skip
    given = [v for v in indices if v is not None]
    if len(given) == 1 and given[0].dtype == "bool" and given[0].array is None:
        return _masked_put(b, self, indices, values, accumulate)
    axes, places = _index_places(b, self, indices)
    rest = [a for a in range(self.rank) if a not in axes]
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    first = axes[0] if together else 0
    after = [self.shape[a] for a in rest]
    shape = places[0].shape
    if 0 in shape or 0 in self.shape:
        return self
    wide = b.broadcast(b.tensor(values, self.dtype), (*after[:first], *shape, *after[first:]))
    # Of the updates the indices' axes come first, as one; of the tensor the indexed axes.
    update = b.transpose(
        wide, [*range(first, first + len(shape)), *range(first), *range(first + len(shape), wide.rank)]
    )
    count = prod(shape)
    update = b.reshape(update, (count, *after))
    order = [*axes, *rest]
    extents = [self.shape[a] for a in axes]
    x = b.reshape(b.transpose(self, order), (prod(extents), *after))
    flat = b.reshape(_linear(b, extents, places), (1, count))
    y = _scattered(b, x, flat, update, accumulate)
    y = b.reshape(y, (*extents, *after))
    return b.transpose(y, [order.index(a) for a in range(self.rank)])


def _scattered(b: AtenBuilder, x: Value, places: Value, update: Value, accumulate: bool) -> Value:
    mode = "add" if accumulate else "update"
    if x.dtype != "bool":
        return b.op("scatter_nd", x, places, update, mode=mode)
    bytes_ = [b.op("cast", v, dtype="uint8") for v in (x, update)]
    found = b.op("scatter_nd", bytes_[0], places, bytes_[1], mode="max" if accumulate else mode)
    return b.tensor(found, "bool")


def _masked_put(b: AtenBuilder, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool) -> Value:
    """The same value where a mask holds, or one after the other along the mask."""
    before = next(k for k, v in enumerate(indices) if v is not None)
    mask = indices[before]
    assert mask is not None
    rest = x.shape[before + mask.rank :]
    value = b.tensor(values, x.dtype)
    if prod(value.shape) == 1:
        value = b.reshape(value, ())
    elif value.rank > len(rest):
        if before or value.rank != 1 + len(rest):
            raise b.unsupported("values for the places of a mask that is computed at run time are not supported")
        place = _counted(b, mask)
        wide = b.broadcast(value, (value.shape[0], *rest))
        value = b.reshape(b.op("take", wide, place, axis=0, mode="clip"), x.shape)
    mask = b.reshape(mask, (*mask.shape, *[1] * len(rest)))
    return b.choose(mask, b.add(x, value) if accumulate else value, x)


@aten_op("nonzero_static")
def nonzero_static(b: AtenBuilder, self: Value, *, size: Any, fill_value: int = -1) -> Value:
    """The places of the first `size` elements that are not zero, a row each; rows of `fill_value` behind the last."""
    count, length = int(b.number(size, "the size")), prod(self.shape)
    b.check_size((count, self.rank), "int64")
    if not count or not self.rank:
        return b.zeros((count, self.rank), "int64")
    if not length:
        return b.filled(fill_value, (count, self.rank), "int64")
    held = b.reshape(b.one("not_equal", self, b.tensor(0, self.dtype)), (length,))
    order = b.op("argsort", b.op("cast", held, dtype="uint8"), axis=0, is_ascend=False, dtype="int64")
    total = b.op("sum", b.tensor(held, "int64"), axis=[0])
    at = b.op("take", order, b.constant(np.minimum(np.arange(count, dtype=np.int64), length - 1)), axis=0, mode="clip")
    columns: list[Value] = []
    for axis, extent in enumerate(self.shape):
        column = b.one("floor_divide", at, prod(self.shape[axis + 1 :]))
        columns.append(b.op("expand_dims", b.one("floor_mod", column, extent), axis=1))
    there = b.op("less", b.constant(np.arange(count, dtype=np.int64)), total)
    return b.choose(b.op("expand_dims", there, axis=1), b.op("concatenate", *columns, axis=1), fill_value)


def _counted(b: AtenBuilder, mask: Value) -> Value:
    """Places of the elements of a mask among those that hold, in one row."""
    held = b.reshape(b.tensor(mask, "int64"), (prod(mask.shape),))
    return b.op("maximum", b.sub(b.op("cumsum", held, axis=0), 1), b.tensor(0, "int64"))


# -- masks -----------------------------------------------------------------------------------------


@aten_op("masked_fill", "masked_fill_")
def masked_fill(b: AtenBuilder, self: Value, mask: Value, value: Any) -> Value:
    shape = b.common_shape(self.shape, mask.shape)
    found = b.choose(mask, b.tensor(value, self.dtype), b.broadcast(self, shape))
    return b.broadcast(found, shape)


@aten_op("masked_scatter")
def masked_scatter(b: AtenBuilder, self: Value, mask: Value, source: Value) -> Value:
    """The elements of the source in order where the mask holds."""
    shape = b.common_shape(self.shape, mask.shape)
    x, held = b.broadcast(self, shape), b.broadcast(mask, shape)
    place = _counted(b, held)
    line = b.reshape(source, (prod(source.shape),))
    taken = b.op("take", line, place, axis=0, mode="clip")
    return b.choose(held, b.reshape(b.tensor(taken, x.dtype), shape), x)


# -- scattered updates -----------------------------------------------------------------------------

_REDUCTIONS = {"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "amax": "max", "amin": "min"}


def scattered(b: AtenBuilder, x: Value, dim: int, index: Value, update: Value, mode: str) -> Value:
    """The tensor with elements written, or reduced, at places of an axis."""
    if 0 in index.shape or 0 in x.shape:
        return x
    given, at, new = (v if v.rank else b.reshape(v, (1,)) for v in (x, index, update))
    axis = b.axis(dim, given.rank)
    for a in range(at.rank):
        new = b.slice(new, a, 0, at.shape[a])
    new = b.broadcast(new, at.shape)
    kind = x.dtype
    if kind == "bool":
        given, new = (b.op("cast", v, dtype="uint8") for v in (given, new))
        mode = {"add": "max", "mul": "min"}.get(mode, mode)
    if all(a == axis or at.shape[a] == e for a, e in enumerate(given.shape)):
        return b.reshape(b.tensor(b.op("scatter_elements", given, at, new, axis=axis, reduction=mode), kind), x.shape)
    # Indices for a part of the other axes: that part alone is written.
    part = given
    for a in range(at.rank):
        if a != axis:
            part = b.slice(part, a, 0, at.shape[a])
    found = b.op("scatter_elements", part, at, new, axis=axis, reduction=mode)
    for a in reversed(range(at.rank)):
        if a == axis or at.shape[a] == given.shape[a]:
            continue
        whole = given
        for c in range(a):
            if c != axis:
                whole = b.slice(whole, c, 0, at.shape[c])
        rest = b.slice(whole, a, at.shape[a], given.shape[a])
        found = b.op("concatenate", found, rest, axis=a)
    return b.tensor(found, kind)


@aten_op("scatter", "scatter.src", "scatter.value")
def scatter(b: AtenBuilder, self: Value, dim: int, index: Value, src: Any, *, reduce: str | None = None) -> Value:
    update = b.broadcast(b.tensor(src, self.dtype), index.shape) if not isinstance(src, Value) or not src.rank else src
    return scattered(
        b, self, dim, index, b.tensor(update, self.dtype), "update" if reduce is None else _REDUCTIONS[reduce]
    )


@aten_op("scatter.reduce", "scatter.value_reduce")
def scatter_with(b: AtenBuilder, self: Value, dim: int, index: Value, src: Any, *, reduce: str) -> Value:
    return scatter(b, self, dim, index, src, reduce=reduce)


@aten_op("scatter_add")
def scatter_add(b: AtenBuilder, self: Value, dim: int, index: Value, src: Value) -> Value:
    return scattered(b, self, dim, index, src, "add")


@aten_op("scatter_reduce.two", "scatter_reduce")
def scatter_reduce(b: AtenBuilder, self: Value, dim: int, index: Value, src: Value, reduce: str, *,
                   include_self: bool = True) -> Value:  # fmt: skip
    start = self
    ones = b.filled(1, src.shape, self.dtype)
    if not include_self:
        neutral: Any = {"sum": 0, "mean": 0, "prod": 1}.get(reduce)
        if neutral is None:
            lowest = -np.inf if is_float(self.dtype) else np.iinfo(self.dtype).min
            highest = np.inf if is_float(self.dtype) else np.iinfo(self.dtype).max
            neutral = lowest if reduce == "amax" else highest
        zeros = b.zeros(self.shape, "float32")
        hit = scattered(b, zeros, dim, index, b.filled(1, src.shape, "float32"), "add")
        touched = b.one("greater", hit, 0.0)
        start = b.choose(touched, b.tensor(neutral, self.dtype), self)
    if reduce != "mean":
        return scattered(b, start, dim, index, src, _REDUCTIONS[reduce])
    total = scattered(b, start, dim, index, src, "add")
    first = b.filled(1, self.shape, self.dtype) if include_self else b.zeros(self.shape, self.dtype)
    count = b.one("maximum", scattered(b, first, dim, index, ones, "add"), 1)
    return b.op("divide" if is_float(self.dtype) else "floor_divide", total, count)


def _along(b: AtenBuilder, index: Value, shape: Sequence[int], axis: int) -> Value:
    """Indices of an axis as those of each element of a tensor."""
    count = prod(index.shape)
    line = b.reshape(index, [count if a == axis else 1 for a in range(len(shape))])
    return b.broadcast(line, [count if a == axis else e for a, e in enumerate(shape)])


@aten_op("index_add")
def index_add(b: AtenBuilder, self: Value, dim: int, index: Value, source: Value, *, alpha: Any = 1) -> Value:
    update = source if alpha == 1 else b.mul(source, alpha)
    if not self.rank:
        return b.add(self, b.reshape(update, ()))
    axis = b.axis(dim, self.rank)
    shape = source.shape if source.rank else (1,)
    return scattered(b, self, axis, from_front(b, _along(b, index, shape, axis), self.shape[axis]), update, "add")


@aten_op("index_copy")
def index_copy(b: AtenBuilder, self: Value, dim: int, index: Value, source: Value) -> Value:
    if not self.rank:
        return b.reshape(source, ())
    axis = b.axis(dim, self.rank)
    shape = source.shape if source.rank else (1,)
    return scattered(b, self, axis, from_front(b, _along(b, index, shape, axis), self.shape[axis]), source, "update")


@aten_op("index_fill")
def index_fill(b: AtenBuilder, self: Value, dim: int, index: Value, value: Any) -> Value:
    if not self.rank:
        return b.tensor(value, self.dtype)
    axis = b.axis(dim, self.rank)
    at = from_front(b, _along(b, index, self.shape, axis), self.shape[axis])
    return scattered(b, self, axis, at, b.broadcast(b.tensor(value, self.dtype), at.shape), "update")


@aten_op("index_reduce")
def index_reduce(b: AtenBuilder, self: Value, dim: int, index: Value, source: Value, reduce: str, *,
                 include_self: bool = True) -> Value:  # fmt: skip
    if not self.rank:
        lines = [b.reshape(v, (1,)) for v in (self, index, source)]
        found = index_reduce(b, lines[0], 0, lines[1], lines[2], reduce, include_self=include_self)
        return b.reshape(found, ())
    axis = b.axis(dim, self.rank)
    at = from_front(b, _along(b, index, source.shape, axis), self.shape[axis])
    return scatter_reduce(b, self, axis, at, source, reduce, include_self=include_self)


@aten_op("put")
def put(b: AtenBuilder, self: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    flat = b.reshape(self, (prod(self.shape),))
    at = from_front(b, b.reshape(index, (prod(index.shape),)), flat.shape[0])
    found = scattered(b, flat, 0, at, b.reshape(source, at.shape), "add" if accumulate else "update")
    return b.reshape(found, self.shape)


@aten_op("one_hot")
def one_hot(b: AtenBuilder, self: Value, num_classes: int = -1) -> Value:
    if num_classes < 0:
        raise b.unsupported("a number of classes that is computed at run time is not supported", "give num_classes")
    line = b.constant(np.arange(num_classes, dtype=np.int64))
    column = b.op("expand_dims", self, axis=self.rank)
    return b.tensor(b.op("equal", column, line), "int64")
