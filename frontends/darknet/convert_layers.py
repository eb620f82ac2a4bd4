"""Layers with weights, and pools."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.companion import no_weights
from lamina.frontends.darknet.activations import activated
from lamina.frontends.darknet.reader import TABLE
from lamina.frontends.darknet.sections import LayerOptions
from lamina.frontends.darknet.weights import Weights
from lamina.frontends.network import NetworkNode, NodeBuilder

EPSILON = 1e-6
"""The number that is added to a variance, as OpenCV and TVM do; Darknet adds it to the root."""
LARGEST = 1 << 16
"""Filters, extents of kernels and strides."""
_REFUSED = ("xnor", "binary", "antialiasing", "assisted_excitation", "share_index", "deform", "sway", "rotate",
            "stretch", "stretch_sway", "flipped")  # fmt: skip
"""Options of convolutions that change what is computed."""


def section_of(node: NetworkNode) -> LayerOptions:
    """The options of a layer."""
    return node.attributes["section"]


def refuse(b: NodeBuilder, section: LayerOptions, *keys: str) -> None:
    """Raise UnsupportedError for an option that is set."""
    for key in keys:
        if section.options.get(key, "0") not in ("0", ""):
            raise b.unsupported(f"{key} = {section.options[key][:40]} is not supported")


def bounded(b: NodeBuilder, section: LayerOptions, key: str, default: int, least: int = 1) -> int:
    """An option in the range of what makes sense."""
    found = section.int(key, default)
    if not least <= found <= LARGEST:
        raise b.fail(f"{key} = {found} is out of range")
    return found


def weight(b: NodeBuilder, node: NetworkNode, name: str, *shape: int) -> Value:
    """The next weights of the file."""
    weights: Weights | None = node.attributes["weights"]
    if weights is None:
        raise no_weights(b.label, PurePath(b.label).with_suffix(".weights").name)
    return b.constant(weights.take(shape, b.where), name=f"{node.name}.{name}")


def image(b: NodeBuilder, x: Value) -> Value:
    """An operand that must be an image."""
    if x.rank != 4:
        raise b.fail(f"takes an image, {x} is given")
    return x


def flat(b: NodeBuilder, x: Value) -> Value:
    """All that belongs to one image as a row."""
    return b.reshape(x, (x.shape[0], int(np.prod(x.shape[1:]))))


def _normalised(b: NodeBuilder, node: NetworkNode, x: Value, beta: Value) -> Value:
    """Batch normalisation with the next weights of the file: gamma, mean, variance."""
    names = ("scales", "rolling_mean", "rolling_variance")
    gamma, mean, variance = (weight(b, node, n, *beta.shape) for n in names)
    return b.ops("nn.batch_norm", x, gamma, beta, mean, variance, axis=1, epsilon=EPSILON)[0]


@TABLE.op("convolutional")
def convolutional(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Biases, what normalises, and the kernels follow each other in the file; `pad` of 1 pads by half a kernel."""
    s = section_of(node)
    refuse(b, s, *_REFUSED)
    channels, n, size = image(b, x).shape[1], bounded(b, s, "filters", 1), bounded(b, s, "size", 1)
    groups, dilation = bounded(b, s, "groups", 1), bounded(b, s, "dilation", 1)
    stride = bounded(b, s, "stride", 1)
    strides = [bounded(b, s, "stride_y", stride), bounded(b, s, "stride_x", stride)]
    if channels % groups or n % groups:
        raise b.fail(f"{channels} channels and {n} filters do not divide into {groups} groups")
    pad = (size // 2 if s.int("pad") else bounded(b, s, "padding", 0, 0)) * (dilation if size > 1 else 1)
    beta = weight(b, node, "biases", n)
    attrs: dict[str, Any] = {
        "strides": strides, "padding": [pad] * 4, "dilation": [dilation] * 2, "groups": groups, "channels": n,
        "kernel_size": [size, size],
    }  # fmt: skip
    if not s.int("batch_normalize"):
        w = weight(b, node, "weights", n, channels // groups, size, size)
        y = b.op("nn.bias_add", b.op("nn.conv2d", x, w, **attrs), beta, axis=1)
        return activated(b, y, s.options.get("activation", "logistic"))
    names = ("scales", "rolling_mean", "rolling_variance")
    norm = [weight(b, node, name, n) for name in names]
    w = weight(b, node, "weights", n, channels // groups, size, size)
    y = b.op("nn.conv2d", x, w, **attrs)
    y = b.ops("nn.batch_norm", y, norm[0], beta, *norm[1:], axis=1, epsilon=EPSILON)[0]
    return activated(b, y, s.options.get("activation", "logistic"))


@TABLE.op("deconvolutional")
def deconvolutional(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A convolution the other way: the kernels are [channels, filters, size, size]."""
    s = section_of(node)
    channels, n, size = image(b, x).shape[1], bounded(b, s, "filters", 1), bounded(b, s, "size", 1)
    stride = bounded(b, s, "stride", 1)
    pad = size // 2 if s.int("pad") else bounded(b, s, "padding", 0, 0)
    beta = weight(b, node, "biases", n)
    norm: list[Value] = []
    if s.int("batch_normalize"):
        norm = [weight(b, node, name, n) for name in ("scales", "rolling_mean", "rolling_variance")]
    w = weight(b, node, "weights", channels, n, size, size)
    y = b.op("nn.conv2d_transpose", x, w, strides=[stride] * 2, padding=[pad] * 4, channels=n, kernel_size=[size] * 2)
    if norm:
        y = b.ops("nn.batch_norm", y, norm[0], beta, *norm[1:], axis=1, epsilon=EPSILON)[0]
    else:
        y = b.op("nn.bias_add", y, beta, axis=1)
    return activated(b, y, s.options.get("activation", "logistic"))


@TABLE.op("connected")
def connected(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A product with a matrix [outputs, inputs], which some versions store the other way round."""
    s = section_of(node)
    x, n = flat(b, x), bounded(b, s, "output", 1)
    beta = weight(b, node, "biases", n)
    weights: Weights | None = node.attributes["weights"]
    is_transposed = weights is not None and weights.is_transposed
    order = (x.shape[1], n) if is_transposed else (n, x.shape[1])
    w = weight(b, node, "weights", *order)
    if is_transposed and w.array is not None:
        w = b.constant(w.array.T, name=w.name)
    y = b.op("nn.dense", x, w, units=n)
    if s.int("batch_normalize"):
        y = _normalised(b, node, y, beta)
    else:
        y = b.op("nn.bias_add", y, beta, axis=1)
    return activated(b, y, s.options.get("activation", "logistic"))


@TABLE.op("local")
def local(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A convolution with kernels of its own at each place: [places, filters, channels * size * size]."""
    s = section_of(node)
    batch, channels, height, width = image(b, x).shape
    n, size, stride = bounded(b, s, "filters", 1), bounded(b, s, "size", 1), bounded(b, s, "stride", 1)
    pad = s.int("pad")
    if pad not in (0, 1) or pad and size != 3 or size > min(height, width) + 2 * pad:
        raise b.unsupported(f"pad = {pad} and size = {size} are not supported together")
    extents = [(e + 2 * pad - size) // stride + 1 for e in (height, width)]
    places = extents[0] * extents[1]
    beta = weight(b, node, "biases", n, *extents)
    w = weight(b, node, "weights", places, n, channels * size * size)
    padded = b.op("nn.pad", x, pad_width=[0, 0, 0, 0, pad, pad, pad, pad]) if pad else x
    wide = width + 2 * pad
    rows = np.arange(extents[0])[:, None, None, None] * stride + np.arange(size)[:, None]
    columns = np.arange(extents[1])[:, None, None] * stride + np.arange(size)
    taps = (rows * wide + columns).reshape(places, size * size)
    cells = b.reshape(padded, (batch, channels, wide * (height + 2 * pad)))
    patches = b.op("take", cells, b.constant(taps), axis=2, mode="clip")
    patches = b.reshape(b.transpose(patches, (2, 0, 1, 3)), (places, batch, channels * size * size))
    y = b.op("nn.batch_matmul", patches, w, transpose_b=True)
    y = b.add(b.reshape(b.transpose(y, (1, 2, 0)), (batch, n, *extents)), beta)
    return activated(b, y, s.options.get("activation", "logistic"))


@TABLE.op("batchnorm")
def batchnorm(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A normalisation of its own: biases, scales, mean, variance."""
    return _normalised(b, node, x, weight(b, node, "biases", x.shape[1]))


def _windows(b: NodeBuilder, node: NetworkNode) -> dict[str, Any]:
    """The windows of a pool: of `padding` in all, by default size - 1, half stands before, the rest behind."""
    s = section_of(node)
    stride = bounded(b, s, "stride", 1)
    size = bounded(b, s, "size", stride)
    padding = bounded(b, s, "padding", size - 1, 0)
    strides = [bounded(b, s, "stride_y", stride), bounded(b, s, "stride_x", stride)]
    before = padding // 2
    return {"pool_size": [size] * 2, "strides": strides, "padding": [before] * 2 + [padding - before] * 2}


@TABLE.op("maxpool")
def maxpool(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The largest of each window."""
    refuse(b, section_of(node), "maxpool_depth", "antialiasing")
    return b.op("nn.max_pool2d", image(b, x), **_windows(b, node))


@TABLE.op("local_avgpool")
def local_avgpool(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The mean of each window, of what lies on the image."""
    return b.op("nn.avg_pool2d", image(b, x), **_windows(b, node), count_include_pad=False)


@TABLE.op("avgpool")
def avgpool(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The mean of each channel."""
    return b.op("nn.global_avg_pool2d", image(b, x))


@TABLE.op("normalization")
def normalization(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Local response normalisation; alpha is not divided by the size."""
    s = section_of(node)
    size = bounded(b, s, "size", 5)
    alpha, beta, kappa = s.float("alpha", 0.0001), s.float("beta", 0.75), s.float("kappa", 1.0)
    return b.op("nn.lrn", image(b, x), size=size, axis=1, bias=kappa, alpha=alpha * size, beta=beta)
