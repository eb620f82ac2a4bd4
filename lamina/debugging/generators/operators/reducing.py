"""Reductions, scans, sorting, and norms along axes."""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.debugging.generators.draw import FLOATS
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph
from lamina.debugging.generators.operators.elementwise import allowed, positive
from lamina.debugging.generators.operators.moving import with_axes
from lamina.debugging.generators.operators.table import row

SUMMED = ("float32", "float64", "float16", "int64", "int32")
HALF = 65504.0
"""The largest number of half precision."""
FACTORS = 64
"""Factors of a product at most."""
LONG = 100_000
"""Elements of a sum of which single precision may lose a part of 1e-4, added one after the other: 1e5 roundings of 6e-8
each are 6e-3 at the most, 2e-5 if they fall either way."""


@row("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
     "ReduceLogSumExp", "ReduceSumSquare")  # fmt: skip
def reduce(g: OnnxGraph, name: str) -> None:
    extremes = (*SUMMED, "int8", "uint8")
    # onnxruntime rounds the terms of a sum of exponentials of integers to integers, ONNX's function does not.
    floats = FLOATS[:3] if name == "ReduceLogSumExp" else SUMMED
    types = extremes if name in ("ReduceMax", "ReduceMin") else floats
    bound = {"ReduceProd": 1.0, "ReduceLogSumExp": 8.0}.get(name, 64.0)
    # Integers that overflow are nowhere defined.
    fits = types is extremes
    x = g.some(allowed(g, name, types), rank=(1, 5), bound=bound, where=lambda t: fits or t.is_float or t.bound <= 64)
    if name == "ReduceProd" and (not x.is_float or x.shape is None or prod(x.shape) > FACTORS):
        raise CannotDraw("integers overflow; of many factors some overflow and others underflow, as they are grouped")
    if name == "ReduceLogSum":
        x = positive(g, x)
    if x.dtype == "float16" and types is SUMMED and x.shape is not None:
        # Sums that overflow half precision are infinite in steps, and finite where a step is of single precision.
        power = 2 if name in ("ReduceL2", "ReduceSumSquare") else 1
        if prod(x.shape) * x.bound**power > HALF:
            raise CannotDraw("half precision overflows")
    if types is not extremes and x.shape is not None and prod(x.shape) > LONG:
        g.alone.append("onnxruntime adds one element after the other: single precision loses digits")
    axes = g.draw.axes(x.rank) if g.draw.chance(0.85) else None
    keep = g.draw.choice((None, 0, 1))
    since = 13 if name == "ReduceSum" else 18
    (y,) = with_axes(g, name, x, axes, since, keepdims=keep)
    y.bound = x.bound * 4 if name in ("ReduceMax", "ReduceMin", "ReduceMean") else float("inf")


@row("ArgMax", "ArgMin")
def arg_extreme(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ("float32", "float64", "float16", "int32", "int64", "int8", "uint8")), rank=(1, 4))
    last = g.draw.integer(0, 1) if g.opset >= 12 and g.draw.chance(0.4) else None
    axis = g.draw.axis(x.rank) if g.opset >= 11 else g.draw.integer(0, x.rank - 1)
    g.node(name, [x], bound=4000, axis=axis, keepdims=g.draw.choice((None, 0, 1)), select_last_index=last)


@row("CumSum")
def cum_sum(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ("float32", "float64", "int64", "int32")), rank=(1, 4), bound=16)
    axis = g.constant(np.asarray(g.draw.axis(x.rank), np.int64))
    g.node(name, [x, axis], exclusive=g.draw.choice((None, 1)), reverse=g.draw.choice((None, 1)))


@row("CumProd")
def cum_prod(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=(1, 4), bound=1)
    axis = g.constant(np.asarray(g.draw.axis(x.rank), np.int64))
    g.node(name, [x, axis], bound=1, exclusive=g.draw.choice((None, 1)), reverse=g.draw.choice((None, 1)))


@row("TopK")
def top_k(g: OnnxGraph, name: str) -> None:
    wanted = ("float32", "float64", "int64", "int32") if g.opset >= 11 else ("float32", "float64")
    x = g.some(allowed(g, name, wanted), rank=(1, 4), most=g.draw.elements // 4)
    assert x.shape is not None
    axis = g.draw.axis(x.rank)
    k = g.draw.integer(1, min(x.shape[axis], 64))
    largest = g.draw.choice((None, 0, 1)) if g.opset >= 11 else None
    if g.opset < 10:
        values, _ = g.node(name, [x], 2, axis=axis if g.opset >= 11 else axis % x.rank, k=k)
    else:
        axis = axis if g.opset >= 11 else axis % x.rank
        values, _ = g.node(name, [x, g.constant(np.asarray([k], np.int64))], 2, axis=axis, largest=largest)
    values.bound = x.bound


@row("Softmax", "LogSoftmax", "Hardmax")
def softmax(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, FLOATS), rank=(1, 4), bound=32)
    axis = g.draw.axis(x.rank) if g.opset >= 11 else g.draw.integer(0, x.rank - 1)
    # It was 1 where nothing was said.
    said = g.draw.chance(0.8) or (g.opset < 13 and x.rank == 1)
    g.node(name, [x], bound=1 if name != "LogSoftmax" else 128, axis=axis if said else None)


@row("LpNormalization")
def lp_normalization(g: OnnxGraph, name: str) -> None:
    x = g.some(("float32", "float64"), rank=(1, 4), bound=64)
    g.node(name, [positive(g, x)], bound=1, axis=g.draw.axis(x.rank), p=g.draw.choice((1, 2)))


@row("LayerNormalization")
def layer_normalization(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some(("float32", "float64"), rank=(1, 4), bound=64)
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    scale = g.weight(x.shape[axis:], x.dtype, 1.0)
    bias = g.weight(x.shape[axis:], x.dtype, 1.0) if g.draw.chance(0.6) else None
    axis = axis - x.rank if g.draw.chance(0.5) else axis
    g.node(name, [x, scale, bias], bound=64, axis=axis, epsilon=g.draw.choice((None, 1e-2, 1e-5)))


@row("InstanceNormalization", "GroupNormalization")
def channel_normalization(g: OnnxGraph, name: str) -> None:
    version = g.since(name)
    x = g.some("float32", rank=(3, 4), bound=64)
    assert x.shape is not None
    channels = x.shape[1]
    if name == "InstanceNormalization":
        g.node(name, [x, g.weight((channels,), scale=1.0), g.weight((channels,), scale=1.0)], bound=64)
        return
    groups = g.draw.choice([d for d in range(1, channels + 1) if channels % d == 0])
    count = groups if version < 21 else channels
    g.node(name, [x, g.weight((count,), scale=1.0), g.weight((count,), scale=1.0)], bound=64,
           types=[(x.dtype, x.shape)], num_groups=groups)  # fmt: skip


@row("RMSNormalization")
def rms_normalization(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some("float32", rank=(1, 4), bound=64)
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    g.node(name, [x, g.weight(x.shape[axis:], scale=1.0)], bound=64, axis=axis - x.rank)


@row("MeanVarianceNormalization")
def mean_variance_normalization(g: OnnxGraph, name: str) -> None:
    # Where all values are alike, roundings make onnxruntime's variance negative, and NaN of it.
    x = g.fresh_input("float32", g.draw.shape(4))
    axes = sorted(g.draw.axes(4)) if g.draw.chance(0.5) else None
    assert x.shape is not None
    if prod(x.shape[a] for a in axes or (0, 2, 3)) < 4:
        raise CannotDraw("values that may all be alike")
    g.node(name, [x], bound=64, types=[(x.dtype, x.shape)], axes=axes)


@row("BatchNormalization")
def batch_normalization(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=(2, 4), bound=64)
    assert x.shape is not None
    c = (x.shape[1],)
    operands = [g.weight(c, scale=1.0), g.weight(c, scale=1.0), g.weight(c, scale=1.0)]
    variance = g.constant(np.abs(g.draw.eighths(c, 2.0)) + 0.25, "float32")
    # Until operator set 7 it trained where nothing else was said; in the first ones inputs might be overwritten.
    g.node(name, [x, *operands, variance], bound=256, epsilon=g.draw.choice((None, 1e-3)),
           is_test=1 if g.opset < 7 else None, consumed_inputs=[0] * 5 if g.opset < 6 else None)  # fmt: skip


@row("LRN")
def lrn(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=4, bound=64)
    g.node(name, [x], bound=64, size=g.draw.choice((1, 3, 5)), alpha=g.draw.choice((None, 0.5)),
           beta=g.draw.choice((None, 0.5)), bias=g.draw.choice((None, 2.0)))  # fmt: skip
