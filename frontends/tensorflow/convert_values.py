"""Constants, values handed through, shapes, and tensors made of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.protobuf import Message
from lamina.frontends.tensorflow.table import TABLE, ints, small
from lamina.frontends.tensorflow.tensors import array_of
from lamina.frontends.wire_format import Odd


@TABLE.op("Const")
def constant(b: NodeBuilder, node: NetworkNode) -> Value:
    value = node.attr("value")
    if not isinstance(value, Message):
        raise b.unsupported("the constant has no value in the file")
    try:
        return b.constant(array_of(value, b.limit, b.where), name=node.name)
    except Odd:
        raise b.fail("the constant is no message of a tensor", "is the file whole?") from None


@TABLE.op(
    "Identity", "StopGradient", "PreventGradient", "CheckNumerics", "CheckNumericsV2", "Snapshot", "EnsureShape",
    "PlaceholderWithDefault", "ReadVariableOp",
)  # fmt: skip
def identity(b: NodeBuilder, node: NetworkNode, x: Value, *_: Value) -> Value:
    """The value itself; what is checked of it in training is not checked here."""
    return x


@TABLE.op("IdentityN")
def identities(b: NodeBuilder, node: NetworkNode, *values: Value) -> Sequence[Value]:
    return values


# -- shapes ------------------------------------------------------------------------------------------


def _dtype(node: NetworkNode, name: str = "out_type") -> str:
    return str(node.attr(name) or "int32")


@TABLE.op("Shape")
def shape(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.constant(np.asarray(x.shape, _dtype(node)))


@TABLE.op("ShapeN")
def shapes(b: NodeBuilder, node: NetworkNode, *values: Value) -> Sequence[Value]:
    return [shape(b, node, x) for x in values]


@TABLE.op("Size")
def size(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.constant(np.asarray(prod(x.shape), _dtype(node)))


@TABLE.op("Rank")
def rank(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.constant(np.asarray(x.rank, "int32"))


@TABLE.op("BroadcastArgs")
def broadcast_args(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    given = [tuple(ints(b, v, "a shape")) for v in (x, y)]
    return b.constant(np.asarray(np.broadcast_shapes(*given), x.dtype))


# -- tensors of numbers ------------------------------------------------------------------------------


@TABLE.op("ZerosLike")
def zeros_like(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.filled(0, x.shape, x.dtype)


@TABLE.op("OnesLike")
def ones_like(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.filled(1, x.shape, x.dtype)


@TABLE.op("Fill")
def fill(b: NodeBuilder, node: NetworkNode, extents: Value, number: Value) -> Value:
    given = tuple(ints(b, extents, "the shape"))
    b.check_size(given, number.dtype)
    if number.array is not None and number.array.size == 1:
        return b.splat(number.array.reshape(-1)[0], given)
    return b.broadcast(b.reshape(number, ()), given)


@TABLE.op("Range")
def arange(b: NodeBuilder, node: NetworkNode, start: Value, limit: Value, delta: Value) -> Value:
    first, last, step = (b.number(v, "a bound") for v in (start, limit, delta))
    if not step:
        raise b.fail("the step is 0")
    count = max(0, int((last - first) / step) + 1)
    b.check_size((count,), start.dtype)
    small(b, count, "a range")
    return b.constant(np.asarray(np.arange(first, last, step), numpy_dtype(start.dtype)))


@TABLE.op("LinSpace")
def linspace(b: NodeBuilder, node: NetworkNode, start: Value, stop: Value, count: Value) -> Value:
    first, last, many = (b.number(v, "a bound") for v in (start, stop, count))
    small(b, int(many), "a line")
    return b.constant(np.asarray(np.linspace(first, last, int(many)), numpy_dtype(start.dtype)))
