"""TVM's names and signatures where they differ from Relay's: each calls the Relay op's meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamina.te.expr import fail
from lamina.te.tensor import Tensor, compute
from lamina.topi.calls import call_relay
from lamina.topi.spellings_image import IMAGE_SPELLINGS
from lamina.topi.spellings_numbers import NUMBER_SPELLINGS
from lamina.topi.spellings_order import ORDER_SPELLINGS
from lamina.topi.spellings_windows import WINDOW_SPELLINGS, per_axis, spelled_padding


def _pair(value: Any) -> tuple[int, int]:
    found = per_axis(value, 1)
    return found[0], found[-1]


_KERNEL_LAYOUTS = {"NCHW": "OIHW", "NHWC": "HWIO", "HWCN": "HWIO", "NCW": "OIW", "NWC": "WIO"}


def conv2d(
    input: Tensor,  # noqa: A002
    filter: Tensor,  # noqa: A002
    strides: Any,
    padding: Any,
    dilation: Any = 1,
    data_layout: str = "NCHW",
    kernel_layout: str = "",
    out_dtype: Any = None,
    groups: int = 1,
) -> Tensor:
    """2-D convolution of TVM's topi: input [N, C, H, W] and filter [O, C / groups, KH, KW] -> [N, O, H', W'].

    `padding` is numbers for both sides, "VALID", or "SAME" at stride 1. `kernel_layout` is OIHW where it is not given,
    HWIO for the data layouts NHWC and HWCN. Raises InputError for a filter of another rank than its layout's.
    """
    kernel_layout = kernel_layout or _KERNEL_LAYOUTS.get(data_layout, "OIHW")
    if filter.ndim != len(kernel_layout):
        raise fail(f"topi.nn.conv2d: the filter has rank {filter.ndim}, its layout is {kernel_layout}")
    taps = [int(filter.shape[kernel_layout.index(a)]) for a in "HW"]
    return call_relay(
        "nn.conv2d",
        input,
        filter,
        strides=_pair(strides),
        padding=spelled_padding(padding, taps, dilation),
        dilation=_pair(dilation),
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_dtype=out_dtype,
    )


def conv2d_nchw(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, out_dtype: Any = None
) -> Tensor:  # noqa: N803
    """`conv2d` of images [N, C, H, W] and a filter [O, C, KH, KW]: [N, O, H', W']."""
    return conv2d(Input, Filter, stride, padding, dilation, "NCHW", "OIHW", out_dtype)


def conv2d_nhwc(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, out_dtype: Any = None
) -> Tensor:  # noqa: N803
    """`conv2d` of images [N, H, W, C] and a filter [KH, KW, C, O]: [N, H', W', O]."""
    return conv2d(Input, Filter, stride, padding, dilation, "NHWC", "HWIO", out_dtype)


def depthwise_conv2d_nchw(
    Input: Tensor,  # noqa: N803
    Filter: Tensor,  # noqa: N803
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    out_dtype: Any = None,
) -> Tensor:
    """The filter is [channels, multiplier, height, width]."""
    if Filter.ndim != 4:
        raise fail(f"topi.nn.depthwise_conv2d_nchw: the filter has rank {Filter.ndim}, not 4")
    channels, multiplier, *taps = (int(e) for e in Filter.shape)
    weight = call_relay("reshape", Filter, newshape=(channels * multiplier, 1, *taps))
    return conv2d(Input, weight, stride, padding, dilation, "NCHW", "OIHW", out_dtype, groups=channels)


def group_conv2d_nchw(
    Input: Tensor,  # noqa: N803
    Filter: Tensor,  # noqa: N803
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    out_dtype: Any = None,
) -> Tensor:
    """`conv2d` in groups: images [N, C, H, W], filter [O, C / groups, KH, KW] -> [N, O, H', W'].

    Output channel o reads the C / groups input channels of group o floordiv (O / groups).
    """
    return conv2d(Input, Filter, stride, padding, dilation, "NCHW", "OIHW", out_dtype, groups)


def dense(data: Tensor, weight: Tensor, bias: Tensor | None = None, out_dtype: Any = None) -> Tensor:
    """Dense layer of TVM's topi: y[n, k] = sum over c of data[n, c] * weight[k, c], plus bias[k] where it is given.

    [N, C] and [K, C] -> [N, K]. With `out_dtype` numbers are converted before they are multiplied.
    """
    found = call_relay("nn.dense", data, weight, out_dtype=out_dtype)
    return found if bias is None else call_relay("nn.bias_add", found, bias)


def matmul(a: Tensor, b: Tensor, transp_a: bool = False, transp_b: bool = False) -> Tensor:
    """The product A B: A [M, K], stored [K, M] with `transp_a`, and B [K, N], stored [N, K] with `transp_b`."""
    return call_relay("nn.matmul", a, b, transpose_a=transp_a, transpose_b=transp_b)


def batch_matmul(
    tensor_a: Tensor, tensor_b: Tensor, oshape: Any = None, out_dtype: Any = None,
    transpose_a: bool = False, transpose_b: bool = True,
) -> Tensor:  # fmt: skip
    """Products of matrices: [B, M, K] and [B, N, K] -> [B, M, N]; a batch of 1 is repeated.

    `tensor_b` is [B, K, N] without `transpose_b`, `tensor_a` [B, K, M] with `transpose_a`. `oshape` is not read.
    """
    return call_relay(
        "nn.batch_matmul", tensor_a, tensor_b, out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b
    )


def global_pool(data: Tensor, pool_type: str, layout: str = "NCHW") -> Tensor:
    """The maximum or average of each channel: [N, C, H, W] -> [N, C, 1, 1]. `pool_type` is max or avg."""
    if pool_type not in ("max", "avg"):
        raise fail(f"pool_type is 'max' or 'avg', not {pool_type!r}")
    return call_relay(f"nn.global_{pool_type}_pool2d", data, layout=layout)


def pad(
    data: Tensor,
    pad_before: Sequence[Any],
    pad_after: Sequence[Any] | None = None,
    pad_value: Any = 0.0,
    name: str = "",
) -> Tensor:
    """`pad_after` is `pad_before` where it is not given."""
    after = pad_before if pad_after is None else pad_after
    width = [int(w) for pair in zip(pad_before, after, strict=True) for w in pair]
    return call_relay("nn.pad", data, pad_width=tuple(width), pad_value=float(getattr(pad_value, "value", pad_value)))


def flatten(data: Tensor) -> Tensor:
    """All axes but the first as one: [N, a, b, ...] -> [N, a * b * ...]."""
    return call_relay("nn.batch_flatten", data)


def full(shape: Sequence[Any], dtype: str, fill_value: Any) -> Tensor:
    """A tensor of one number, which is converted to `dtype`; extents may be variables."""
    from lamina.te.expr import cast

    return compute(shape, lambda *i: cast(fill_value, dtype), "T_full", "injective")


def full_like(x: Tensor, fill_value: Any) -> Tensor:
    """A tensor of one number, of the shape and dtype of `x`."""
    return full(x.shape, x.dtype, fill_value)


def identity(x: Tensor) -> Tensor:
    """A copy: a stage y = x."""
    return call_relay("copy", x)


def flip(a: Tensor, axis: int = 0) -> Tensor:
    """The elements in reverse order along one axis."""
    return call_relay("reverse", a, axis=axis)


def elemwise_sum(xs: Sequence[Tensor]) -> Tensor:
    """The sum of tensors of one shape."""
    if not xs:
        raise fail("topi.elemwise_sum takes at least one tensor")
    total = xs[0]
    for x in xs[1:]:
        total = call_relay("add", total, x)
    return total


def layout_transform(array: Tensor, src_layout: str, dst_layout: str) -> Tensor:
    """The tensor in another layout, say NCHW as NCHW16c; the last block of an axis is filled up with zeros.

    Raises InputError where the two layouts have different axes.
    """
    return call_relay("layout_transform", array, src_layout=src_layout, dst_layout=dst_layout)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: str = "float32") -> Tensor:
    """start + n * step for n = 0, 1, ... short of `stop`, as a vector; with one number given, 0, 1, ... below it.

    Raises InputError for a step of 0, and for fractions in a dtype of integers.
    """
    first, end = (0, start) if stop is None else (start, stop)
    return call_relay("arange", start=float(first), stop=float(end), step=float(step), dtype=dtype)


SPELLINGS: dict[str, Callable[..., Any]] = {
    "arange": arange,
    "elemwise_sum": elemwise_sum,
    "flip": flip,
    "full": full,
    "full_like": full_like,
    "identity": identity,
    "layout_transform": layout_transform,
    "matmul": matmul,
    "nn.batch_matmul": batch_matmul,
    "nn.conv2d": conv2d,
    "nn.conv2d_nchw": conv2d_nchw,
    "nn.conv2d_nhwc": conv2d_nhwc,
    "nn.dense": dense,
    "nn.depthwise_conv2d_nchw": depthwise_conv2d_nchw,
    "nn.flatten": flatten,
    "nn.global_pool": global_pool,
    "nn.group_conv2d_nchw": group_conv2d_nchw,
    "nn.pad": pad,
    **IMAGE_SPELLINGS,
    **NUMBER_SPELLINGS,
    **ORDER_SPELLINGS,
    **WINDOW_SPELLINGS,
}
