"""Convolutions, products and poolings of floats, in the order of axes that the format has: NHWC."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from lamina.frontends.builder import Value
from lamina.frontends.padding import same_padding
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.graph import TfliteNode


def window_padding(
    b: TfliteBuilder, node: TfliteNode, extents: Sequence[int], kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:  # fmt: skip
    """The padding of a node's windows: SAME or VALID."""
    mode = node.attr("padding", "VALID")
    if min((*strides, *dilations, *kernel), default=1) < 1:
        raise b.fail(f"strides {list(strides)}, dilations {list(dilations)} or windows {list(kernel)} are below 1")
    if mode == "VALID":
        return [0] * 2 * len(kernel)
    if mode != "SAME":
        raise b.fail(f"the padding is {mode}")
    return same_padding(extents, kernel, strides, dilations)


def strides_of(node: TfliteNode) -> list[int]:
    """The strides of the height and the width."""
    return [int(node.attr("stride_h", 1)), int(node.attr("stride_w", 1))]


def dilations_of(node: TfliteNode) -> list[int]:
    """The dilations of the height and the width."""
    return [int(node.attr("dilation_h_factor", 1)), int(node.attr("dilation_w_factor", 1))]


def biased(b: TfliteBuilder, y: Value, bias: Value | None) -> Value:
    """The sum with a bias of the last axis."""
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=-1)


@TABLE.op("CONV_2D")
def conv_2d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, H, W, C], w [O, KH, KW, C / groups] -> [N, H', W', O]."""
    if x.rank != 4 or w.rank != 4 or w.shape[3] < 1 or x.shape[3] % w.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    strides, dilations = strides_of(node), dilations_of(node)
    pads = window_padding(b, node, x.shape[1:3], w.shape[1:3], strides, dilations)
    y = b.contraction(
        "nn.conv2d", x, w, strides=strides, padding=pads, dilation=dilations, groups=x.shape[3] // w.shape[3],
        channels=w.shape[0], kernel_size=list(w.shape[1:3]), data_layout="NHWC", kernel_layout="OHWI",
    )  # fmt: skip
    return b.activated(biased(b, y, bias), node)


@TABLE.op("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, H, W, C], w [1, KH, KW, C * M] -> [N, H', W', C * M]: each channel by itself, M results for each."""
    if x.rank != 4 or w.rank != 4 or w.shape[0] != 1 or not x.shape[3] or w.shape[3] % x.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    strides, dilations = strides_of(node), dilations_of(node)
    pads = window_padding(b, node, x.shape[1:3], w.shape[1:3], strides, dilations)
    channels = w.shape[3]
    y = b.contraction(
        "nn.conv2d", x, w, strides=strides, padding=pads, dilation=dilations, groups=x.shape[3], channels=channels,
        kernel_size=list(w.shape[1:3]), data_layout="NHWC", kernel_layout="IHWO",
    )  # fmt: skip
    return b.activated(biased(b, y, bias), node)


@TABLE.op("CONV_3D")
def conv_3d(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [N, D, H, W, C], w [KD, KH, KW, C, O] -> [N, D', H', W', O]."""
    if x.rank != 5 or w.rank != 5 or not w.shape[3] or x.shape[4] % w.shape[3]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    strides = [int(node.attr(f"stride_{a}", 1)) for a in "dhw"]
    dilations = [int(node.attr(f"dilation_{a}_factor", 1)) for a in "dhw"]
    pads = window_padding(b, node, x.shape[1:4], w.shape[:3], strides, dilations)
    y = b.contraction(
        "nn.conv3d", x, w, strides=strides, padding=pads, dilation=dilations, groups=x.shape[4] // w.shape[3],
        channels=w.shape[4], kernel_size=list(w.shape[:3]), data_layout="NDHWC", kernel_layout="DHWIO",
    )  # fmt: skip
    return b.activated(biased(b, y, bias), node)


@TABLE.op("TRANSPOSE_CONV")
def transpose_conv(
    b: TfliteBuilder, node: TfliteNode, shape: Value, w: Value, x: Value, bias: Value | None = None
) -> Value:
    """x [N, H, W, C], w [O, KH, KW, C] -> the shape that is given, [N, H', W', O]."""
    sizes = [int(e) for e in b.known(shape, "the shape of the result").reshape(-1)]
    if x.rank != 4 or w.rank != 4 or len(sizes) != 4 or (sizes[0], sizes[3]) != (x.shape[0], w.shape[0]):
        raise b.fail(f"data {x}, weight {w} and the shape {sizes} do not fit")
    y = _transposed(b, node, x, w, sizes[1:3], w.shape[1:3], strides_of(node), ("NHWC", "OHWI"), w.shape[0])
    return b.activated(biased(b, y, bias), node)


@TABLE.op("CONV_3D_TRANSPOSE")
def conv_3d_transpose(
    b: TfliteBuilder, node: TfliteNode, shape: Value, w: Value, x: Value, bias: Value | None = None
) -> Value:
    """x [N, D, H, W, C], w [KD, KH, KW, O, C] -> the shape that is given, [N, D', H', W', O]."""
    sizes = [int(e) for e in b.known(shape, "the shape of the result").reshape(-1)]
    if x.rank != 5 or w.rank != 5 or len(sizes) != 5 or (sizes[0], sizes[4]) != (x.shape[0], w.shape[3]):
        raise b.fail(f"data {x}, weight {w} and the shape {sizes} do not fit")
    strides = [int(node.attr(f"stride_{a}", 1)) for a in "dhw"]
    if any(int(node.attr(f"dilation_{a}_factor", 1)) != 1 for a in "dhw"):
        raise b.unsupported("dilations are not supported")
    y = _transposed(b, node, x, w, sizes[1:4], w.shape[:3], strides, ("NDHWC", "DHWIO"), w.shape[3])
    return b.activated(biased(b, y, bias), node)


def _transposed(
    b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, sizes: Sequence[int], kernel: Sequence[int],
    strides: Sequence[int], layouts: tuple[str, str], channels: int,
) -> Value:  # fmt: skip
    """A transposed convolution to given extents, as wide a window of it as the padding says."""
    rank = len(sizes)
    pads = window_padding(b, node, sizes, kernel, strides, [1] * rank)
    full = [(e - 1) * s + k for e, s, k in zip(x.shape[1:-1], strides, kernel, strict=True)]
    after = [f - p - e for f, p, e in zip(full, pads[:rank], sizes, strict=True)]
    y = b.contraction(
        f"nn.conv{rank}d_transpose", x, w, strides=list(strides), padding=[*pads[:rank], *(max(0, a) for a in after)],
        channels=channels, kernel_size=list(kernel), data_layout=layouts[0], kernel_layout=layouts[1],
    )  # fmt: skip
    if min(after) < 0:
        room = [e for a in after for e in (0, max(0, -a))]
        y = b.op("nn.pad", y, pad_width=[0, 0, *room, 0, 0])
    return y


@TABLE.op("FULLY_CONNECTED")
def fully_connected(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x [..., K], w [U, K] -> [N, U], or [..., U] with `keep_num_dims`."""
    if node.attr("weights_format", 0):
        raise b.unsupported("weights in shuffled order are not supported")
    y = b.contraction("nn.dense", connected_rows(b, x, w), w, units=w.shape[0])
    if bias is not None:
        y = b.op("nn.bias_add", y, b.reshape(bias, (w.shape[0],)), axis=-1)
    return b.activated(connected_result(b, node, x, w, y), node)


def connected_rows(b: TfliteBuilder, x: Value, w: Value) -> Value:
    """The operand of a fully connected layer as rows of as many elements as its weights [U, K] have."""
    if w.rank != 2 or not w.shape[1] or prod(x.shape) % w.shape[1]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    return b.reshape(x, (prod(x.shape) // w.shape[1], w.shape[1]))


def connected_result(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, y: Value) -> Value:
    """The rows [N, U] of a fully connected layer in the shape of its result."""
    if not node.attr("keep_num_dims", False):
        return y
    if x.shape[-1] != w.shape[1]:
        raise b.fail(f"data {x} and weight {w} do not fit")
    return b.reshape(y, (*x.shape[:-1], w.shape[0]))


@TABLE.op("BATCH_MATMUL")
def batch_matmul(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """The products of two stacks of matrices, which broadcast; `adj_x` and `adj_y` transpose them."""
    x = b.swapped(x) if node.attr("adj_x", False) else x
    y = b.swapped(y) if node.attr("adj_y", False) else y
    return b.matrices(x, y)
