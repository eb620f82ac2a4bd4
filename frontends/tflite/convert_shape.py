"""Shapes: views of tensors, their parts, and what is put together of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode


@TABLE.op(*moves("RESHAPE"))
def reshape(b: TfliteBuilder, node: TfliteNode, x: Value, shape: Value | None = None) -> Value:
    """The elements in another shape, of which one extent may be -1; the operand counts, else the options."""
    given = node.attr("new_shape", []) if shape is None else b.integers(shape, "the shape")
    extents = list(given)
    if extents.count(-1) == 1:
        rest = prod(e for e in extents if e != -1)
        extents[extents.index(-1)] = prod(x.shape) // rest if rest > 0 else 0
    if min(extents, default=0) < 0 or prod(extents) != prod(x.shape):
        raise b.fail(f"{x} does not fit the shape {list(given)}")
    return b.reshape(x, extents)


@TABLE.op(*moves("SQUEEZE"))
def squeeze(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The tensor without axes of one element: those that are given, or all."""
    given = [b.axis(int(a), x.rank) for a in node.attr("squeeze_dims", [])]
    if any(x.shape[a] != 1 for a in given):
        raise b.fail(f"an axis of {x} among {given} has more than one element")
    gone = given or [a for a, e in enumerate(x.shape) if e == 1]
    return b.reshape(x, [e for a, e in enumerate(x.shape) if a not in gone])


@TABLE.op(*moves("EXPAND_DIMS"))
def expand_dims(b: TfliteBuilder, node: TfliteNode, x: Value, axis: Value) -> Value:
    """The tensor with one more axis of one element."""
    place = b.axis(int(b.number(axis, "the axis")), x.rank + 1)
    return b.reshape(x, (*x.shape[:place], 1, *x.shape[place:]))


@TABLE.op(*moves("SHAPE"))
def shape_of(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The extents."""
    return b.constant(np.asarray(x.shape, node.dtype()))


@TABLE.op(*moves("RANK"))
def rank_of(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The number of axes."""
    return b.constant(np.int32(x.rank))


@TABLE.op(*moves("TRANSPOSE"))
def transpose(b: TfliteBuilder, node: TfliteNode, x: Value, axes: Value) -> Value:
    """The axes in another order."""
    order = [b.axis(a, x.rank) for a in b.integers(axes, "the order of the axes")]
    if sorted(order) != list(range(x.rank)):
        raise b.fail(f"{order} is no order of the axes of {x}")
    return b.transpose(x, order)


@TABLE.op(*moves("BROADCAST_TO"))
def broadcast_to(b: TfliteBuilder, node: TfliteNode, x: Value, shape: Value) -> Value:
    """The tensor repeated until it has a shape."""
    return b.broadcast(x, b.extents(shape, "the shape"))


@TABLE.op("BROADCAST_ARGS")
def broadcast_args(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """The shape that two shapes broadcast to."""
    shapes = (tuple(b.extents(v, "a shape")) for v in (x, y))
    return b.constant(np.asarray(np.broadcast_shapes(*shapes), node.dtype()))


@TABLE.op(*moves("TILE"))
def tile(b: TfliteBuilder, node: TfliteNode, x: Value, repeats: Value) -> Value:
    """The tensor repeated as a whole along each axis."""
    return b.op("tile", x, reps=b.extents(repeats, "the repeats"))


@TABLE.op("FILL")
def fill(b: TfliteBuilder, node: TfliteNode, shape: Value, value: Value) -> Value:
    """A tensor of one element repeated."""
    return b.broadcast(b.reshape(value, ()), b.extents(shape, "the shape"))


@TABLE.op("RANGE")
def range_(b: TfliteBuilder, node: TfliteNode, start: Value, limit: Value, delta: Value) -> Value:
    """start, start + delta, ... before the limit."""
    first, last, step = (b.known(v, "a bound").reshape(-1)[0] for v in (start, limit, delta))
    if step == 0 or not all(np.isfinite(float(v)) for v in (first, last, step)):
        raise b.fail(f"a range from {first} to {last} by {step}")
    count = max(0, -int(-(float(last) - float(first)) // float(step)))
    b.check_size((count,), node.dtype())
    return b.constant((first + np.arange(count) * step).astype(node.dtype()))


@TABLE.op("CONCATENATION")
def concatenation(b: TfliteBuilder, node: TfliteNode, *xs: Value) -> Value:
    """The tensors one after the other on an axis."""
    axis = b.axis(int(node.attr("axis", 0)), xs[0].rank)
    return b.activated(xs[0] if len(xs) == 1 else b.op("concatenate", *xs, axis=axis), node)


@TABLE.op("PACK")
def pack(b: TfliteBuilder, node: TfliteNode, *xs: Value) -> Value:
    """Tensors of one shape side by side on a new axis."""
    return b.op("stack", *xs, axis=b.axis(int(node.attr("axis", 0)), xs[0].rank + 1))


@TABLE.op(*moves("UNPACK"))
def unpack(b: TfliteBuilder, node: TfliteNode, x: Value) -> Sequence[Value]:
    """The slices of an axis, without it."""
    axis, count = b.axis(int(node.attr("axis", 0)), x.rank), int(node.attr("num", 0))
    if not x.rank or count != x.shape[axis]:
        raise b.fail(f"{count} slices of {x} are asked for")
    shape = [e for a, e in enumerate(x.shape) if a != axis]
    return [b.reshape(b.slice(x, axis, k, k + 1), shape) for k in range(count)]


@TABLE.op(*moves("SPLIT"))
def split(b: TfliteBuilder, node: TfliteNode, axis: Value, x: Value) -> Sequence[Value]:
    """The tensor cut into equal parts along an axis."""
    place, count = b.axis(int(b.number(axis, "the axis")), x.rank), int(node.attr("num_splits", 0))
    if count < 1 or not x.rank or x.shape[place] % count:
        raise b.fail(f"{count} equal parts of {x} are asked for")
    return _parts(b, x, place, [x.shape[place] // count] * count)


@TABLE.op(*moves("SPLIT_V"))
def split_v(b: TfliteBuilder, node: TfliteNode, x: Value, sizes: Value, axis: Value) -> Sequence[Value]:
    """The tensor cut along an axis into parts of given sizes, one of which may be -1."""
    place, given = b.axis(int(b.number(axis, "the axis")), x.rank), b.integers(sizes, "the sizes")
    parts = [x.shape[place] - sum(s for s in given if s >= 0) if s == -1 else s for s in given]
    if min(parts, default=0) < 0 or sum(parts) != x.shape[place]:
        raise b.fail(f"parts {given} of {x}")
    return _parts(b, x, place, parts)


def _parts(b: TfliteBuilder, x: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
    ends = np.cumsum(sizes).tolist()
    return [b.slice(x, axis, end - size, end) for size, end in zip(sizes, ends, strict=True)]


@TABLE.op("PAD", "PADV2")
def pad(b: TfliteBuilder, node: TfliteNode, x: Value, widths: Value, value: Value | None = None) -> Value:
    """The tensor with more elements before and behind each axis, zeros or the number that is given."""
    room = b.extents(widths, "the widths")
    number = 0 if value is None else b.number(value, "the number")
    return x if not any(room) else b.op("nn.pad", x, pad_width=room, pad_value=float(number))


@TABLE.op(*moves("MIRROR_PAD"))
def mirror_pad(b: TfliteBuilder, node: TfliteNode, x: Value, widths: Value) -> Value:
    """The tensor with more elements around it, which repeat those inside as a mirror shows them."""
    mode = "SYMMETRIC" if node.attr("mode", 0) else "REFLECT"
    return b.op("nn.mirror_pad", x, pad_width=b.extents(widths, "the widths"), mode=mode)


@TABLE.op(*moves("DEPTH_TO_SPACE"))
def depth_to_space(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Channels as blocks of pixels."""
    return b.op("nn.depth_to_space", x, block_size=int(node.attr("block_size", 1)), layout="NHWC", mode="DCR")


@TABLE.op(*moves("SPACE_TO_DEPTH"))
def space_to_depth(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Blocks of pixels as channels."""
    return b.op("nn.space_to_depth", x, block_size=int(node.attr("block_size", 1)), layout="NHWC")


@TABLE.op("SPACE_TO_BATCH_ND")
def space_to_batch(b: TfliteBuilder, node: TfliteNode, x: Value, block: Value, widths: Value) -> Value:
    """The pixels of the padded image at each place in a block, as images of their own."""
    sizes, room = b.extents(block, "the block"), b.extents(widths, "the widths")
    return b.op("nn.space_to_batch_nd", x, block_shape=sizes, paddings=room)


@TABLE.op(*moves("BATCH_TO_SPACE_ND"))
def batch_to_space(b: TfliteBuilder, node: TfliteNode, x: Value, block: Value, crops: Value) -> Value:
    """The other way round."""
    sizes, gone = b.extents(block, "the block"), b.extents(crops, "the crops")
    return b.op("nn.batch_to_space_nd", x, block_shape=sizes, crops=gone)


@TABLE.op(*moves("REVERSE_V2"))
def reverse(b: TfliteBuilder, node: TfliteNode, x: Value, axes: Value) -> Value:
    """The tensor in reverse along axes."""
    for axis in b.integers(axes, "the axes"):
        x = b.op("reverse", x, axis=b.axis(axis, x.rank))
    return x


@TABLE.op(*moves("REVERSE_SEQUENCE"))
def reverse_sequence(b: TfliteBuilder, node: TfliteNode, x: Value, lengths: Value) -> Value:
    """The first elements of an axis in reverse, as many as each place of the batch says."""
    axes = [b.axis(int(node.attr(name, 0)), x.rank) for name in ("seq_dim", "batch_dim")]
    return b.op("reverse_sequence", x, b.cast(lengths, "int32"), seq_axis=axes[0], batch_axis=axes[1])


@TABLE.op(*moves("DENSIFY"))
def densify(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """A sparse constant as a dense one, as which it has been read."""
    return x
