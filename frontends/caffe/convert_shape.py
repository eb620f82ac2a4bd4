"""Layers that move elements, join, reduce and resize."""

from __future__ import annotations

from math import prod

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.caffe.convert_conv import LARGEST, axis_of, parameters
from lamina.frontends.caffe.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder


@TABLE.op("Split")
def split(b: NodeBuilder, node: NetworkNode, x: Value) -> list[Value]:
    """The same under several names."""
    return [x] * len(node.outputs)


@TABLE.op("Concat")
def concat(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """The inputs one after the other along an axis."""
    p = parameters(node, "concat_param")
    name = "axis" if p.words("axis") else "concat_dim"
    axis = axis_of(b, p, given[0].rank, name=name)
    return given[0] if len(given) == 1 else b.op("concatenate", *given, axis=axis)


@TABLE.op("Slice")
def slices(b: NodeBuilder, node: NetworkNode, x: Value) -> list[Value]:
    """Parts along an axis, cut at points, or of equal length."""
    p = parameters(node, "slice_param")
    axis = axis_of(b, p, x.rank, name="axis" if p.words("axis") else "slice_dim")
    count, extent, points = len(node.outputs), x.shape[axis], p.ints("slice_point")
    if not points and count and extent % count == 0:
        points = [extent // count * k for k in range(1, count)]
    ends = [0, *points, extent]
    if len(points) != count - 1 or any(e <= s for s, e in zip(ends, ends[1:], strict=False)):
        raise b.fail(f"{extent} elements are not cut into {count} parts at {points[:8]}")
    return [b.slice(x, axis, s, e) for s, e in zip(ends, ends[1:], strict=False)]


@TABLE.op("Flatten")
def flatten(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Axes `axis` to `end_axis` as one."""
    p = parameters(node, "flatten_param")
    first, last = axis_of(b, p, x.rank), axis_of(b, p, x.rank, -1, "end_axis")
    if last < first:
        raise b.fail(f"end_axis {last} lies before axis {first}")
    return b.reshape(x, (*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :]))


@TABLE.op("Reshape")
def reshape(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Another shape for `num_axes` axes from `axis` on: 0 keeps an extent, -1 is what is left."""
    p = parameters(node, "reshape_param")
    axis, count, dims = p.int("axis"), p.int("num_axes", -1), p.message("shape").ints("dim")
    first = axis if axis >= 0 else x.rank + axis + 1
    last = x.rank if count == -1 else first + count
    if not 0 <= first <= last <= x.rank:
        raise b.fail(f"there are no {count} axes from {axis} on in {x}")
    if dims.count(-1) > 1 or any(d < -1 or d == 0 and first + k >= x.rank for k, d in enumerate(dims)):
        raise b.fail(f"dim = {dims[:8]} is no shape for {x}")
    made = [*x.shape[:first], *(x.shape[first + k] if d == 0 else d for k, d in enumerate(dims)), *x.shape[last:]]
    if -1 in made:
        known = prod(e for e in made if e != -1)
        made[made.index(-1)] = prod(x.shape) // known if known else 0
    if prod(made) != prod(x.shape):
        raise b.fail(f"{x} does not become {made[:8]}")
    return b.reshape(x, made)


@TABLE.op("Permute")
def permute(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The axes in another order; those that are not named follow in their own."""
    order = parameters(node, "permute_param").ints("order")
    order += [a for a in range(x.rank) if a not in order]
    if sorted(order) != list(range(x.rank)):
        raise b.fail(f"order {order[:8]} does not fit {x}")
    return b.transpose(x, order)


@TABLE.op("ShuffleChannel")
def shuffle_channel(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Channels of so many groups dealt out in turn."""
    groups = parameters(node, "shuffle_channel_param").int("group", 1)
    if groups < 1 or x.shape[1] % groups:
        raise b.fail(f"{x.shape[1]} channels do not divide into {groups} groups")
    cells = b.reshape(x, (x.shape[0], groups, x.shape[1] // groups, prod(x.shape[2:])))
    return b.reshape(b.transpose(cells, (0, 2, 1, 3)), x.shape)


@TABLE.op("Tile")
def tile(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The tensor so many times along an axis."""
    p = parameters(node, "tile_param")
    axis, count = axis_of(b, p, x.rank), p.int("tiles")
    if not 0 < count <= LARGEST:
        raise b.fail(f"tiles = {count} is out of range")
    return b.op("tile", x, reps=[count if a == axis else 1 for a in range(x.rank)])


@TABLE.op("Crop")
def crop(b: NodeBuilder, node: NetworkNode, x: Value, like: Value) -> Value:
    """The part of x that has the extents of a second input from `axis` on, at offsets."""
    p = parameters(node, "crop_param")
    axis, offsets = axis_of(b, p, x.rank, 2), p.ints("offset") or [0]
    offsets = offsets * (x.rank - axis) if len(offsets) == 1 else offsets
    if like.rank != x.rank or len(offsets) != x.rank - axis:
        raise b.fail(f"{len(offsets)} offsets for {x} and {like}")
    for a, offset in zip(range(axis, x.rank), offsets, strict=True):
        if offset < 0 or offset + like.shape[a] > x.shape[a]:
            raise b.fail(f"axis {a} of {x} has no {like.shape[a]} elements from {offset} on")
        x = b.slice(x, a, offset, offset + like.shape[a])
    return x


@TABLE.op("Reduction")
def reduction(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The sum, mean, sum of magnitudes or of squares over all axes from `axis` on, times a coefficient."""
    p = parameters(node, "reduction_param")
    kind = p.word("operation", "SUM")
    axis = axis_of(b, p, x.rank, 0)
    y = b.op("abs", x) if kind in ("ASUM", "2") else b.mul(x, x) if kind in ("SUMSQ", "3") else x
    if kind not in ("SUM", "ASUM", "SUMSQ", "MEAN", "1", "2", "3", "4"):
        raise b.fail(f"operation {shown(kind)} is not known")
    name = "mean" if kind in ("MEAN", "4") else "sum"
    y = b.op(name, y, axis=list(range(axis, x.rank)), keepdims=False)
    factor = p.float("coeff", 1.0)
    return y if factor == 1 else b.mul(y, factor)


@TABLE.op("ArgMax")
def argmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The places of the largest elements as floats, of an axis or of each image; with `out_max_val` the elements too.

    Along an axis these stand in the place of the places.
    """
    p = parameters(node, "argmax_param")
    count, with_values = p.int("top_k", 1), p.bool("out_max_val")
    if p.words("axis"):
        axis, rows = axis_of(b, p, x.rank), x
    else:
        axis, rows = 2, b.reshape(x, (x.shape[0], 1, prod(x.shape[1:])))
    if not 0 < count <= rows.shape[axis]:
        raise b.fail(f"top_k = {count} of {rows.shape[axis]} elements is out of range")
    last = rows.rank - 1
    turned = b.swapped(rows, axis, last)
    values, places = b.ops("topk", turned, k=count, axis=-1, ret_type="both", is_ascend=False, dtype="int32")
    places = b.cast(places, x.dtype)
    if p.words("axis"):
        return b.swapped(values if with_values else places, axis, last)
    return b.op("concatenate", places, values, axis=1) if with_values else places


@TABLE.op("Upsample")
def upsample(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Each element `scale` times along both axes."""
    p = parameters(node, "upsample_param")
    factor = p.int("scale", 2)
    if x.rank != 4 or not 0 < factor <= LARGEST:
        raise b.fail(f"scale = {factor} of {x} is out of range")
    b.check_size([*x.shape[:2], x.shape[2] * factor, x.shape[3] * factor], x.dtype)
    return b.op("nn.upsampling", x, scale_h=float(factor), scale_w=float(factor)) if factor > 1 else x


@TABLE.op("Interp")
def interp(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Linear resizing whose corners stay corners; a negative padding is cut off first."""
    p = parameters(node, "interp_param")
    before, behind = p.int("pad_beg"), p.int("pad_end")
    if x.rank != 4 or before > 0 or behind > 0:
        raise b.fail(f"pad_beg = {before} and pad_end = {behind} of {x} are out of range")
    for axis in (2, 3):
        end = x.shape[axis] + behind
        if -before >= end:
            raise b.fail(f"nothing is left of {x}")
        x = b.slice(x, axis, -before, end)
    size = list(x.shape[2:])
    shrink, zoom = p.int("shrink_factor", 1), p.int("zoom_factor", 1)
    if not 0 < shrink <= LARGEST or not 0 < zoom <= LARGEST:
        raise b.fail(f"shrink_factor = {shrink} and zoom_factor = {zoom} are out of range")
    size = [(e - 1) // shrink + 1 for e in size]
    size = [e + (e - 1) * (zoom - 1) for e in size]
    size = [p.int("height", size[0]), p.int("width", size[1])]
    if not all(0 < e <= LARGEST for e in size):
        raise b.fail(f"a size of {size} is out of range")
    b.check_size([*x.shape[:2], *size], x.dtype)
    attrs = {"method": "linear", "coordinate_transformation_mode": "align_corners", "layout": "NCHW"}
    return b.op("image.resize2d", x, size=size, **attrs)
