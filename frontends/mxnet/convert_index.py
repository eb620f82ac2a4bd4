"""Operators on places and orders: reductions, sorting, indexing, products."""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder

# -- reductions and orders -------------------------------------------------------------------------

_REDUCED = {"sum": "sum", "sum_axis": "sum", "mean": "mean", "max": "max", "max_axis": "max", "min": "min",
            "min_axis": "min", "prod": "prod"}  # fmt: skip


@TABLE.op(*_REDUCED)
def reduced(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A reduction over axes, or with `exclude` over all others."""
    attrs = TextAttributes(node)
    axes = b.axes(attrs.ints("axis"), x.rank)
    if attrs.bool("exclude") and attrs.ints("axis"):
        axes = [a for a in range(x.rank) if a not in axes]
    y = b.op(_REDUCED[node.op], x, axis=axes, keepdims=attrs.bool("keepdims")) if axes else x
    return y if y.rank else b.reshape(y, (1,))


@TABLE.op("norm")
def norm(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The length over axes: of order 2, or 1."""
    attrs = TextAttributes(node)
    order, axes = attrs.int("ord", 2), b.axes(attrs.ints("axis"), x.rank)
    if order not in (1, 2):
        raise b.unsupported(f"ord = {order} is not supported")
    y = b.op("sum", b.op("abs", x) if order == 1 else b.mul(x, x), axis=axes, keepdims=attrs.bool("keepdims"))
    y = y if order == 1 else b.op("sqrt", y)
    return y if y.rank else b.reshape(y, (1,))


@TABLE.op("argmax", "argmin", "argmax_channel")
def argmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The places of the largest or smallest elements, as floats."""
    attrs = TextAttributes(node)
    axis = [b.axis(attrs.int("axis"), x.rank)] if attrs.has("axis") else None
    axis = [1] if node.op == "argmax_channel" else axis
    if axis is None:
        x, axis = b.reshape(x, (prod(x.shape),)), [0]
    y = b.op("argmin" if node.op == "argmin" else "argmax", x, axis=axis, keepdims=attrs.bool("keepdims"))
    return b.cast(y if y.rank else b.reshape(y, (1,)), "float32")


@TABLE.op("topk")
def topk(b: NodeBuilder, node: NetworkNode, x: Value) -> list[Value]:
    """The places of the k largest or smallest elements, the elements, or both."""
    attrs = TextAttributes(node)
    kind, axis = attrs.word("ret_typ", "indices"), attrs.int("axis", -1)
    if kind not in ("indices", "value", "both") or "axis" in node.attributes and not attrs.has("axis"):
        raise b.unsupported(f"ret_typ = {kind[:40]} is not supported")
    axis = b.axis(axis, x.rank)
    count = attrs.int("k", 1) or x.shape[axis]
    turned = b.swapped(x, axis, x.rank - 1)
    found = b.ops("topk", turned, k=count, axis=-1, ret_type="both", is_ascend=attrs.bool("is_ascend"), dtype="int32")
    values, places = (b.swapped(v, axis, x.rank - 1) for v in found)
    places = b.cast(places, attrs.word("dtype", "float32"))
    return {"indices": [places], "value": [values], "both": [values, places]}[kind]


@TABLE.op("sort")
def sort(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The elements in their order along an axis."""
    attrs = TextAttributes(node)
    return b.op("sort", x, axis=b.axis(attrs.int("axis", -1), x.rank), is_ascend=attrs.bool("is_ascend", True))


@TABLE.op("argsort")
def argsort(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The places of the elements in their order along an axis."""
    attrs = TextAttributes(node)
    axis = b.axis(attrs.int("axis", -1), x.rank)
    y = b.op("argsort", x, axis=axis, is_ascend=attrs.bool("is_ascend", True), dtype="int32")
    return b.cast(y, attrs.word("dtype", "float32"))


# -- places and products ---------------------------------------------------------------------------


@TABLE.op("Embedding")
def embedding(b: NodeBuilder, node: NetworkNode, x: Value, table: Value) -> Value:
    """Rows of a table; the indices may be floats."""
    return b.op("take", table, b.cast(x, "int32"), axis=0, mode="clip")


@TABLE.op("take")
def take(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value) -> Value:
    """Elements along an axis at indices, which are clipped or wrapped."""
    attrs = TextAttributes(node)
    mode = attrs.word("mode", "clip")
    if mode not in ("clip", "wrap"):
        raise b.unsupported(f"mode = {mode[:40]} is not supported")
    axis = b.axis(attrs.int("axis"), x.rank)
    return b.op("take", x, b.cast(indices, "int32"), axis=axis, mode=mode)


@TABLE.op("pick")
def pick(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value) -> Value:
    """One element along an axis for each place of the others."""
    attrs = TextAttributes(node)
    axis = b.axis(attrs.int("axis", -1), x.rank)
    places = b.op("clip", b.cast(indices, "int32"), a_min=0.0, a_max=float(x.shape[axis] - 1))
    places = b.reshape(places, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    y = b.op("gather", x, places, axis=axis)
    return y if attrs.bool("keepdims") else b.reshape(y, (*x.shape[:axis], *x.shape[axis + 1 :]))


@TABLE.op("batch_take")
def batch_take(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value) -> Value:
    """One element of each row."""
    places = b.op("clip", b.cast(indices, "int32"), a_min=0.0, a_max=float(x.shape[1] - 1))
    return b.reshape(b.op("gather", x, b.reshape(places, (x.shape[0], 1)), axis=1), x.shape[:1])


@TABLE.op("gather_nd")
def gather_nd(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value) -> Value:
    """Elements at places, which stand in the columns of the indices."""
    return b.op("gather_nd", x, b.cast(indices, "int32"))


@TABLE.op("one_hot")
def one_hot(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A number at the place that an index says, another one elsewhere."""
    attrs = TextAttributes(node)
    depth, dtype = attrs.int("depth"), attrs.word("dtype", "float32")
    b.check_size([*x.shape, depth], dtype)
    row = b.constant(np.arange(depth, dtype=np.int32))
    there = b.op("equal", b.reshape(b.cast(x, "int32"), (*x.shape, 1)), row)
    on, off = attrs.float("on_value", 1.0), attrs.float("off_value")
    return b.op("where", there, b.filled(on, (), dtype), b.filled(off, (), dtype))


@TABLE.op("dot")
def dot(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    """The product over the last axis of x and the first of y."""
    attrs = TextAttributes(node)
    if attrs.bool("transpose_a"):
        x = b.transpose(x, (*range(1, x.rank), 0))
    if attrs.bool("transpose_b"):
        y = b.transpose(y, (y.rank - 1, *range(y.rank - 1)))
    if x.rank < 1 or y.rank < 1 or x.shape[-1] != y.shape[0]:
        raise b.fail(f"multiplies {x} by {y}")
    left = b.reshape(x, (prod(x.shape[:-1]), x.shape[-1]))
    right = b.transpose(b.reshape(y, (y.shape[0], prod(y.shape[1:]))), (1, 0))
    made = b.contraction("nn.dense", left, right, units=right.shape[0])
    return b.reshape(made, (*x.shape[:-1], *y.shape[1:]) or (1,))


@TABLE.op("batch_dot", "_linalg_gemm2", "linalg_gemm2")
def batch_dot(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    """Products of matrices, one for each of the leading axes."""
    attrs = TextAttributes(node)
    x = b.swapped(x) if attrs.bool("transpose_a") else x
    y = b.swapped(y) if attrs.bool("transpose_b") else y
    if x.rank < 2 or y.rank < 2 or x.shape[:-2] != y.shape[:-2]:
        raise b.fail(f"multiplies {x} by {y}")
    made, alpha = b.matrices(x, y), attrs.float("alpha", 1.0)
    return made if alpha == 1 else b.mul(made, alpha)
