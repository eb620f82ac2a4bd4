"""Products of floats with weights of 8 or 4 bits, as LiteRT's reference kernels compute them.

The floats of each row, or of each image, are quantised as they come, by their greatest absolute value or, with
`asymmetric_quantize_inputs`, by their least and their greatest; products are summed up as integers and scaled once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.convert_nn import (
    connected_result,
    connected_rows,
    dilations_of,
    strides_of,
    window_padding,
)
from lamina.frontends.tflite.graph import TensorQuantization, TfliteNode


def weight_scale(b: TfliteBuilder, node: TfliteNode, place: int, w: Value, axis: int) -> Value:
    """The scales of weights, one number or one for each place on the axis of the result's channels."""
    tensor = node.operands[place]
    q: TensorQuantization | None = None if tensor is None else tensor.quantization
    if q is None or w.dtype != "int8" or np.any(q.zero_point):
        raise b.unsupported(f"weights of {w.dtype} with zero points are not supported, only symmetric ones of int8")
    if q.is_per_axis and (q.axis != axis or q.scale.size != w.shape[axis]):
        raise b.fail(f"{q.scale.size} scales on axis {q.axis} of the weight {w}")
    return b.constant(q.scale if q.is_per_axis else q.scale[0])


def quantized_rows(b: TfliteBuilder, x: Value, asymmetric: bool) -> tuple[Value, Value]:
    """Integers for floats, and the scale of each place on the first axis: x = scale * integers, nearly."""
    axes = list(range(1, x.rank))

    def most(of: Value) -> Value:
        return b.op("max", of, axis=axes, keepdims=True)

    if asymmetric:
        return _asymmetric(b, x, most(x), b.op("negative", most(b.op("negative", x))))
    reach = most(b.op("abs", x))
    is_zero = b.op("equal", reach, b.scalar(0, reach))
    reach = b.choose(is_zero, 127.0, reach)
    q = b.op("clip", _rounded(b, b.mul(x, b.div(b.scalar(127, x), reach))), a_min=-127.0, a_max=127.0)
    return b.cast(q, "int8"), b.div(reach, 127.0)


def _rounded(b: TfliteBuilder, x: Value) -> Value:
    """The nearest whole numbers, halves away from zero."""
    return b.mul(b.op("sign", x), b.op("floor", b.add(b.op("abs", x), 0.5)))


def _asymmetric(b: TfliteBuilder, x: Value, high: Value, low: Value) -> tuple[Value, Value]:
    """The same by the range from the least to the greatest; the zero point is taken off again."""
    zero = b.scalar(0, x)
    high, low = b.op("maximum", high, zero), b.op("minimum", low, zero)
    same = b.op("equal", high, low)
    scale = b.choose(same, 1.0, b.div(b.sub(high, low), 255.0))
    below, above = b.div(low, scale), b.div(high, scale)
    from_low, from_high = b.sub(b.scalar(-128, x), below), b.sub(b.scalar(127, x), above)
    errors = b.add(b.op("abs", below), 128.0), b.add(b.op("abs", above), 127.0)
    point = b.choose(b.op("less", errors[0], errors[1]), from_low, from_high)
    point = b.choose(same, 0.0, b.op("clip", _rounded(b, point), a_min=-128.0, a_max=127.0))
    q = _rounded(b, b.add(b.mul(x, b.div(b.scalar(1, x), scale)), point))
    q = b.op("clip", q, a_min=-128.0, a_max=127.0)
    return b.cast(b.sub(q, point), "int16"), scale


def _sums(b: TfliteBuilder, op_name: str, q: Value, w: Value, **attrs: object) -> Value:
    """A product of integers in int32."""
    if q.dtype == "int8":
        return b.op(op_name, q, w, out_dtype="int32", **attrs)
    return b.op(op_name, b.cast(q, "int32"), b.cast(w, "int32"), **attrs)


def _scaled(b: TfliteBuilder, sums: Value, scale: Value, weight: Value, bias: Value | None) -> Value:
    y = b.mul(b.cast(sums, "float32"), b.mul(scale, weight))
    return y if bias is None else b.add(y, b.reshape(bias, (y.shape[-1],)))


@TABLE.op("hybrid FULLY_CONNECTED")
def fully_connected(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [..., K], w [U, K] -> [N, U], or [..., U] with `keep_num_dims`."""
    if node.attr("weights_format", 0):
        raise b.unsupported("weights in shuffled order are not supported")
    weight = weight_scale(b, node, 1, w, 0)
    q, scale = quantized_rows(b, connected_rows(b, x, w), bool(node.attr("asymmetric_quantize_inputs", False)))
    y = _scaled(b, _sums(b, "nn.dense", q, w, units=w.shape[0]), scale, weight, bias)
    return b.activated(connected_result(b, node, x, w, y), node)


@TABLE.op("hybrid CONV_2D")
def conv_2d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, H, W, C], w [O, KH, KW, C / groups] -> [N, H', W', O]."""
    if x.rank != 4 or w.rank != 4 or w.shape[3] < 1 or x.shape[3] % w.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    return _convolution(b, node, x, w, bias, x.shape[3] // w.shape[3], w.shape[0], 0, "OHWI")


@TABLE.op("hybrid DEPTHWISE_CONV_2D")
def depthwise_conv_2d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, H, W, C], w [1, KH, KW, C * M] -> [N, H', W', C * M]."""
    if x.rank != 4 or w.rank != 4 or w.shape[0] != 1 or not x.shape[3] or w.shape[3] % x.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    return _convolution(b, node, x, w, bias, x.shape[3], w.shape[3], 3, "IHWO")


def _convolution(
    b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None, groups: int, channels: int, axis: int,
    layout: str,
) -> Value:  # fmt: skip
    strides, dilations = strides_of(node), dilations_of(node)
    pads = window_padding(b, node, x.shape[1:3], w.shape[1:3], strides, dilations)
    weight = weight_scale(b, node, 1, w, axis)
    # The kernels take the range of each image to both sides where scales are per channel.
    q, scale = quantized_rows(b, x, True)
    sums = _sums(
        b, "nn.conv2d", q, w, strides=strides, padding=pads, dilation=dilations, groups=groups, channels=channels,
        kernel_size=list(w.shape[1:3]), data_layout="NHWC", kernel_layout=layout,
    )  # fmt: skip
    return b.activated(_scaled(b, sums, scale, weight, bias), node)


@TABLE.op("hybrid EMBEDDING_LOOKUP")
def embedding_lookup(b: TfliteBuilder, node: TfliteNode, places: Value, w: Value) -> Value:
    """The rows of a table at places, as floats."""
    scale = weight_scale(b, node, 1, w, 0)
    index = b.cast(places, "int64")
    found = b.cast(b.op("take", w, index, axis=0, mode="clip"), "float32")
    if scale.rank:
        taken = b.op("take", scale, index, axis=0, mode="clip")
        scale = b.reshape(taken, (*taken.shape, *_ones(w.rank - 1)))
    return b.mul(found, scale)


def _ones(count: int) -> Sequence[int]:
    return [1] * count
