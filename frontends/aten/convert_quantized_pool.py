"""Means of quantised tensors: whole sums by the number of elements; the scale and zero point stay.

    saturate(rint(sum (q - zero_point) / count + zero_point))

in float32. ATen's kernels of images whose channels lie last in memory, and of three axes, add the zero point behind the
rounding.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import DType
from lamina.frontends.aten.quantized import QuantizedValue, on_quantized, per_tensor, stepped
from lamina.frontends.builder import Value


def _centred(b: AtenBuilder, x: QuantizedValue) -> Value:
    wide, zero = b.cast(x.integers, "int32"), int(x.quantization.zero_point)
    return b.sub(wide, b.constant(np.int32(zero))) if zero else wide


def _mean(b: AtenBuilder, x: QuantizedValue, sums: Value, counts: Any, after: bool = False) -> QuantizedValue:
    """Whole sums by their numbers of elements, as integers."""
    mean = b.div(b.cast(sums, "float32"), b.constant(np.asarray(counts, np.float32)))
    if after:
        return x.like(stepped(b, mean, x.quantization, x.dtype))
    low, high = integer_range(x.dtype)
    whole = b.op("round", b.add(mean, b.constant(np.float32(x.quantization.zero_point))))
    return x.like(b.cast(b.op("clip", whole, a_min=float(low), a_max=float(high)), x.dtype))


@on_quantized("mean")
def mean(b: AtenBuilder, self: Value, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Value:
    x = per_tensor(b, self)
    if dtype is not None:
        raise b.unsupported("a mean of another type is not supported", "dequantize before it")
    axes = b.axes(dim, x.rank)
    sums = b.op("sum", _centred(b, x), axis=axes, keepdims=keepdim)
    return _mean(b, x, sums, prod(x.shape[a] for a in axes))


# -- windows ---------------------------------------------------------------------------------------


@on_quantized("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(b: AtenBuilder, self: Value, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: int | None = None) -> Value:  # fmt: skip
    assert b.call is not None
    x, rank = per_tensor(b, self), next(int(c) for c in b.call.packet if c.isdigit())
    kernel, pads = b.ints(kernel_size, rank), b.ints(padding, rank)
    strides = (b.ints(stride, rank) if stride not in ((), [], None) else []) or kernel
    spatial = x.shape[-rank:]
    out = [_windows(*sizes, ceil_mode) for sizes in zip(spatial, kernel, strides, pads, strict=True)]
    if min(out) < 1 or min(strides) < 1:
        raise b.fail(f"windows of {kernel} do not fit {x}")
    sides: list[Any] = []
    for e, k, s, p, n in zip(spatial, kernel, strides, pads, out, strict=True):
        first = np.arange(n) * s - p
        inside = np.minimum(first + k, e) - np.maximum(first, 0)
        sides.append(np.minimum(first + k, e + p) - first if count_include_pad else inside)
    counts = np.ones((), np.int64)
    for side in sides:
        counts = np.multiply.outer(counts, side)
    if divisor_override is not None:
        counts = np.asarray(int(divisor_override))
    ends = [max(0, (n - 1) * s + k - e - p) for e, k, s, p, n in zip(spatial, kernel, strides, pads, out, strict=True)]
    width = [0] * 2 * (x.rank - rank) + [n for pair in zip(pads, ends, strict=True) for n in pair]
    wide = _centred(b, x)
    wide = b.op("nn.pad", wide, pad_width=width, pad_value=0.0) if any(width) else wide
    # A pool of integers cuts its mean off: that of the elements times their number is the sum.
    wide = b.mul(wide, b.scalar(prod(kernel), wide))
    images = wide if x.rank == rank + 2 else b.op("expand_dims", wide, axis=0)
    sums = b.op(f"nn.avg_pool{rank}d", images, pool_size=kernel, strides=strides, padding=[0] * 2 * rank)
    cut = b.op("strided_slice", sums, begin=[0] * rank, end=out, strides=[1] * rank,
               axes=list(range(2, rank + 2))) if list(sums.shape[2:]) != out else sums  # fmt: skip
    return _mean(b, x, b.reshape(cut, (*x.shape[:-rank], *out)), counts, x.channels_last or rank == 3)


def _windows(extent: int, kernel: int, stride: int, padding: int, ceil_mode: bool) -> int:
    """The number of windows on an axis: the last one begins on the data or before it."""
    room = extent + 2 * padding - kernel
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= extent + padding else count


@on_quantized("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
              "_adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(b: AtenBuilder, self: Value, output_size: Any) -> Value:
    """Means of windows [floor(i e / n), ceil((i + 1) e / n)) of an axis of e elements that becomes n."""
    assert b.call is not None
    x, rank = per_tensor(b, self), next(int(c) for c in b.call.packet if c.isdigit())
    given: list[Any] = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank  # pyright: ignore[reportUnknownArgumentType]
    sums, counts = _centred(b, x), np.ones((), np.int64)
    for axis, size in zip(range(x.rank - rank, x.rank), given, strict=True):
        extent = x.shape[axis]
        n = extent if size is None else int(b.number(size, "an extent"))
        edges = [(i * extent // n, -(-(i + 1) * extent // n)) for i in range(n)]
        if n != extent:
            parts = [b.op("sum", b.slice(sums, axis, *edge), axis=[axis], keepdims=True) for edge in edges]
            sums = parts[0] if n == 1 else b.op("concatenate", *parts, axis=axis)
        counts = np.multiply.outer(counts, [last - first for first, last in edges])
    return _mean(b, x, sums, counts)
