"""Layers of several tensors: sums, products, extremes, joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, cast

from lamina.frontends.builder import Value
from lamina.frontends.keras.convert_norm import unit
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.keras.tensors import listed
from lamina.frontends.network import NodeBuilder


def _tensors(b: NodeBuilder, given: Any) -> list[Value]:
    """The operands of a merge, of one rank: axes of one element come behind the first."""
    found = listed(given)
    if not all(isinstance(x, Value) for x in found):
        raise b.unsupported("a constant among the tensors is not supported")
    xs = cast("list[Value]", found)
    rank = max(x.rank for x in xs)
    return [b.reshape(x, (*x.shape[:1], *[1] * (rank - x.rank), *x.shape[1:])) for x in xs]


def _masks(b: NodeBuilder, layer: Layer, xs: Any) -> list[Value]:
    """The masks of all operands, none where one has none."""
    found = [layer.mask_of(x) for x in xs]
    return [m for m in found if m is not None] if all(m is not None for m in found) else []


def _folded(b: NodeBuilder, xs: Sequence[Value], join: Callable[[Value, Value], Value]) -> Value:
    total = xs[0]
    for x in xs[1:]:
        total = join(total, x)
    return total


@layer("Add", "Subtract", "Average", "Multiply", "Maximum", "Minimum", masked=True)
def merge(b: NodeBuilder, layer: Layer, inputs: Any, mask: Any = None) -> Value:
    """Elementwise, from left to right; a step that is there in one operand is there in the result."""
    xs = _tensors(b, inputs)
    kind, xs_given = layer.described.class_name, listed(inputs)
    masks = _masks(b, layer, xs_given)
    if kind in ("Multiply", "Maximum", "Minimum") and any(layer.mask_of(x) is not None for x in xs_given):
        raise b.unsupported("masks are not supported here")
    ops = {"Subtract": "subtract", "Multiply": "multiply", "Maximum": "maximum", "Minimum": "minimum"}
    y = _folded(b, xs, lambda x, y: b.op(ops.get(kind, "add"), x, y))
    if kind == "Average":
        y = b.div(y, float(len(xs)))
    if masks:
        b.notes[y] = _folded(b, masks, lambda x, y: b.op("logical_or", x, y))
    return y


@layer("Concatenate", masked=True)
def concatenate(b: NodeBuilder, layer: Layer, inputs: Any, mask: Any = None) -> Value:
    xs = [cast("Value", x) for x in inputs]
    axis = b.axis(int(layer.get("axis", -1)), xs[0].rank)
    y = xs[0] if len(xs) == 1 else b.op("concatenate", *xs, axis=axis)
    masks = [layer.mask_of(x) for x in xs]
    if any(m is not None for m in masks):
        wide = [_wide_mask(b, x, m) for x, m in zip(xs, masks, strict=True)]
        joined = wide[0] if len(wide) == 1 else b.op("concatenate", *wide, axis=axis)
        b.notes[y] = b.op("any", joined, axis=[joined.rank - 1], keepdims=False)
    return y


def _wide_mask(b: NodeBuilder, x: Value, mask: Value | None) -> Value:
    """The mask of each element of a tensor."""
    if mask is None:
        return b.filled(True, x.shape, "bool")
    return b.broadcast(b.reshape(mask, (*mask.shape, *[1] * (x.rank - mask.rank))), x.shape)


@layer("Dot")
def dot(b: NodeBuilder, layer: Layer, inputs: Any) -> Value:
    """The sums of products along an axis of each of two tensors, for each element of the batch."""
    x, y = (cast("Value", v) for v in inputs)
    given: Any = layer.get("axes", -1)
    first, second = (given, given) if isinstance(given, int) else given
    a0, a1 = b.axis(int(first), x.rank), b.axis(int(second), y.rank)
    if 0 in (a0, a1) or x.shape[0] != y.shape[0] or x.shape[a0] != y.shape[a1]:
        raise b.fail(f"axes {a0} and {a1} of {x} and {y} have no products")
    if layer.flag("normalize"):
        x, y = unit(b, x, [a0], 1e-12), unit(b, y, [a1], 1e-12)
    left = b.transpose(x, [*(a for a in range(x.rank) if a != a0), a0])
    right = b.transpose(y, [0, a1, *(a for a in range(1, y.rank) if a != a1)])
    batch, extent = x.shape[0], x.shape[a0]
    rows, columns = left.shape[1:-1], right.shape[2:]
    stack = b.reshape(left, (batch, prod(rows), extent))
    product = b.contraction("nn.batch_matmul", stack, b.reshape(right, (batch, extent, prod(columns))),
                            transpose_b=False)  # fmt: skip
    shape = (batch, *rows, *columns)
    return b.reshape(product, shape if len(shape) > 1 else (batch, 1))


@layer("Bidirectional.merge")
def bidirectional(b: NodeBuilder, layer: Layer, forward: Value, backward: Value) -> Value:
    """The outputs of two directions joined, added or multiplied; those of the second in the order of the steps."""
    y = turned(b, layer, backward)
    mode = layer.get("merge_mode", "concat")
    if mode == "concat":
        found = b.op("concatenate", forward, y, axis=forward.rank - 1)
    elif mode in ("sum", "ave"):
        found = b.add(forward, y) if mode == "sum" else b.div(b.add(forward, y), 2.0)
    elif mode == "mul":
        found = b.mul(forward, y)
    else:
        raise b.fail(f"merge_mode is {mode!r}")
    mask = layer.mask_of(forward)
    if mask is not None:
        b.notes[found] = mask
    return found


@layer("Bidirectional.turned")
def turned(b: NodeBuilder, layer: Layer, y: Value) -> Value:
    """The outputs of a backward layer in the order of the steps."""
    inner = layer.described.inner("layer")
    return b.op("reverse", y, axis=1) if inner.get("return_sequences", False) else y
