"""Convolutions and dense layers of quantised tensors, as FBGEMM computes them.

With sums q of (x - x_zero) (w - w_zero) in int32, a = x_scale * w_scale and the ratio m = a / scale in float32:

    saturate(rint((q + bias / a) * m) + zero_point)

and a relu behind it bounds the integers by the zero point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.dialects.relay.qnn.scales import NARROW
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.quantization import PackedWeights, Quantization
from lamina.frontends.aten.quantized import (
    QuantizedValue,
    constants,
    packed,
    per_tensor,
    quantization,
    quantized,
    scale_of,
    stepped,
)
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


def _scale_of_sums(q: Quantization, x: QuantizedValue) -> Any:
    """The scale of the sums, or one for each channel, float32."""
    return scale_of(x.quantization) * scale_of(q)


def _fused_relu(b: AtenBuilder) -> bool:
    return b.call is not None and b.call.packet.endswith("_relu")


def requantized(
    b: AtenBuilder, sums: Value, scale: Any, bias: Any, axis: int, target: Quantization, dtype: str
) -> Value:
    """Sums of products with scales (along `axis`, or one) and a bias of floats (or None) as integers of a target."""
    zero, high = int(target.zero_point), integer_range(dtype)[1]
    if bias is None:
        attrs = {"rounding": "TONEVEN", "compute_dtype": "float32", "out_dtype": dtype}
        whole = b.constant(np.int32(0))
        made = b.op("qnn.requantize", sums, b.constant(scale), whole, *constants(b, target), axis=axis, **attrs)
        # A relu bounds by the zero point.
        return b.op("clip", made, a_min=float(zero), a_max=float(high)) if _fused_relu(b) else made
    with np.errstate(all="ignore"):
        ratio, steps = scale / scale_of(target), (bias / scale).astype(np.float32)
    if not (np.isfinite(ratio).all() and np.isfinite(steps).all()):
        raise b.fail("the scales of the data, the weight and the result are too far apart")
    y = b.op("nn.bias_add", b.cast(sums, "float32"), b.constant(steps), axis=axis)
    if ratio.ndim:
        ratio = ratio.reshape(ratio.shape + (1,) * (sums.rank - 1 - axis))
    y = b.op("multiply", y, b.constant(ratio))
    return stepped(b, y, target, dtype, zero if _fused_relu(b) else None)


def _bias(b: AtenBuilder, w: PackedWeights) -> Any:
    """The bias as an array, None where there is none."""
    if w.bias is None:
        return None
    if not isinstance(w.bias, Value) or w.bias.array is None:
        raise b.unsupported("a bias is computed at run time")
    return w.bias.array.astype(np.float32)


# -- dense layers ----------------------------------------------------------------------------------


@aten_op("quantized.linear", "quantized.linear_relu")
def linear(b: AtenBuilder, X: Value, W_prepack: Any, scale: Any, zero_point: Any) -> Value:
    x, w = per_tensor(b, X), packed(b, W_prepack, "linear")
    weight, target = quantized(b, w.weight), quantization(b, scale, zero_point)
    (x_scale, x_zero), (w_scale, w_zero) = constants(b, x.quantization), constants(b, weight.quantization)
    operands = x.integers, weight.integers, x_zero, w_zero, x_scale, w_scale
    sums = b.op("qnn.dense", *operands, units=weight.shape[0])
    scales = _scale_of_sums(weight.quantization, x)
    return QuantizedValue(requantized(b, sums, scales, _bias(b, w), sums.rank - 1, target, x.dtype), target)


# -- convolutions ----------------------------------------------------------------------------------


@aten_op(
    *(f"quantized.conv{rank}d{relu}" for rank in (1, 2, 3) for relu in ("", "_relu")),
    *(f"quantized.conv_transpose{rank}d" for rank in (1, 2, 3)),
)
def conv(b: AtenBuilder, qx: Value, packed_weight: Any, *rest: Any) -> Value:
    """A convolution; its last two arguments are the scale and the zero point of the result."""
    assert b.call is not None
    kind = "conv_transpose" if "transpose" in b.call.packet else "conv"
    x, w = per_tensor(b, qx), packed(b, packed_weight, kind)
    weight, target = quantized(b, w.weight), quantization(b, *rest[-2:])
    rank = next(int(c) for c in b.call.packet if c.isdigit())
    if x.rank != rank + 2:
        raise b.unsupported(f"a convolution of {x} is not supported", "give it a batch")
    if rank == 1:  # its weights are packed as those of images of one row
        x = QuantizedValue(b.op("expand_dims", x.integers, axis=2), x.quantization)
    if x.rank != weight.rank:
        raise b.fail(f"a convolution of {x} has a weight of rank {weight.rank}")
    sums = _sums_of_convolution(b, x, weight, w)
    made = requantized(b, sums, _scale_of_sums(weight.quantization, x), _bias(b, w), 1, target, x.dtype)
    return QuantizedValue(made if rank > 1 else b.op("squeeze", made, axis=[2]), target, channels_last=True)


def _sums_of_convolution(b: AtenBuilder, x: QuantizedValue, weight: QuantizedValue, w: PackedWeights) -> Value:
    rank, transposed = x.rank - 2, w.kind == "conv_transpose"
    attrs: dict[str, Any] = {
        "strides": list(w.stride), "padding": list(w.padding) * 2, "dilation": list(w.dilation), "groups": w.groups,
        "channels": weight.shape[1] * w.groups if transposed else weight.shape[0],
        "kernel_size": list(weight.shape[2:]),
    }  # fmt: skip
    name = f"conv{rank}d_transpose" if transposed else f"conv{rank}d"
    (x_scale, x_zero), (w_scale, w_zero) = constants(b, x.quantization), constants(b, weight.quantization)
    # Output padding takes from the padding behind; padding below zero is room, which nothing is added to.
    ends = [p - o for p, o in zip(w.padding, w.output_padding, strict=True)]
    if transposed:
        attrs["padding"] = [*w.padding, *(max(0, e) for e in ends)]
    if rank == 2 and x.dtype in NARROW and weight.dtype in NARROW:
        y = b.op(f"qnn.{name}", x.integers, weight.integers, x_zero, w_zero, x_scale, w_scale, **attrs)
    else:
        wide = b.sub(b.cast(x.integers, "int32"), x_zero)
        if w_zero.rank:
            w_zero = b.reshape(w_zero, [e if a == weight.quantization.axis else 1 for a, e in enumerate(weight.shape)])
        y = b.op(f"nn.{name}", wide, b.sub(b.cast(weight.integers, "int32"), w_zero), **attrs)
    if transposed and min(ends) < 0:
        y = b.op("nn.pad", y, pad_width=[0, 0, 0, 0, *(n for e in ends for n in (0, max(0, -e)))])
    return y
