"""Functions of one quantised tensor: tables of bytes, which are computed when a model is imported."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_quantized import table
from lamina.frontends.aten.quantization import Quantization
from lamina.frontends.aten.quantized import (
    QuantizedValue,
    fused_real,
    on_quantized,
    per_tensor,
    quantization,
    quantized,
    dequantize,
    scale_of,
    stepped,
)
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

Function = Callable[[Any], Any]


def tabled(b: AtenBuilder, given: Value, function: Function, q: Quantization | None = None) -> QuantizedValue:
    """A function of float64 arrays of one quantised tensor, as integers of a scale, or of the tensor's own."""
    x = per_tensor(b, given)
    if x.dtype not in ("int8", "uint8"):
        raise b.unsupported(f"functions of {x} are not supported", "use quint8 or qint8")
    target = q or x.quantization
    entries = table(x, lambda v: function(v.astype(np.float64)), target, x.dtype)
    return x.like(b.looked_up(x.integers, entries), target)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _hardsigmoid(x: Any) -> Any:
    return np.clip(x + 3, 0, 6) / 6


def _fixed(x: QuantizedValue, steps: int, zero: int) -> Quantization:
    """A scale that says nothing of the data: the function has its range; signed bytes have theirs 128 below."""
    return Quantization.of(1 / steps, zero if x.dtype == "uint8" else zero - 128)


@on_quantized("sigmoid")
def sigmoid(b: AtenBuilder, self: Value) -> Value:
    return tabled(b, self, _sigmoid, _fixed(per_tensor(b, self), 256, 0))


@on_quantized("hardsigmoid")
def hardsigmoid(b: AtenBuilder, self: Value) -> Value:
    return tabled(b, self, _hardsigmoid, _fixed(per_tensor(b, self), 256, 0))


@on_quantized("tanh")
def tanh(b: AtenBuilder, self: Value) -> Value:
    return tabled(b, self, np.tanh, _fixed(per_tensor(b, self), 128, 128))


@aten_op("quantized.sigmoid")
def quantized_sigmoid(b: AtenBuilder, qx: Value, output_scale: Any, output_zero_point: Any) -> Value:
    return tabled(b, qx, _sigmoid, quantization(b, output_scale, output_zero_point))


@aten_op("quantized.hardswish")
def hardswish(b: AtenBuilder, input: Value, output_scale: Any, output_zero_point: Any) -> Value:
    return tabled(b, input, lambda x: x * _hardsigmoid(x), quantization(b, output_scale, output_zero_point))


@on_quantized("gelu")
def gelu(b: AtenBuilder, self: Value, *, approximate: str = "none") -> Value:
    if approximate == "tanh":
        return tabled(b, self, lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
    return tabled(b, self, lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))))


def _leaky(slope: float) -> Function:
    return lambda x: np.where(x > 0, x, (x * np.float64(np.float32(slope))).astype(np.float32))


@on_quantized("leaky_relu")
def leaky_relu(b: AtenBuilder, self: Value, negative_slope: Any = 0.01) -> Value:
    return tabled(b, self, _leaky(b.number(negative_slope, "a slope")))


@aten_op("quantized.leaky_relu")
def quantized_leaky_relu(
    b: AtenBuilder, qx: Value, negative_slope: Any, inplace: bool, output_scale: Any, output_zero_point: Any
) -> Value:
    q = quantization(b, output_scale, output_zero_point)
    return tabled(b, qx, _leaky(b.number(negative_slope, "a slope")), q)


@aten_op("quantized.elu")
def elu(
    b: AtenBuilder, self: Value, output_scale: Any, output_zero_point: Any, alpha: Any = 1, scale: Any = 1,
    input_scale: Any = 1,
) -> Value:  # fmt: skip
    a, s, t = (float(b.number(v, "a factor")) for v in (alpha, scale, input_scale))
    q = quantization(b, output_scale, output_zero_point)
    return tabled(b, self, lambda x: np.where(x > 0, x * s, np.expm1(np.minimum(x, 0) * t) * a * s), q)


@aten_op("quantized.celu")
def celu(b: AtenBuilder, self: Value, output_scale: Any, output_zero_point: Any, alpha: Any = 1) -> Value:
    a = float(b.number(alpha, "a factor"))
    return elu(b, self, output_scale, output_zero_point, a, 1, 1 / a)


@aten_op("quantized.threshold")
def threshold(b: AtenBuilder, qx: Value, threshold: Any, value: Any) -> Value:
    least, other = (np.float64(np.float32(b.number(v, "a bound"))) for v in (threshold, value))
    return tabled(b, qx, lambda x: np.where(x > least, x, other))


on_quantized("threshold")(threshold)


@aten_op("quantized.prelu")
def prelu(b: AtenBuilder, qx: Value, weight: Value, output_scale: Any, output_zero_point: Any) -> Value:
    """A slope for each channel of axis 1, or one for all."""
    x, slopes = per_tensor(b, qx), dequantize(b, quantized(b, weight))
    q = quantization(b, output_scale, output_zero_point)
    count = slopes.shape[0] if slopes.rank else 1
    if count not in (1, x.shape[1] if x.rank > 1 else 1):
        raise b.fail(f"{count} slopes for {x}")
    slopes = b.reshape(slopes, (count,) + (1,) * (x.rank - 2) if count > 1 else ())
    real = fused_real(b, x)
    made = b.choose(b.one("greater", real, 0.0), real, b.mul(real, slopes))
    return x.like(stepped(b, b.mul(made, b.constant(np.float32(1) / scale_of(q))), q, x.dtype), q)
