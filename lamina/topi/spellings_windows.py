"""TVM's signatures of ops on windows and blocks (pooling, transposed convolutions, mirrors), where they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from lamina.te.expr import fail
from lamina.te.tensor import Tensor
from lamina.topi.calls import call_named
from lamina.topi.spellings_numbers import both_sides


def per_axis(value: Any, rank: int) -> tuple[int, ...]:
    """One number an axis: a single number stands for all."""
    listed: list[Any] = list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value]
    found = tuple(int(v) for v in listed)
    return found * rank if len(found) == 1 else found


def spelled_padding(padding: Any, taps: Sequence[int], dilation: Any) -> tuple[int, ...]:
    """Padding as Relay takes it, before each axis and after each: of numbers, or of `VALID` or `SAME` at stride 1."""
    return both_sides(padding, [(t - 1) * d + 1 for t, d in zip(taps, per_axis(dilation, len(taps)), strict=True)])


# -- pooling ---------------------------------------------------------------------------------------


def _kind(pool_type: str) -> str:
    if pool_type not in ("max", "avg"):
        raise fail(f"pool_type is 'max' or 'avg', not {pool_type!r}")
    return pool_type


def _pool(spatial: str) -> Callable[..., Tensor]:
    """topi.nn.pool1d, pool2d, pool3d."""
    rank = len(spatial)

    def pool(
        data: Tensor,
        kernel: Any,
        stride: Any,
        dilation: Any,
        padding: Any,
        pool_type: str,
        ceil_mode: bool = False,
        layout: str = "NC" + spatial,
        count_include_pad: bool = True,
    ) -> Tensor:
        taps = per_axis(kernel, rank)
        attrs: dict[str, Any] = {
            "pool_size": taps,
            "strides": per_axis(stride, rank),
            "dilation": per_axis(dilation, rank),
            "padding": spelled_padding(padding, taps, dilation),
            "layout": layout,
            "ceil_mode": ceil_mode,
        }
        if _kind(pool_type) == "avg":
            attrs["count_include_pad"] = count_include_pad
        return call_named(f"nn.{pool_type}_pool{rank}d", data, **attrs)

    return pool


def _adaptive_pool(spatial: str) -> Callable[..., Tensor]:
    """topi.nn.adaptive_pool1d, adaptive_pool (of two axes), adaptive_pool3d."""
    rank = len(spatial)

    def adaptive_pool(data: Tensor, output_size: Any, pool_type: str, layout: str = "NC" + spatial) -> Tensor:
        size = per_axis(output_size, rank)
        return call_named(f"nn.adaptive_{_kind(pool_type)}_pool{rank}d", data, output_size=size, layout=layout)

    return adaptive_pool


def pool_grad(
    grads: Tensor,
    data: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    layout: str = "NCHW",
) -> Tensor:
    """The gradient of 2-D pooling with respect to its data: grads [N, C, H', W'], data [N, C, H, W] -> [N, C, H, W].

    A maximum passes all of it to the first greatest tap, an average the same part to each tap. Raises InputError for
    another `pool_type` than max or avg.
    """
    taps = per_axis(kernel, 2)
    attrs: dict[str, Any] = {"count_include_pad": count_include_pad} if _kind(pool_type) == "avg" else {}
    return call_named(
        f"nn.{pool_type}_pool2d_grad",
        grads,
        data,
        pool_size=taps,
        strides=per_axis(stride, 2),
        padding=spelled_padding(padding, taps, 1),
        layout=layout,
        ceil_mode=ceil_mode,
        **attrs,
    )


# -- convolutions ----------------------------------------------------------------------------------


def _conv_transpose(rank: int) -> Callable[..., Tensor]:
    """topi.nn.conv1d_transpose_ncw, conv2d_transpose_nchw, conv3d_transpose_ncdhw: the filter is [C, O/groups, ...]."""

    def conv_transpose(
        Input: Tensor,  # noqa: N803
        Filter: Tensor,  # noqa: N803
        strides: Any,
        padding: Any,
        out_dtype: Any,
        output_padding: Any,
        groups: int = 1,
    ) -> Tensor:
        taps = [int(e) for e in Filter.shape[2:]]
        return call_named(
            f"nn.conv{rank}d_transpose",
            Input,
            Filter,
            strides=per_axis(strides, rank),
            padding=spelled_padding(padding, taps, 1),
            output_padding=per_axis(output_padding, rank),
            out_dtype=out_dtype,
            groups=groups,
        )

    return conv_transpose


def group_conv2d_transpose_nchw(
    data: Tensor, kernel: Tensor, stride: Any, padding: Any, out_dtype: Any, output_padding: Any, groups: int
) -> Tensor:
    """Transposed convolution in groups: data [N, C, H, W] and kernel [C, O / groups, KH, KW] -> [N, O, H', W']."""
    return _conv_transpose(2)(data, kernel, stride, padding, out_dtype, output_padding, groups)


def conv3d_ncdhw(
    Input: Tensor,  # noqa: N803
    Filter: Tensor,  # noqa: N803
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    out_dtype: Any = None,
) -> Tensor:
    """3-D convolution: images [N, C, D, H, W] and a filter [O, C / groups, KD, KH, KW] -> [N, O, D', H', W']."""
    return call_named(
        "nn.conv3d",
        Input,
        Filter,
        strides=per_axis(stride, 3),
        padding=spelled_padding(padding, [int(e) for e in Filter.shape[2:]], dilation),
        dilation=per_axis(dilation, 3),
        groups=groups,
        out_dtype=out_dtype,
    )


def conv1d(
    data: Tensor,
    kernel: Tensor,
    strides: Any = 1,
    padding: Any = "VALID",
    dilation: Any = 1,
    groups: int = 1,
    data_layout: str = "NCW",
    kernel_layout: str = "",
    out_dtype: Any = None,
) -> Tensor:
    """1-D convolution: data [N, C, W] and kernel [O, C / groups, KW] -> [N, O, W'].

    Without `kernel_layout` the kernel is OIW, and WIO for the data layout NWC. There is no padding by default.
    """
    kernel_layout = kernel_layout or ("WIO" if data_layout == "NWC" else "OIW")
    taps = [int(kernel.shape[kernel_layout.index("W")])]
    return call_named(
        "nn.conv1d",
        data,
        kernel,
        strides=per_axis(strides, 1),
        padding=spelled_padding(padding, taps, dilation),
        dilation=per_axis(dilation, 1),
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_dtype=out_dtype,
    )


# -- blocks and mirrors ----------------------------------------------------------------------------


def _woven(first: Sequence[Any], second: Sequence[Any]) -> tuple[int, ...]:
    return tuple(int(w) for pair in zip(first, second, strict=True) for w in pair)


def mirror_pad(
    data: Tensor, pad_before: Sequence[Any], pad_after: Sequence[Any] | None = None, mode: str = "SYMMETRIC"
) -> Tensor:
    """`pad_after` is `pad_before` where it is not given."""
    after = pad_before if pad_after is None else pad_after
    return call_named("nn.mirror_pad", data, pad_width=_woven(pad_before, after), mode=mode)


def space_to_batch_nd(
    data: Tensor, block_shape: Sequence[Any], pad_before: Sequence[Any], pad_after: Sequence[Any], pad_value: Any = 0.0
) -> Tensor:
    """Padded space cut into blocks, whose places become batch: [N, s0, ...] -> [b0 * ... * N, s0' / b0, ...].

    Raises InputError where a padded extent s0' is no multiple of its block.
    """
    return call_named(
        "nn.space_to_batch_nd",
        data,
        block_shape=tuple(int(b) for b in block_shape),
        paddings=_woven(pad_before, pad_after),
        pad_value=float(pad_value),
    )


def batch_to_space_nd(
    data: Tensor, block_shape: Sequence[Any], crop_begin_list: Sequence[Any], crop_end_list: Sequence[Any]
) -> Tensor:
    """The inverse of `space_to_batch_nd`: [b0 * ... * N, s0, ...] -> [N, b0 * s0 - crops, ...]."""
    return call_named(
        "nn.batch_to_space_nd",
        data,
        block_shape=tuple(int(b) for b in block_shape),
        crops=_woven(crop_begin_list, crop_end_list),
    )


WINDOW_SPELLINGS: dict[str, Callable[..., Any]] = {
    "nn.adaptive_pool": _adaptive_pool("HW"),
    "nn.adaptive_pool1d": _adaptive_pool("W"),
    "nn.adaptive_pool3d": _adaptive_pool("DHW"),
    "nn.batch_to_space_nd": batch_to_space_nd,
    "nn.conv1d": conv1d,
    "nn.conv1d_transpose_ncw": _conv_transpose(1),
    "nn.conv2d_transpose_nchw": _conv_transpose(2),
    "nn.conv3d_ncdhw": conv3d_ncdhw,
    "nn.conv3d_transpose_ncdhw": _conv_transpose(3),
    "nn.group_conv2d_transpose_nchw": group_conv2d_transpose_nchw,
    "nn.mirror_pad": mirror_pad,
    "nn.pool1d": _pool("W"),
    "nn.pool2d": _pool("HW"),
    "nn.pool3d": _pool("DHW"),
    "nn.pool_grad": pool_grad,
    "nn.space_to_batch_nd": space_to_batch_nd,
}
