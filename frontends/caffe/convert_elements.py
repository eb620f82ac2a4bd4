"""Layers on elements, and normalisations."""

from __future__ import annotations

from math import log, prod

import numpy as np

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.caffe.convert_conv import axis_of, blob, blobs_of_layer, parameters
from lamina.frontends.caffe.reader import TABLE
from lamina.frontends.caffe.text_format import TextMessage
from lamina.frontends.network import NetworkNode, NodeBuilder


@TABLE.op("ReLU")
def relu(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """max(x, 0), or with a slope below zero."""
    slope = parameters(node, "relu_param").float("negative_slope")
    return b.op("nn.leaky_relu", x, alpha=slope) if slope else b.op("nn.relu", x)


@TABLE.op("ReLU6")
def relu6(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """min(max(x, 0), 6)."""
    return b.op("clip", x, a_min=0.0, a_max=6.0)


@TABLE.op("PReLU")
def prelu(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A slope below zero for each channel, or one for all."""
    count = 1 if parameters(node, "prelu_param").bool("channel_shared") else x.shape[1]
    slope = blob(b, node, 0, (count,))
    return b.op("nn.prelu", x, b.broadcast(slope, (x.shape[1],)), axis=1)


@TABLE.op("ELU")
def elu(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x above zero, alpha (exp(x) - 1) below."""
    alpha = parameters(node, "elu_param").float("alpha", 1.0)
    below = b.mul(b.sub(b.op("exp", b.one("minimum", x, 0.0)), 1.0), alpha)
    return b.choose(b.one("greater", x, 0.0), x, below)


@TABLE.op("Sigmoid")
def sigmoid(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return b.op("sigmoid", x)


@TABLE.op("TanH")
def tanh(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The hyperbolic tangent."""
    return b.op("tanh", x)


@TABLE.op("Swish")
def swish(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x sigmoid(beta x)."""
    beta = parameters(node, "swish_param").float("beta", 1.0)
    return b.mul(x, b.op("sigmoid", x if beta == 1 else b.mul(x, beta)))


@TABLE.op("AbsVal")
def absolute(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """|x|."""
    return b.op("abs", x)


@TABLE.op("BNLL")
def bnll(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """log(1 + exp(x)), by max(x, 0) + log1p(exp(-|x|))."""
    return b.add(b.op("nn.relu", x), b.op("log1p", b.op("exp", b.op("negative", b.op("abs", x)))))


@TABLE.op("Threshold")
def threshold(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """1 above a threshold, else 0."""
    limit = parameters(node, "threshold_param").float("threshold")
    return b.cast(b.one("greater", x, limit), x.dtype)


@TABLE.op("Clip")
def clip(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Elements within [min, max]."""
    p = parameters(node, "clip_param")
    return b.op("clip", x, a_min=p.float("min"), a_max=p.float("max"))


def _affine(b: NodeBuilder, p: TextMessage, x: Value) -> Value:
    scale, shift = p.float("scale", 1.0), p.float("shift")
    y = x if scale == 1 else b.mul(x, scale)
    return y if shift == 0 else b.add(y, shift)


@TABLE.op("Power")
def power(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """(shift + scale x) ^ power."""
    p = parameters(node, "power_param")
    y, exponent = _affine(b, p, x), p.float("power", 1.0)
    if exponent == 1:
        return y
    return b.mul(y, y) if exponent == 2 else b.one("power", y, exponent)


def _base(b: NodeBuilder, p: TextMessage) -> float:
    """The logarithm of the base, which is e where it is -1."""
    base = p.float("base", -1.0)
    if base != -1 and base <= 0 or base == 1:
        raise b.fail(f"base = {base} is out of range")
    return 1.0 if base == -1 else log(base)


@TABLE.op("Exp")
def exponential(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """base ^ (shift + scale x)."""
    p = parameters(node, "exp_param")
    y, base = _affine(b, p, x), _base(b, p)
    return b.op("exp", y if base == 1 else b.mul(y, base))


@TABLE.op("Log")
def logarithm(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The logarithm of shift + scale x to a base."""
    p = parameters(node, "log_param")
    y, base = b.op("log", _affine(b, p, x)), _base(b, p)
    return y if base == 1 else b.mul(y, 1 / base)


@TABLE.op("Dropout")
def dropout(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The input itself, as the layer is for training; an old form scales at use."""
    p = parameters(node, "dropout_param")
    return x if p.bool("scale_train", True) else b.mul(x, 1 - p.float("dropout_ratio", 0.5))


@TABLE.op("Softmax")
def softmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Softmax along an axis."""
    return b.op("nn.softmax", x, axis=axis_of(b, parameters(node, "softmax_param"), x.rank))


@TABLE.op("Eltwise")
def eltwise(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """The sum, each with a coefficient, the product, or the largest."""
    p = parameters(node, "eltwise_param")
    names = {"PROD": "multiply", "0": "multiply", "SUM": "add", "1": "add", "MAX": "maximum", "2": "maximum"}
    name, factors = names.get(p.word("operation", "SUM")), p.floats("coeff")
    if name is None or not given or factors and (len(factors) != len(given) or name != "add"):
        raise b.fail(f"operation {shown(p.word('operation', 'SUM'))} with {len(factors)} of {len(given)} coefficients")
    if any(x.shape != given[0].shape for x in given):
        raise b.fail(f"the inputs differ: {', '.join(map(str, given[:4]))}")
    terms = [x if f == 1 else b.mul(x, f) for x, f in zip(given, factors or [1.0] * len(given), strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = b.op(name, total, term)
    return total


# -- scales and normalisations ---------------------------------------------------------------------


def _along(b: NodeBuilder, node: NetworkNode, p: TextMessage, x: Value, index: int, y: Value | None) -> Value:
    """A second input or a blob, in a shape that goes with the axes of x from `axis` on."""
    axis = axis_of(b, p, x.rank) if x.rank else 0
    if y is None:
        count = p.int("num_axes", 1)
        last = x.rank if count == -1 else axis + count
        if not axis <= last <= x.rank:
            raise b.fail(f"num_axes = {count} from axis {axis} on does not fit {x}")
        shape = x.shape[axis:last]
        y = blob(b, node, index, shape)
    if y.rank == 0:
        return y
    if axis + y.rank > x.rank or y.shape != x.shape[axis : axis + y.rank]:
        raise b.fail(f"{y} does not go with the axes of {x} from {axis} on")
    return b.reshape(y, (*y.shape, *[1] * (x.rank - axis - y.rank)))


@TABLE.op("Scale")
def scale(b: NodeBuilder, node: NetworkNode, x: Value, y: Value | None = None) -> Value:
    """x times a blob or a second input, and perhaps a bias."""
    p = parameters(node, "scale_param")
    first = 0 if y is None else None
    made = b.mul(x, _along(b, node, p, x, 0, y))
    if not p.bool("bias_term"):
        return made
    if first is None:  # the bias is as long as the second input
        assert y is not None
        bias = blob(b, node, 0, y.shape)
        return b.add(made, _along(b, node, p, x, 0, bias))
    return b.add(made, _along(b, node, p, x, 1, None))


@TABLE.op("Bias")
def bias(b: NodeBuilder, node: NetworkNode, x: Value, y: Value | None = None) -> Value:
    """x plus a blob or a second input."""
    return b.add(x, _along(b, node, parameters(node, "bias_param"), x, 0, y))


@TABLE.op("Axpy")
def axpy(b: NodeBuilder, node: NetworkNode, a: Value, x: Value, y: Value) -> Value:
    """a x + y, with one a for each channel of each image."""
    if x.rank != 4 or prod(a.shape) != prod(x.shape[:2]) or x.shape != y.shape:
        raise b.fail(f"takes {a}, {x}, {y}")
    return b.add(b.mul(b.reshape(a, (*x.shape[:2], 1, 1)), x), y)


@TABLE.op("BatchNorm")
def batch_norm(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """(x - mean) / sqrt(variance + eps); a third blob says how often each of both was added up."""
    p = parameters(node, "batch_norm_param")
    if not p.bool("use_global_stats", True):
        raise b.unsupported("use_global_stats: false normalises by the batch")
    if (count := len(blobs_of_layer(b, node))) > 3:
        raise b.unsupported(f"{count} blobs are of another layer than Caffe's own")
    channels = x.shape[1]
    factor = float(b.known(blob(b, node, 2, (1,)), "the factor")[0])
    inverse = np.float32(0 if factor == 0 else 1 / factor)
    mean, variance = (b.constant(b.known(v, "a moment") * inverse, name=v.name)
                      for v in (blob(b, node, k, (channels,)) for k in range(2)))  # fmt: skip
    ones, zeros = b.constant(np.ones(channels, np.float32)), b.constant(np.zeros(channels, np.float32))
    return b.ops("nn.batch_norm", x, ones, zeros, mean, variance, axis=1, epsilon=p.float("eps", 1e-5))[0]


@TABLE.op("LRN")
def lrn(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Local response normalisation across channels, or within each over squares."""
    p = parameters(node, "lrn_param")
    size, alpha, beta = p.int("local_size", 5), p.float("alpha", 1.0), p.float("beta", 0.75)
    if size % 2 == 0 or not 0 < size < 1 << 16 or x.rank != 4:
        raise b.fail(f"local_size = {size} of {x} is out of range")
    if p.word("norm_region", "ACROSS_CHANNELS") in ("ACROSS_CHANNELS", "0"):
        return b.op("nn.lrn", x, size=size, axis=1, bias=p.float("k", 1.0), alpha=alpha, beta=beta)
    squares = b.op("nn.avg_pool2d", b.mul(x, x), pool_size=[size] * 2, padding=[size // 2] * 4, count_include_pad=True)
    return b.mul(x, b.one("power", b.add(b.mul(squares, alpha), 1.0), -beta))


@TABLE.op("MVN")
def mvn(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x less its mean over each channel, or all, and by its deviation + eps."""
    p = parameters(node, "mvn_param")
    axes = list(range(1 if p.bool("across_channels") else 2, x.rank))
    centred = b.sub(x, b.op("mean", x, axis=axes, keepdims=True))
    if not p.bool("normalize_variance", True):
        return centred
    deviation = b.op("sqrt", b.op("mean", b.mul(centred, centred), axis=axes, keepdims=True))
    return b.div(centred, b.add(deviation, p.float("eps", 1e-9)))


@TABLE.op("Normalize")
def normalize(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x by its length over channels, or with `across_spatial` over all of an image, times a scale."""
    p = parameters(node, "norm_param")
    axes = list(range(1, x.rank)) if p.bool("across_spatial", True) else [1]
    squares = b.op("sum", b.mul(x, x), axis=axes, keepdims=True)
    y = b.div(x, b.op("sqrt", b.add(squares, p.float("eps", 1e-10))))
    count = 1 if p.bool("channel_shared", True) else x.shape[1]
    return b.mul(y, b.reshape(blob(b, node, 0, (count,)), (1, count, *[1] * (x.rank - 2))))
