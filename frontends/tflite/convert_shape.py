"""Shapes: views of tensors, their parts, and what is put together of them."""

from __future__ import annotations

from math import prod

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode


@TABLE.op(*moves("RESHAPE"))
def reshape(b: TfliteBuilder, node: TfliteNode, x: Value, shape: Value | None = None) -> Value:
    """The elements in another shape, of which one extent may be -1; the operand counts, else the options."""
    given = node.attr("new_shape", []) if shape is None else [int(e) for e in b.known(shape, "the shape").reshape(-1)]
    extents = list(given)
    if extents.count(-1) == 1:
        rest = prod(e for e in extents if e != -1)
        extents[extents.index(-1)] = prod(x.shape) // rest if rest > 0 else 0
    if min(extents, default=0) < 0 or prod(extents) != prod(x.shape):
        raise b.fail(f"{x} does not fit the shape {list(given)}")
    return b.reshape(x, extents)
