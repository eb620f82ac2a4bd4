"""Layers of networks: convolutions, products, pools, normalisations, activations and losses."""

from __future__ import annotations

from math import ceil, prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder


def _spatial(b: NodeBuilder, attrs: TextAttributes, name: str, rank: int, default: int) -> list[int]:
    found = list(attrs.ints(name)) or [default] * rank
    found = found * rank if len(found) == 1 else found
    if len(found) != rank or any(not 0 <= n < 1 << 20 for n in found):
        raise b.fail(f"{name} = {found[:8]} does not fit {rank} axes")
    return found


def _first_channels(b: NodeBuilder, attrs: TextAttributes, x: Value) -> int:
    """The number of spatial axes; channels stand on axis 1."""
    if attrs.word("layout", "None") not in ("None", "NCW", "NCHW", "NCDHW") or x.rank not in (3, 4, 5):
        raise b.unsupported(f"the layout {attrs.word('layout')} of {x} is not supported")
    return x.rank - 2


@TABLE.op("Convolution", "Convolution_v1")
def convolution(b: NodeBuilder, node: NetworkNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """Kernels [filters, channels / groups, ...]."""
    attrs = TextAttributes(node)
    rank = _first_channels(b, attrs, x)
    y = b.contraction(
        f"nn.conv{rank}d", x, w, strides=_spatial(b, attrs, "stride", rank, 1),
        padding=_spatial(b, attrs, "pad", rank, 0) * 2, dilation=_spatial(b, attrs, "dilate", rank, 1),
        groups=attrs.int("num_group", 1), channels=w.shape[0], kernel_size=list(w.shape[2:]),
    )  # fmt: skip
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


@TABLE.op("Deconvolution")
def deconvolution(b: NodeBuilder, node: NetworkNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """Kernels [channels, filters / groups, ...]; `adj` adds behind the result."""
    attrs = TextAttributes(node)
    rank, groups = _first_channels(b, attrs, x), attrs.int("num_group", 1)
    if any(attrs.ints("target_shape")):
        raise b.unsupported("target_shape is not supported", "give pad and adj")
    y = b.contraction(
        f"nn.conv{rank}d_transpose", x, w, strides=_spatial(b, attrs, "stride", rank, 1),
        padding=_spatial(b, attrs, "pad", rank, 0) * 2, dilation=_spatial(b, attrs, "dilate", rank, 1),
        output_padding=_spatial(b, attrs, "adj", rank, 0), groups=groups, channels=w.shape[1] * groups,
        kernel_size=list(w.shape[2:]),
    )  # fmt: skip
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


@TABLE.op("FullyConnected")
def fully_connected(b: NodeBuilder, node: NetworkNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """x W^T + b of each image as a row, or with `flatten` False of the last axis."""
    attrs = TextAttributes(node)
    before = x.shape[:1] if attrs.bool("flatten", True) else x.shape[:-1]
    rows = b.reshape(x, (prod(before), prod(x.shape[len(before) :])))
    y = b.contraction("nn.dense", rows, w, units=w.shape[0])
    y = y if bias is None else b.op("nn.bias_add", y, bias, axis=1)
    return b.reshape(y, (*before, w.shape[0]))


@TABLE.op("Pooling", "Pooling_v1")
def pooling(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The number of windows is rounded down, with the convention `full` up."""
    attrs = TextAttributes(node)
    rank, kind = _first_channels(b, attrs, x), attrs.word("pool_type", "max")
    if attrs.bool("global_pool"):
        name = {"max": "max", "avg": "mean", "sum": "sum"}.get(kind)
        if name is None:
            raise b.unsupported(f"pool_type = {kind[:40]} is not supported")
        return b.op(name, x, axis=list(range(2, x.rank)), keepdims=True)
    kernel, strides = _spatial(b, attrs, "kernel", rank, 0), _spatial(b, attrs, "stride", rank, 1)
    pads, convention = _spatial(b, attrs, "pad", rank, 0), attrs.word("pooling_convention", "valid")
    if kind not in ("max", "avg", "sum") or convention not in ("valid", "full") or 0 in kernel or 0 in strides:
        raise b.unsupported(f"pool_type = {kind[:40]} by {convention[:40]} over {kernel} is not supported")
    is_full = convention == "full"
    given: dict[str, Any] = {"pool_size": kernel, "strides": strides, "padding": pads * 2, "ceil_mode": is_full}
    if kind != "max":
        given["count_include_pad"] = kind == "sum" or attrs.bool("count_include_pad", True)
    y = b.op(f"nn.{'max' if kind == 'max' else 'avg'}_pool{rank}d", x, **given)
    counts = [ceil((e + 2 * p - k) / s) + 1 for e, p, k, s in zip(x.shape[2:], pads, kernel, strides, strict=True)]
    if is_full and list(y.shape[2:]) != counts:
        raise b.unsupported(f"a window of {kernel} lies behind {x}")
    if kind == "sum" and is_full:
        raise b.unsupported("pool_type = sum by full is not supported")
    return b.mul(y, float(prod(kernel))) if kind == "sum" else y


@TABLE.op("_contrib_AdaptiveAvgPooling2D")
def adaptive_pooling(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Means of cells of a grid."""
    size = list(TextAttributes(node).ints("output_size", (1,)))
    return b.op("nn.adaptive_avg_pool2d", x, output_size=size * 2 if len(size) == 1 else size)


@TABLE.op("UpSampling")
def upsampling(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """Each element `scale` times along both axes."""
    attrs = TextAttributes(node)
    scale, x = attrs.int("scale", 1), given[0]
    if attrs.word("sample_type", "nearest") != "nearest" or len(given) != 1 or not 0 < scale < 1 << 16:
        raise b.unsupported(f"sample_type = {attrs.word('sample_type')[:40]} by {scale} is not supported")
    b.check_size([*x.shape[:2], x.shape[2] * scale, x.shape[3] * scale], x.dtype)
    return b.op("nn.upsampling", x, scale_h=float(scale), scale_w=float(scale)) if scale > 1 else x


@TABLE.op("_contrib_BilinearResize2D")
def bilinear_resize(b: NodeBuilder, node: NetworkNode, x: Value, like: Value | None = None) -> Value:
    """Linear resizing whose corners stay corners, unless `align_corners` is False."""
    attrs = TextAttributes(node)
    size = [attrs.int("height", 1), attrs.int("width", 1)]
    if attrs.has("scale_height"):
        scales = attrs.float("scale_height"), attrs.float("scale_width", 1.0)
        size = [int(e * s) for e, s in zip(x.shape[2:], scales, strict=True)]
    if attrs.word("mode", "size") == "like" and like is not None:
        size = list(like.shape[2:])
    elif attrs.word("mode", "size") != "size" or not all(0 < e < 1 << 20 for e in size):
        raise b.unsupported(f"mode = {attrs.word('mode')[:40]} to {size} is not supported")
    b.check_size([*x.shape[:2], *size], x.dtype)
    mode = "align_corners" if attrs.bool("align_corners", True) else "half_pixel"
    return b.op("image.resize2d", x, size=size, method="linear", coordinate_transformation_mode=mode, layout="NCHW")


# -- normalisations --------------------------------------------------------------------------------


@TABLE.op("BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm", "_contrib_SyncBatchNorm")
def batch_norm(b: NodeBuilder, node: NetworkNode, x: Value, gamma: Value, beta: Value, mean: Value, variance: Value
               ) -> list[Value]:  # fmt: skip
    """By the moments of training; with `fix_gamma`, which is the default, gamma is 1 whatever it holds."""
    attrs = TextAttributes(node)
    if attrs.bool("fix_gamma", True):
        gamma = b.constant(np.ones(gamma.shape, numpy_dtype(gamma.dtype)))
    axis = b.axis(attrs.int("axis", 1), x.rank)
    wide = x if x.dtype == gamma.dtype else b.cast(x, gamma.dtype)
    y = b.ops("nn.batch_norm", wide, gamma, beta, mean, variance, axis=axis, epsilon=attrs.float("eps", 1e-3))[0]
    return [b.cast(y, x.dtype), mean, variance]


@TABLE.op("LayerNorm")
def layer_norm(b: NodeBuilder, node: NetworkNode, x: Value, gamma: Value, beta: Value) -> Value:
    """By mean and variance along an axis."""
    attrs = TextAttributes(node)
    return b.op("nn.layer_norm", x, gamma, beta, axis=attrs.int("axis", -1), epsilon=attrs.float("eps", 1e-5))


@TABLE.op("InstanceNorm")
def instance_norm(b: NodeBuilder, node: NetworkNode, x: Value, gamma: Value, beta: Value) -> Value:
    """By mean and variance of each channel of each image."""
    return b.op("nn.instance_norm", x, gamma, beta, axis=1, epsilon=TextAttributes(node).float("eps", 1e-3))


@TABLE.op("GroupNorm")
def group_norm(b: NodeBuilder, node: NetworkNode, x: Value, gamma: Value, beta: Value) -> Value:
    """By mean and variance of each group of channels; gamma and beta have a number for each group or each channel."""
    attrs = TextAttributes(node)
    groups, channels = attrs.int("num_groups", 1), x.shape[1]
    if groups < 1 or channels % groups or gamma.shape not in ((groups,), (channels,)) or gamma.shape != beta.shape:
        raise b.fail(f"{channels} channels in {groups} groups, {gamma} and {beta}")
    if gamma.shape != (channels,):
        gamma, beta = (b.op("repeat", v, repeats=channels // groups, axis=0) for v in (gamma, beta))
    return b.op("nn.group_norm", x, gamma, beta, num_groups=groups, axis=1, epsilon=attrs.float("eps", 1e-5))


@TABLE.op("L2Normalization")
def l2_normalization(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x by its length over an image, its channels or its places."""
    attrs = TextAttributes(node)
    axes = {"instance": list(range(1, x.rank)), "channel": [1], "spatial": list(range(2, x.rank))}
    over = axes[attrs.word("mode", "instance")]
    squares = b.op("sum", b.mul(x, x), axis=over, keepdims=True)
    return b.div(x, b.op("sqrt", b.add(squares, attrs.float("eps", 1e-10))))


@TABLE.op("LRN")
def lrn(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Local response normalisation across channels."""
    attrs = TextAttributes(node)
    bias, alpha, beta = attrs.float("knorm", 2.0), attrs.float("alpha", 1e-4), attrs.float("beta", 0.75)
    return b.op("nn.lrn", x, size=attrs.int("nsize", 5), axis=1, bias=bias, alpha=alpha, beta=beta)


# -- activations and losses ------------------------------------------------------------------------


def _softplus(b: NodeBuilder, x: Value) -> Value:
    """log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|))."""
    return b.add(b.op("nn.relu", x), b.op("log1p", b.op("exp", b.op("negative", b.op("abs", x)))))


@TABLE.op("Activation")
def activation(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """relu, sigmoid, tanh, softrelu, softsign, log_sigmoid, mish."""
    kind = TextAttributes(node).word("act_type")
    if kind in ("relu", "sigmoid", "tanh"):
        return b.op("nn.relu" if kind == "relu" else kind, x)
    if kind == "softrelu":
        return _softplus(b, x)
    if kind == "softsign":
        return b.div(x, b.add(b.op("abs", x), 1.0))
    if kind == "log_sigmoid":
        return b.op("negative", _softplus(b, b.op("negative", x)))
    if kind == "mish":
        return b.mul(x, b.op("tanh", _softplus(b, x)))
    raise b.unsupported(f"act_type = {kind[:40]} is not supported")


@TABLE.op("LeakyReLU")
def leaky_relu(b: NodeBuilder, node: NetworkNode, x: Value, gamma: Value | None = None) -> Value:
    """leaky, prelu, elu, selu, gelu, rrelu by its mean slope."""
    attrs = TextAttributes(node)
    kind, slope = attrs.word("act_type", "leaky"), attrs.float("slope", 0.25)
    if kind == "prelu" and gamma is not None:
        return b.op("nn.prelu", x, b.broadcast(b.reshape(gamma, (prod(gamma.shape),)), x.shape[1:2]), axis=1)
    if kind == "gelu":
        half = b.mul(x, 0.5)
        return b.mul(half, b.add(b.op("erf", b.mul(x, 0.7071067811865476)), 1.0))
    if kind in ("elu", "selu"):
        alpha, scale = (slope, 1.0) if kind == "elu" else (1.6732632423543772, 1.0507009873554805)
        below = b.mul(b.sub(b.op("exp", b.one("minimum", x, 0.0)), 1.0), alpha * scale)
        return b.choose(b.one("greater", x, 0.0), x if scale == 1 else b.mul(x, scale), below)
    if kind == "rrelu":
        slope = (attrs.float("lower_bound", 0.125) + attrs.float("upper_bound", 0.334)) / 2
    elif kind != "leaky":
        raise b.unsupported(f"act_type = {kind[:40]} is not supported")
    return b.op("nn.leaky_relu", x, alpha=slope)


@TABLE.op("softmax", "log_softmax", "softmin")
def softmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Softmax along an axis, after a division by a temperature."""
    attrs = TextAttributes(node)
    temperature = attrs.float("temperature", 1.0)
    x = x if temperature == 1 else b.div(x, temperature)
    x = b.op("negative", x) if node.op == "softmin" else x
    name = "nn.log_softmax" if node.op == "log_softmax" else "nn.softmax"
    return b.op(name, x, axis=b.axis(attrs.int("axis", -1), x.rank))


@TABLE.op("SoftmaxOutput", "Softmax")
def softmax_output(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Softmax of each image as a row, of channels with `multi_output`, of the last axis with `preserve_shape`."""
    attrs = TextAttributes(node)
    if attrs.bool("multi_output"):
        return b.op("nn.softmax", x, axis=1)
    if attrs.bool("preserve_shape") or x.rank < 3:
        return b.op("nn.softmax", x, axis=-1)
    row = b.reshape(x, (x.shape[0], prod(x.shape[1:])))
    return b.reshape(b.op("nn.softmax", row, axis=-1), x.shape)


@TABLE.op("SoftmaxActivation")
def softmax_activation(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Softmax of each image as a row, or of channels."""
    if TextAttributes(node).word("mode", "instance") == "channel":
        return b.op("nn.softmax", x, axis=1)
    row = b.reshape(x, (x.shape[0], prod(x.shape[1:])))
    return b.reshape(b.op("nn.softmax", row, axis=-1), x.shape)


@TABLE.op("LogisticRegressionOutput")
def logistic_output(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """1 / (1 + exp(-x))."""
    return b.op("sigmoid", x)


@TABLE.op("_copy", "identity", "BlockGrad", "stop_gradient", "MakeLoss", "make_loss", "LinearRegressionOutput",
          "MAERegressionOutput", "SVMOutput", "Dropout", "IdentityAttachKLSparseReg")  # fmt: skip
def identity(b: NodeBuilder, node: NetworkNode, x: Value, like: Value | None = None) -> Value:
    """The input itself: these count in training only."""
    return x
