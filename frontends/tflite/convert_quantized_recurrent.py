"""Quantised SVDF layers: a state of 16 bits, and sums of 32 bits over features and over time."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.convert_recurrent import keep
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.quantized import (
    bounded,
    fused,
    quantization,
    result,
    same_type,
    scale,
    scaled,
    whole,
    zero_point,
)


@TABLE.op("quantized SVDF")
def svdf(
    b: TfliteBuilder, node: TfliteNode, x: Value, feature: Value, time: Value, bias: Value | None, state: Value
) -> Value:
    """Filters over features and then over time: x [N, I], feature [F, I], time [F, M], state [N, F * M] -> [N, U].

    That what is below zero becomes zero is a matter of the result's zero point, as LiteRT has it.
    """
    same_type(b, node, "int8")
    if fused(node) != "RELU":
        raise b.unsupported("quantised filters with another activation function than RELU are not supported")
    rank, (filters, memory) = int(node.attr("rank", 1)), time.shape
    if rank < 1 or filters % rank or feature.shape[0] != filters or state.dtype != "int16":
        raise b.fail(f"{filters} filters of rank {rank}, with features {feature} and a state {state}")
    data, features, times, _, kept_state = node.operands
    inner, outer = scale(b, kept_state), scale(b, node.results[0])
    zeros = [whole(b, zero_point(b, data)), whole(b, zero_point(b, features))]
    scales = [b.constant(scale(b, t)) for t in (data, features)]
    sums = b.op("qnn.dense", x, feature, *zeros, *scales, units=filters, out_dtype="int32")
    by = np.float64(scale(b, data) * scale(b, features) / inner)
    newest = bounded(b, scaled(b, sums, by), -32768, 32767, "int16")
    batch = x.shape[0]
    before = b.reshape(state, (batch, filters, memory))
    newest = b.reshape(newest, (batch, filters, 1))
    moved = b.op("concatenate", b.slice(before, 2, 0, memory - 1), newest, axis=2) if memory > 1 else newest
    last = b.zeros((batch, filters, 1), "int16")
    after = b.op("concatenate", b.slice(moved, 2, 1, memory), last, axis=2) if memory > 1 else last
    keep(b, node, 4, b.reshape(after, (batch, filters * memory)))
    over_time = b.op("sum", b.mul(b.cast(moved, "int32"), b.cast(time, "int32")), axis=[2], keepdims=False)
    y = b.op("sum", b.reshape(over_time, (batch, filters // rank, rank)), axis=[2], keepdims=False)
    y = y if bias is None else b.add(y, bias)
    return result(b, node, scaled(b, y, np.float64(inner * np.float32(quantization(b, times).scale[0]) / outer)))
