"""Reductions, running sums, and products of matrices."""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE, ints

_REDUCTIONS = {"Sum": "sum", "Max": "max", "Min": "min", "Prod": "prod", "All": "all", "Any": "any", "Mean": "mean"}


@TABLE.op(*_REDUCTIONS)
def reduction(b: NodeBuilder, node: NetworkNode, x: Value, axes: Value) -> Value:
    """Over some axes; none are none, and not all. The mean of integers is cut off."""
    given = _axes(b, x, axes)
    if not given:
        return x
    kept = bool(node.attr("keep_dims", False))
    if node.op == "Mean" and not is_float(x.dtype):
        total = b.op("sum", x, axis=given, keepdims=kept)
        return b.op("trunc_divide", total, b.scalar(prod(x.shape[a] for a in given), total))
    return b.op(_REDUCTIONS[node.op], x, axis=given, keepdims=kept)


def _axes(b: NodeBuilder, x: Value, axes: Value) -> list[int]:
    """The axes that an operand names, in order; none of a number."""
    given = ints(b, axes, "the axes")
    return sorted({b.axis(a, x.rank) for a in given}) if x.rank else []


@TABLE.op("EuclideanNorm")
def norm(b: NodeBuilder, node: NetworkNode, x: Value, axes: Value) -> Value:
    given = _axes(b, x, axes)
    if not given:
        return b.op("abs", x)
    return b.op("sqrt", b.op("sum", b.mul(x, x), axis=given, keepdims=bool(node.attr("keep_dims", False))))


@TABLE.op("ArgMax", "ArgMin")
def place_of_extreme(b: NodeBuilder, node: NetworkNode, x: Value, axis: Value) -> Value:
    place = b.axis(int(b.number(axis, "the axis")), x.rank)
    found = b.op(node.op.lower(), x, axis=[place])
    return b.cast(found, str(node.attr("output_type") or "int64"))


@TABLE.op("Cumsum", "Cumprod")
def running(b: NodeBuilder, node: NetworkNode, x: Value, axis: Value) -> Value:
    place = b.axis(int(b.number(axis, "the axis")), x.rank)
    backwards = bool(node.attr("reverse", False))
    x = b.op("reverse", x, axis=place) if backwards else x
    found = b.op(node.op.lower(), x, axis=place, exclusive=bool(node.attr("exclusive", False)))
    return b.op("reverse", found, axis=place) if backwards else found


# -- products ----------------------------------------------------------------------------------------


@TABLE.op("MatMul")
def matmul(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    left, right = bool(node.attr("transpose_a", False)), bool(node.attr("transpose_b", False))
    return b.contraction("nn.matmul", x, y, transpose_a=left, transpose_b=right)


@TABLE.op("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    """The products of stacks of matrices, whose leading axes broadcast."""
    if min(x.rank, y.rank) < 2:
        raise b.fail(f"{x} and {y} are no matrices")
    x = b.swapped(x) if node.attr("adj_x", False) else x
    y = b.swapped(y) if node.attr("adj_y", False) else y
    np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    found = b.matrices(x, y)
    return b.cast(found, str(node.attr("Tout") or found.dtype))


@TABLE.op("Einsum")
def einsum(b: NodeBuilder, node: NetworkNode, *operands: Value) -> Value:
    equation = str(node.attr("equation")).replace(" ", "")
    if any(0 in x.shape for x in operands):
        raise b.unsupported("a sum of products of nothing is not supported")
    return b.op("einsum", *operands, equation=equation)
