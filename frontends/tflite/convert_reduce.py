"""Reductions, running sums and the greatest elements."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode

_REDUCTIONS = {
    "SUM": "sum",
    "MEAN": "mean",
    "REDUCE_MAX": "max",
    "REDUCE_MIN": "min",
    "REDUCE_PROD": "prod",
    "REDUCE_ANY": "any",
    "REDUCE_ALL": "all",
}


def reduced_axes(b: TfliteBuilder, x: Value, axes: Value) -> list[int]:
    """The axes of a reduction, counted from the front."""
    given = [int(a) for a in b.known(axes, "the axes").reshape(-1)]
    return sorted({b.axis(a, x.rank) for a in given})


@TABLE.op(*_REDUCTIONS, "quantized REDUCE_MAX", "quantized REDUCE_MIN")
def reduction(b: TfliteBuilder, node: TfliteNode, x: Value, axes: Value) -> Value:
    """A reduction over axes; the mean of integers is cut off."""
    over, keep = reduced_axes(b, x, axes), bool(node.attr("keep_dims", False))
    if not over or not x.rank:
        return x
    name = _REDUCTIONS[node.op.removeprefix("quantized ")]
    if name == "mean" and not is_float(x.dtype):
        count = 1
        for a in over:
            count *= x.shape[a]
        total = b.op("sum", b.cast(x, "int64"), axis=over, keepdims=keep)
        return b.cast(b.op("trunc_divide", total, b.scalar(max(count, 1), total)), x.dtype)
    return b.op(name, x, axis=over, keepdims=keep)


@TABLE.op(*moves("ARG_MAX"), *moves("ARG_MIN"))
def arg_extreme(b: TfliteBuilder, node: TfliteNode, x: Value, axis: Value) -> Value:
    """The place of the greatest or the smallest element on an axis, the first of equals."""
    place = b.axis(int(b.number(axis, "the axis")), x.rank)
    name = "argmax" if node.op.endswith("ARG_MAX") else "argmin"
    return b.cast(b.op(name, x, axis=[place], keepdims=False), node.dtype())


@TABLE.op("CUMSUM")
def cumsum(b: TfliteBuilder, node: TfliteNode, x: Value, axis: Value) -> Value:
    """The sum of the elements up to each one on an axis, itself left out if `exclusive`; from the end if `reverse`."""
    place = b.axis(int(b.number(axis, "the axis")), x.rank)
    reverse = bool(node.attr("reverse", False))
    x = b.op("reverse", x, axis=place) if reverse else x
    y = b.op("cumsum", x, axis=place, dtype=x.dtype, exclusive=bool(node.attr("exclusive", False)))
    return b.op("reverse", y, axis=place) if reverse else y


@TABLE.op(*moves("TOPK_V2"))
def topk(b: TfliteBuilder, node: TfliteNode, x: Value, k: Value) -> Sequence[Value]:
    """The greatest elements of each row in descending order, and their places."""
    count = int(b.number(k, "the number of elements"))
    if not x.rank or not 0 <= count <= x.shape[-1]:
        raise b.fail(f"{count} elements of {x} are asked for")
    if not count:
        return [b.zeros((*x.shape[:-1], 0), x.dtype), b.zeros((*x.shape[:-1], 0), "int32")]
    values, places = b.ops("topk", x, k=count, axis=-1, ret_type="both", is_ascend=False, dtype="int32")
    return [values, b.cast(places, node.dtype(1) if len(node.results) > 1 else "int32")]
