"""Operators on shapes: views, parts, joins and tensors of one number."""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder


@TABLE.op("Flatten", "flatten")
def flatten(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Each image as a row."""
    return b.reshape(x, (x.shape[0], prod(x.shape[1:])))


def reshaped(b: NodeBuilder, shape: tuple[int, ...], codes: list[int]) -> list[int]:
    """A shape from codes: 0 keeps an extent, -1 is the rest, -2 all that follow, -3 joins two, -4 splits one."""
    made: list[int] = []
    at = k = 0
    while k < len(codes):
        code = codes[k]
        needed = {0: 1, -3: 2, -4: 1}.get(code, 0)
        if at + needed > len(shape) or code == -4 and k + 2 >= len(codes):
            raise b.fail(f"shape = {codes[:16]} does not fit {list(shape)}")
        if code == -2:
            made += shape[at:]
            at = len(shape)
        elif code == -3:
            made.append(shape[at] * shape[at + 1])
            at += 2
        elif code == -4:
            one, two = codes[k + 1 : k + 3]
            one, two = shape[at] // max(two, 1) if one == -1 else one, two
            made += [one, shape[at] // max(one, 1) if two == -1 else two]
            at, k = at + 1, k + 2
        else:
            made.append(shape[at] if code == 0 else code)
            at += 1
        k += 1
    if made.count(-1) > 1 or min(made, default=0) < -1:
        raise b.fail(f"shape = {codes[:16]} is none")
    if -1 in made:
        known = prod(e for e in made if e != -1)
        made[made.index(-1)] = prod(shape) // known if known else 0
    if prod(made) != prod(shape):
        raise b.fail(f"{list(shape)} does not become {made[:16]}")
    return made


@TABLE.op("Reshape", "reshape")
def reshape(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Another shape by codes, with `reverse` from the last axis."""
    attrs = TextAttributes(node)
    codes = list(attrs.ints("shape")) or list(attrs.ints("target_shape"))
    if attrs.bool("reverse"):
        return b.reshape(x, reshaped(b, x.shape[::-1], codes[::-1])[::-1])
    return b.reshape(x, reshaped(b, x.shape, codes))


@TABLE.op("reshape_like")
def reshape_like(b: NodeBuilder, node: NetworkNode, x: Value, like: Value) -> Value:
    """The shape of another tensor."""
    return b.reshape(x, like.shape)


@TABLE.op("transpose")
def transpose(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The axes in another order, by default the other way round."""
    axes = [b.axis(a, x.rank) for a in TextAttributes(node).ints("axes")] or list(range(x.rank))[::-1]
    return b.transpose(x, axes)


@TABLE.op("SwapAxis", "swapaxes")
def swap_axis(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Two axes changed for each other."""
    attrs = TextAttributes(node)
    return b.swapped(x, b.axis(attrs.int("dim1"), x.rank), b.axis(attrs.int("dim2"), x.rank))


@TABLE.op("expand_dims")
def expand_dims(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """An axis of one element more."""
    axis = b.axis(TextAttributes(node).int("axis"), x.rank + 1)
    return b.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@TABLE.op("squeeze")
def squeeze(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Axes of one element left out."""
    given = TextAttributes(node).ints("axis")
    axes = [b.axis(a, x.rank) for a in given] or [a for a, e in enumerate(x.shape) if e == 1]
    if any(x.shape[a] != 1 for a in axes):
        raise b.fail(f"axes {axes} of {x} have more than one element")
    return b.reshape(x, [e for a, e in enumerate(x.shape) if a not in axes] or [1])


@TABLE.op("slice", "crop")
def slice_(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Elements from begin to end by a step; `None` is the whole axis."""
    attrs = TextAttributes(node)
    begins, ends = attrs.optional_ints("begin"), attrs.optional_ints("end")
    steps = attrs.optional_ints("step") or [None] * len(begins)
    if not len(begins) == len(ends) == len(steps) <= x.rank:
        raise b.fail(f"begin, end and step of {len(begins)}, {len(ends)} and {len(steps)} axes do not fit {x}")
    cuts = [slice(*given).indices(e) for given, e in zip(zip(begins, ends, steps, strict=True), x.shape, strict=False)]
    if any(not len(range(*cut)) for cut in cuts):
        raise b.fail(f"nothing is left of {x}")
    for axis, (first, last, step) in enumerate(cuts):
        if step < 0:
            x = b.op("take", x, b.constant(np.arange(first, last, step, dtype=np.int32)), axis=axis, mode="clip")
        else:
            x = b.slice(x, axis, first, last, step)
    return x


@TABLE.op("slice_axis")
def slice_axis(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Elements from begin to end along an axis."""
    attrs = TextAttributes(node)
    axis = b.axis(attrs.int("axis"), x.rank)
    end = attrs.int("end") if attrs.has("end") else None
    first, last, _ = slice(attrs.int("begin"), end).indices(x.shape[axis])
    if last <= first:
        raise b.fail(f"nothing is left of {x}")
    return b.slice(x, axis, first, last)


@TABLE.op("slice_like")
def slice_like(b: NodeBuilder, node: NetworkNode, x: Value, like: Value) -> Value:
    """The first elements, as many as another tensor has."""
    for axis in b.axes(TextAttributes(node).ints("axes"), x.rank):
        if axis >= like.rank or like.shape[axis] > x.shape[axis]:
            raise b.fail(f"axis {axis} of {x} is not cut like {like}")
        x = b.slice(x, axis, 0, like.shape[axis])
    return x


@TABLE.op("SliceChannel", "split")
def slice_channel(b: NodeBuilder, node: NetworkNode, x: Value) -> list[Value]:
    """Equal parts along an axis, which goes with `squeeze_axis`."""
    attrs = TextAttributes(node)
    axis, count = b.axis(attrs.int("axis", 1), x.rank), attrs.int("num_outputs", 1)
    if count < 1 or x.shape[axis] % count:
        raise b.fail(f"{x.shape[axis]} elements do not divide into {count} parts")
    size = x.shape[axis] // count
    parts = [b.slice(x, axis, k * size, (k + 1) * size) for k in range(count)]
    if attrs.bool("squeeze_axis"):
        return [b.reshape(p, (*x.shape[:axis], *x.shape[axis + 1 :])) for p in parts]
    return parts


@TABLE.op("_split_v2", "split_v2")
def split_v2(b: NodeBuilder, node: NetworkNode, x: Value) -> list[Value]:
    """Parts along an axis that begin at given places, or so many equal ones."""
    attrs = TextAttributes(node)
    axis, sections = b.axis(attrs.int("axis"), x.rank), attrs.int("sections")
    extent = x.shape[axis]
    if sections and (sections < 0 or extent % sections):
        raise b.fail(f"{extent} elements do not divide into {sections} parts")
    begins = [extent // sections * k for k in range(sections)] if sections else list(attrs.ints("indices"))
    begins = begins if begins[:1] == [0] else [0, *begins]
    ends = [*begins[1:], extent]
    if any(not first < last <= extent for first, last in zip(begins, ends, strict=True)):
        raise b.fail(f"{extent} elements are not cut at {begins[:16]}")
    parts = [b.slice(x, axis, first, last) for first, last in zip(begins, ends, strict=True)]
    if attrs.bool("squeeze_axis"):
        return [b.reshape(p, (*x.shape[:axis], *x.shape[axis + 1 :])) for p in parts]
    return parts


@TABLE.op("Crop")
def crop(b: NodeBuilder, node: NetworkNode, x: Value, like: Value | None = None) -> Value:
    """A part of images, as large as `h_w` or those of a second input, at an offset or in the middle."""
    attrs = TextAttributes(node)
    size = list(like.shape[2:]) if like is not None else list(attrs.ints("h_w"))
    offset = list(attrs.ints("offset", (0, 0)))
    if x.rank != 4 or len(size) != 2 or len(offset) != 2:
        raise b.fail(f"cuts {size[:8]} at {offset[:8]} out of {x}")
    if attrs.bool("center_crop"):
        offset = [(e - s) // 2 for e, s in zip(x.shape[2:], size, strict=True)]
    for axis, first, extent in zip((2, 3), offset, size, strict=True):
        if first < 0 or extent < 1 or first + extent > x.shape[axis]:
            raise b.fail(f"axis {axis} of {x} has no {extent} elements from {first} on")
        x = b.slice(x, axis, first, first + extent)
    return x


@TABLE.op("Concat", "concat", "_rnn_param_concat")
def concat(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """Tensors one after the other along an axis."""
    axis = b.axis(TextAttributes(node).int("dim", 1), given[0].rank)
    return given[0] if len(given) == 1 else b.op("concatenate", *given, axis=axis)


@TABLE.op("stack")
def stack(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """Tensors along an axis of their own."""
    return b.op("stack", *given, axis=b.axis(TextAttributes(node).int("axis"), given[0].rank + 1))


@TABLE.op("repeat")
def repeat(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Each element so many times."""
    attrs = TextAttributes(node)
    if not attrs.has("axis"):
        x = b.reshape(x, (prod(x.shape),))
    count = attrs.int("repeats", 1)
    if not 0 < count < 1 << 24:
        raise b.fail(f"repeats = {count} is out of range")
    return b.op("repeat", x, repeats=count, axis=b.axis(attrs.int("axis"), x.rank))


@TABLE.op("tile")
def tile(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The tensor so many times along each axis."""
    return b.op("tile", x, reps=list(TextAttributes(node).ints("reps")))


@TABLE.op("reverse", "flip")
def reverse(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Elements in the opposite order along axes."""
    for axis in TextAttributes(node).ints("axis"):
        x = b.op("reverse", x, axis=b.axis(axis, x.rank))
    return x


@TABLE.op("Pad", "pad")
def pad(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Elements around: a constant, those at the edge, or mirrored."""
    attrs = TextAttributes(node)
    mode, width = attrs.word("mode", "constant"), list(attrs.ints("pad_width"))
    if len(width) != 2 * x.rank or mode not in ("constant", "edge", "reflect"):
        raise b.fail(f"mode = {mode[:40]} with pad_width = {width[:16]} does not fit {x}")
    attrs_ = {"pad_value": attrs.float("constant_value")} if mode == "constant" else {}
    return b.op("nn.pad", x, pad_width=width, pad_mode=mode, **attrs_)


@TABLE.op("broadcast_to")
def broadcast_to(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The tensor repeated to a shape, whose zeros keep an extent."""
    shape = TextAttributes(node).ints("shape")
    return b.broadcast(x, [e or have for e, have in zip(shape, x.shape, strict=True)])


@TABLE.op("broadcast_axis", "broadcast_axes")
def broadcast_axis(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Axes of one element repeated."""
    attrs, shape = TextAttributes(node), list(x.shape)
    for axis, size in zip(attrs.ints("axis"), attrs.ints("size"), strict=True):
        shape[b.axis(axis, x.rank)] = size
    return b.broadcast(x, shape)


@TABLE.op("broadcast_like")
def broadcast_like(b: NodeBuilder, node: NetworkNode, x: Value, like: Value) -> Value:
    """The tensor repeated to the shape of another one, or some axes of it."""
    attrs, shape = TextAttributes(node), list(x.shape)
    left, right = attrs.ints("lhs_axes"), attrs.ints("rhs_axes")
    if not left:
        return b.broadcast(x, like.shape)
    for i, j in zip(left, right, strict=True):
        shape[b.axis(i, x.rank)] = like.shape[b.axis(j, like.rank)]
    return b.broadcast(x, shape)


@TABLE.op("depth_to_space", "space_to_depth")
def depth_to_space(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Channels as blocks of the image, or back."""
    return b.op(f"nn.{node.op}", x, block_size=TextAttributes(node).int("block_size", 1))


@TABLE.op("shape_array")
def shape_array(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The extents."""
    return b.constant(list(x.shape), "int64")


@TABLE.op("_zeros", "_ones", "_full")
def filled(b: NodeBuilder, node: NetworkNode) -> Value:
    """A tensor of one number."""
    attrs = TextAttributes(node)
    number = {"_zeros": 0.0, "_ones": 1.0}.get(node.op, attrs.float("value"))
    return b.filled(number, attrs.ints("shape"), attrs.word("dtype", "float32"))


@TABLE.op("_arange")
def arange(b: NodeBuilder, node: NetworkNode) -> Value:
    """Numbers from start to stop by a step, each so many times."""
    attrs = TextAttributes(node)
    start, step, times = attrs.float("start"), attrs.float("step", 1.0), attrs.int("repeat", 1)
    first, last = (start, attrs.float("stop")) if attrs.has("stop") else (0.0, start)
    if step == 0 or not 0 <= (last - first) / step < 1 << 24 or not 0 < times < 1 << 10:
        raise b.fail(f"start {start}, stop {last}, step {step} are out of range")
    return b.constant(np.repeat(np.arange(first, last, step), times), attrs.word("dtype", "float32"))


@TABLE.op("_contrib_arange_like")
def arange_like(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """0, 1, 2 ... along an axis, or in the shape of a tensor."""
    attrs = TextAttributes(node)
    start, step = attrs.float("start"), attrs.float("step", 1.0)
    if attrs.has("axis"):
        return b.constant(np.arange(x.shape[b.axis(attrs.int("axis"), x.rank)]) * step + start, x.dtype)
    return b.constant((np.arange(prod(x.shape)) * step + start).reshape(x.shape), x.dtype)
