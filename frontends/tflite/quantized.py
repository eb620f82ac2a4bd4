"""Parts that converters of quantised operators share: scales, multipliers, activation ranges, tables.

A tensor of integers q stands for scale * (q - zero_point). LiteRT's reference kernels say what each operator computes,
to the bit; ratios of scales are of float32 or float64 as these compute them (`docs/numerics.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TfliteBuilder
from lamina.frontends.tflite.fixed_point import interpolation_table, quantized_multiplier, rounded
from lamina.frontends.tflite.graph import TensorQuantization, TfliteNode, TfliteTensor

BYTES = ("int8", "uint8")


def quantization(b: TfliteBuilder, tensor: TfliteTensor | None) -> TensorQuantization:
    """The scales of a tensor. Raises InputError for one that has none, or one that is no number above zero."""
    if tensor is None or tensor.quantization is None:
        raise b.fail(f"{'an operand' if tensor is None else shown(tensor.name)} is not quantised")
    for number in tensor.quantization.scale.reshape(-1):
        if not 0 < number < np.inf:
            raise b.fail(f"{shown(tensor.name)} has the scale {number}")
    return tensor.quantization


def scale(b: TfliteBuilder, tensor: TfliteTensor | None) -> np.float32:
    """The one scale of a tensor. Raises UnsupportedError for one that has more."""
    found = quantization(b, tensor)
    if found.is_per_axis:
        raise b.unsupported("data with a scale for each channel are not supported")
    return np.float32(found.scale.reshape(-1)[0])


def zero_point(b: TfliteBuilder, tensor: TfliteTensor | None) -> int:
    """The one zero point of a tensor."""
    return int(quantization(b, tensor).zero_point.reshape(-1)[0])


def same_type(b: TfliteBuilder, node: TfliteNode, *allowed: str) -> str:
    """The type of a node's data and result. Raises UnsupportedError for others than those that are allowed."""
    given = [t.dtype for t in (*node.operands[:1], *node.results[:1]) if t is not None]
    if len(set(given)) != 1 or given[0] not in allowed:
        raise b.unsupported(f"quantised data of {' and '.join(given)} are not supported")
    return given[0]


def whole(b: TfliteBuilder, numbers: Any) -> Value:
    """An int32 constant."""
    return b.constant(np.asarray(numbers, np.int32))


def centred(b: TfliteBuilder, x: Value, tensor: TfliteTensor | None) -> Value:
    """x without its zero point, int32."""
    wide, zero = b.cast(x, "int32"), zero_point(b, tensor)
    return b.op("subtract", wide, whole(b, zero)) if zero else wide


def scaled(b: TfliteBuilder, x: Value, ratio: Any) -> Value:
    """int32 times a ratio, or one for each place on the last axis, as MultiplyByQuantizedMultiplier has it."""
    ratios = np.asarray(ratio, np.float64)
    return multiplied(b, x, [quantized_multiplier(float(v)) for v in ratios.reshape(-1)], ratios.shape)


def multiplied(b: TfliteBuilder, x: Value, pairs: Sequence[tuple[int, int]], shape: Sequence[int] = ()) -> Value:
    """int32 times multiplier * 2**(exponent - 31), rounded twice, for pairs of these in a shape."""
    multipliers, exponents = (np.asarray(p, np.int32).reshape(tuple(shape)) for p in zip(*pairs, strict=True))
    if (multipliers == 2**30).all() and (exponents == 1).all():
        return x
    if (exponents > 0).any():
        x = b.op("left_shift", x, whole(b, np.maximum(exponents, 0)))
    x = b.op("rounding_doubling_high_multiply", x, whole(b, multipliers))
    return b.op("rounding_right_shift", x, whole(b, np.maximum(-exponents, 0))) if (exponents < 0).any() else x


def scaled_wide(b: TfliteBuilder, x: Value, ratio: Any) -> Value:
    """int64 times a ratio, as MultiplyByQuantizedMultiplier has it for sums of 64 bits: with 15 bits, one rounding."""
    ratios = np.asarray(ratio, np.float64)
    pairs = [quantized_multiplier(float(v)) for v in ratios.reshape(-1)]
    multipliers, exponents = (np.asarray(p, np.int64).reshape(ratios.shape) for p in zip(*pairs, strict=True))
    short = np.where(multipliers < 0x7FFF0000, (multipliers + 2**15) >> 16, 0x7FFF)
    shift = 15 - exponents
    made = b.add(b.mul(x, b.constant(short)), b.constant(np.int64(1) << (shift - 1)))
    return b.cast(b.op("right_shift", made, b.constant(shift)), "int32")


def activation_range(b: TfliteBuilder, tensor: TfliteTensor, name: str) -> tuple[int, int]:
    """The least and the greatest integer of a result after an activation function."""
    low, high = integer_range(tensor.dtype)
    bounds = {"NONE": (None, None), "RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}.get(name)
    if bounds is None:
        raise b.unsupported(f"the fused activation function {name} of quantised data is not supported")

    def integer(real: float) -> int:
        return zero_point(b, tensor) + int(rounded(np.float32(real) / scale(b, tensor)))

    least = low if bounds[0] is None else max(low, integer(bounds[0]))
    return least, high if bounds[1] is None else min(high, integer(bounds[1]))


def result(b: TfliteBuilder, node: TfliteNode, x: Value, activation: str = "NONE") -> Value:
    """int32 with the zero point of the node's result added, within the range of its activation."""
    tensor = node.results[0]
    zero = zero_point(b, tensor)
    low, high = activation_range(b, tensor, activation)
    return bounded(b, b.add(x, whole(b, zero)) if zero else x, low, high, tensor.dtype)


def bounded(b: TfliteBuilder, x: Value, low: int, high: int, dtype: str) -> Value:
    """Integers between two bounds, as a type."""
    return b.cast(b.op("clip", x, a_min=float(low), a_max=float(high)), dtype)


def fused(node: TfliteNode) -> str:
    """The name of a node's fused activation function."""
    return node.attr("fused_activation_function", "NONE")


def activated(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """A result after its fused activation function, which bounds its integers."""
    tensor = node.results[0]
    low, high = activation_range(b, tensor, fused(node))
    return x if (low, high) == integer_range(tensor.dtype) else b.op("clip", x, a_min=float(low), a_max=float(high))


def requantized(
    b: TfliteBuilder, node: TfliteNode, x: Value, input_scale: Any, axis: int = -1, compute_dtype: str = "int64"
) -> Value:
    """int32 of a scale, or one for each place on an axis, as the node's result.

    A float64 `input_scale` is the exact product of two, a float32 one is rounded to it.
    """
    tensor = node.results[0]
    scales = b.constant(np.asarray(input_scale)), whole(b, 0)
    mine = b.constant(scale(b, tensor)), whole(b, zero_point(b, tensor))
    y = b.op("qnn.requantize", x, *scales, *mine, axis=axis, rounding="TFLITE", out_dtype=tensor.dtype,
             compute_dtype=compute_dtype)  # fmt: skip
    return activated(b, node, y)


# -- tables ----------------------------------------------------------------------------------------


def values_of(dtype: str) -> Any:
    """All integers of a type, ascending."""
    low, high = integer_range(dtype)
    return np.arange(low, high + 1)


def of_function(b: TfliteBuilder, node: TfliteNode, x: Value, function: Any) -> Value:
    """A function of the reals that bytes stand for, of float32 arrays, rounded: a table, or lines in one."""
    source, target = node.operands[0], node.results[0]
    low, high = integer_range(target.dtype)
    if x.dtype == "int16":
        scales = (scale(b, source), zero_point(b, source), scale(b, target), zero_point(b, target))
        table = interpolation_table(function, *scales, np.float32)
        return bounded(b, interpolated(b, b.cast(x, "int32"), table), low, high, "int16")
    real = scale(b, source) * (values_of(x.dtype) - zero_point(b, source)).astype(np.float32)
    with np.errstate(all="ignore"):
        steps = rounded(function(real).astype(np.float32) * (np.float32(1) / scale(b, target)))
    made = np.clip(steps + np.float32(zero_point(b, target)), low, high)
    return b.looked_up(x, made.astype(target.dtype))


def interpolated(b: TfliteBuilder, x: Value, table: Any) -> Value:
    """The lines between 513 entries at int32 numbers of 16 bits, as an int16 table has it: int32."""
    place = b.add(b.op("right_shift", x, whole(b, 7)), whole(b, 256))
    rest = b.op("bitwise_and", x, whole(b, 127))
    first, slope = (b.op("take", whole(b, t), place) for t in (table[:-1], np.diff(table)))
    return b.add(first, b.op("right_shift", b.add(b.mul(slope, rest), whole(b, 64)), whole(b, 7)))
