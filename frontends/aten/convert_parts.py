"""Tensors with more around them, or with a part of them written anew: padding, triangles, scattered slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_shape import bounds, cut
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

# -- padding ---------------------------------------------------------------------------------------


def _pad_width(b: AtenBuilder, x: Value, pad: Sequence[int]) -> list[int]:
    """Pairs for each axis, from pairs for the last ones, the last first."""
    width = [0] * 2 * x.rank
    for k in range(len(pad) // 2):
        axis = x.rank - 1 - k
        width[2 * axis], width[2 * axis + 1] = pad[2 * k], pad[2 * k + 1]
    return width


@aten_op("constant_pad_nd")
def constant_pad_nd(b: AtenBuilder, self: Value, pad: Any, value: Any = 0) -> Value:
    width = _pad_width(b, self, b.ints(pad))
    if not any(width):
        return self
    shape = [width[2 * a] + e + width[2 * a + 1] for a, e in enumerate(self.shape)]
    number = b.number(value, "the padding")
    if 0 in shape or 0 in self.shape:
        return b.filled(number, shape, self.dtype)
    if self.dtype == "bool":
        return b.tensor(
            b.op("nn.pad", b.op("cast", self, dtype="uint8"), pad_width=width, pad_value=float(number)), "bool"
        )
    return b.op("nn.pad", self, pad_width=width, pad_value=float(number))


def _moded(b: AtenBuilder, x: Value, pad: Sequence[int], mode: str) -> Value:
    return b.op("nn.pad", x, pad_width=_pad_width(b, x, pad), pad_mode=mode)


@aten_op("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(b: AtenBuilder, self: Value, padding: Any) -> Value:
    return _moded(b, self, b.ints(padding), "reflect")


@aten_op("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(b: AtenBuilder, self: Value, padding: Any) -> Value:
    return _moded(b, self, b.ints(padding), "edge")


@aten_op("_pad_circular")
def circular_pad(b: AtenBuilder, self: Value, pad: Any) -> Value:
    """The tensor repeated on both sides."""
    width, x = _pad_width(b, self, b.ints(pad)), self
    for axis in range(x.rank):
        before, extent, after = width[2 * axis], x.shape[axis], width[2 * axis + 1]
        if before or after:
            places = np.arange(-before, extent + after) % extent
            x = b.op("take", x, b.constant(places.astype(np.int64)), axis=axis, mode="clip")
    return x


@aten_op("pad")
def pad(b: AtenBuilder, self: Value, pad: Any, mode: str = "constant", value: Any = None) -> Value:
    if mode == "constant":
        return constant_pad_nd(b, self, pad, 0 if value is None else value)
    if mode == "circular":
        return circular_pad(b, self, pad)
    return _moded(b, self, b.ints(pad), {"reflect": "reflect", "replicate": "edge"}[mode])


# -- triangles -------------------------------------------------------------------------------------


@aten_op("tril", "triu")
def triangle(b: AtenBuilder, self: Value, diagonal: int = 0) -> Value:
    assert b.call is not None
    (k,) = b.ints([diagonal])
    return b.choose(b.triangle(self.shape[-2], self.shape[-1], k, upper=b.call.packet == "triu"), self, 0)


# -- parts written anew ----------------------------------------------------------------------------


@aten_op("select_scatter")
def select_scatter(b: AtenBuilder, self: Value, src: Value, dim: int, index: Any) -> Value:
    axis = b.axis(dim, self.rank)
    place = int(b.number(index, "the index")) % self.shape[axis]
    part = b.op("expand_dims", b.tensor(src, self.dtype), axis=axis)
    return _replaced(b, self, part, axis, np.array([place]))


@aten_op("slice_scatter")
def slice_scatter(
    b: AtenBuilder, self: Value, src: Value, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Value:
    axis = b.axis(dim, self.rank)
    given = [None if v is None else int(b.number(v, "a bound of a slice")) for v in (start, end)]
    first, last = bounds(given[0], given[1], self.shape[axis])
    places = np.arange(first, last, int(step))
    shape = [len(places) if a == axis else e for a, e in enumerate(self.shape)]
    return _replaced(b, self, b.broadcast(b.tensor(src, self.dtype), shape), axis, places)


def _replaced(b: AtenBuilder, x: Value, part: Value, axis: int, places: np.ndarray[Any, Any]) -> Value:
    """The tensor with elements of an axis replaced by those of a part, in their order."""
    extent, count = x.shape[axis], len(places)
    if not count:
        return x
    if count == extent:
        return part
    first = int(places[0])
    if int(places[-1]) - first == count - 1:
        rows = [cut(b, x, axis, 0, first)] if first else []
        rows += [part]
        rows += [cut(b, x, axis, first + count, extent)] if first + count < extent else []
        return b.op("concatenate", *rows, axis=axis)
    # The part's element for each place, and whether there is one.
    mask = np.zeros(extent, np.bool_)
    mask[places] = True
    order = np.zeros(extent, np.int64)
    order[places] = np.arange(count)
    wide = b.op("take", part, b.constant(order), axis=axis, mode="clip")
    return b.choose(b.constant(mask.reshape([-1 if a == axis else 1 for a in range(x.rank)])), wide, x)


@aten_op("diagonal_scatter")
def diagonal_scatter(b: AtenBuilder, self: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    first, second = b.axis(dim1, self.rank), b.axis(dim2, self.rank)
    rows, columns = self.shape[first], self.shape[second]
    rest = [a for a in range(self.rank) if a not in (first, second)]
    order = [*rest, first, second]
    x = b.transpose(self, order)
    line = b.tensor(src, self.dtype)
    # The element of the diagonal in each row.
    before = max(-offset, 0)
    width = [*[0, 0] * (line.rank - 1), before, rows - before - line.shape[-1]]
    column = b.op("expand_dims", b.op("nn.pad", line, pad_width=width), axis=line.rank)
    mask = np.eye(rows, columns, k=offset, dtype=np.bool_)
    found = b.choose(b.constant(mask), b.broadcast(column, x.shape), x)
    back = [order.index(a) for a in range(self.rank)]
    return b.transpose(found, back)


@aten_op("fill", "fill_")
def fill(b: AtenBuilder, self: Value, value: Any) -> Value:
    return b.broadcast(b.tensor(value, self.dtype), self.shape)


@aten_op("zero", "zero_")
def zero(b: AtenBuilder, self: Value) -> Value:
    return b.zeros(self.shape, self.dtype)
