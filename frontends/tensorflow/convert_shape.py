"""Views: reshapes, transposes, joins, cuts, padding, blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE, Images, ints, small


@TABLE.op("Reshape")
def reshape(b: NodeBuilder, node: NetworkNode, x: Value, shape: Value) -> Value:
    """In another shape; one extent may be -1, which is what is left."""
    given = ints(b, shape, "the shape")
    open_ = [a for a, e in enumerate(given) if e == -1]
    if len(open_) == 1:
        others = prod(e for e in given if e != -1)
        given[open_[0]] = prod(x.shape) // others if others else 0
    if prod(given) != prod(x.shape) or min(given, default=0) < 0:
        raise b.fail(f"{x} has no shape {given}")
    return b.reshape(x, given)


@TABLE.op("Squeeze")
def squeeze(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    given = node.attr("squeeze_dims") or node.attr("axis")
    axes = {b.axis(a, x.rank) for a in given} if given else {a for a, e in enumerate(x.shape) if e == 1}
    if any(x.shape[a] != 1 for a in axes):
        raise b.fail(f"axes {sorted(axes)} of {x} have other extents than 1")
    return b.reshape(x, [e for a, e in enumerate(x.shape) if a not in axes])


@TABLE.op("ExpandDims")
def expand_dims(b: NodeBuilder, node: NetworkNode, x: Value, axis: Value) -> Value:
    place = b.axis(int(b.number(axis, "the axis")), x.rank + 1)
    return b.reshape(x, (*x.shape[:place], 1, *x.shape[place:]))


@TABLE.op("Transpose", "ConjugateTranspose")
def transpose(b: NodeBuilder, node: NetworkNode, x: Value, order: Value) -> Value:
    axes = [b.axis(a, x.rank) for a in ints(b, order, "the order of the axes")] if x.rank else []
    if sorted(axes) != list(range(x.rank)):
        raise b.fail(f"{axes} is no order of {x.rank} axes")
    return b.transpose(x, axes)


@TABLE.op("BroadcastTo")
def broadcast_to(b: NodeBuilder, node: NetworkNode, x: Value, shape: Value) -> Value:
    given = ints(b, shape, "the shape")
    b.check_size(given, x.dtype)
    return b.broadcast(x, given)


# -- joins and cuts ----------------------------------------------------------------------------------


@TABLE.op("Pack")
def pack(b: NodeBuilder, node: NetworkNode, *values: Value) -> Value:
    """Tensors of one shape along a new axis."""
    axis = b.axis(int(node.attr("axis", 0)), values[0].rank + 1)
    return b.op("stack", *values, axis=axis)


@TABLE.op("Unpack")
def unpack(b: NodeBuilder, node: NetworkNode, x: Value) -> Sequence[Value]:
    """The slices of an axis, without it."""
    axis = b.axis(int(node.attr("axis", 0)), x.rank)
    if not x.rank or node.attr("num") != x.shape[axis] or not 0 < x.shape[axis] <= 1 << 12:
        raise b.fail(f"{x} has no {node.attr('num')} slices on axis {axis}")
    parts = b.ops("split", x, indices_or_sections=x.shape[axis], axis=axis) if x.shape[axis] > 1 else [x]
    return [b.reshape(p, (*x.shape[:axis], *x.shape[axis + 1 :])) for p in parts]


def _joined(b: NodeBuilder, values: Sequence[Value], axis: Value) -> Value:
    place = b.axis(int(b.number(axis, "the axis")), values[0].rank)
    return values[0] if len(values) == 1 else b.op("concatenate", *values, axis=place)


@TABLE.op("ConcatV2")
def concat(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    return _joined(b, given[:-1], given[-1])


@TABLE.op("Concat")
def old_concat(b: NodeBuilder, node: NetworkNode, axis: Value, *values: Value) -> Value:
    return _joined(b, values, axis)


@TABLE.op("Split")
def split(b: NodeBuilder, node: NetworkNode, axis: Value, x: Value) -> Sequence[Value]:
    place, count = b.axis(int(b.number(axis, "the axis")), x.rank), int(node.attr("num_split", 1))
    if not 0 < count <= 1 << 12 or x.shape[place] % count:
        raise b.fail(f"axis {place} of {x} has no {count} equal parts")
    return b.ops("split", x, indices_or_sections=count, axis=place) if count > 1 else [x]


@TABLE.op("SplitV")
def split_sizes(b: NodeBuilder, node: NetworkNode, x: Value, sizes: Value, axis: Value) -> Sequence[Value]:
    """Parts of given sizes; one may be -1, which is what is left."""
    place, given = b.axis(int(b.number(axis, "the axis")), x.rank), ints(b, sizes, "the sizes")
    if given.count(-1) == 1:
        given[given.index(-1)] = x.shape[place] - sum(e for e in given if e != -1)
    if min(given, default=-1) < 0 or sum(given) != x.shape[place]:
        raise b.fail(f"axis {place} of {x} has no parts of {given}")
    starts = [sum(given[:k]) for k in range(len(given))]
    return [b.slice(x, place, s, s + e) for s, e in zip(starts, given, strict=True)]


@TABLE.op("Slice")
def slice_of(b: NodeBuilder, node: NetworkNode, x: Value, begin: Value, size: Value) -> Value:
    """So many elements of each axis from a place on; -1 is all that are left."""
    sizes = ints(b, size, "the size")
    if begin.array is None:
        return _moving_slice(b, x, begin, sizes)
    starts = ints(b, begin, "the begin")
    if len(starts) != x.rank or len(sizes) != x.rank:
        raise b.fail(f"{len(starts)} places and {len(sizes)} sizes do not fit {x}")
    ends = [e if s == -1 else f + s for f, s, e in zip(starts, sizes, x.shape, strict=True)]
    if any(not 0 <= f <= last <= e for f, last, e in zip(starts, ends, x.shape, strict=True)):
        raise b.fail(f"{starts} to {ends} is outside {x}")
    axes = [a for a in range(x.rank) if (starts[a], ends[a]) != (0, x.shape[a])]
    if not axes:
        return x
    return b.op("strided_slice", x, begin=[starts[a] for a in axes], end=[ends[a] for a in axes],
                strides=[1] * len(axes), axes=axes)  # fmt: skip


def _moving_slice(b: NodeBuilder, x: Value, begin: Value, sizes: Sequence[int]) -> Value:
    """Known numbers of elements from places that are computed."""
    if begin.shape != (x.rank,) or len(sizes) != x.rank or any(s > e for s, e in zip(sizes, x.shape, strict=True)):
        raise b.fail(f"places {begin} and {list(sizes)} elements do not fit {x}")
    for axis, (size, extent) in enumerate(zip(sizes, x.shape, strict=True)):
        if size < 0:
            raise b.unsupported("the number of elements is computed at run time")
        if size != extent:
            small(b, size, "the elements of a slice")
            places = b.add(b.constant(np.arange(size, dtype=begin.dtype)), b.slice(begin, 0, axis, axis + 1))
            x = b.op("take", x, places, axis=axis, mode="clip")
    return x


@TABLE.op("StridedSlice")
def strided_slice(b: NodeBuilder, node: NetworkNode, x: Value, begin: Value, end: Value, strides: Value) -> Value:
    """Python's indexing: slices, places, new axes and an ellipsis, told by masks of bits."""
    masks = {n: int(node.attr(f"{n}_mask", 0)) for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if begin.array is None and begin.rank == 1:
        return _computed_places(b, x, begin, strides, masks)
    spec = [ints(b, v, what) for v, what in ((begin, "the begin"), (end, "the end"), (strides, "the strides"))]
    if len({len(s) for s in spec}) != 1:
        raise b.fail("begin, end and strides have different lengths")
    return _Indexed(b, x, spec, masks).value()


def _computed_places(b: NodeBuilder, x: Value, begin: Value, strides: Value, masks: dict[str, int]) -> Value:
    """An index of places that are computed and of whole axes: `x[i]`, `x[:, i]`, `x[..., None, i]`."""
    spec = _Indexed(b, x, [[0] * begin.shape[0]] * 2 + [ints(b, strides, "the strides")], masks)
    axis = 0
    for k in range(max(begin.shape[0], spec.ellipsis + 1)):
        if k == spec.ellipsis:
            axis += spec.hidden
        elif spec.has("new_axis", k):
            x = b.op("expand_dims", x, axis=axis)
            axis += 1
        elif spec.has("shrink_axis", k):
            place = b.reshape(b.slice(begin, 0, k, k + 1), ())
            negative = b.one("less", place, 0)
            place = b.choose(negative, b.add(place, x.shape[axis]), place)
            x = b.op("take", x, place, axis=axis, mode="clip")
        elif spec.has("begin", k) and spec.has("end", k) and spec.strides[k] == 1:
            axis += 1
        else:
            raise b.unsupported("the begin of a slice is computed at run time")
    return x


class _Indexed:
    """The result of an index of Python's."""

    def __init__(self, b: NodeBuilder, x: Value, spec: Sequence[Sequence[int]], masks: dict[str, int]) -> None:
        self.b, self.x, self.masks = b, x, masks
        self.begin, self.end, self.strides = spec
        count = len(self.begin)
        self.ellipsis = next((k for k in range(count) if self.has("ellipsis", k)), count)
        rest = sum(not self.has("new_axis", k) for k in range(count) if k != self.ellipsis)
        self.hidden = x.rank - rest
        """The axes that the ellipsis stands for, or that no entry is about."""
        if self.hidden < 0:
            raise b.fail(f"{rest} indices are too many for {x}")

    def has(self, mask: str, k: int) -> bool:
        return bool(self.masks[mask] >> k & 1)

    def value(self) -> Value:
        b, x = self.b, self.x
        cuts: list[tuple[int, int, int]] = []
        shape: list[int] = []
        for k in range(max(len(self.begin), self.ellipsis + 1)):
            if k == self.ellipsis:
                for _ in range(self.hidden):
                    extent = x.shape[len(cuts)]
                    cuts.append((0, extent, 1))
                    shape.append(extent)
            elif self.has("new_axis", k):
                shape.append(1)
            else:
                first, last, step = self._entry(k, x.shape[len(cuts)])
                cuts.append((first, last, step))
                if not self.has("shrink_axis", k):
                    shape.append(max(0, -(-(last - first) // step)))
        whole = all(cut == (0, e, 1) for cut, e in zip(cuts, x.shape, strict=True))
        if 0 in shape:
            return b.zeros(shape, x.dtype)
        if not whole:
            # Going down, "before the first element" is -1, which would mean the last one.
            ends = [-e - 1 if last < 0 else last for (_, last, _), e in zip(cuts, x.shape, strict=True)]
            begin, strides = [c[0] for c in cuts], [c[2] for c in cuts]
            x = b.op("strided_slice", x, begin=begin, end=ends, strides=strides, axes=list(range(x.rank)))
        return b.reshape(x, shape)

    def _entry(self, k: int, extent: int) -> tuple[int, int, int]:
        """The first place of an entry, the end, the step."""
        step = self.strides[k]
        if not step:
            raise self.b.fail("a stride is 0")
        first = self.begin[k] + extent if self.begin[k] < 0 else self.begin[k]
        if self.has("shrink_axis", k):
            if not 0 <= first < extent or step < 0:
                raise self.b.fail(f"index {self.begin[k]} is out of range for an extent of {extent}")
            return first, first + 1, 1
        low, high = (0, extent) if step > 0 else (-1, extent - 1)
        last = self.end[k] + extent if self.end[k] < 0 else self.end[k]
        first = min(max(first, low), high)
        last = min(max(last, low), high)
        if self.has("begin", k):
            first = low if step > 0 else high
        if self.has("end", k):
            last = high if step > 0 else low
        return first, last, step


# -- repetition and padding --------------------------------------------------------------------------


@TABLE.op("Tile")
def tile(b: NodeBuilder, node: NetworkNode, x: Value, counts: Value) -> Value:
    given = ints(b, counts, "the counts")
    if len(given) != x.rank or min(given, default=0) < 0:
        raise b.fail(f"{given} are no counts for {x}")
    shape = [e * n for e, n in zip(x.shape, given, strict=True)]
    b.check_size(shape, x.dtype)
    if 0 in shape:
        return b.zeros(shape, x.dtype)
    return b.op("tile", x, reps=given) if x.rank else x


def _widths(b: NodeBuilder, x: Value, paddings: Value) -> list[int]:
    given = ints(b, paddings, "the padding")
    if len(given) != 2 * x.rank or min(given, default=0) < 0:
        raise b.fail(f"{given} is no padding of {x}")
    extents = [e + given[2 * a] + given[2 * a + 1] for a, e in enumerate(x.shape)]
    b.check_size(extents, x.dtype)
    return given


@TABLE.op("Pad", "PadV2")
def pad(b: NodeBuilder, node: NetworkNode, x: Value, paddings: Value, number: Value | None = None) -> Value:
    widths = _widths(b, x, paddings)
    if not any(widths):
        return x
    return b.op("nn.pad", x, pad_width=widths, pad_value=float(b.number(number, "the number")) if number else 0.0)


@TABLE.op("MirrorPad")
def mirror_pad(b: NodeBuilder, node: NetworkNode, x: Value, paddings: Value) -> Value:
    widths = _widths(b, x, paddings)
    return b.op("nn.mirror_pad", x, pad_width=widths, mode=str(node.attr("mode"))) if any(widths) else x


@TABLE.op("ReverseV2")
def reverse(b: NodeBuilder, node: NetworkNode, x: Value, axes: Value) -> Value:
    for axis in sorted({b.axis(a, x.rank) for a in ints(b, axes, "the axes")}):
        x = b.op("reverse", x, axis=axis)
    return x


@TABLE.op("Roll")
def roll(b: NodeBuilder, node: NetworkNode, x: Value, shift: Value, axis: Value) -> Value:
    """Elements moved along axes; those that leave at the end come in at the begin."""
    for by, given in zip(ints(b, shift, "the shift"), ints(b, axis, "the axes"), strict=True):
        place = b.axis(given, x.rank)
        at = -by % x.shape[place] if x.shape[place] else 0
        if at:
            parts = b.slice(x, place, at, x.shape[place]), b.slice(x, place, 0, at)
            x = b.op("concatenate", *parts, axis=place)
    return x


@TABLE.op("ReverseSequence")
def reverse_sequence(b: NodeBuilder, node: NetworkNode, x: Value, lengths: Value) -> Value:
    seq, batch = (b.axis(int(node.attr(n, 0)), x.rank) for n in ("seq_dim", "batch_dim"))
    return b.op("reverse_sequence", x, lengths, seq_axis=seq, batch_axis=batch)


# -- blocks ------------------------------------------------------------------------------------------


@TABLE.op("SpaceToDepth")
def space_to_depth(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    images = Images(b, node)
    return b.op("nn.space_to_depth", x, block_size=int(node.attr("block_size")), layout=images.layout)


@TABLE.op("DepthToSpace")
def depth_to_space(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    images = Images(b, node)
    return b.op("nn.depth_to_space", x, block_size=int(node.attr("block_size")), layout=images.layout, mode="DCR")


@TABLE.op("SpaceToBatchND")
def space_to_batch_nd(b: NodeBuilder, node: NetworkNode, x: Value, blocks: Value, paddings: Value) -> Value:
    sizes, room = ints(b, blocks, "the blocks"), ints(b, paddings, "the padding")
    return _in_blocks(b, "nn.space_to_batch_nd", x, sizes, room, "paddings")


@TABLE.op("BatchToSpaceND")
def batch_to_space_nd(b: NodeBuilder, node: NetworkNode, x: Value, blocks: Value, crops: Value) -> Value:
    sizes, room = ints(b, blocks, "the blocks"), ints(b, crops, "the crops")
    return _in_blocks(b, "nn.batch_to_space_nd", x, sizes, room, "crops")


def _in_blocks(b: NodeBuilder, op: str, x: Value, sizes: list[int], room: list[int], name: str) -> Value:
    if min(sizes, default=1) < 1 or len(room) != 2 * len(sizes) or min(room, default=0) < 0 or len(sizes) >= x.rank:
        raise b.fail(f"blocks of {sizes} with {name} {room} do not fit {x}")
    return b.op(op, x, block_shape=sizes, **{name: room})


@TABLE.op("SpaceToBatch", "BatchToSpace")
def old_blocks(b: NodeBuilder, node: NetworkNode, x: Value, room: Value) -> Value:
    """Square blocks of images."""
    name, op = ("paddings", "space_to_batch") if node.op == "SpaceToBatch" else ("crops", "batch_to_space")
    return _in_blocks(b, f"nn.{op}_nd", x, [int(node.attr("block_size"))] * 2, ints(b, room, name), name)
