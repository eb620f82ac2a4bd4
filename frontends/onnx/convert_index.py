"""Operators that pick elements: slices, gathers, one-hot, triangles."""

from __future__ import annotations

import numpy as np

from lamina.dialects.infos import at_least, is_always, is_symbolic
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op


@onnx_op("Slice")
def slice_of(n: Node, b: Builder) -> Value:
    """x[starts:ends:steps] on axes, bounds clamped; attributes until opset 10, then inputs."""
    x = n.input(0)
    if n.version < 10:
        starts, ends = list(n.attr("starts", ())), list(n.attr("ends", ()))
        axes = list(n.attr("axes", range(len(starts))))
        steps = [1] * len(starts)
    else:
        starts, ends = n.ints(1, "starts"), n.ints(2, "ends")
        axes = n.ints(3, "axes") if n.has(3) else list(range(len(starts)))
        steps = n.ints(4, "steps") if n.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise n.fail(f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps")
    axes = n.axes(axes, x.rank)
    if 0 in steps:
        raise n.fail("a step is 0")
    begin: list[int] = []
    end: list[int] = []
    for start, stop, axis, step in zip(starts, ends, axes, steps, strict=True):
        extent = x.shape[axis]
        first, last = _bounds(start, stop, step, extent)
        begin.append(first)
        # Going down, "before the first element" is -1, which would mean the last one.
        end.append(-extent - 1 if last < 0 else last)
    whole = all(is_always(f, 0) and at_least(e - x.shape[a], 0) for f, e, a in zip(begin, end, axes, strict=True))
    if whole and set(steps) <= {1}:
        return x
    return b.op("strided_slice", x, begin=begin, end=end, strides=steps, axes=axes)


def _bounds(start: int, stop: int, step: int, extent: int) -> tuple[int, int]:
    """Begin and end of a slice, from the front. Going down it begins at an element in any case, at the first one
    where its start is before that: there Python has nothing."""
    low, high = (0, extent) if step > 0 else (-1, extent - 1)
    first, last = (v + extent if v < 0 else v for v in (start, stop))
    return max(min(first, high), 0), max(min(last, high), low)


def from_front(n: Node, b: Builder, indices: Value, extent: int) -> Value:
    """Indices counted from the front. Known ones are checked now; others are clamped where they are used."""
    if indices.dtype not in ("int32", "int64"):
        raise n.fail(f"indices are {indices.dtype}, expects int32 or int64")
    known = indices.array
    if known is not None:
        if known.dtype == object or is_symbolic(extent):
            return b.known_from_front(indices, extent)
        outside = known[(known < -extent) | (known >= extent)]
        if outside.size:
            raise n.fail(f"index {int(outside.reshape(-1)[0])} is out of range for an extent of {extent}")
        return b.constant(np.where(known < 0, known + extent, known).astype(known.dtype), name=indices.name)
    negative = b.op("less", indices, b.scalar(0, indices))
    return b.op("where", negative, b.op("add", indices, b.scalar(extent, indices)), indices)


@onnx_op("Gather")
def gather(n: Node, b: Builder) -> Value:
    x, indices = n.input(0), n.input(1)
    axis = n.axis(n.attr("axis", 0), x.rank)
    if not x.rank:
        raise n.fail("input has rank 0")
    return b.op("take", x, from_front(n, b, indices, x.shape[axis]), axis=axis, mode="clip")


@onnx_op("GatherElements")
def gather_elements(n: Node, b: Builder) -> Value:
    x, indices = n.input(0), n.input(1)
    axis = n.axis(n.attr("axis", 0), x.rank)
    return b.op("gather", x, from_front(n, b, indices, x.shape[axis]), axis=axis)


@onnx_op("OneHot")
def one_hot(n: Node, b: Builder) -> Value:
    """Negative indices count from the end of `depth`; those out of range give rows of off values."""
    indices, values = n.input(0), n.input(2)
    depth_array = n.array(1, "the depth")
    if depth_array.size != 1 or values.shape != (2,):
        raise n.fail("depth must be a scalar and values a pair")
    depth = int(depth_array.reshape(-1)[0])
    axis = n.attr("axis", -1)
    rank = indices.rank + 1
    axis = n.axis(axis, rank)
    b.check_size((*indices.shape, max(depth, 0)), values.dtype)
    whole = b.cast(indices, "int64")
    negative = b.op("less", whole, b.scalar(0, whole))
    places = b.op("where", negative, b.op("add", whole, b.scalar(depth, whole)), whole)
    off, on = (b.reshape(b.op("strided_slice", values, begin=[k], end=[k + 1]), ()) for k in (0, 1))
    return b.op("one_hot", places, on, off, depth=depth, axis=-1 if axis == rank - 1 else axis)


@onnx_op("Trilu")
def triangle(n: Node, b: Builder) -> Value:
    """The upper (or lower) triangle of each matrix, shifted by k; the rest is zero."""
    x = n.input(0)
    if x.rank < 2:
        raise n.fail("input must have rank 2 or more")
    k = int(n.array(1, "k").reshape(-1)[0]) if n.has(1) else 0
    mask = b.triangle(x.shape[-2], x.shape[-1], k, upper=bool(n.attr("upper", 1)))
    return b.op("where", mask, x, b.scalar(0, x))
