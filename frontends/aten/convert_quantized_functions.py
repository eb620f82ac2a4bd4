"""Functions of one quantised tensor: tables of bytes, which are computed when a model is imported."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.quantization import Quantization
from lamina.frontends.aten.quantized import (
    QuantizedValue,
    on_quantized,
    per_tensor,
    quantization,
    quantized,
    table,
)
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

Function = Callable[[Any], Any]
_where: Callable[..., Any] = np.where


def tabled(b: AtenBuilder, given: Value, function: Function, q: Quantization | None = None) -> QuantizedValue:
    """A function of float64 arrays of one quantised tensor, as integers of a scale, or of the tensor's own."""
    x = per_tensor(b, given)
    if x.dtype not in ("int8", "uint8"):
        raise b.unsupported(f"functions of {x} are not supported", "use quint8 or qint8")
    target = q or x.quantization

    def wide(real: Any) -> Any:
        return function(real.astype(np.float64))

    return x.like(b.looked_up(x.integers, table(x, wide, target)), target)


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
    def function(x: Any) -> Any:
        return _where(x > 0, x, x * np.float64(np.float32(slope)))

    return function


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

    def function(x: Any) -> Any:
        return _where(x > 0, x * s, np.expm1(np.minimum(x, 0) * t) * a * s)

    return QuantizedValue(tabled(b, self, function, q).integers, q)


@aten_op("quantized.celu")
def celu(b: AtenBuilder, self: Value, output_scale: Any, output_zero_point: Any, alpha: Any = 1) -> Value:
    a = float(b.number(alpha, "a factor"))
    return elu(b, self, output_scale, output_zero_point, a, 1, 1 / a)


@aten_op("quantized.threshold")
def threshold(b: AtenBuilder, qx: Value, threshold: Any, value: Any) -> Value:
    least, other = (np.float64(np.float32(b.number(v, "a bound"))) for v in (threshold, value))

    def function(x: Any) -> Any:
        return _where(x > least, x, other)

    return tabled(b, qx, function)


on_quantized("threshold")(threshold)


@aten_op("quantized.prelu")
def prelu(b: AtenBuilder, qx: Value, weight: Value, output_scale: Any, output_zero_point: Any) -> Value:
    """A slope for each channel of axis 1, or one for all; they must be constants. A table for each."""
    x, slopes = per_tensor(b, qx), quantized(b, weight)
    q = quantization(b, output_scale, output_zero_point)
    if slopes.array is None or slopes.quantization.is_per_axis:
        raise b.unsupported("slopes that are no constants of one scale are not supported")
    own, last, other = x.quantization, q, slopes.quantization
    low, high = integer_range(x.dtype)
    steps = np.arange(low, high + 1) - own.zero_point
    ratio, falling = (np.float32(own.scale * v / last.scale) for v in (1, other.scale))
    tables: list[Any] = []
    for slope in (slopes.array.astype(np.int64) - other.zero_point).reshape(-1):
        made = np.where(steps > 0, steps.astype(np.float32) * ratio, (steps * slope).astype(np.float32) * falling)
        tables.append(np.clip(np.rint(made) + last.zero_point, low, high).astype(x.dtype))
    if len(tables) == 1:
        return x.like(b.looked_up(x.integers, tables[0]), q)
    if x.rank < 2 or x.shape[1] != len(tables):
        raise b.fail(f"{len(tables)} slopes for {x}")
    first = (np.arange(len(tables), dtype=np.int32) * 256 - low).reshape((-1,) + (1,) * (x.rank - 2))
    places = b.add(b.cast(x.integers, "int32"), b.constant(first))
    return x.like(b.op("take", b.constant(np.concatenate(tables)), places), q)
