"""Pools, normalisations, biases, softmax and losses."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE, Images, ints


@TABLE.op("MaxPool", "AvgPool", "MaxPoolV2", "MaxPool3D", "AvgPool3D")
def pool(b: NodeBuilder, node: NetworkNode, x: Value, *windows: Value) -> Value:
    """Padding never wins a maximum, and is not counted in a mean."""
    spatial = 3 if node.op.endswith("3D") else 2
    images = Images(b, node, spatial)
    if x.rank != spatial + 2 or 0 in x.shape:
        raise b.fail(f"{x} is no image")
    if windows:
        sizes, steps = (ints(b, w, "a size of windows") for w in windows)
    else:
        sizes, steps = node.attr("ksize"), node.attr("strides")
    kernel, strides = images.spatial(sizes, "windows"), images.spatial(steps, "strides")
    padding = images.padding([x.shape[a] for a in images.axes], kernel, strides, [1] * spatial)
    kind = "max" if node.op.startswith("Max") else "avg"
    attrs = {"pool_size": kernel, "strides": strides, "padding": padding, "layout": images.layout}
    return b.op(f"nn.{kind}_pool{spatial}d", x, **attrs)


@TABLE.op("BiasAdd", "BiasAddV1")
def bias_add(b: NodeBuilder, node: NetworkNode, x: Value, bias: Value) -> Value:
    axis = 1 if str(node.attr("data_format") or "").startswith("NC") else x.rank - 1
    return b.op("nn.bias_add", x, bias, axis=axis)


@TABLE.op("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def batch_norm(
    b: NodeBuilder, node: NetworkNode, x: Value, scale: Value, offset: Value, mean: Value, variance: Value
) -> Sequence[Value]:
    """By the means that are given, or in training by those of the batch."""
    images = Images(b, node, x.rank - 2) if x.rank in (4, 5) else None
    if images is None:
        raise b.fail(f"{x} is no image")
    axis, epsilon = images.channels, float(node.attr("epsilon", 1e-4))
    if not node.attr("is_training", True):
        wide = b.cast(x, scale.dtype)
        y = b.op("nn.batch_norm", wide, scale, offset, mean, variance, axis=axis, epsilon=epsilon)
        return [b.cast(y, x.dtype), mean, variance, mean, variance, variance]
    wide, others = b.cast(x, scale.dtype), [a for a in range(x.rank) if a != axis]
    found = b.op("mean", wide, axis=others)
    kept = b.op("mean", wide, axis=others, keepdims=True)
    biased = b.op("variance", wide, kept, axis=others)
    count = prod(x.shape[a] for a in others)
    y = b.op("nn.batch_norm", wide, scale, offset, found, biased, axis=axis, epsilon=epsilon)
    unbiased = b.mul(biased, count / max(count - 1, 1))
    return [b.cast(y, x.dtype), found, unbiased, found, biased, biased]


@TABLE.op("BatchNormWithGlobalNormalization")
def old_batch_norm(
    b: NodeBuilder, node: NetworkNode, x: Value, mean: Value, variance: Value, beta: Value, gamma: Value
) -> Value:
    return b.op(
        "nn.batch_norm", x, gamma, beta, mean, variance, axis=x.rank - 1, epsilon=float(node.attr("variance_epsilon")),
        scale=bool(node.attr("scale_after_normalization")),
    )  # fmt: skip


@TABLE.op("LRN")
def local_response(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x / (bias + alpha * the sum of squares within the radius) ** beta, over channels, which are last."""
    size = 2 * int(node.attr("depth_radius", 5)) + 1
    bias, alpha, beta = (float(node.attr(n, d)) for n, d in (("bias", 1.0), ("alpha", 1.0), ("beta", 0.5)))
    return b.op("nn.lrn", x, size=size, axis=x.rank - 1, bias=bias, alpha=alpha * size, beta=beta)


@TABLE.op("Softmax")
def softmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.op("nn.softmax", x, axis=-1)


@TABLE.op("LogSoftmax")
def log_softmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.op("nn.log_softmax", x, axis=-1)


@TABLE.op("L2Loss")
def half_square_sum(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.mul(b.op("sum", b.mul(x, x)), 0.5)


@TABLE.op("SoftmaxCrossEntropyWithLogits")
def cross_entropy(b: NodeBuilder, node: NetworkNode, logits: Value, labels: Value) -> Sequence[Value]:
    """-sum(labels * log softmax(logits)) of each row, and its gradient."""
    both = np.broadcast_shapes(logits.shape, labels.shape)
    logits, labels = b.broadcast(logits, both), b.broadcast(labels, both)
    terms = b.mul(labels, b.op("nn.log_softmax", logits, axis=-1))
    return [b.op("negative", b.op("sum", terms, axis=[-1])), b.sub(b.op("nn.softmax", logits, axis=-1), labels)]


@TABLE.op("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(b: NodeBuilder, node: NetworkNode, logits: Value, labels: Value) -> Sequence[Value]:
    on, off = b.tensor(1.0, logits.dtype), b.tensor(0.0, logits.dtype)
    return cross_entropy(b, node, logits, b.op("one_hot", labels, on, off, depth=logits.shape[-1], axis=-1))
