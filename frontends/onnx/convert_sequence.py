"""Sequences and optional values: they exist while the model is imported; positions in them must be known."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import (
    AnyValue,
    Builder,
    Node,
    OptionalValue,
    SequenceValue,
)
from lamina.frontends.onnx.convert_control import part, sequence_of, stacked
from lamina.frontends.onnx.registry import onnx_op
from lamina.frontends.onnx.tensors import type_name


def _position(n: Node, i: int, length: int, what: str) -> int:
    place = int(n.array(i, what).reshape(-1)[0])
    if not -length <= place < max(length, 1):
        raise n.fail(f"{what} {place} is out of range for a sequence of {length}")
    return place + length if place < 0 else place


@onnx_op("SequenceConstruct", held=True)
def construct(n: Node, b: Builder) -> AnyValue:
    return sequence_of(n.values())


@onnx_op("SequenceEmpty")
def empty(n: Node, b: Builder) -> AnyValue:
    return SequenceValue([], type_name(n.attr("dtype", 1)))


@onnx_op("SequenceInsert", held=True)
def insert(n: Node, b: Builder) -> AnyValue:
    items = n.items(0)
    place = len(items)
    if n.has(2):
        place = int(n.array(2, "the position").reshape(-1)[0])
        if not -len(items) <= place <= len(items):
            raise n.fail(f"position {place} is out of range for a sequence of {len(items)}")
        place += len(items) if place < 0 else 0
    items.insert(place, n.input(1))
    return sequence_of(items)


@onnx_op("SequenceErase")
def erase(n: Node, b: Builder) -> AnyValue:
    items = list(n.sequence(0).items)
    if not items:
        raise n.fail("the sequence is empty")
    del items[_position(n, 1, len(items), "the position") if n.has(1) else -1]
    return SequenceValue(items, n.sequence(0).dtype)


@onnx_op("SequenceAt")
def at(n: Node, b: Builder) -> AnyValue:
    items = n.sequence(0).items
    if not items:
        raise n.fail("the sequence is empty")
    return items[_position(n, 1, len(items), "the position")]


@onnx_op("SequenceLength")
def length(n: Node, b: Builder) -> AnyValue:
    return b.constant(np.int64(len(n.sequence(0).items)))


@onnx_op("ConcatFromSequence")
def concat_from_sequence(n: Node, b: Builder) -> AnyValue:
    items = n.items(0)
    if not items:
        raise n.fail("the sequence is empty")
    rank = items[0].rank
    if n.attr("new_axis", 0):
        return stacked(b, items, n.axis(n.attr("axis"), rank + 1))
    return items[0] if len(items) == 1 else b.op("concatenate", *items, axis=n.axis(n.attr("axis"), rank))


@onnx_op("SplitToSequence")
def split_to_sequence(n: Node, b: Builder) -> AnyValue:
    """Into parts of a size, the last one smaller; of given sizes; or, without a size, into slices."""
    x = n.input(0)
    axis = n.axis(n.attr("axis", 0), x.rank)
    extent = x.shape[axis]
    if not n.has(1):
        slices = [part(b, x, axis, k) for k in range(extent)]
        keep = n.attr("keepdims", 1)
        return sequence_of([b.op("expand_dims", s, axis=axis) for s in slices] if keep else slices)
    given = n.array(1, "the split")
    if given.ndim:
        sizes = [int(s) for s in given]
    else:
        size = int(given)
        if size < 1:
            raise n.fail(f"the split is {size}")
        sizes = [min(size, extent - start) for start in range(0, extent, size)]
    if sum(sizes) != extent or min(sizes, default=0) < 0:
        raise n.fail(f"parts {sizes} do not make up axis {axis} of extent {extent}")
    if len(sizes) == 1:
        return sequence_of([x])
    places = [int(p) for p in np.cumsum(sizes)[:-1]]
    return sequence_of(b.ops("split", x, indices_or_sections=places, axis=axis))


@onnx_op("Optional")
def optional(n: Node, b: Builder) -> AnyValue:
    if not n.has(0):
        return OptionalValue(None)
    value = n.any(0)
    return value if isinstance(value, OptionalValue) else OptionalValue(value)


@onnx_op("OptionalHasElement")
def has_element(n: Node, b: Builder) -> AnyValue:
    value = n.any(0) if n.has(0) else None
    missing = value is None or (isinstance(value, OptionalValue) and value.item is None)
    return b.constant(np.bool_(not missing))


@onnx_op("OptionalGetElement")
def get_element(n: Node, b: Builder) -> AnyValue:
    value: AnyValue | Value | None = n.any(0)
    if isinstance(value, OptionalValue):
        value = value.item
    if value is None:
        raise n.fail("the optional value is missing")
    return value
