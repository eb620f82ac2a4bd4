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
    return conv2d(Input, Filter, stride, padding, dilation, "NCHW", "OIHW", out_dtype)


def conv2d_nhwc(
    Input: Tensor, Filter: Tensor, stride: Any, padding: Any, dilation: Any, out_dtype: Any = None
) -> Tensor:  # noqa: N803
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
    return conv2d(Input, Filter, stride, padding, dilation, "NCHW", "OIHW", out_dtype, groups)


def dense(data: Tensor, weight: Tensor, bias: Tensor | None = None, out_dtype: Any = None) -> Tensor:
    found = call_relay("nn.dense", data, weight, out_dtype=out_dtype)
    return found if bias is None else call_relay("nn.bias_add", found, bias)


def matmul(a: Tensor, b: Tensor, transp_a: bool = False, transp_b: bool = False) -> Tensor:
    return call_relay("nn.matmul", a, b, transpose_a=transp_a, transpose_b=transp_b)


def batch_matmul(
    tensor_a: Tensor, tensor_b: Tensor, oshape: Any = None, out_dtype: Any = None,
    transpose_a: bool = False, transpose_b: bool = True,
) -> Tensor:  # fmt: skip
    return call_relay(
        "nn.batch_matmul", tensor_a, tensor_b, out_dtype=out_dtype, transpose_a=transpose_a, transpose_b=transpose_b
    )


def global_pool(data: Tensor, pool_type: str, layout: str = "NCHW") -> Tensor:
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
    return call_relay("nn.batch_flatten", data)


def full(shape: Sequence[Any], dtype: str, fill_value: Any) -> Tensor:
    from lamina.te.expr import cast

    return compute(shape, lambda *i: cast(fill_value, dtype), "T_full", "injective")


def full_like(x: Tensor, fill_value: Any) -> Tensor:
    return full(x.shape, x.dtype, fill_value)


def identity(x: Tensor) -> Tensor:
    return call_relay("copy", x)


def flip(a: Tensor, axis: int = 0) -> Tensor:
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
    return call_relay("layout_transform", array, src_layout=src_layout, dst_layout=dst_layout)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: str = "float32") -> Tensor:
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
