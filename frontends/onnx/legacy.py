"""Operators before opset 7: broadcasting by attributes."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node


def legacy_operand(n: Node, b: Builder, x: Value, y: Value) -> Value:
    """The second operand as it broadcasts today: until opset 7 its axes were those of `x` from `axis` on."""
    if n.version >= 7 or y.shape == x.shape:
        return y
    if not n.attr("broadcast", 0):
        raise n.fail("the shapes differ, and broadcast is 0")
    if "axis" not in n.attrs:
        return y
    axis = n.axis(n.attrs["axis"], x.rank)
    behind = x.rank - axis - y.rank
    if behind < 0:
        raise n.fail(f"axis {axis} leaves no room for the second operand")
    return b.reshape(y, (*y.shape, *[1] * behind))
