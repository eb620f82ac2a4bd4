"""Slices of tensors, and tensors put into others."""

from __future__ import annotations

from types import EllipsisType
from typing import TypeAlias

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode

Index: TypeAlias = "int | slice[int | None, int | None, int] | EllipsisType | None"


@TABLE.op(*moves("SLICE"))
def slice_(b: TfliteBuilder, node: TfliteNode, x: Value, begin: Value, size: Value) -> Value:
    """As many elements of each axis as `size` says, -1 for all, from `begin` on, which may be computed."""
    sizes = b.integers(size, "the sizes")
    if len(sizes) != x.rank:
        raise b.fail(f"{len(sizes)} sizes for {x}")
    if begin.array is None:
        return _from_places(b, x, begin, sizes)
    begins = b.integers(begin, "the places")
    ends = [e if s == -1 else f + s for f, s, e in zip(begins, sizes, x.shape, strict=True)]
    if any(not 0 <= f <= last <= e for f, last, e in zip(begins, ends, x.shape, strict=True)):
        raise b.fail(f"{x} has no slice from {begins} of {sizes}")
    for axis, (first, last) in enumerate(zip(begins, ends, strict=True)):
        x = b.slice(x, axis, first, last)
    return x


def _from_places(b: TfliteBuilder, x: Value, begin: Value, sizes: list[int]) -> Value:
    """A slice that begins at places which are computed."""
    if any(s < 0 for s in sizes):
        raise b.unsupported("a slice whose size is computed is not supported")
    for axis, size in enumerate(sizes):
        if size != x.shape[axis]:
            first = b.reshape(b.slice(begin, 0, axis, axis + 1), ())
            places = b.add(b.cast(first, "int64"), b.constant(np.arange(size)))
            x = b.op("take", x, places, axis=axis, mode="clip")
    return x


@TABLE.op(*moves("STRIDED_SLICE"))
def strided_slice(b: TfliteBuilder, node: TfliteNode, x: Value, begin: Value, end: Value, strides: Value) -> Value:
    """NumPy's slices: masks say at which axes a bound is left out, `...` stands, one is new, or a place is meant."""
    firsts, lasts, steps = (b.integers(v, "a bound") for v in (begin, end, strides))
    if not len(firsts) == len(lasts) == len(steps):
        raise b.fail(f"{len(firsts)} begins, {len(lasts)} ends and {len(steps)} strides")
    masks = {
        name: int(node.attr(f"{name}_mask", 0)) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    index: list[Index] = []
    for k, (first, last, step) in enumerate(zip(firsts, lasts, steps, strict=True)):
        has = {name: bool(mask >> k & 1) for name, mask in masks.items()}
        if has["ellipsis"]:
            index.append(...)
        elif has["new_axis"]:
            index.append(None)
        elif has["shrink_axis"]:
            index.append(first)
        else:
            stop = last + first if node.attr("offset", False) else last
            index.append(slice(None if has["begin"] else first, None if has["end"] else stop, step))
    return _indexed(b, x, index)


def _indexed(b: TfliteBuilder, x: Value, index: list[Index]) -> Value:
    """x[index] of numbers, slices, None and one `...`."""
    if sum(i is ... for i in index) > 1:
        raise b.fail("has more than one ellipsis")
    taken = sum(i is not None and i is not ... for i in index)
    if taken > x.rank:
        raise b.fail(f"{taken} slices of {x}")
    rest: list[Index] = [slice(None, None, 1)] * (x.rank - taken)
    place = next((k for k, i in enumerate(index) if i is ...), len(index))
    full = [*index[:place], *rest, *index[place + 1 :]]
    shape: list[int] = []
    axis = 0
    for i in full:
        if i is None:
            shape.append(1)
        elif isinstance(i, slice):
            if i.step == 0:
                raise b.fail("a stride is 0")
            places = range(*i.indices(x.shape[axis]))
            x = _along(b, x, axis, places)
            shape.append(len(places))
            axis += 1
        elif i is not ...:
            at = b.axis(i, x.shape[axis]) if x.shape[axis] else b.axis(i, 0)
            x = b.slice(x, axis, at, at + 1)
            axis += 1
    return b.reshape(x, shape)


def _along(b: TfliteBuilder, x: Value, axis: int, places: range) -> Value:
    """The elements of an axis at places."""
    if len(places) == x.shape[axis] and places.step == 1:
        return x
    if places.step > 0 and len(places):
        return b.slice(x, axis, places[0], places[-1] + 1, places.step)
    return b.op("take", x, b.constant(np.asarray(places, np.int64)), axis=axis, mode="clip")


@TABLE.op(*moves("DYNAMIC_UPDATE_SLICE"))
def dynamic_update_slice(b: TfliteBuilder, node: TfliteNode, x: Value, update: Value, start: Value) -> Value:
    """The tensor with another one put in at places, which are moved so that all of it is inside."""
    if update.rank != x.rank or any(u > e for u, e in zip(update.shape, x.shape, strict=True)):
        raise b.fail(f"{update} does not fit into {x}")
    mask: Value | None = None
    for axis, (size, extent) in enumerate(zip(update.shape, x.shape, strict=True)):
        if size == extent:
            continue
        first = b.cast(b.reshape(b.slice(start, 0, axis, axis + 1), ()), "int64")
        first = b.op("minimum", b.op("maximum", first, b.scalar(0, first)), b.scalar(extent - size, first))
        place = b.sub(b.constant(np.arange(extent)), first)
        inside = b.op(
            "logical_and", b.op("greater_equal", place, b.scalar(0, place)), b.op("less", place, b.scalar(size, place))
        )
        update = b.op("take", update, place, axis=axis, mode="clip")
        row = b.reshape(inside, [extent if a == axis else 1 for a in range(x.rank)])
        mask = row if mask is None else b.op("logical_and", mask, row)
    return update if mask is None else b.op("where", mask, update, x)
