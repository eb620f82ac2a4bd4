"""Changes of the element type."""

from __future__ import annotations

from onnx import TensorProto

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.narrow import HELD, narrowed, widened
from lamina.frontends.onnx.registry import onnx_op


def converted(n: Node, b: Builder, x: Value, logical: str) -> Value:
    """`x` in another type, with the node's attributes `saturate` and `round_mode`."""
    if x.logical == logical:
        return x
    if x.logical in HELD:
        x = widened(b, x)
    if logical in HELD:
        return narrowed(n, b, x, logical, bool(n.attr("saturate", 1)), n.attr("round_mode", "up"))
    return b.cast(x, logical)


@onnx_op("Cast", held=True)
def cast(n: Node, b: Builder) -> Value:
    """Until opset 6 the type was a string."""
    to = n.attr("to")
    if isinstance(to, str):
        if to.upper() not in TensorProto.DataType.keys():
            raise n.fail(f"there is no type {to!r}")
        to = TensorProto.DataType.Value(to.upper())
    return converted(n, b, n.input(0), b.type_of(to))


@onnx_op("CastLike", held=True)
def cast_like(n: Node, b: Builder) -> Value:
    return converted(n, b, n.input(0), n.input(1).logical)
