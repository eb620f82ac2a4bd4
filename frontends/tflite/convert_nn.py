"""Convolutions, products and poolings of floats, in the order of axes that the format has: NHWC."""

from __future__ import annotations

from collections.abc import Sequence

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
