"""Into the quantised domain and out of it, and ATen's operators that move, choose or bound quantised elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_parts import constant_pad_nd
from lamina.frontends.aten.convert_parts import pad as pad_by_mode
from lamina.frontends.aten.graph import AtenCall
from lamina.frontends.aten.quantization import QDTYPES, Quantization
from lamina.frontends.aten.quantized import (
    QuantizedValue,
    dequantize,
    in_floats,
    integer,
    moves,
    on_quantized,
    per_tensor,
    quantization,
    quantize,
    quantized,
    table,
)
from lamina.frontends.aten.table import aten_op, by_table
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
    if q.scale.shape != input.shape[q.axis : q.axis + 1 if q.axis is not None else None]:
        raise b.fail(f"{q.scale.size} scales for axis {axis} of {input}")
    return quantize(b, input, q, _dtype(b, dtype))


@aten_op("dequantize")
def dequantize_of_floats(b: AtenBuilder, self: Any) -> Any:
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
    *("max_pool2d", "quantized_max_pool2d", "upsample_nearest2d", "_upsample_nearest_exact2d", "flip", "detach"),
    *("alias", "dropout", "channel_shuffle", "native_channel_shuffle"),
    keeps_format=True,
)
moves(
    *("flatten", "reshape", "view", "permute", "transpose", "t", "squeeze", "unsqueeze", "slice", "select", "narrow"),
    *("chunk", "split", "split_with_sizes", "tensor_split", "unbind", "contiguous", "expand", "expand_as", "unfold"),
    *("max_pool1d", "max_pool3d", "upsample_nearest1d", "upsample_nearest3d", "_upsample_nearest_exact1d"),
    *("clone", "pixel_shuffle", "pixel_unshuffle", "unflatten", "movedim"),
    *("index_select", "reflection_pad1d", "reflection_pad2d", "view_as", "reshape_as", "max", "min", "topk", "sort"),
    *("repeat", "index", "_upsample_nearest_exact3d"),
)
in_floats("eq", "ne", "lt", "le", "gt", "ge")


@aten_op("quantized.max_pool1d", "quantized.max_pool2d")
def max_pool(
    b: AtenBuilder, qx: Value, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Value:
    assert b.call is not None
    x = per_tensor(b, qx)
    call = AtenCall(b.call.name, "aten." + b.call.packet.removeprefix("quantized."), ())
    return x.like(by_table(b, call, [x.integers, kernel_size, stride, padding, dilation, ceil_mode], {}))


@aten_op("quantized.dropout")
def dropout(
    b: AtenBuilder, self: Value, output_scale: Any, output_zero_point: Any, p: Any = 0.5, training: bool = False
) -> Value:
    """Convert a dropout that drops nothing."""
    if training:
        raise b.unsupported("dropout in training draws random numbers", "call model.eval() before")
    return self


@on_quantized("constant_pad_nd")
def constant_pad(b: AtenBuilder, self: Value, pad: Any, value: Any = 0) -> Value:
    """Convert a padding with a real number."""
    x = per_tensor(b, self)
    number = integer(x.quantization, x.dtype, float(b.number(value, "the padding")))
    return x.like(constant_pad_nd(b, x.integers, pad, number))


@on_quantized("pad")
def padded(b: AtenBuilder, self: Value, pad: Any, mode: str = "constant", value: Any = None) -> Value:
    if mode == "constant":
        return constant_pad(b, self, pad, 0 if value is None else value)
    x = per_tensor(b, self)
    return QuantizedValue(pad_by_mode(b, x.integers, pad, mode), x.quantization)


@on_quantized("masked_fill")
def masked_fill(b: AtenBuilder, self: Value, mask: Value, value: Any) -> Value:
    x = per_tensor(b, self)
    number = integer(x.quantization, x.dtype, float(b.number(value, "the filling")))
    return QuantizedValue(b.choose(mask, number, x.integers), x.quantization)


@on_quantized("upsample_bilinear2d", whole=True)
def upsample(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Value:
    """Between integers as floats, rounded to even: their scale and zero point go through."""
    x = per_tensor(b, args[0])
    made = by_table(b, call, [b.cast(x.integers, "float32"), *args[1:]], kwargs)
    low, high = integer_range(x.dtype)
    return x.like(b.cast(b.op("clip", b.op("round", made), a_min=float(low), a_max=float(high)), x.dtype))


# -- bounds ----------------------------------------------------------------------------------------


def bounded(b: AtenBuilder, given: Value, least: float | None, most: float | None) -> QuantizedValue:
    """A tensor between two real numbers."""
    x = per_tensor(b, given)
    low, high = integer_range(x.dtype)
    first = low if least is None else integer(x.quantization, x.dtype, least)
    last = high if most is None else integer(x.quantization, x.dtype, most)
    return x.like(b.op("clip", x.integers, a_min=float(first), a_max=float(last)))


@on_quantized("relu")
def relu(b: AtenBuilder, self: Value) -> Value:
    return bounded(b, self, 0.0, None)


@aten_op("quantized.relu6")
def relu6(b: AtenBuilder, qx: Value, inplace: bool = False) -> Value:
    return bounded(b, qx, 0.0, 6.0)


on_quantized("relu6")(relu6)


@on_quantized("hardtanh")
def hardtanh(b: AtenBuilder, self: Value, min_val: Any = -1, max_val: Any = 1) -> Value:
    return bounded(b, self, b.number(min_val, "a bound"), b.number(max_val, "a bound"))


@aten_op("quantized.clamp")
def clamp(b: AtenBuilder, self: Value, min: Any = None, max: Any = None) -> Value:
    return bounded(b, self, *(None if v is None else b.number(v, "a bound") for v in (min, max)))


on_quantized("clamp", "clip")(clamp)


# -- concatenation ---------------------------------------------------------------------------------


def rescaled(b: AtenBuilder, x: QuantizedValue, q: Quantization, after: bool) -> Value:
    """The integers of another scale: a table, so that no pass puts the two scales together."""
    if x.quantization.same_as(q):
        return x.integers
    return b.looked_up(x.integers, table(x, np.asarray, q, after))


def _concatenated(b: AtenBuilder, tensors: Sequence[Any], dim: int, q: Quantization | None) -> QuantizedValue:
    parts = [per_tensor(b, t) for t in tensors]
    target = parts[0].quantization if q is None else q
    axis = b.axis(dim, parts[0].rank)
    images = axis == 1 and all(p.channels_last for p in parts)
    whole = [rescaled(b, p, target, images) for p in parts]
    made = whole[0] if len(whole) == 1 else b.op("concatenate", *whole, axis=axis)
    return QuantizedValue(made, target, all(p.channels_last for p in parts))


@on_quantized("cat", "concat", "concatenate")
def cat(b: AtenBuilder, tensors: Sequence[Any], dim: int = 0) -> Value:
    """Convert a concatenation of quantised tensors: the result has the scale of the first."""
    return _concatenated(b, tensors, dim, None)


@on_quantized("stack")
def stack(b: AtenBuilder, tensors: Sequence[Any], dim: int = 0) -> Value:
    """Convert a stack of quantised tensors: one concatenation along a new axis."""
    parts = [per_tensor(b, t) for t in tensors]
    axis = b.axis(dim, parts[0].rank + 1)
    wide = [QuantizedValue(b.op("expand_dims", p.integers, axis=axis), p.quantization) for p in parts]
    return _concatenated(b, wide, axis, None)


@aten_op("quantized.cat", "quantized.cat_relu")
def quantized_cat(b: AtenBuilder, qx: Sequence[Any], dim: int, scale: Any = None, zero_point: Any = None) -> Value:
    assert b.call is not None
    q = None if scale is None else quantization(b, scale, zero_point)
    made = _concatenated(b, qx, dim, q)
    return bounded(b, made, 0.0, None) if b.call.packet.endswith("_relu") else made
