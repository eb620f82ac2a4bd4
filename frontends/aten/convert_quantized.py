"""Into the quantised domain and out of it, and ATen's own operators on quantised tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.quantization import QDTYPES
from lamina.frontends.aten.quantized import (
    QuantizedValue,
    dequantize,
    limits,
    moves,
    on_quantized,
    per_tensor,
    quantization,
    quantize,
    quantized,
    scale_of,
)
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

# -- in and out ------------------------------------------------------------------------------------


def _dtype(b: AtenBuilder, number: int) -> str:
    if number not in QDTYPES:
        raise b.unsupported(f"the element type {number} of a quantised tensor is not supported")
    return QDTYPES[number]


@aten_op("quantize_per_tensor")
def quantize_per_tensor(b: AtenBuilder, input: Value, scale: Any, zero_point: Any, dtype: int) -> Value:
    """Convert quantize_per_tensor; a scale that is a tensor must be a constant."""
    return quantize(b, input, quantization(b, scale, zero_point), _dtype(b, dtype))


@aten_op("quantize_per_channel")
def quantize_per_channel(
    b: AtenBuilder, input: Value, scales: Value, zero_points: Value, axis: int, dtype: int
) -> Value:
    q = quantization(b, scales, zero_points, b.axis(axis, input.rank))
    return quantize(b, input, q, _dtype(b, dtype))


@aten_op("dequantize")
def dequantize_(b: AtenBuilder, self: Any) -> Any:
    """Convert dequantize of floats, which are as they are."""
    return self


@on_quantized("dequantize")
def real(b: AtenBuilder, self: Any) -> Any:
    """Convert dequantize of a tensor, or of each in a list."""
    if isinstance(self, (list, tuple)):
        return [real(b, v) for v in self]  # pyright: ignore[reportUnknownVariableType]
    return dequantize(b, self) if isinstance(self, QuantizedValue) else self


@aten_op("int_repr")
def int_repr_of_floats(b: AtenBuilder, self: Value) -> Value:
    """Refuse int_repr of what is not quantised."""
    return quantized(b, self)


@on_quantized("int_repr")
def int_repr(b: AtenBuilder, self: Value) -> Value:
    return quantized(b, self).integers


# -- moves -----------------------------------------------------------------------------------------

moves(
    *("flatten", "reshape", "view", "permute", "transpose", "t", "squeeze", "unsqueeze", "slice", "select", "narrow"),
    *("chunk", "split", "split_with_sizes", "unbind", "contiguous", "clone", "detach", "alias", "expand", "dropout"),
    *("max_pool1d", "max_pool2d", "quantized_max_pool2d", "upsample_nearest1d", "upsample_nearest2d"),
    *("upsample_nearest3d", "channel_shuffle", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "unflatten"),
    *("movedim", "flip", "index_select", "reflection_pad1d", "reflection_pad2d", "view_as", "reshape_as"),
)


# -- bounds ----------------------------------------------------------------------------------------


def integer(x: QuantizedValue, number: float) -> int:
    """A real number as one of the tensor's integers."""
    low, high = limits(x.dtype)
    inverse = np.float32(1) / scale_of(x.quantization)
    made = np.rint(np.float32(number) * inverse) + np.float32(x.quantization.zero_point)
    return int(np.clip(made, low, high))


def bounded(b: AtenBuilder, x: Value, least: float | None, most: float | None) -> QuantizedValue:
    """The tensor between two real numbers."""
    q = per_tensor(b, x)
    low, high = limits(q.dtype)
    first = low if least is None else integer(q, least)
    last = high if most is None else integer(q, most)
    made = b.op("clip", q.integers, a_min=float(first), a_max=float(last))
    return QuantizedValue(made, q.quantization)


@on_quantized("relu")
def relu(b: AtenBuilder, self: Value) -> Value:
    return bounded(b, self, 0.0, None)


__all__ = ["bounded", "integer"]
_ = Sequence
