"""Poolings, and normalisations over windows and rows, of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.convert_nn import strides_of, window_padding
from lamina.frontends.tflite.graph import TfliteNode


def pool_attributes(b: TfliteBuilder, node: TfliteNode, x: Value) -> dict[str, Any]:
    """The attributes of a pooling of Relay's for the windows of a node."""
    if x.rank != 4:
        raise b.fail(f"the data {x} are no images")
    kernel = [int(node.attr("filter_height", 1)), int(node.attr("filter_width", 1))]
    strides = strides_of(node)
    pads = window_padding(b, node, x.shape[1:3], kernel, strides, [1, 1])
    return {"pool_size": kernel, "strides": strides, "padding": pads, "layout": "NHWC"}


@TABLE.op("MAX_POOL_2D")
def max_pool_2d(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The greatest element of each window."""
    return b.activated(b.op("nn.max_pool2d", x, **pool_attributes(b, node, x)), node)


@TABLE.op("AVERAGE_POOL_2D")
def average_pool_2d(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The mean of the elements of each window, without the padding."""
    return b.activated(b.op("nn.avg_pool2d", x, count_include_pad=False, **pool_attributes(b, node, x)), node)


@TABLE.op("L2_POOL_2D")
def l2_pool_2d(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The root of the mean square of the elements of each window."""
    mean = b.op("nn.avg_pool2d", b.mul(x, x), count_include_pad=False, **pool_attributes(b, node, x))
    return b.activated(b.op("sqrt", mean), node)


@TABLE.op("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x / (bias + alpha * sum of squares over the channels within the radius) ** beta."""
    size = 2 * int(node.attr("radius", 0)) + 1
    return b.op(
        "nn.lrn", x, size=size, axis=x.rank - 1, bias=float(node.attr("bias", 0.0)),
        alpha=float(node.attr("alpha", 0.0)) * size, beta=float(node.attr("beta", 0.0)),
    )  # fmt: skip


@TABLE.op("L2_NORMALIZATION")
def l2_normalization(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x / max(norm of x along the last axis, 1e-6)."""
    return b.activated(b.op("nn.l2_normalize", x, eps=float(np.float32(1e-6) ** 2), axis=[x.rank - 1]), node)
