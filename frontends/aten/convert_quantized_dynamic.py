"""Dense layers whose data are quantised as they come: by their least and greatest element, as FBGEMM chooses scales.

With 255 steps, or half as many where the range is reduced, from min(x, 0) to max(x, 0):

    scale = (high - low) / steps        zero_point = rint(-low / scale), or that from the other end where it is nearer

in float64; a scale below 6.1e-5 becomes that, one of zero 0.1. The result is a float: the sum of the products times
x_scale * w_scale, plus the bias, rounded once where it is fused.
Source: FBGEMM, src/QuantUtils.cc (ChooseQuantizationParams).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.quantized import constants, packed, quantized, scale_of
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

SMALLEST = 6.1e-5
"""The least scale."""


def _chosen(b: AtenBuilder, x: Value, steps: int) -> tuple[Value, Value]:
    """The scale, float32, and the zero point, int32, of a tensor."""
    zero = b.scalar(0, x)
    low, high = b.op("minimum", b.op("min", x), zero), b.op("maximum", b.op("max", x), zero)
    low, high = b.cast(low, "float64"), b.cast(high, "float64")
    scale = b.div(b.sub(high, low), float(steps))
    scale = b.choose(b.one("equal", b.cast(scale, "float32"), 0.0), 0.1, scale)
    # A scale that is too small grows, and the range with it.
    small = b.one("less", scale, SMALLEST)
    growth = b.cast(b.div(b.tensor(SMALLEST, "float32"), b.cast(scale, "float32")), "float64")
    low, high = (b.choose(small, b.cast(b.cast(b.mul(end, growth), "float32"), "float64"), end) for end in (low, high))
    scale = b.choose(small, float(SMALLEST), scale)
    below, above = b.div(low, scale), b.div(high, scale)
    from_low, from_high = b.op("negative", below), b.sub(b.tensor(float(steps), "float64"), above)
    nearer = b.op("less", b.op("abs", below), b.add(b.op("abs", above), float(steps)))
    point = b.op("round", b.choose(nearer, from_low, from_high))
    point = b.op("clip", point, a_min=0.0, a_max=float(steps))
    return b.cast(scale, "float32"), b.cast(point, "int32")


@aten_op("quantized.linear_dynamic", "quantized.linear_relu_dynamic")
def linear_dynamic(b: AtenBuilder, X: Value, W_prepack: Any, reduce_range: bool = False) -> Value:
    assert b.call is not None
    w = packed(b, W_prepack, "linear")
    made = dense(b, X, quantized(b, w.weight), w.bias, reduce_range)
    return b.op("nn.relu", made) if "relu" in b.call.packet else made


def dense(b: AtenBuilder, x: Value, weight: Any, bias: Value | None, reduce_range: bool) -> Value:
    """A dense layer of float32 data and a quantised weight."""
    if x.dtype != "float32":
        raise b.unsupported(f"dynamic quantisation of {x} is not supported", "use float32")
    scale, zero = _chosen(b, x, 127 if reduce_range else 255)
    whole = b.op("qnn.quantize", x, scale, zero, out_dtype="uint8", rounding="FBGEMM")
    w_scale, w_zero = constants(b, weight.quantization)
    operands = whole, weight.integers, zero, w_zero, scale, w_scale
    sums = b.op("qnn.dense", *operands, units=weight.shape[0])
    made = b.mul(b.cast(sums, "float32"), b.mul(scale, b.constant(scale_of(weight.quantization))))
    return made if bias is None else b.add(made, b.tensor(bias, "float32"))


@aten_op("quantized.linear_dynamic_fp16", "quantized.linear_relu_dynamic_fp16")
def linear_dynamic_fp16(b: AtenBuilder, X: Value, W_prepack: Any) -> Value:
    """Convert a dense layer whose weight is kept as float16, saturated, and multiplied as float32."""
    assert b.call is not None
    w = packed(b, W_prepack, "linear_fp16")
    if w.weight.array is None:
        raise b.unsupported("a weight is computed at run time")
    most = float(np.finfo(np.float16).max)
    rounded = np.clip(w.weight.array, -most, most).astype(np.float16).astype(np.float32)
    made = b.op("nn.dense", X, b.constant(rounded, name=w.weight.name), units=w.weight.shape[0])
    made = made if w.bias is None else b.add(made, w.bias)
    return b.op("nn.relu", made) if "relu" in b.call.packet else made
