"""Convolutions, pools, normalisations, softmax and losses."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_reduce import moments
from lamina.frontends.aten.graph import DType
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value
from lamina.frontends.padding import halves

_WIDE = {"float16": "float32", "bfloat16": "float32"}
"""Types whose normalisations are computed in another one and rounded once."""


# -- convolutions ----------------------------------------------------------------------------------


def _convolved(b: AtenBuilder, x: Value, w: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any,
               groups: int) -> Value:  # fmt: skip
    """A convolution of any number of axes; without a batch it is one of a batch of one."""
    rank = w.rank - 2
    if x.rank == rank + 1:
        found = _convolved(b, b.op("expand_dims", x, axis=0), w, bias, stride, padding, dilation, groups)
        return b.reshape(found, found.shape[1:])
    if rank not in (1, 2, 3):
        raise b.unsupported(f"convolutions over {rank} axes are not supported")
    strides, dilations = b.ints(stride, rank), b.ints(dilation, rank)
    if isinstance(padding, str):
        pads = [0] * 2 * rank
        if padding == "same":
            totals = [d * (k - 1) for d, k in zip(dilations, w.shape[2:], strict=True)]
            pads = halves(totals)
    else:
        pads = b.ints(padding, rank) * 2
    if 0 in x.shape:
        spatial = [(e + pads[a] + pads[rank + a] - dilations[a] * (w.shape[2 + a] - 1) - 1) // strides[a] + 1
                   for a, e in enumerate(x.shape[2:])]  # fmt: skip
        return b.zeros((x.shape[0], w.shape[0], *spatial), x.dtype)
    y = b.contraction(
        f"nn.conv{rank}d", x, w, strides=strides, padding=pads, dilation=dilations, groups=groups, channels=w.shape[0],
        kernel_size=list(w.shape[2:]),
    )  # fmt: skip
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


def _transposed(b: AtenBuilder, x: Value, w: Value, bias: Value | None, stride: Any, padding: Any, output_padding: Any,
                groups: int, dilation: Any) -> Value:  # fmt: skip
    rank = w.rank - 2
    if x.rank == rank + 1:
        batch = b.op("expand_dims", x, axis=0)
        found = _transposed(b, batch, w, bias, stride, padding, output_padding, groups, dilation)
        return b.reshape(found, found.shape[1:])
    if rank not in (1, 2, 3):
        raise b.unsupported(f"convolutions over {rank} axes are not supported")
    pads, more = b.ints(padding, rank), b.ints(output_padding, rank)
    # Output padding takes from the padding behind; padding below zero is room, which nothing is added to.
    ends = [p - e for p, e in zip(pads, more, strict=True)]
    y = b.contraction(
        f"nn.conv{rank}d_transpose", x, w, strides=b.ints(stride, rank), padding=[*pads, *(max(0, e) for e in ends)],
        dilation=b.ints(dilation, rank), groups=groups, channels=w.shape[1] * groups, kernel_size=list(w.shape[2:]),
    )  # fmt: skip
    if min(ends) < 0:
        room = [n for e in ends for n in (0, max(0, -e))]
        y = b.op("nn.pad", y, pad_width=[0, 0, 0, 0, *room])
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


@aten_op("convolution", "_convolution")
def convolution(
    b: AtenBuilder, input: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, *_: Any,
) -> Value:  # fmt: skip
    if transposed:
        return _transposed(b, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _convolved(b, input, weight, bias, stride, padding, dilation, groups)


@aten_op("conv1d", "conv2d", "conv3d", "conv1d.padding", "conv2d.padding", "conv3d.padding")
def conv(b: AtenBuilder, input: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0,
         dilation: Any = 1, groups: int = 1) -> Value:  # fmt: skip
    return _convolved(b, input, weight, bias, stride, padding, dilation, groups)


@aten_op("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    b: AtenBuilder, input: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Value:  # fmt: skip
    return _transposed(b, input, weight, bias, stride, padding, output_padding, groups, dilation)


@aten_op("im2col")
def im2col(b: AtenBuilder, self: Value, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    """Each window of an image as a column."""
    if self.rank == 3:
        found = im2col(b, b.op("expand_dims", self, axis=0), kernel_size, dilation, padding, stride)
        return b.reshape(found, found.shape[1:])
    kernel, dilations, pads, strides = (b.ints(v, 2) for v in (kernel_size, dilation, padding, stride))
    x = b.op("nn.pad", self, pad_width=[0, 0, 0, 0, pads[0], pads[0], pads[1], pads[1]]) if any(pads) else self
    batch, channels, *spatial = x.shape
    counts = [(e - d * (k - 1) - 1) // s + 1 for e, d, k, s in zip(spatial, dilations, kernel, strides, strict=True)]
    rows, columns = (
        (np.arange(k)[:, None] * d + np.arange(n)[None, :] * s).reshape(-1)
        for k, d, n, s in zip(kernel, dilations, counts, strides, strict=True)
    )
    x = b.op("take", x, b.constant(rows.astype(np.int64)), axis=2, mode="clip")
    x = b.op("take", x, b.constant(columns.astype(np.int64)), axis=3, mode="clip")
    x = b.reshape(x, (batch, channels, kernel[0], counts[0], kernel[1], counts[1]))
    return b.reshape(b.transpose(x, (0, 1, 2, 4, 3, 5)), (batch, channels * prod(kernel), prod(counts)))


@aten_op("col2im")
def col2im(b: AtenBuilder, self: Value, output_size: Any, kernel_size: Any, dilation: Any, padding: Any,
           stride: Any) -> Value:  # fmt: skip
    """Columns of windows added up where they lie in the image."""
    if self.rank == 2:
        found = col2im(b, b.op("expand_dims", self, axis=0), output_size, kernel_size, dilation, padding, stride)
        return b.reshape(found, found.shape[1:])
    size, kernel, dilations, pads, strides = (
        b.ints(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    padded = [e + 2 * p for e, p in zip(size, pads, strict=True)]
    counts = [(e - d * (k - 1) - 1) // s + 1 for e, d, k, s in zip(padded, dilations, kernel, strides, strict=True)]
    rows, columns = (
        np.arange(k)[:, None] * d + np.arange(n)[None, :] * s
        for k, d, n, s in zip(kernel, dilations, counts, strides, strict=True)
    )
    flat = rows[:, None, :, None] * padded[1] + columns[None, :, None, :]
    batch, width, _ = self.shape
    channels = width // prod(kernel)
    updates = b.reshape(self, (batch * channels, flat.size))
    places = b.constant(np.ascontiguousarray(np.broadcast_to(flat.reshape(1, -1), updates.shape)).astype(np.int64))
    zeros = b.zeros((batch * channels, prod(padded)), self.dtype)
    y = b.op("scatter_elements", zeros, places, updates, axis=1, reduction="add")
    y = b.reshape(y, (batch, channels, *padded))
    for a, (p, e) in enumerate(zip(pads, size, strict=True)):
        y = b.slice(y, 2 + a, p, p + e)
    return y


# -- pools -----------------------------------------------------------------------------------------


def _pool(b: AtenBuilder, kind: str, x: Value, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any,
          ceil_mode: bool, **attrs: Any) -> Value:  # fmt: skip
    if x.rank == rank + 1:
        batch = b.op("expand_dims", x, axis=0)
        found = _pool(b, kind, batch, rank, kernel, stride, padding, dilation, ceil_mode, **attrs)
        return b.reshape(found, found.shape[1:])
    size = b.ints(kernel, rank)
    by = size if stride is None or stride == [] or stride == () else b.ints(stride, rank)
    return b.op(
        f"nn.{kind}_pool{rank}d", x, pool_size=size, strides=by, dilation=b.ints(dilation, rank),
        padding=b.ints(padding, rank) * 2, ceil_mode=ceil_mode, **attrs,
    )  # fmt: skip


def _rank_in(name: str) -> int:
    """The number of axes in a name: 2 of max_pool2d."""
    return int(next(c for c in name if c.isdigit()))


@aten_op("max_pool1d", "max_pool2d", "max_pool3d", "quantized_max_pool2d")
def max_pool(b: AtenBuilder, self: Value, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False) -> Value:  # fmt: skip
    assert b.call is not None
    rank = _rank_in(b.call.packet)
    return _pool(b, "max", self, rank, kernel_size, list(b.ints(stride)) or None, padding, dilation, ceil_mode)


@aten_op("max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool_with_indices(b: AtenBuilder, self: Value, kernel_size: Any, stride: Any = (), padding: Any = 0,
                          dilation: Any = 1, ceil_mode: bool = False) -> tuple[Value, Value]:  # fmt: skip
    """The maxima, and their places in the flattened axes: tap by tap, so that the first of equal ones is told."""
    assert b.call is not None
    rank = _rank_in(b.call.packet)
    y = max_pool(b, self, kernel_size, stride, padding, dilation, ceil_mode)
    x = self if self.rank == rank + 2 else b.op("expand_dims", self, axis=0)
    kernel, pads, dilations = b.ints(kernel_size, rank), b.ints(padding, rank), b.ints(dilation, rank)
    strides = b.ints(stride, rank) or kernel
    outputs = y.shape[-rank:]
    ends = [(o - 1) * s + (k - 1) * d + 1 - e - p for o, s, k, d, e, p in
            zip(outputs, strides, kernel, dilations, x.shape[2:], pads, strict=True)]  # fmt: skip
    widths = [(0, 0), (0, 0), *((p, max(0, e)) for p, e in zip(pads, ends, strict=True))]
    lowest = -np.inf if is_float(x.dtype) else float(np.iinfo(x.dtype).min)
    padded = b.op("nn.pad", x, pad_width=[e for pair in widths for e in pair], pad_value=lowest)
    within = np.arange(prod(x.shape[2:]), dtype=np.int64).reshape(1, 1, *x.shape[2:])
    places = np.pad(within, widths)
    best: Value | None = None
    at: Value | None = None
    for tap in np.ndindex(*kernel):
        begin = [t * d for t, d in zip(tap, dilations, strict=True)]
        end = [s + (o - 1) * t + 1 for s, o, t in zip(begin, outputs, strides, strict=True)]
        here = b.op("strided_slice", padded, begin=begin, end=end, strides=strides, axes=list(range(2, x.rank)))
        cut = (slice(None), slice(None), *(slice(*v) for v in zip(begin, end, strides, strict=True)))
        index = b.constant(np.ascontiguousarray(places[cut]))
        if best is None or at is None:
            best, at = here, b.broadcast(index, here.shape)
            continue
        more = b.op("greater", here, best)
        if is_float(x.dtype):
            more = b.op("logical_or", more, b.op("isnan", here))
        best, at = b.op("where", more, here, best), b.op("where", more, index, at)
    assert at is not None
    return y, b.reshape(at, y.shape)


@aten_op("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(b: AtenBuilder, self: Value, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: int | None = None) -> Value:  # fmt: skip
    assert b.call is not None
    if not is_float(self.dtype):
        # Of integers the quotient is cut off.
        mean = avg_pool(b, b.tensor(self, "float64"), kernel_size, stride, padding, ceil_mode, count_include_pad,
                        divisor_override)  # fmt: skip
        return b.tensor(b.op("trunc", mean), self.dtype)
    rank = _rank_in(b.call.packet)
    by = list(b.ints(stride)) or None
    if divisor_override is not None:
        kernel = b.ints(kernel_size, rank)
        # Zeros count like all others, up to the end of the last window.
        pads = b.ints(padding, rank)
        steps = by or kernel
        more = [0] * rank
        if ceil_mode:
            # Windows that begin on the data or before it reach beyond it.
            for a, (e, k, s, p) in enumerate(zip(self.shape[-rank:], kernel, steps, pads, strict=True)):
                count = -(-(e + 2 * p - k) // s) + 1
                count -= (count - 1) * s >= e + p
                more[a] = max(0, (count - 1) * s + k - e - 2 * p)
        width = [0, 0] * (self.rank - rank) + [n for p, m in zip(pads, more, strict=True) for n in (p, p + m)]
        wide = b.op("nn.pad", self, pad_width=width) if any(width) else self
        mean = _pool(b, "avg", wide, rank, kernel_size, by, 0, 1, False, count_include_pad=True)
        return b.mul(mean, prod(kernel) / divisor_override)
    return _pool(b, "avg", self, rank, kernel_size, by, padding, 1, ceil_mode, count_include_pad=count_include_pad)


@aten_op("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
         "_adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(b: AtenBuilder, self: Value, output_size: Any) -> Value:
    return _adaptive(b, "avg", self, output_size)


def _adaptive(b: AtenBuilder, kind: str, x: Value, output_size: Any) -> Value:
    assert b.call is not None
    rank = _rank_in(b.call.packet)
    if x.rank == rank + 1:
        found = _adaptive(b, kind, b.op("expand_dims", x, axis=0), output_size)
        return b.reshape(found, found.shape[1:])
    given: list[Any] = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank  # pyright: ignore[reportUnknownArgumentType]
    size = b.ints([x.shape[2 + a] if v is None else v for a, v in enumerate(given)])
    if rank == 2 and size == [1, 1]:
        return b.op(f"nn.global_{kind}_pool2d", x)
    return b.op(f"nn.adaptive_{kind}_pool{rank}d", x, output_size=size)


@aten_op("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(b: AtenBuilder, self: Value, output_size: Any) -> tuple[Value, Value]:
    """With the places of the maxima, where windows are alike."""
    assert b.call is not None
    rank = _rank_in(b.call.packet)
    given: list[Any] = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank  # pyright: ignore[reportUnknownArgumentType]
    extents = self.shape[-rank:]
    size = b.ints([e if v is None else v for e, v in zip(extents, given, strict=True)])
    if any(e % s for e, s in zip(extents, size, strict=True)):
        return _adaptive_by_places(b, self, size)
    kernel = [e // s for e, s in zip(extents, size, strict=True)]
    return max_pool_with_indices(b, self, kernel, kernel)


def _adaptive_by_places(b: AtenBuilder, x: Value, size: Sequence[int]) -> tuple[Value, Value]:
    """Maxima of windows of several sizes: elements that a shorter one lacks are its last one again."""
    rank, lead = len(size), x.shape[: x.rank - len(size)]
    within = np.arange(prod(x.shape[-rank:])).reshape(x.shape[-rank:])
    taken = x
    for axis, count in enumerate(size):
        extent = x.shape[x.rank - rank + axis]
        begins = np.arange(count) * extent // count
        ends = -(-(np.arange(count) + 1) * extent // count)
        longest = int(np.max(ends - begins))
        places = np.minimum(begins[:, None] + np.arange(longest)[None, :], ends[:, None] - 1)
        # Each axis becomes two: the windows, and the elements of one.
        taken = b.op("take", taken, b.constant(places.astype(np.int64)), axis=len(lead) + 2 * axis, mode="clip")
        within = np.take(within, places, axis=2 * axis)
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    within = within.transpose(order)
    taken = b.transpose(taken, [*range(len(lead)), *(len(lead) + a for a in order)])
    count = prod(within.shape[rank:])
    taken = b.reshape(taken, (*lead, *size, count))
    flat = np.broadcast_to(within.reshape(*size, count), taken.shape)
    best = b.op("argmax", taken, axis=[taken.rank - 1], keepdims=True)
    places = b.op("gather", b.constant(np.ascontiguousarray(flat).astype(np.int64)), b.tensor(best, "int64"),
                  axis=taken.rank - 1)  # fmt: skip
    return b.op("max", taken, axis=[taken.rank - 1]), b.reshape(places, (*lead, *size))


# -- normalisations --------------------------------------------------------------------------------


def _wide(b: AtenBuilder, *values: Value | None) -> list[Value | None]:
    """Values of narrow floats in the type that they are computed in."""
    return [None if v is None else b.tensor(v, _WIDE.get(v.dtype, v.dtype)) for v in values]


def _channels(b: AtenBuilder, v: Value | None, count: int, number: float, dtype: str) -> Value:
    return b.filled(number, (count,), dtype) if v is None else b.tensor(v, dtype)


def _inverse(b: AtenBuilder, variance: Value, eps: float) -> Value:
    return b.op("rsqrt", b.add(variance, eps))


def batch_normalized(b: AtenBuilder, x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value,
                     eps: float) -> Value:  # fmt: skip
    """By a mean and a variance for each channel of axis 1."""
    wide = b.tensor(x, _WIDE.get(x.dtype, x.dtype))
    count = x.shape[1]
    operands = [_channels(b, v, count, n, wide.dtype) for v, n in ((weight, 1), (bias, 0), (mean, 0), (variance, 1))]
    return b.tensor(b.op("nn.batch_norm", wide, *operands, axis=1, epsilon=eps), x.dtype)


@aten_op("batch_norm")
def batch_norm(
    b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, running_mean: Value | None,
    running_var: Value | None, training: bool, momentum: float, eps: float, cudnn_enabled: bool = False,
) -> Value:  # fmt: skip
    if training or running_mean is None or running_var is None:
        if running_mean is not None and training:
            raise b.unsupported("training is not supported here: it changes the running mean", "call eval()")
        return _by_its_own(b, input, weight, bias, eps)[0]
    return batch_normalized(b, input, weight, bias, running_mean, running_var, eps)


def _by_its_own(b: AtenBuilder, x: Value, weight: Value | None, bias: Value | None, eps: float) -> tuple[Value, ...]:
    """The batch normalised by its own mean and variance, these, and the variance's inverse deviation."""
    axes = [a for a in range(x.rank) if a != 1]
    wide = b.tensor(x, _WIDE.get(x.dtype, x.dtype))
    variance, mean = moments(b, wide, axes, 0.0, False)
    return batch_normalized(b, x, weight, bias, mean, variance, eps), mean, variance, _inverse(b, variance, eps)


@aten_op("_native_batch_norm_legit_no_training", "_batch_norm_no_update")
def batch_norm_inference(
    b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, running_mean: Value, running_var: Value,
    momentum: float, eps: float,
) -> tuple[Value, ...]:  # fmt: skip
    """The second and third result are empty, as torch's CPU kernel leaves them; a fourth is not used."""
    y = batch_normalized(b, input, weight, bias, running_mean, running_var, eps)
    none = b.zeros((0,), _WIDE.get(input.dtype, input.dtype))
    return (y, none, none, b.zeros((0,), "uint8"))


@aten_op("_native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, training: bool, momentum: float, eps: float
) -> tuple[Value, ...]:
    y, mean, _, inverse = _by_its_own(b, input, weight, bias, eps)
    return y, mean, inverse


@aten_op("_native_batch_norm_legit_functional")
def batch_norm_training(
    b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, running_mean: Value, running_var: Value,
    training: bool, momentum: float, eps: float,
) -> tuple[Value, ...]:  # fmt: skip
    """With the running mean and variance as they become."""
    if not training:
        y, none, *_ = batch_norm_inference(b, input, weight, bias, running_mean, running_var, momentum, eps)
        return y, none, none, running_mean, running_var
    y, mean, variance, inverse = _by_its_own(b, input, weight, bias, eps)
    count = prod(input.shape) // input.shape[1]
    unbiased = b.mul(variance, count / max(count - 1, 1))

    def mixed(running: Value, fresh: Value) -> Value:
        return b.add(b.mul(running, 1 - momentum), b.tensor(b.mul(fresh, momentum), running.dtype))

    return y, mean, inverse, mixed(running_mean, mean), mixed(running_var, unbiased)


@aten_op("instance_norm")
def instance_norm(
    b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, running_mean: Value | None,
    running_var: Value | None, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = False,
) -> Value:  # fmt: skip
    if not use_input_stats:
        assert running_mean is not None and running_var is not None
        return batch_normalized(b, input, weight, bias, running_mean, running_var, eps)
    x, scale, shift = _wide(b, input, weight, bias)
    assert x is not None
    count = x.shape[1]
    operands = [_channels(b, v, count, n, x.dtype) for v, n in ((scale, 1), (shift, 0))]
    return b.tensor(b.op("nn.instance_norm", x, *operands, epsilon=eps), input.dtype)


@aten_op("layer_norm")
def layer_norm(b: AtenBuilder, input: Value, normalized_shape: Any, weight: Value | None = None,
               bias: Value | None = None, eps: float = 1e-5, cudnn_enable: bool = False) -> Value:  # fmt: skip
    shape = b.ints(normalized_shape)
    count = prod(shape)
    x, scale, shift = _wide(b, input, weight, bias)
    assert x is not None
    lead = x.shape[: x.rank - len(shape)]
    flat = b.reshape(x, (*lead, count))
    operands = [
        _channels(b, None if v is None else b.reshape(v, (count,)), count, n, x.dtype)
        for v, n in ((scale, 1), (shift, 0))
    ]
    return b.tensor(b.reshape(b.op("nn.layer_norm", flat, *operands, axis=-1, epsilon=eps), x.shape), input.dtype)


@aten_op("native_layer_norm")
def native_layer_norm(b: AtenBuilder, input: Value, normalized_shape: Any, weight: Value | None, bias: Value | None,
                      eps: float) -> tuple[Value, Value, Value]:  # fmt: skip
    rank = len(b.ints(normalized_shape))
    y = layer_norm(b, input, normalized_shape, weight, bias, eps)
    wide = b.tensor(input, _WIDE.get(input.dtype, input.dtype))
    variance, mean = moments(b, wide, list(range(input.rank - rank, input.rank)), 0.0, True)
    return y, mean, _inverse(b, variance, eps)


@aten_op("rms_norm", "_fused_rms_norm")
def rms_norm(b: AtenBuilder, input: Value, normalized_shape: Any, weight: Value | None = None,
             eps: float | None = None) -> Any:  # fmt: skip
    assert b.call is not None
    rank = len(b.ints(normalized_shape))
    (x,) = _wide(b, input)
    assert x is not None
    axes = list(range(x.rank - rank, x.rank))
    least = float(np.finfo("float32" if x.dtype != "float64" else "float64").eps) if eps is None else eps
    inverse = _inverse(b, b.op("mean", b.mul(x, x), axis=axes, keepdims=True), least)
    y = b.mul(x, inverse)
    if weight is not None:
        y = b.mul(y, b.tensor(weight, x.dtype))
    y = b.tensor(y, input.dtype)
    return (y, inverse) if b.call.packet == "_fused_rms_norm" else y


@aten_op("group_norm")
def group_norm(b: AtenBuilder, input: Value, num_groups: int, weight: Value | None = None, bias: Value | None = None,
               eps: float = 1e-5, cudnn_enabled: bool = True) -> Value:  # fmt: skip
    if 0 in input.shape:
        return input
    x, scale, shift = _wide(b, input, weight, bias)
    assert x is not None
    operands = [_channels(b, v, x.shape[1], n, x.dtype) for v, n in ((scale, 1), (shift, 0))]
    given = x if x.rank > 2 else b.reshape(x, (*x.shape, 1))
    y = b.op("nn.group_norm", given, *operands, num_groups=num_groups, epsilon=eps)
    return b.tensor(b.reshape(y, x.shape), input.dtype)


@aten_op("native_group_norm")
def native_group_norm(b: AtenBuilder, input: Value, weight: Value | None, bias: Value | None, N: int, C: int, HxW: int,
                      group: int, eps: float) -> tuple[Value, Value, Value]:  # fmt: skip
    y = group_norm(b, input, group, weight, bias, eps)
    (x,) = _wide(b, input)
    assert x is not None
    variance, mean = moments(b, b.reshape(x, (N, group, C // group * HxW)), [2], 0.0, False)
    return y, mean, _inverse(b, variance, eps)


@aten_op("local_response_norm")
def local_response_norm(b: AtenBuilder, input: Value, size: int, alpha: float = 1e-4, beta: float = 0.75,
                        k: float = 1.0) -> Value:  # fmt: skip
    image = b.reshape(input, (*input.shape[:2], prod(input.shape[2:-1]), input.shape[-1]))
    return b.reshape(b.op("nn.lrn", image, size=size, alpha=alpha, beta=beta, bias=k), input.shape)


# -- softmax and losses ----------------------------------------------------------------------------


def _soft(b: AtenBuilder, kind: str, x: Value, dim: int, dtype: DType | None) -> Value:
    given = b.tensor(x, b.dtype(dtype, x.dtype))
    if not given.rank:
        return b.filled(1.0 if kind == "nn.softmax" else 0.0, (), given.dtype)
    if 0 in given.shape:
        return given
    wide = b.tensor(given, _WIDE.get(given.dtype, given.dtype))
    return b.tensor(b.op(kind, wide, axis=b.axis(dim, wide.rank)), given.dtype)


@aten_op("softmax", "special_softmax", "log_softmax", "special_log_softmax")
def softmax(b: AtenBuilder, self: Value, dim: int, dtype: DType | None = None) -> Value:
    assert b.call is not None
    return _soft(b, "nn.log_softmax" if "log" in b.call.packet else "nn.softmax", self, dim, dtype)


@aten_op("_softmax", "_log_softmax")
def softmax_to_float(b: AtenBuilder, self: Value, dim: int, half_to_float: bool) -> Value:
    assert b.call is not None
    kind = "nn.log_softmax" if "log" in b.call.packet else "nn.softmax"
    return _soft(b, kind, self, dim, DType("float32") if half_to_float else None)


@aten_op("_safe_softmax")
def safe_softmax(b: AtenBuilder, self: Value, dim: int, dtype: DType | None = None) -> Value:
    """Zeros where all are minus infinity."""
    x = b.tensor(self, b.dtype(dtype, self.dtype))
    axis = b.axis(dim, x.rank)
    none = b.one("equal", b.op("max", x, axis=[axis], keepdims=True), -np.inf)
    return b.choose(none, 0.0, _soft(b, "nn.softmax", x, dim, None))


@aten_op("nll_loss", "nll_loss2d", "nll_loss_nd", "nll_loss_forward", "nll_loss2d_forward")
def nll_loss(b: AtenBuilder, self: Value, target: Value, weight: Value | None = None, reduction: int = 1,
             ignore_index: int = -100) -> Any:  # fmt: skip
    """The negated elements of the targets' classes, weighted; with the weights' sum where the operator gives it."""
    assert b.call is not None
    axis = 0 if self.rank == 1 else 1
    kept = b.one("not_equal", target, ignore_index)
    safe = b.choose(kept, target, 0)
    column = b.op("expand_dims", safe, axis=axis)
    picked = b.op("negative", b.reshape(b.op("gather", self, column, axis=axis), target.shape))
    weights = b.tensor(kept, self.dtype)
    if weight is not None:
        weights = b.mul(b.op("take", weight, safe, axis=0, mode="clip"), weights)
    losses = b.choose(kept, b.mul(picked, weights) if weight is not None else picked, 0.0)
    axes = list(range(target.rank))
    whole = b.op("sum", weights, axis=axes) if axes else weights
    if reduction == 0:
        found, whole = losses, b.zeros((), self.dtype)
    else:
        found = b.op("sum", losses, axis=axes) if axes else losses
        if reduction == 1:
            found = b.div(found, whole)
    return (found, whole) if b.call.packet.endswith("_forward") else found


def reduced_loss(b: AtenBuilder, losses: Value, reduction: int) -> Value:
    """As they are (0), their mean (1) or their sum (2)."""
    if reduction == 0 or not losses.rank:
        return losses
    return b.op("mean" if reduction == 1 else "sum", losses, axis=list(range(losses.rank)))


@aten_op("mse_loss", "l1_loss")
def difference_loss(b: AtenBuilder, self: Value, target: Value, reduction: int = 1) -> Value:
    assert b.call is not None
    apart = b.sub(*b.common(self, target))
    losses = b.mul(apart, apart) if b.call.packet == "mse_loss" else b.op("abs", apart)
    return reduced_loss(b, losses, reduction)


# -- images ----------------------------------------------------------------------------------------


@aten_op("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(b: AtenBuilder, input: Value, grid: Value, interpolation_mode: int, padding_mode: int,
                 align_corners: bool) -> Value:  # fmt: skip
    """The coordinates stand last here, and after the batch in Relay."""
    method = ("bilinear", "nearest", "bicubic")[interpolation_mode]
    places = b.transpose(grid, [0, grid.rank - 1, *range(1, grid.rank - 1)])
    return b.op(
        "image.grid_sample", input, places, method=method, layout="NCHW" if input.rank == 4 else "NCDHW",
        padding_mode=("zeros", "border", "reflection")[padding_mode], align_corners=align_corners,
    )  # fmt: skip
