"""Operators that move elements: shapes, slices, joins, gathers, pads."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.debugging.generators.draw import ANY, FLOATS, NUMBERS
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor
from lamina.debugging.generators.operators.elementwise import allowed
from lamina.debugging.generators.operators.table import row


def sizes(g: OnnxGraph, numbers: object) -> Tensor:
    """Sizes, axes or counts: a constant."""
    return g.constant(np.asarray(numbers, np.int64))


@row("Transpose")
def transpose(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 5))
    perm = g.draw.permutation(x.rank)
    g.node(name, [x], bound=x.bound, perm=perm if g.draw.chance(0.9) else None)


def other_shape(g: OnnxGraph, x: Tensor) -> list[int]:
    """Another shape of as many elements: neighbours joined, an extent split, ones put in."""
    assert x.shape is not None
    shape = list(x.shape)
    for _ in range(g.draw.integer(1, 3)):
        how = g.draw.integer(0, 2)
        if how == 0 and len(shape) > 1:
            n = g.draw.integer(0, len(shape) - 2)
            shape[n : n + 2] = [shape[n] * shape[n + 1]]
        elif how == 1 and shape and len(shape) < 5:
            n = g.draw.integer(0, len(shape) - 1)
            parts = [d for d in range(2, min(shape[n], 64)) if shape[n] % d == 0]
            if parts:
                d = g.draw.choice(parts)
                shape[n : n + 1] = [d, shape[n] // d]
        elif len(shape) < 5:
            shape.insert(g.draw.integer(0, len(shape)), 1)
    return shape


@row("Reshape")
def reshape(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY)
    assert x.shape is not None
    whole = other_shape(g, x)
    target = list(whole)
    if target and g.draw.chance(0.4) and prod(target):
        target[g.draw.integer(0, len(target) - 1)] = -1
    elif target and len(target) <= x.rank and g.draw.chance(0.2):
        target = [0 if t == s else t for t, s in zip(target, x.shape, strict=False)]
    if g.opset < 5:
        g.node(name, [x], bound=x.bound, types=[(x.dtype, whole)], shape=target)
        return
    g.node(name, [x, sizes(g, target)], bound=x.bound)


@row("Flatten")
def flatten(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ANY), rank=(1, 4))
    g.node(name, [x], bound=x.bound, axis=g.draw.integer(0 if g.opset < 11 else -x.rank, x.rank))


@row("Squeeze")
def squeeze(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 5), where=lambda t: t.shape is not None and 1 in t.shape)
    assert x.shape is not None
    ones = [n for n, e in enumerate(x.shape) if e == 1]
    axes = sorted(g.draw.sample(ones, g.draw.integer(1, len(ones)))) if g.draw.chance(0.8) else None
    with_axes(g, name, x, axes, 13)


@row("Unsqueeze")
def unsqueeze(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(0, 3))
    rank = x.rank + g.draw.integer(1, 2)
    with_axes(g, name, x, sorted(g.draw.sample(range(rank), rank - x.rank)), 13, rank)


def with_axes(
    g: OnnxGraph, name: str, x: Tensor, axes: list[int] | None, since: int, rank: int = 0, **more: Any
) -> list[Tensor]:
    """A node whose axes are an attribute before an operator set, an operand after it."""
    if axes is not None and g.opset >= 13 and g.draw.chance(0.3):
        axes = [a - (rank or x.rank) for a in axes]
    if g.opset >= since:
        return g.node(name, [x, sizes(g, axes) if axes is not None else None], bound=x.bound, **more)
    return g.node(name, [x], bound=x.bound, axes=axes, **more)


@row("Concat")
def concat(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ANY), rank=(1, 4))
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    parts = [x]
    for _ in range(g.draw.integer(1, 3)):
        shape = list(x.shape)
        if g.draw.chance(0.5):
            other = g.find(lambda t: fits_beside(t, x, axis))
            if other is not None:
                parts.append(other)
                continue
        shape[axis] = g.draw.extent(most=max(1, g.draw.elements // max(1, x.size // max(1, shape[axis]))))
        parts.append(g.some(x.dtype, shape=shape))
    axis = axis - x.rank if g.opset >= 11 and g.draw.chance(0.3) else axis
    g.node(name, g.draw.shuffled(parts), bound=max(t.bound for t in parts), axis=axis)


def fits_beside(t: Tensor, x: Tensor, axis: int) -> bool:
    """Whether two tensors agree in type and all extents but one."""
    if t.dtype != x.dtype or t.shape is None or x.shape is None or len(t.shape) != len(x.shape):
        return False
    return all(a == b or n == axis for n, (a, b) in enumerate(zip(t.shape, x.shape, strict=True)))


@row("Split")
def split(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4), where=lambda t: max(t.shape or (1,)) > 1)
    assert x.shape is not None
    axis = g.draw.choice([n for n, e in enumerate(x.shape) if e > 1])
    extent = x.shape[axis]
    parts = g.draw.integer(2, min(3, extent))
    cuts = sorted(g.draw.sample(range(1, extent), parts - 1))
    lengths = [b - a for a, b in zip([0, *cuts], [*cuts, extent], strict=True)]
    equal = extent % parts == 0 and g.draw.chance(0.4)
    if g.opset < 13:
        g.node(name, [x], parts, bound=x.bound, axis=axis, split=None if equal else lengths)
    elif g.opset >= 18 and g.draw.chance(0.3) and (parts - 1) * -(-extent // parts) < extent:
        g.node(name, [x], parts, bound=x.bound, axis=axis, num_outputs=parts)
    elif equal and g.opset < 18:
        g.node(name, [x], parts, bound=x.bound, axis=axis)
    else:
        g.node(name, [x, sizes(g, lengths)], parts, bound=x.bound, axis=axis)


@row("Slice")
def slice_(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4))
    assert x.shape is not None
    axes = g.draw.axes(x.rank)
    starts: list[int] = []
    ends: list[int] = []
    steps: list[int] = []
    for axis in axes:
        extent = x.shape[axis]
        step = g.draw.choice((1, 1, 1, 2, 3, -1, -2)) if g.opset >= 10 else 1
        a, b = sorted((g.draw.integer(0, extent - 1), g.draw.integer(0, extent - 1)))
        if step > 0:
            start, end = a, b + 1
            end = g.draw.choice((end, (1 << 31) - 1)) if g.draw.chance(0.3) else end
        else:
            start, end = b, a - 1
            end = -extent - 1 if end < 0 else end
        starts.append(start - extent if g.draw.chance(0.2) else start)
        ends.append(end)
        steps.append(step)
    if g.opset < 10:
        shape = list(x.shape)
        for axis, start, end in zip(axes, starts, ends, strict=True):
            shape[axis] = len(range(*slice(start, end).indices(x.shape[axis])))
        g.node(name, [x], bound=x.bound, types=[(x.dtype, shape)], axes=axes, starts=starts, ends=ends)
        return
    operands = [x, sizes(g, starts), sizes(g, ends), sizes(g, axes)]
    g.node(name, operands if set(steps) == {1} else [*operands, sizes(g, steps)], bound=x.bound)


@row("Gather")
def gather(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4))
    assert x.shape is not None
    axis = g.draw.axis(x.rank)
    row_size = max(1, x.size // x.shape[axis])
    shape = g.draw.shape((0, 2), max(1, g.draw.elements // row_size))
    g.node(name, [x, indices(g, shape, x.shape[axis])], bound=x.bound, axis=axis)


def indices(g: OnnxGraph, shape: tuple[int, ...], extent: int, dtype: str = "", negative: bool = True) -> Tensor:
    """Indices into an extent, some of them from the end."""
    least = -extent if negative and g.opset >= 11 and g.draw.chance(0.3) else 0
    return g.either(g.draw.integers(shape, least, extent - 1), dtype or g.draw.choice(("int64", "int64", "int32")))


@row("GatherElements")
def gather_elements(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4))
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    shape = list(x.shape)
    shape[axis] = g.draw.integer(1, max(1, min(2 * shape[axis], g.draw.elements // max(1, x.size // shape[axis]))))
    g.node(name, [x, indices(g, tuple(shape), x.shape[axis])], bound=x.bound, axis=axis)


@row("GatherND")
def gather_nd(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4))
    assert x.shape is not None
    batch = g.draw.integer(0, x.rank - 1) if g.opset >= 12 and g.draw.chance(0.3) else 0
    depth = g.draw.integer(1, x.rank - batch)
    count = g.draw.integer(1, 6)
    places = [g.draw.integers((*x.shape[:batch], count), 0, e - 1) for e in x.shape[batch : batch + depth]]
    g.node(name, [x, g.either(np.stack(places, -1), "int64")], bound=x.bound, batch_dims=batch or None)


@row("Expand")
def expand(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(0, 3), most=g.draw.elements // 4)
    assert x.shape is not None
    shape = [g.draw.extent(most=4) if e == 1 and g.draw.chance(0.7) else e for e in x.shape]
    if len(shape) < 4 and g.draw.chance(0.4):
        shape.insert(0, g.draw.integer(1, 4))
    if shape and g.draw.chance(0.3):
        shape = [1 if g.draw.chance(0.3) else e for e in shape]
    g.node(name, [x, sizes(g, shape)], bound=x.bound)


@row("Tile")
def tile(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ANY), rank=(1, 4), most=g.draw.elements // 4)
    if g.opset < 6:
        assert x.shape is not None
        axis, count = g.draw.integer(0, x.rank - 1), g.draw.choice((1, 2, 3))
        shape = [e * count if n == axis else e for n, e in enumerate(x.shape)]
        operands = [g.constant(np.asarray([v]), x.dtype) for v in (count, axis)]
        g.node(name, [x, *operands], bound=x.bound, types=[(x.dtype, shape)])
        return
    repeats = [g.draw.choice((1, 1, 2, 3)) for _ in range(x.rank)]
    g.node(name, [x, sizes(g, repeats)], bound=x.bound)


@row("Pad")
def pad(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, NUMBERS if g.opset >= 11 else FLOATS), rank=(1, 4))
    assert x.shape is not None
    modes = ["constant", "constant", "reflect", "edge"] + (["wrap"] if g.opset >= 19 else [])
    mode = g.draw.choice(modes)
    most = [3] * x.rank
    if mode in ("reflect", "wrap"):
        most = [min(3, e - 1) for e in x.shape]
    pads = [g.draw.integer(0, m) if g.draw.chance(0.6) else 0 for m in [*most, *most]]
    if mode == "constant" and g.draw.chance(0.2):
        n = g.draw.integer(0, x.rank - 1)
        pads[n] = -min(1, x.shape[n] - 1)
    value = g.draw.choice((0, 0, 1, 2, -1 if x.dtype[0] != "u" else 3))
    if g.opset < 11:
        given: dict[str, Any] = {"pads" if g.opset >= 2 else "paddings": pads}
        shape = [e + pads[n] + pads[n + x.rank] for n, e in enumerate(x.shape)]
        g.node(name, [x], bound=x.bound + 2, mode=mode, value=float(value), types=[(x.dtype, shape)], **given)
        return
    last = g.constant(np.asarray(value), x.dtype) if mode == "constant" and g.draw.chance(0.6) else None
    g.node(name, [x, sizes(g, pads), last], bound=x.bound + 2, mode=mode)


@row("DepthToSpace", "SpaceToDepth")
def blocks(g: OnnxGraph, name: str) -> None:
    block = g.draw.choice((2, 2, 3))
    n, c, h, w = g.draw.shape(4, g.draw.elements // block**2)
    to_space = name == "DepthToSpace"
    shape = (n, c * block**2, h, w) if to_space else (n, c, h * block, w * block)
    x = g.some(allowed(g, name, ANY), shape=shape)
    mode = g.draw.choice(("DCR", "CRD")) if to_space and g.opset >= 11 else None
    g.node(name, [x], bound=x.bound, blocksize=block, mode=mode)


@row("Trilu")
def trilu(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ANY), rank=(2, 4))
    k = g.constant(np.asarray(g.draw.integer(-3, 3), np.int64)) if g.draw.chance(0.7) else None
    g.node(name, [x, k], bound=x.bound, upper=g.draw.integer(0, 1))


@row("Shape", "Size")
def shape_of(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4))
    attributes: dict[str, Any] = {}
    if name == "Shape" and g.opset >= 15 and g.draw.chance(0.5):
        attributes = {"start": g.draw.integer(-2, 1), "end": g.draw.integer(1, 4)}
    (y,) = g.node(name, [x], bound=4000, **attributes)
    if y.shape == (0,):
        raise CannotDraw("an empty shape")


@row("ReverseSequence")
def reverse_sequence(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(2, 4))
    assert x.shape is not None
    time = g.draw.integer(0, 1)
    lengths = g.either(g.draw.integers((x.shape[1 - time],), 1, x.shape[time]), "int64")
    g.node(name, [x, lengths], bound=x.bound, time_axis=time, batch_axis=1 - time)


@row("ScatterElements", "Scatter")
def scatter_elements(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 3))
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    shape = list(x.shape)
    shape[axis] = g.draw.integer(1, shape[axis])
    reduction = g.draw.choice((None, *reductions(g, x, name)))
    if reduction is None:
        # Different places, so that the order of writing does not matter.
        order = np.argsort(g.draw.numpy.random(x.shape), axis=axis)
        places = np.take(order, range(shape[axis]), axis=axis)
    else:
        places = g.draw.integers(shape, 0, x.shape[axis] - 1)
    updates = g.some(x.dtype, shape=shape, bound=4)
    g.node(name, [x, g.either(places, "int64"), updates], bound=x.bound + 64, axis=axis, reduction=reduction)


def reductions(g: OnnxGraph, x: Tensor, name: str) -> list[str]:
    """The reductions of a scatter of this name and type with the elements that are there already."""
    if name == "Scatter" or g.opset < 16 or x.dtype in ("bool", "bfloat16", "float16"):
        return []
    return ["add", "mul"] if g.opset < 18 else ["add", "mul", "max", "min"]


@row("ScatterND")
def scatter_nd(g: OnnxGraph, name: str) -> None:
    x = g.some(ANY, rank=(1, 4))
    assert x.shape is not None
    depth = g.draw.integer(1, x.rank)
    rows = prod(x.shape[:depth])
    reduction = g.draw.choice((None, *reductions(g, x, name)))
    count = g.draw.integer(1, min(rows, 8))
    flat = g.draw.numpy.permutation(rows)[:count] if reduction is None else g.draw.integers((count,), 0, rows - 1)
    places = np.stack(np.unravel_index(flat, x.shape[:depth]), -1)
    updates = g.some(x.dtype, shape=(count, *x.shape[depth:]), bound=4)
    g.node(name, [x, g.either(places, "int64"), updates], bound=x.bound + 64, reduction=reduction)


@row("EyeLike")
def eye_like(g: OnnxGraph, name: str) -> None:
    x = g.some(("float32", "int64", "int32", "float64"), rank=2)
    g.node(name, [x], bound=1, k=g.draw.integer(-2, 2))


@row("OneHot")
def one_hot(g: OnnxGraph, name: str) -> None:
    depth = g.draw.integer(2, 9)
    shape = g.draw.shape((0, 3), g.draw.elements // depth)
    index = g.either(g.draw.integers(shape, -depth if g.opset >= 11 else 0, depth - 1), "int64")
    values = g.either(g.draw.integers((2,), -3, 3), g.draw.choice(("float32", "int64")))
    g.node(name, [index, g.constant(np.asarray(depth, np.int64)), values], bound=3,
           axis=g.draw.integer(-1, len(shape)))  # fmt: skip


@row("ConstantOfShape")
def constant_of_shape(g: OnnxGraph, name: str) -> None:
    from onnx import numpy_helper

    value = np.asarray([g.draw.integer(-3, 3)]).astype(g.draw.choice(("float32", "int64", "int32")))
    (y,) = g.node(name, [sizes(g, g.draw.shape((1, 3)))], bound=3, value=numpy_helper.from_array(value))
    g.node("Add", [y, g.some(str(value.dtype), rank=0)], bound=8)


@row("Constant")
def constant(g: OnnxGraph, name: str) -> None:
    from onnx import numpy_helper

    shape = g.draw.shape((0, 2), 64)
    array = g.values("float32", shape)
    (y,) = g.node(name, [], bound=4, value=numpy_helper.from_array(array))
    g.node("Mul", [y, g.some("float32", shape=shape)], bound=64)


@row("Range")
def range_(g: OnnxGraph, name: str) -> None:
    dtype = g.draw.choice(("float32", "int64", "int32"))
    start, count, step = g.draw.integer(-4, 4), g.draw.extent(most=64), g.draw.choice((1, 2, -1))
    operands = [g.constant(np.asarray(v), dtype) for v in (start, start + count * step, step)]
    (y,) = g.node(name, operands, bound=200)
    if y.shape is not None:
        g.node("Add", [y, g.some(dtype, shape=y.shape)], bound=300)
