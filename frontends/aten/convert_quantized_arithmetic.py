"""Sums and products of quantised tensors, with one another and with numbers; matrix products; normalisation."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_nn import group_norm, instance_norm, layer_norm, softmax
from lamina.frontends.aten.quantization import Quantization
from lamina.frontends.aten.quantized import (
    QuantizedValue,
    constants,
    dequantize,
    fused_real,
    per_tensor,
    quantization,
    quantize,
    scale_of,
    stepped,
)
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value


def _fused_relu(b: AtenBuilder) -> bool:
    return b.call is not None and b.call.packet.endswith("_relu")


def _steps(b: AtenBuilder, real: Value, x: QuantizedValue, q: Quantization) -> QuantizedValue:
    """Real numbers as integers the way ATen's vectors have it, at least zero where a relu is fused."""
    least = int(q.zero_point) if _fused_relu(b) else None
    inverse = b.constant(np.float32(1) / scale_of(q))
    return x.like(stepped(b, b.mul(real, inverse), q, x.dtype, least), q)


def _centred(b: AtenBuilder, x: QuantizedValue) -> Value:
    wide, zero = b.cast(x.integers, "int32"), int(x.quantization.zero_point)
    return b.sub(wide, b.constant(np.int32(zero))) if zero else wide


def _pair(b: AtenBuilder, qa: Any, qb: Any) -> tuple[QuantizedValue, QuantizedValue]:
    x, y = per_tensor(b, qa), per_tensor(b, qb)
    if x.dtype != y.dtype:
        raise b.fail(f"takes {x} and {y}", "quantise them as one type")
    return x, y


# -- with one another ------------------------------------------------------------------------------


@aten_op(*(f"quantized.{name}{relu}" for name in ("add", "mul") for relu in ("", "_relu")))
def binary(b: AtenBuilder, qa: Any, qb: Any, scale: Any = None, zero_point: Any = None) -> Value:
    """A sum or product; with a number, which may stand first, the result has a scale of its own."""
    assert b.call is not None
    product = b.call.packet.startswith("quantized.mul")
    if not isinstance(qa, Value) or not isinstance(qb, Value):
        x, number = (qa, qb) if isinstance(qa, Value) else (qb, qa)
        return (_times_number if product else _plus_number)(b, per_tensor(b, x), number)
    (x, y), q = _pair(b, qa, qb), quantization(b, scale, zero_point)
    if x.channels_last != y.channels_last:
        x = QuantizedValue(x.integers, x.quantization)
        if not product and x.shape == y.shape:  # what lies differently in memory is added element by element
            made = quantize(b, b.add(dequantize(b, x), dequantize(b, y)), q, x.dtype)
            return _bounded(b, x, made.integers, q)
    if not product:
        return _steps(b, b.add(fused_real(b, x), fused_real(b, y)), x, q)
    whole = b.cast(b.mul(_centred(b, x), _centred(b, y)), "float32")
    ratio = scale_of(x.quantization) * scale_of(y.quantization) * (np.float32(1) / scale_of(q))
    least = int(q.zero_point) if _fused_relu(b) else None
    return x.like(stepped(b, b.mul(whole, b.constant(ratio)), q, x.dtype, least), q)


# -- with numbers ----------------------------------------------------------------------------------


@aten_op(*(f"quantized.{name}_scalar{relu}" for name in ("add", "mul") for relu in ("", "_relu")))
def with_number(b: AtenBuilder, qa: Value, b_: Any) -> Value:
    return binary(b, qa, b.number(b_, "a number"))


def _bounded(b: AtenBuilder, x: QuantizedValue, made: Value, q: Quantization) -> QuantizedValue:
    """Integers, at least the zero point where a relu is fused."""
    if _fused_relu(b):
        made = b.op("clip", made, a_min=float(q.zero_point), a_max=float(integer_range(x.dtype)[1]))
    return x.like(made, q)


def _plus_number(b: AtenBuilder, x: QuantizedValue, number: Any) -> QuantizedValue:
    """The zero point moves; where it would leave its range the scale grows, and the integers are rescaled."""
    (low, high), old = integer_range(x.dtype), x.quantization
    scale, zero = float(old.scale), int(old.zero_point)
    step = float(np.rint(float(number) / scale))
    if abs(step) >= 2**31:
        raise b.fail(f"{number} is no number that {x} can be moved by")
    moved = zero - int(step)
    if low <= moved <= high:
        return _bounded(b, x, x.integers, Quantization.of(scale, moved))
    end = low if moved < low else high
    grown = (high - moved if end == low else moved - low) / (high - low) * scale
    q = Quantization.of(grown, end)
    whole = b.cast(b.sub(b.cast(x.integers, "int32"), b.constant(np.int32(moved))), "float32")
    steps = b.mul(whole, b.constant(np.float32(scale / grown)))
    return _bounded(b, x, stepped(b, steps, q, x.dtype), q)


def _times_number(b: AtenBuilder, x: QuantizedValue, number: Any) -> QuantizedValue:
    """The scale is multiplied; by a number below zero the integers are turned around."""
    (low, high), old, by = integer_range(x.dtype), x.quantization, float(number)
    if by == 0:
        return _bounded(b, x, b.zeros(x.shape, x.dtype), Quantization.of(1.0, 0))
    scale, zero = abs(by) * float(old.scale), int(old.zero_point)
    if by > 0:
        return _bounded(b, x, x.integers, Quantization.of(scale, zero))
    turned = b.cast(b.sub(b.constant(np.int32(low + high)), b.cast(x.integers, "int32")), x.dtype)
    return _bounded(b, x, turned, Quantization.of(scale, low + high - zero))


# -- matrices --------------------------------------------------------------------------------------


@aten_op("quantized.matmul")
def matmul(b: AtenBuilder, qa: Value, qb: Value, scale: Any, zero_point: Any) -> Value:
    """The product of two stacks of matrices: sums of integers, quantised as any other tensor."""
    (x, y), q = _pair(b, qa, qb), quantization(b, scale, zero_point)
    if x.rank < 2 or x.shape[:-2] != y.shape[:-2]:
        raise b.unsupported(f"products of {x} and {y} are not supported")
    (x_scale, x_zero), (y_scale, y_zero) = constants(b, x.quantization), constants(b, y.quantization)
    stacks = [b.reshape(v.integers, (prod(v.shape[:-2]), *v.shape[-2:])) for v in (x, y)]
    sums = b.op("qnn.batch_matmul", *stacks, x_zero, y_zero, x_scale, y_scale, transpose_b=False)
    factor = b.constant(scale_of(x.quantization) * scale_of(y.quantization))
    real = b.mul(b.cast(b.reshape(sums, (*x.shape[:-1], y.shape[-1])), "float32"), factor)
    return quantize(b, real, q, x.dtype)


@aten_op("quantized.softmax")
def quantized_softmax(b: AtenBuilder, qx: Value, dim: int, output_scale: Any, output_zero_point: Any) -> Value:
    x = per_tensor(b, qx)
    return quantize(b, softmax(b, dequantize(b, x), dim), quantization(b, output_scale, output_zero_point), x.dtype)


# -- normalisation ---------------------------------------------------------------------------------


def _array(b: AtenBuilder, given: Value | None, count: int, otherwise: float) -> Any:
    if given is None:
        return np.full(count, otherwise, np.float32)
    if given.array is None or given.shape != (count,):
        raise b.unsupported(f"a factor {given} of a normalisation is not supported", "use one that is known")
    return given.array.astype(np.float32)


@aten_op(*(f"quantized.batch_norm{rank}{relu}" for rank in ("", "1d", "2d", "3d") for relu in ("", "_relu")))
def batch_norm(
    b: AtenBuilder, qx: Value, weight: Value | None, bias: Value | None, mean: Value, var: Value, eps: float,
    output_scale: Any, output_zero_point: Any,
) -> Value:  # fmt: skip
    """A factor and an offset for each channel, both in steps of the result."""
    x, q = per_tensor(b, qx), quantization(b, output_scale, output_zero_point)
    count = x.shape[1]
    gamma, beta = _array(b, weight, count, 1), _array(b, bias, count, 0)
    centre, spread = _array(b, mean, count, 0), _array(b, var, count, 1)
    inverse = np.float32(1) / np.sqrt(spread + np.float32(eps))
    ratio = scale_of(x.quantization) / scale_of(q)
    shape = (count,) + (1,) * (x.rank - 2)
    factor = b.constant((inverse * gamma * ratio).astype(np.float32).reshape(shape))
    offset = b.constant(((beta - centre * inverse * gamma) / scale_of(q)).astype(np.float32).reshape(shape))
    steps = b.add(b.mul(b.cast(_centred(b, x), "float32"), factor), offset)
    made = stepped(b, steps, q, x.dtype, int(q.zero_point) if _fused_relu(b) else None)
    return QuantizedValue(made, q, channels_last=True)


@aten_op("quantized.layer_norm")
def quantized_layer_norm(
    b: AtenBuilder, input: Value, normalized_shape: Any, weight: Value | None, bias: Value | None, eps: float,
    output_scale: Any, output_zero_point: Any,
) -> Value:  # fmt: skip
    x = per_tensor(b, input)
    made = layer_norm(b, dequantize(b, x), normalized_shape, weight, bias, eps)
    x = QuantizedValue(x.integers, x.quantization)  # which lies in order behind it
    return _steps(b, made, x, quantization(b, output_scale, output_zero_point))


@aten_op("quantized.group_norm")
def quantized_group_norm(
    b: AtenBuilder, input: Value, num_groups: int, weight: Value | None, bias: Value | None, eps: float,
    output_scale: Any, output_zero_point: Any,
) -> Value:  # fmt: skip
    x = per_tensor(b, input)
    made = group_norm(b, dequantize(b, x), num_groups, weight, bias, eps)
    return _steps(b, made, x, quantization(b, output_scale, output_zero_point))


@aten_op("quantized.instance_norm")
def quantized_instance_norm(
    b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, eps: float, output_scale: Any,
    output_zero_point: Any,
) -> Value:  # fmt: skip
    x = per_tensor(b, input)
    made = instance_norm(b, dequantize(b, x), weight, bias, None, None, True, 0.0, eps)
    return _steps(b, made, x, quantization(b, output_scale, output_zero_point))
