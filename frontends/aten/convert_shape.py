"""Views, joins and copies: operators that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import is_always, is_symbolic
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.promotion import promote
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


@aten_op(
    "alias", "clone", "contiguous", "detach", "lift", "lift_fresh", "lift_fresh_copy", "alias_copy", "detach_copy",
    "_lazy_clone",
)  # fmt: skip
def itself(b: AtenBuilder, self: Value, *_: Any, **__: Any) -> Value:
    return self


@aten_op("copy", "copy_")
def copy(b: AtenBuilder, self: Value, src: Any, non_blocking: bool = False) -> Value:
    return b.broadcast(b.tensor(src, self.dtype), self.shape)


# -- other shapes ----------------------------------------------------------------------------------


def _filled_in(b: AtenBuilder, shape: list[int], size: int) -> list[int]:
    """A shape with its one extent of -1 known."""
    if shape.count(-1) > 1:
        raise b.fail(f"shape {shape} leaves more than one extent open (-1)")
    if -1 in shape:
        rest = prod(e for e in shape if e != -1)
        shape[shape.index(-1)] = size // rest if rest else 0
    if prod(shape) != size:
        raise b.fail(f"{size} elements do not fill shape {shape}")
    return shape


@aten_op("view.default", "reshape", "_unsafe_view", "_reshape_alias", "view_copy", "_reshape_copy", "reshape.default")
def view(b: AtenBuilder, self: Value, size: Any, stride: Any = None) -> Value:
    return b.reshape(self, _filled_in(b, b.ints(size), prod(self.shape)))


@aten_op("view_as", "reshape_as")
def view_as(b: AtenBuilder, self: Value, other: Value) -> Value:
    return b.reshape(self, other.shape)


@aten_op("flatten")
def flatten(b: AtenBuilder, self: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    first, last = b.axis(start_dim, self.rank), b.axis(end_dim, self.rank)
    if not self.rank:
        return b.reshape(self, (1,))
    if first == 1 and last == self.rank - 1 and self.rank > 2:
        return b.op("nn.batch_flatten", self)
    return b.reshape(self, (*self.shape[:first], prod(self.shape[first : last + 1]), *self.shape[last + 1 :]))


@aten_op("unflatten")
def unflatten(b: AtenBuilder, self: Value, dim: int, sizes: Any, names: Any = None) -> Value:
    axis = b.axis(dim, self.rank)
    parts = _filled_in(b, b.ints(sizes), self.shape[axis])
    return b.reshape(self, (*self.shape[:axis], *parts, *self.shape[axis + 1 :]))


@aten_op("ravel")
def ravel(b: AtenBuilder, self: Value) -> Value:
    return b.reshape(self, (prod(self.shape),))


@aten_op("squeeze.default", "squeeze_copy.default")
def squeeze(b: AtenBuilder, self: Value) -> Value:
    return b.reshape(self, [e for e in self.shape if e != 1])


@aten_op("squeeze", "squeeze.dim", "squeeze.dims", "squeeze_copy")
def squeeze_axes(b: AtenBuilder, self: Value, dim: Any = None) -> Value:
    """Axes of more elements stay."""
    if dim is None:
        return squeeze(b, self)
    axes = {b.axis(a, self.rank) for a in b.ints(dim)}
    return b.reshape(self, [e for a, e in enumerate(self.shape) if a not in axes or e != 1])


@aten_op("unsqueeze", "unsqueeze_copy")
def unsqueeze(b: AtenBuilder, self: Value, dim: int) -> Value:
    axis = b.axis(dim, self.rank + 1)
    return b.op("expand_dims", self, axis=axis)


@aten_op("expand", "expand_copy", "broadcast_to")
def expand(b: AtenBuilder, self: Value, size: Any, implicit: bool = False) -> Value:
    """An extent of -1 is the tensor's own."""
    wanted = b.ints(size)
    old = [1] * (len(wanted) - self.rank) + list(self.shape)
    return b.broadcast(self, [o if w == -1 else w for o, w in zip(old, wanted, strict=True)])


@aten_op("expand_as")
def expand_as(b: AtenBuilder, self: Value, other: Value) -> Value:
    return b.broadcast(self, other.shape)


@aten_op("broadcast_tensors")
def broadcast_tensors(b: AtenBuilder, tensors: Sequence[Value]) -> list[Value]:
    shape = b.common_shape(*(t.shape for t in tensors))
    return [b.broadcast(t, shape) for t in tensors]


@aten_op("atleast_1d", "atleast_2d", "atleast_3d")
def atleast(b: AtenBuilder, self: Any) -> Any:
    assert b.call is not None
    rank = int(b.call.packet[8])
    if not isinstance(self, Value):
        return [_atleast(b, t, rank) for t in self]
    return _atleast(b, self, rank)


def _atleast(b: AtenBuilder, x: Value, rank: int) -> Value:
    shape = x.shape
    if rank >= 1 and not shape:
        shape = (1,)
    if rank >= 2 and len(shape) == 1:
        shape = (1, *shape)
    if rank == 3 and len(shape) == 2:
        shape = (*shape, 1)
    return b.reshape(x, shape)


# -- other orders ----------------------------------------------------------------------------------


@aten_op("permute", "permute_copy")
def permute(b: AtenBuilder, self: Value, dims: Any) -> Value:
    return b.transpose(self, [b.axis(a, self.rank) for a in b.ints(dims)])


@aten_op("transpose.int", "transpose", "swapaxes", "swapdims", "transpose_copy")
def transpose(b: AtenBuilder, self: Value, dim0: int, dim1: int) -> Value:
    return b.swapped(self, b.axis(dim0, self.rank), b.axis(dim1, self.rank)) if self.rank else self


@aten_op("t", "numpy_T", "t_copy", "matrix_H", "mT", "mH", "adjoint")
def turned(b: AtenBuilder, self: Value) -> Value:
    """All axes in the other order; of stacks of matrices the last two."""
    assert b.call is not None
    if b.call.packet in ("matrix_H", "mT", "mH", "adjoint"):
        return b.swapped(self)
    return b.transpose(self, list(range(self.rank))[::-1])


@aten_op("movedim", "moveaxis")
def movedim(b: AtenBuilder, self: Value, source: Any, destination: Any) -> Value:
    old = [b.axis(a, self.rank) for a in b.ints(source)]
    new = [b.axis(a, self.rank) for a in b.ints(destination)]
    order: list[int] = [-1] * self.rank
    for o, n in zip(old, new, strict=True):
        order[n] = o
    rest = iter(a for a in range(self.rank) if a not in old)
    return b.transpose(self, [next(rest) if a < 0 else a for a in order])


@aten_op("flip")
def flip(b: AtenBuilder, self: Value, dims: Any) -> Value:
    x = self
    for axis in {b.axis(a, self.rank) for a in b.ints(dims)}:
        x = b.op("reverse", x, axis=axis) if x.rank else x
    return x


@aten_op("fliplr", "flipud")
def flip_named(b: AtenBuilder, self: Value) -> Value:
    assert b.call is not None
    return b.op("reverse", self, axis=1 if b.call.packet == "fliplr" else 0)


@aten_op("roll")
def roll(b: AtenBuilder, self: Value, shifts: Any, dims: Any = ()) -> Value:
    by, axes = b.ints(shifts), b.ints(dims)
    x = self if axes else b.reshape(self, (prod(self.shape),))
    for shift, axis in zip(by, axes or [0], strict=True):
        axis = b.axis(axis, x.rank)
        extent = x.shape[axis] if x.rank else 0
        # Of an extent that only a run tells a shift is less: the remainder would be a number of it.
        less = is_symbolic(extent) and not is_symbolic(shift) and extent > abs(shift)
        rest = (shift if shift >= 0 else extent + shift) if less else shift % extent if extent else 0
        if rest:
            cut = extent - rest
            parts = b.ops("split", x, indices_or_sections=[cut], axis=axis)
            x = b.op("concatenate", parts[1], parts[0], axis=axis)
    return b.reshape(x, self.shape)


@aten_op("rot90")
def rot90(b: AtenBuilder, self: Value, k: int = 1, dims: Any = (0, 1)) -> Value:
    first, second = (b.axis(a, self.rank) for a in b.ints(dims))
    k %= 4
    if k == 2:
        return flip(b, self, (first, second))
    if k:
        turned = b.swapped(flip(b, self, (second if k == 1 else first,)), first, second)
        return turned
    return self


# -- joins and repeats -----------------------------------------------------------------------------


@aten_op("cat", "concat", "concatenate")
def cat(b: AtenBuilder, tensors: Sequence[Value], dim: int = 0) -> Value:
    """An empty tensor of one axis fits everywhere."""
    dtype: str | None = None
    for t in tensors:
        dtype = promote(dtype, t.dtype)
    assert dtype is not None
    kept = [t for t in tensors if t.shape != (0,)] or list(tensors[:1])
    parts = [b.tensor(t, dtype) for t in kept]
    return parts[0] if len(parts) == 1 else b.op("concatenate", *parts, axis=b.axis(dim, parts[0].rank))


@aten_op("stack")
def stack(b: AtenBuilder, tensors: Sequence[Value], dim: int = 0) -> Value:
    axis = b.axis(dim, tensors[0].rank + 1)
    return cat(b, [b.op("expand_dims", t, axis=axis) for t in tensors], axis)


@aten_op("hstack", "vstack", "row_stack", "dstack", "column_stack")
def stack_along(b: AtenBuilder, tensors: Sequence[Value]) -> Value:
    assert b.call is not None
    kind = b.call.packet
    if kind == "column_stack":
        return cat(b, [b.reshape(t, (prod(t.shape), 1)) if t.rank < 2 else t for t in tensors], 1)
    rank = {"hstack": 1, "dstack": 3}.get(kind, 2)
    parts = [_atleast(b, t, rank) for t in tensors]
    axis = {"hstack": 0 if parts[0].rank == 1 else 1, "dstack": 2}.get(kind, 0)
    return cat(b, parts, axis)


@aten_op("block_diag")
def block_diag(b: AtenBuilder, tensors: Sequence[Value]) -> Value:
    """Matrices along a diagonal, zeros beside them."""
    blocks = [_atleast(b, t, 2) for t in tensors]
    width = sum(t.shape[1] for t in blocks)
    rows: list[Value] = []
    before = 0
    for t in blocks:
        after = width - before - t.shape[1]
        rows.append(b.op("nn.pad", t, pad_width=[0, 0, before, after]))
        before += t.shape[1]
    return cat(b, rows, 0)


@aten_op("repeat", "tile")
def repeat(b: AtenBuilder, self: Value, repeats: Any) -> Value:
    counts = b.ints(repeats)
    counts = [1] * (self.rank - len(counts)) + counts
    x = b.reshape(self, (*[1] * (len(counts) - self.rank), *self.shape))
    if any(map(is_symbolic, (*counts, *x.shape))):
        return _repeated(b, x, counts)
    if 0 in counts:
        return b.zeros([e * c for e, c in zip(x.shape, counts, strict=True)], x.dtype)
    return x if set(counts) <= {1} else b.op("tile", x, reps=counts)


def _repeated(b: AtenBuilder, x: Value, counts: Sequence[int]) -> Value:
    """The same where extents or counts depend on symbols: no index is divided by them."""
    done = [is_always(e, 1) or is_always(c, 1) for e, c in zip(x.shape, counts, strict=True)]
    x = b.broadcast(x, [c if is_always(e, 1) else e for e, c in zip(x.shape, counts, strict=True)])
    for axis, (extent, count) in enumerate(zip(x.shape, counts, strict=True)):
        if done[axis]:
            continue
        before, after = x.shape[:axis], x.shape[axis + 1 :]
        if not is_symbolic(extent):
            wide = b.broadcast(b.reshape(x, (*before, 1, extent, *after)), (*before, count, extent, *after))
            x = b.reshape(wide, (*before, count * extent, *after))
        elif not is_symbolic(count):
            x = b.op("concatenate", *[x] * count, axis=axis)
        else:
            raise b.unsupported(f"{count} copies of {extent} elements are not supported")
    return x


@aten_op("repeat_interleave.self_int")
def repeat_interleave(
    b: AtenBuilder, self: Value, repeats: Any, dim: int | None = None, output_size: Any = None
) -> Value:
    count = int(b.number(repeats, "the number of repeats"))
    x = self if dim is not None else b.reshape(self, (prod(self.shape),))
    axis = 0 if dim is None else b.axis(dim, x.rank)
    if not x.rank:
        x = b.reshape(x, (1,))
    if not count:
        return b.zeros([0 if a == axis else e for a, e in enumerate(x.shape)], x.dtype)
    return x if count == 1 else b.op("repeat", x, repeats=count, axis=axis)


@aten_op("meshgrid")
def meshgrid(b: AtenBuilder, tensors: Sequence[Value], indexing: str = "ij") -> list[Value]:
    lines = [b.reshape(t, (prod(t.shape),)) for t in tensors]
    order = list(range(len(lines)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    shape = [0] * len(lines)
    for k, line in enumerate(lines):
        shape[order[k]] = line.shape[0]
    found: list[Value] = []
    for k, line in enumerate(lines):
        own = [line.shape[0] if a == order[k] else 1 for a in range(len(lines))]
        found.append(b.broadcast(b.reshape(line, own), shape))
    return found


@aten_op("cartesian_prod")
def cartesian_prod(b: AtenBuilder, tensors: Sequence[Value]) -> Value:
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(b, tensors)
    return stack(b, [b.reshape(v, (prod(v.shape),)) for v in grids], 1)


# -- parts -----------------------------------------------------------------------------------------


def parts_of(b: AtenBuilder, x: Value, sizes: Sequence[int], axis: int) -> list[Value]:
    """The tensor cut along an axis."""
    if len(sizes) == 1:
        return [x]
    if 0 in sizes:
        ends = np.cumsum(sizes)
        return [cut(b, x, axis, int(e - s), int(e)) for s, e in zip(sizes, ends, strict=True)]
    return b.ops("split", x, indices_or_sections=[int(p) for p in np.cumsum(sizes)[:-1]], axis=axis)


def cut(b: AtenBuilder, x: Value, axis: int, begin: int, end: int, step: int = 1) -> Value:
    """A part of an axis, which may be empty."""
    if end <= begin:
        return b.zeros([0 if a == axis else e for a, e in enumerate(x.shape)], x.dtype)
    return b.slice(x, axis, begin, end, step)


@aten_op(
    "split.Tensor", "split", "split.sizes", "split_with_sizes", "split_with_sizes_copy", "split_copy", "unsafe_split",
    "unsafe_split_with_sizes",
)  # fmt: skip
def split(b: AtenBuilder, self: Value, split_size: Any, dim: int = 0) -> list[Value]:
    """Parts of one size, the last one what is left, or of given ones."""
    axis = b.axis(dim, self.rank)
    extent = self.shape[axis]
    if isinstance(split_size, (list, tuple)):
        sizes = b.ints(split_size)
    else:
        size = int(b.number(split_size, "the size of parts"))
        sizes = [min(size, extent - k) for k in range(0, extent, size)] if size and extent else [extent]
    return parts_of(b, self, sizes, axis)


@aten_op("chunk", "unsafe_chunk")
def chunk(b: AtenBuilder, self: Value, chunks: int, dim: int = 0) -> list[Value]:
    axis = b.axis(dim, self.rank)
    extent = self.shape[axis]
    size = -(-extent // chunks)
    if not size:
        return [self] * chunks
    return split(b, self, size, axis)


@aten_op("tensor_split", "hsplit", "vsplit", "dsplit")
def tensor_split(b: AtenBuilder, self: Value, indices_or_sections: Any, dim: int = 0) -> list[Value]:
    """At places, or in so many parts, the first ones one longer where it does not divide."""
    assert b.call is not None
    named = {"hsplit": 0 if self.rank == 1 else 1, "vsplit": 0, "dsplit": 2}
    axis = named.get(b.call.packet, b.axis(dim, self.rank))
    extent = self.shape[axis]
    given: Any = indices_or_sections
    if isinstance(given, Value):
        if given.array is None:
            raise b.unsupported("the places of the parts are computed at run time")
        given = given.array.tolist()
    if isinstance(given, int):
        long, rest = divmod(extent, given)
        sizes = [long + (k < rest) for k in range(given)]
        return parts_of(b, self, sizes, axis)
    places = [min(max(p + extent if p < 0 else p, 0), extent) for p in b.ints(given)]
    ends = [*places, extent]
    begins = [0, *places]
    return [cut(b, self, axis, s, e) for s, e in zip(begins, ends, strict=True)]


@aten_op("unbind", "unbind_copy")
def unbind(b: AtenBuilder, self: Value, dim: int = 0) -> list[Value]:
    axis = b.axis(dim, self.rank)
    return [select(b, self, axis, k) for k in range(self.shape[axis])]


@aten_op("select.int", "select", "select_copy")
def select(b: AtenBuilder, self: Value, dim: int, index: Any) -> Value:
    axis = b.axis(dim, self.rank)
    shape = (*self.shape[:axis], *self.shape[axis + 1 :])
    if isinstance(index, Value) and index.array is None:
        return b.op("take", self, b.reshape(index, ()), axis=axis, mode="clip")
    place = int(b.number(index, "the index"))
    extent = self.shape[axis]
    if not -extent <= place < extent:
        raise b.fail(f"index {place} is out of range for an extent of {extent}")
    place += extent if place < 0 else 0
    return b.reshape(b.slice(self, axis, place, place + 1), shape)


def bounds(start: Any, end: Any, extent: int) -> tuple[int, int]:
    """The bounds of a slice, counted from the front and inside the axis."""
    first, last = 0 if start is None else start, extent if end is None else end
    first, last = (v + extent if v < 0 else v for v in (first, last))
    first = min(max(first, 0), extent)
    return first, min(max(last, first), extent)


@aten_op("slice.Tensor", "slice", "slice_copy")
def slice_of(b: AtenBuilder, self: Value, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> Value:
    axis = b.axis(dim, self.rank)
    given = [None if v is None else b.ints([v])[0] for v in (start, end)]
    first, last = bounds(given[0], given[1], self.shape[axis])
    return cut(b, self, axis, first, last, int(step))


@aten_op("narrow", "narrow_copy")
def narrow(b: AtenBuilder, self: Value, dim: int, start: Any, length: int) -> Value:
    axis = b.axis(dim, self.rank)
    (first,) = b.ints([start])
    first += self.shape[axis] if first < 0 else 0
    return cut(b, self, axis, first, first + length)


@aten_op("diagonal", "linalg_diagonal", "diagonal_copy")
def diagonal(b: AtenBuilder, self: Value, offset: int = 0, dim1: int | None = None, dim2: int | None = None) -> Value:
    """The elements (i, i + offset) of two axes, along a last axis."""
    assert b.call is not None
    usual = (-2, -1) if b.call.packet == "linalg_diagonal" else (0, 1)
    first = b.axis(usual[0] if dim1 is None else dim1, self.rank)
    second = b.axis(usual[1] if dim2 is None else dim2, self.rank)
    rest = [a for a in range(self.rank) if a not in (first, second)]
    x = b.transpose(self, [*rest, first, second])
    rows, columns = x.shape[-2:]
    count = max(0, min(rows - max(-offset, 0), columns - max(offset, 0)))
    lead = x.shape[:-2]
    if not count or 0 in lead:
        return b.zeros((*lead, count), x.dtype)
    places = (np.arange(count) + max(-offset, 0)) * columns + np.arange(count) + max(offset, 0)
    flat = b.reshape(x, (*lead, rows * columns))
    return b.op("take", flat, b.constant(places.astype(np.int64)), axis=len(lead), mode="clip")


@aten_op("diag")
def diag(b: AtenBuilder, self: Value, diagonal: int = 0) -> Value:
    if self.rank == 2:
        return globals()["diagonal"](b, self, diagonal, 0, 1)
    return diag_embed(b, self, diagonal)


@aten_op("diag_embed")
def diag_embed(b: AtenBuilder, self: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Value:
    """Matrices whose diagonals are the last axis."""
    count = self.shape[-1]
    size = count + abs(offset)
    rank = self.rank + 1
    first, second = b.axis(dim1, rank), b.axis(dim2, rank)
    mask = np.eye(size, k=offset, dtype=np.bool_)
    line = b.op("nn.pad", self, pad_width=[*[0, 0] * (self.rank - 1), max(-offset, 0), max(offset, 0)])
    rows = b.reshape(line, (*self.shape[:-1], size, 1))
    # Row i has the element i of the line, which begins behind as many rows as there are none before it.
    wide = b.broadcast(rows, (*self.shape[:-1], size, size))
    x = b.choose(b.constant(mask), wide, 0 if not is_float(self.dtype) else 0.0)
    rest = iter(range(rank - 2))
    axes = [rank - 2 if a == first else rank - 1 if a == second else next(rest) for a in range(rank)]
    return b.transpose(x, axes)


@aten_op("as_strided", "as_strided_copy")
def as_strided(b: AtenBuilder, self: Value, size: Any, stride: Any, storage_offset: Any = None) -> Value:
    """Elements of a tensor that lies in memory in order, by their places there."""
    sizes, places = _strided_places(b, self, size, stride, storage_offset)
    if np.array_equal(places.reshape(-1), np.arange(prod(self.shape))):
        return b.reshape(self, sizes)
    flat = b.reshape(self, (prod(self.shape),))
    return b.op("take", flat, b.constant(places), axis=0, mode="clip")


@aten_op("as_strided_scatter")
def as_strided_scatter(
    b: AtenBuilder, self: Value, src: Value, size: Any, stride: Any, storage_offset: Any = None
) -> Value:
    """A tensor with other elements at these places of its memory."""
    _, places = _strided_places(b, self, size, stride, storage_offset)
    if len(np.unique(places)) != places.size:
        raise b.unsupported("places that are written more than once are not supported")
    if not places.size:
        return self
    flat, update = b.reshape(self, (prod(self.shape),)), b.reshape(b.tensor(src, self.dtype), (places.size,))
    found = b.op("scatter_elements", flat, b.constant(places.reshape(-1)), update, axis=0)
    return b.reshape(found, self.shape)


def _strided_places(
    b: AtenBuilder, x: Value, size: Any, stride: Any, storage_offset: Any
) -> tuple[list[int], np.ndarray[Any, Any]]:
    """The sizes of a view, and the places of its elements in the memory of a tensor that lies there in order."""
    sizes, strides = b.ints(size), b.ints(stride)
    offset = 0 if storage_offset is None else int(b.number(storage_offset, "the offset"))
    b.check_size(sizes, "int64")
    places = np.full((), offset, np.int64)
    for axis, (count, by) in enumerate(zip(sizes, strides, strict=True)):
        places = places + (np.arange(count) * by).reshape([-1 if a == axis else 1 for a in range(len(sizes))])
    places = np.ascontiguousarray(np.broadcast_to(places, sizes))
    if places.size and int(places.max()) >= prod(x.shape):
        raise b.unsupported("the view reaches beyond the tensor: it is one of another tensor's memory")
    return sizes, places


@aten_op("unfold", "unfold_copy")
def unfold(b: AtenBuilder, self: Value, dimension: int, size: int, step: int) -> Value:
    """Windows of an axis, their elements along a new last one."""
    if not self.rank:
        return b.reshape(self, (size,))
    axis = b.axis(dimension, self.rank)
    count = (self.shape[axis] - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)[None, :]
    found = b.op("take", self, b.constant(places.astype(np.int64)), axis=axis, mode="clip")
    order = [a for a in range(found.rank) if a != axis + 1]
    return b.transpose(found, [*order, axis + 1])


# -- blocks of images ------------------------------------------------------------------------------


@aten_op("pixel_shuffle")
def pixel_shuffle(b: AtenBuilder, self: Value, upscale_factor: int) -> Value:
    s, (*lead, channels, h, w) = upscale_factor, self.shape
    n, c = len(lead), channels // (s * s)
    x = b.reshape(self, (*lead, c, s, s, h, w))
    x = b.transpose(x, [*range(n + 1), n + 3, n + 1, n + 4, n + 2])
    return b.reshape(x, (*lead, c, h * s, w * s))


@aten_op("pixel_unshuffle")
def pixel_unshuffle(b: AtenBuilder, self: Value, downscale_factor: int) -> Value:
    s, (*lead, c, h, w) = downscale_factor, self.shape
    n = len(lead)
    x = b.reshape(self, (*lead, c, h // s, s, w // s, s))
    x = b.transpose(x, [*range(n + 1), n + 2, n + 4, n + 1, n + 3])
    return b.reshape(x, (*lead, c * s * s, h // s, w // s))


@aten_op("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(b: AtenBuilder, self: Value, groups: int) -> Value:
    batch, channels, *rest = self.shape
    x = b.swapped(b.reshape(self, (batch, groups, channels // groups, *rest)), 1, 2)
    return b.reshape(x, self.shape)
