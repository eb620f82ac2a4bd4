"""Convolutions: kernels are [spatial..., inputs, outputs], those of transposed ones [spatial..., outputs, inputs]."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.frontends.builder import Value
from lamina.frontends.keras.activations import activated
from lamina.frontends.keras.table import Layer, layer, remade
from lamina.frontends.keras.windows import AXES, channel_axis, check_image, image_axes, layout, padding_of
from lamina.frontends.network import NodeBuilder


def convolved(b: NodeBuilder, layer: Layer, x: Value, kernel: Value, strides: Sequence[int],
              dilations: Sequence[int], padding: str | None = None) -> Value:  # fmt: skip
    """A convolution with a kernel [spatial..., inputs of a group, outputs]; the groups follow from the channels."""
    rank = kernel.rank - 2
    check_image(b, x, rank)
    size = list(kernel.shape[:rank])
    channels, inputs = x.shape[channel_axis(layer, rank)], kernel.shape[-2]
    if inputs < 1 or channels % inputs:
        raise b.fail(f"the input has {channels} channels, the kernel {inputs}")
    return b.contraction(
        f"nn.conv{rank}d", x, kernel, strides=list(strides), dilation=list(dilations),
        padding=padding_of(b, layer, x, size, strides, dilations, padding), groups=channels // inputs,
        channels=kernel.shape[-1], kernel_size=size, data_layout=layout(layer, rank), kernel_layout=f"{AXES[rank]}IO",
    )  # fmt: skip


def finished(b: NodeBuilder, layer: Layer, y: Value) -> Value:
    """The result of a convolution with the layer's bias and activation."""
    bias = layer.some_weight("bias")
    if bias is not None:
        y = b.op("nn.bias_add", y, bias, axis=channel_axis(layer, y.rank - 2))
    return activated(b, y, layer.get("activation"))


@layer("Conv1D", "Conv2D", "Conv3D")
def conv(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    kernel = layer.weight("kernel")
    rank = _rank_of(layer)
    strides, dilations = layer.ints("strides", rank), layer.ints("dilation_rate", rank)
    return finished(b, layer, convolved(b, layer, x, kernel, strides, dilations))


@layer("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise_conv(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """Each channel is convolved with filters of its own: kernel [spatial..., channels, multiplier]."""
    rank = _rank_of(layer)
    strides, dilations = layer.ints("strides", rank), layer.ints("dilation_rate", rank)
    return finished(b, layer, convolved(b, layer, x, _by_channel(b, layer.weight("kernel")), strides, dilations))


def _by_channel(b: NodeBuilder, kernel: Value) -> Value:
    """The kernel [spatial..., channels, multiplier] as one of groups of a channel each."""
    shape = (*kernel.shape[:-2], 1, kernel.shape[-2] * kernel.shape[-1])
    return remade(b, kernel, lambda a: a.reshape(shape), lambda v: b.reshape(v, shape))


@layer("SeparableConv1D", "SeparableConv2D")
def separable_conv(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """A convolution of each channel, then one over the channels."""
    rank = _rank_of(layer)
    strides, dilations = layer.ints("strides", rank), layer.ints("dilation_rate", rank)
    y = convolved(b, layer, x, _by_channel(b, layer.weight("depthwise_kernel")), strides, dilations)
    y = convolved(b, layer, y, layer.weight("pointwise_kernel"), [1] * rank, [1] * rank)
    return finished(b, layer, y)


def _rank_of(layer: Layer) -> int:
    """The number of axes in the name of a class: 2 of Conv2D."""
    return int(next(c for c in layer.described.class_name if c.isdigit()))


@layer("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def conv_transpose(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The transpose of a convolution with the same padding."""
    kernel = layer.weight("kernel")
    rank = _rank_of(layer)
    check_image(b, x, rank)
    strides, dilations = layer.ints("strides", rank), layer.ints("dilation_rate", rank)
    size = list(kernel.shape[:rank])
    padding_of(b, layer, x, size, strides, dilations)
    more = layer.ints("output_padding", rank) if layer.get("output_padding") is not None else [None] * rank
    same = str(layer.get("padding", "valid")).lower() == "same"
    pads = [
        _transposed_pads((k - 1) * d + 1, s, same, m) for k, d, s, m in zip(size, dilations, strides, more, strict=True)
    ]
    # In two dimensions I are the channels of the data, in one and three those of the result.
    letters = "OI" if rank == 2 else "IO"
    y = b.contraction(
        f"nn.conv{rank}d_transpose", x, kernel, strides=strides, dilation=dilations,
        padding=[max(0, p[0]) for p in pads] + [max(0, p[1]) for p in pads], channels=kernel.shape[-2],
        kernel_size=size, data_layout=layout(layer, rank), kernel_layout=AXES[rank] + letters,
    )  # fmt: skip
    if min(e for p in pads for e in p) < 0:
        room = [0] * 2 * y.rank
        for axis, (before, after) in zip(image_axes(layer, rank), pads, strict=True):
            room[2 * axis : 2 * axis + 2] = max(0, -before), max(0, -after)
        y = b.op("nn.pad", y, pad_width=room)
    return finished(b, layer, y)


def _transposed_pads(reach: int, stride: int, same: bool, more: int | None) -> tuple[int, int]:
    """The elements cut off the full result before and behind; below zero it is room, which nothing is added to.

    The full result of an axis of e elements has (e - 1) stride + reach. Of it `same` keeps e stride, `valid` all and
    at least e stride; with output padding, `same` keeps (e - 1) stride + reach mod 2 + more.
    """
    if not same:
        return 0, -(max(reach, stride) - reach if more is None else more)
    total = stride + reach - 2 if more is None else reach + reach % 2 - 2 + more
    before = min(total // 2 + total % 2, reach - 1)
    return reach - 1 - before, reach - 1 - (total - before)
