"""Operations of keras.ops that move, take, join and repeat elements."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.keras.convert_ops_math import dtype_of
from lamina.frontends.keras.convert_shape import reshaped
from lamina.frontends.keras.promotion import common, tensor
from lamina.frontends.keras.table import operation
from lamina.frontends.keras.tensors import listed
from lamina.frontends.network import NodeBuilder


@operation("Reshape")
def reshape(b: NodeBuilder, x: Value, newshape: Any = ()) -> Value:
    return reshaped(b, x, [newshape] if isinstance(newshape, int) else newshape)


@operation("Ravel")
def ravel(b: NodeBuilder, x: Value) -> Value:
    return reshaped(b, x, [-1])


@operation("Transpose")
def transpose(b: NodeBuilder, x: Value, axes: Any = None) -> Value:
    order = list(reversed(range(x.rank))) if axes is None else [b.axis(int(a), x.rank) for a in axes]
    return b.transpose(x, order)


@operation("Swapaxes")
def swapaxes(b: NodeBuilder, x: Value, axis1: int = 0, axis2: int = 0) -> Value:
    return b.swapped(x, b.axis(int(axis1), x.rank), b.axis(int(axis2), x.rank))


@operation("Moveaxis")
def moveaxis(b: NodeBuilder, x: Value, source: Any = 0, destination: Any = 0) -> Value:
    of, to = ([b.axis(int(a), x.rank) for a in listed(g)] for g in (source, destination))
    order = [a for a in range(x.rank) if a not in of]
    for place, axis in sorted(zip(to, of, strict=True)):
        order.insert(place, axis)
    return b.transpose(x, order)


@operation("ExpandDims")
def expand_dims(b: NodeBuilder, x: Value, axis: Any = 0) -> Value:
    rank = x.rank + len(listed(axis))
    places = {b.axis(int(a), rank) for a in listed(axis)}
    extents = iter(x.shape)
    return b.reshape(x, [1 if a in places else next(extents) for a in range(rank)])


@operation("Squeeze")
def squeeze(b: NodeBuilder, x: Value, axis: Any = None) -> Value:
    gone = [a for a, e in enumerate(x.shape) if e == 1]
    if axis is not None:
        gone = [b.axis(int(a), x.rank) for a in listed(axis)]
    if any(x.shape[a] != 1 for a in gone):
        raise b.fail(f"axes {gone} of {x} have not one element")
    return b.reshape(x, [e for a, e in enumerate(x.shape) if a not in gone])


def _joined(b: NodeBuilder, xs: Any) -> list[Value]:
    values = [tensor(b, x) for x in listed(xs)]
    dtype = values[0].dtype
    for value in values[1:]:
        dtype = common(dtype, value.dtype)
    return [b.cast(v, dtype) for v in values]


@operation("Concatenate")
def concatenate(b: NodeBuilder, xs: Any, axis: Any = 0) -> Value:
    values = _joined(b, xs)
    if len(values) == 1:
        return values[0]
    return b.op("concatenate", *values, axis=b.axis(int(axis), values[0].rank))


@operation("Append")
def append(b: NodeBuilder, x1: Any, x2: Any, axis: Any = None) -> Value:
    values = _joined(b, [x1, x2])
    return concatenate(b, [reshaped(b, v, [-1]) for v in values] if axis is None else values, axis or 0)


@operation("Stack")
def stack(b: NodeBuilder, x: Any, axis: int = 0) -> Value:
    values = _joined(b, x)
    return b.op("stack", *values, axis=b.axis(int(axis), values[0].rank + 1))


@operation("Split")
def split(b: NodeBuilder, x: Value, indices_or_sections: Any = 1, axis: int = 0) -> list[Value]:
    at = b.axis(int(axis), x.rank)
    given = indices_or_sections
    if isinstance(given, int):
        if given < 1 or x.shape[at] % given:
            raise b.fail(f"axis {at} of {x} has no {given} equal parts")
        bounds = list(range(0, x.shape[at] + 1, x.shape[at] // given)) if x.shape[at] else [0] * (given + 1)
    else:
        bounds = [0, *(int(i) for i in listed(given)), x.shape[at]]
    if sorted(bounds) != bounds:
        raise b.fail(f"the bounds {bounds} are not in order")
    return [b.op("strided_slice", x, begin=[i], end=[j], strides=[1], axes=[at])
            for i, j in zip(bounds[:-1], bounds[1:], strict=True)]  # fmt: skip


@operation("Unstack")
def unstack(b: NodeBuilder, x: Value, num: Any = None, axis: int = 0) -> list[Value]:
    at = b.axis(int(axis), x.rank)
    rest = [e for a, e in enumerate(x.shape) if a != at]
    return [b.reshape(b.slice(x, at, k, k + 1), rest) for k in range(x.shape[at])]


@operation("GetItem")
def get_item(b: NodeBuilder, x: Value, key: Any) -> Value:
    """x[key] of numbers, slices, None, an ellipsis and at most one tensor of places."""
    keys = listed(key)
    taken = sum(k is not None and k is not ... for k in keys)
    if ... not in [k for k in keys if not isinstance(k, (Value, np.ndarray))]:
        keys = [*keys, ...]
    at = next(i for i, k in enumerate(keys) if k is ...)
    keys[at : at + 1] = [slice(None)] * (x.rank - taken)
    if taken > x.rank:
        raise b.fail(f"{taken} places in {x}")
    shape: list[int] = []
    axis, places = 0, 0
    for entry in keys:
        if entry is None:
            shape.append(1)
            continue
        if isinstance(entry, slice):
            x = _sliced(b, x, axis, cast("slice[Any, Any, Any]", entry))
            shape.append(x.shape[axis])
        elif isinstance(entry, int) and not isinstance(entry, bool):
            place = _place(b, entry, x, axis)
            x = b.slice(x, axis, place, place + 1)
        elif isinstance(entry, (Value, np.ndarray, list)) and not places:
            index = tensor(b, entry)
            places += 1
            x = b.op("take", x, _counted_from_front(b, index, x.shape[axis]), axis=axis, mode="clip")
            shape += index.shape
            axis += index.rank
            continue
        else:
            raise b.unsupported("this way of indexing is not supported")
        axis += 1
    return b.reshape(x, shape)


def _place(b: NodeBuilder, place: int, x: Value, axis: int) -> int:
    """A place on an axis, counted from the front."""
    extent = x.shape[axis]
    if not -extent <= place < extent:
        raise b.fail(f"place {place} is not on axis {axis} of {x}")
    return place % extent


def _counted_from_front(b: NodeBuilder, index: Value, extent: int) -> Value:
    """Places, of which negative ones count from the end."""
    return b.choose(b.op("less", index, b.scalar(0, index)), b.add(index, extent), index)


def _sliced(b: NodeBuilder, x: Value, axis: int, given: slice[Any, Any, Any]) -> Value:
    parts = (b.number(v, "a bound") if isinstance(v, Value) else v for v in (given.start, given.stop, given.step))
    start, stop, step = slice(*parts).indices(x.shape[axis])
    count = len(range(start, stop, step))
    if count == 0:
        return b.op("strided_slice", x, begin=[0], end=[0], strides=[1], axes=[axis])
    if step > 0:
        return b.slice(x, axis, start, stop, step)
    last = start + (count - 1) * step
    return b.op("reverse", b.slice(x, axis, last, start + 1, -step), axis=axis)


@operation("Flip")
def flip(b: NodeBuilder, x: Value, axis: Any = None) -> Value:
    for a in b.axes(None if axis is None else listed(axis), x.rank):
        x = b.op("reverse", x, axis=a)
    return x


@operation("Roll")
def roll(b: NodeBuilder, x: Value, shift: Any = 0, axis: Any = None) -> Value:
    if axis is None:
        return b.reshape(roll(b, reshaped(b, x, [-1]), shift, 0), x.shape)
    for by, a in zip(listed(shift), listed(axis), strict=True):
        at = b.axis(int(a), x.rank)
        cut = -int(by) % max(x.shape[at], 1)
        if cut:
            x = b.op("concatenate", b.slice(x, at, cut, x.shape[at]), b.slice(x, at, 0, cut), axis=at)
    return x


@operation("Repeat")
def repeat(b: NodeBuilder, x: Value, repeats: Any = 1, axis: Any = None) -> Value:
    counts = [int(b.number(r, "a count")) for r in listed(repeats)]
    value = x if axis is not None else reshaped(b, x, [-1])
    at = 0 if axis is None else b.axis(int(axis), x.rank)
    if len(counts) == 1:
        return b.op("repeat", value, repeats=counts[0], axis=at)
    return b.op("take", value, b.constant(np.repeat(np.arange(len(counts)), counts)), axis=at, mode="clip")


@operation("Tile")
def tile(b: NodeBuilder, x: Value, repeats: Any = 1) -> Value:
    counts = [int(b.number(r, "a count")) for r in listed(repeats)]
    return b.op("tile", b.reshape(x, [1] * (len(counts) - x.rank) + list(x.shape)), reps=counts)


@operation("BroadcastTo")
def broadcast_to(b: NodeBuilder, x: Value, shape: Any = ()) -> Value:
    return b.broadcast(x, [int(b.number(e, "an extent")) for e in shape])


@operation("Pad")
def pad(b: NodeBuilder, x: Value, pad_width: Any = 0, mode: str = "constant", constant_values: Any = None) -> Value:
    widths = np.broadcast_to(np.asarray(pad_width), (x.rank, 2)).astype(int)
    flat = [int(w) for w in widths.reshape(-1)]
    if mode == "constant":
        value = 0.0 if constant_values is None else float(b.number(constant_values, "the value"))
        return b.op("nn.pad", x, pad_width=flat, pad_value=value)
    if mode in ("reflect", "symmetric"):
        return b.op("nn.mirror_pad", x, pad_width=flat, mode=mode.upper())
    raise b.unsupported(f"padding by {mode!r} is not supported")


@operation("Take")
def take(b: NodeBuilder, x: Any, indices: Any, axis: Any = None) -> Value:
    value, index = tensor(b, x), tensor(b, indices)
    if axis is None:
        value, axis = reshaped(b, value, [-1]), 0
    at = b.axis(int(axis), value.rank)
    return b.op("take", value, _counted_from_front(b, index, value.shape[at]), axis=at, mode="clip")


@operation("TakeAlongAxis")
def take_along_axis(b: NodeBuilder, x: Value, indices: Any, axis: Any = None) -> Value:
    index = tensor(b, indices)
    if axis is None:
        return take_along_axis(b, reshaped(b, x, [-1]), reshaped(b, index, [-1]), 0)
    at = b.axis(int(axis), x.rank)
    return b.op("gather", x, _counted_from_front(b, index, x.shape[at]), axis=at)


@operation("ZerosLike", "OnesLike")
def filled_like(b: NodeBuilder, x: Value, dtype: Any = None) -> Value:
    number = 1 if b.node is not None and b.node.op == "ops.OnesLike" else 0
    return b.filled(number, x.shape, x.dtype if dtype is None else dtype_of(dtype))


@operation("FullLike")
def full_like(b: NodeBuilder, x: Value, fill_value: Any = 0, dtype: Any = None) -> Value:
    number = b.number(fill_value, "the value")
    return b.filled(number, x.shape, x.dtype if dtype is None else dtype_of(dtype))


@operation("OneHot")
def one_hot(
    b: NodeBuilder, x: Any, num_classes: int = 0, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Value:  # noqa: E501
    index = tensor(b, x)
    kind = "float32" if dtype is None else dtype_of(dtype)
    at = b.axis(int(axis), index.rank + 1)
    classes = np.arange(int(num_classes)).reshape([-1 if a == at else 1 for a in range(index.rank + 1)])
    hit = b.op("equal", b.op("expand_dims", index, axis=at), b.constant(classes.astype(index.dtype)))
    return b.cast(hit, kind)


@operation("Tril", "Triu")
def triangle(b: NodeBuilder, x: Value, k: int = 0) -> Value:
    upper = b.node is not None and b.node.op == "ops.Triu"
    kept = (np.triu if upper else np.tril)(np.ones(x.shape[-2:], bool), int(k))
    return b.choose(b.constant(kept), x, 0)


@operation("Sort")
def sort(b: NodeBuilder, x: Value, axis: int = -1) -> Value:
    return b.op("sort", x, axis=b.axis(int(axis), x.rank), is_ascend=True)


@operation("Argsort")
def argsort(b: NodeBuilder, x: Value, axis: int = -1) -> Value:
    return b.op("argsort", x, axis=b.axis(int(axis), x.rank), is_ascend=True, dtype="int32")


@operation("Resize")
def resize(b: NodeBuilder, images: Value, size: Any = (), interpolation: str = "bilinear", antialias: bool = False,
           crop_to_aspect_ratio: bool = False, pad_to_aspect_ratio: bool = False, data_format: Any = None,
           **_: Any) -> Value:  # fmt: skip
    """Images in another size."""
    from lamina.frontends.keras.images import resized

    if crop_to_aspect_ratio or pad_to_aspect_ratio:
        raise b.unsupported("images that keep their ratio are not supported here", "use the layer Resizing")
    first = images.rank - (2 if data_format == "channels_first" else 3)
    return resized(b, images, [first, first + 1], [int(s) for s in size], str(interpolation), bool(antialias))
