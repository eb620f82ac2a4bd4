"""Reductions over axes."""

from __future__ import annotations

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op

_PLAIN = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod"}
_COMPOSED = ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")


def _axes(n: Node, rank: int) -> list[int] | None:
    """The reduced axes; None for `noop_with_empty_axes` without axes. They are an attribute until opset 18 (13)."""
    if "axes" in n.attrs:
        return n.axes(n.attrs["axes"], rank)
    given = n.ints(1, "axes") if n.has(1) else []
    if not given:
        return None if n.attr("noop_with_empty_axes", 0) else list(range(rank))
    return n.axes(given, rank)


@onnx_op(*_PLAIN, *_COMPOSED)
def reduction(n: Node, b: Builder) -> Value:
    x = n.input(0)
    axes = _axes(n, x.rank)
    keep = bool(n.attr("keepdims", 1))

    if axes and 0 in [x.shape[a] for a in axes] and n.op_type in ("ReduceMax", "ReduceMin", "ReduceLogSumExp"):
        return _of_nothing(n, b, x, axes, keep)

    def over(kind: str, value: Value, keepdims: bool = keep) -> Value:
        # Rank 0 and `noop` have nothing to reduce over; relay's empty list would mean all axes.
        return b.op(kind, value, axis=axes, keepdims=keepdims) if axes else value

    kind = n.op_type
    if x.dtype == "bool" and kind in ("ReduceMax", "ReduceMin"):
        return over("any" if kind == "ReduceMax" else "all", x)
    if kind in _PLAIN:
        return over(_PLAIN[kind], x)
    if kind == "ReduceL1":
        return over("sum", b.op("abs", x))
    if kind == "ReduceLogSum":
        return b.cast(b.op("log", _real(b, over("sum", x))), x.dtype)
    if kind == "ReduceLogSumExp":
        # The maximum is taken out, so that exp stays in range.
        real = _real(b, x)
        top = over("max", real, keepdims=True)
        total = over("sum", b.op("exp", b.op("subtract", real, top)))
        return b.cast(b.op("add", b.op("log", total), b.reshape(top, total.shape)), x.dtype)
    squares = over("sum", b.op("multiply", x, x))
    return b.cast(b.op("sqrt", _real(b, squares)), x.dtype) if kind == "ReduceL2" else squares


def _real(b: Builder, x: Value) -> Value:
    """An operand for functions of real numbers: integers become float64. Their results are cut off to integers."""
    return x if is_float(x.dtype) else b.cast(x, "float64")


def _of_nothing(n: Node, b: Builder, x: Value, axes: list[int], keep: bool) -> Value:
    """The greatest (least) of no elements is the least (greatest) number there is; log(0) is that as well."""
    shape = tuple(1 if a in axes else e for a, e in enumerate(x.shape) if keep or a not in axes)
    least = n.op_type != "ReduceMin"
    if x.dtype == "bool":
        return b.splat(np.bool_(not least), shape)
    dtype = numpy_dtype(x.dtype)
    if is_float(x.dtype):
        return b.splat(np.asarray(-np.inf if least else np.inf).astype(dtype)[()], shape)
    info = np.iinfo(dtype)
    return b.splat(dtype.type(info.min if least else info.max), shape)


@onnx_op("ArgMax", "ArgMin")
def arg_reduction(n: Node, b: Builder) -> Value:
    x = n.input(0)
    if not x.rank:
        raise n.fail("input has rank 0")
    found = b.op(
        n.op_type.lower(),
        x,
        axis=[n.axis(n.attr("axis", 0), x.rank)],
        keepdims=bool(n.attr("keepdims", 1)),
        select_last_index=bool(n.attr("select_last_index", 0)),
    )
    return b.cast(found, "int64")
