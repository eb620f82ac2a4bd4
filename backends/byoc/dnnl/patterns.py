"""What oneDNN takes: TVM's table of 95 composites, in its order, and 27 ops by themselves.

Six anchors (convolutions over one to three axes, transposed ones, dense), with a bias or not, with one of seven
activations or none, less the bare op; and five that are tried before: int8 convolution and dense as importers of
quantised models leave them, and those that take a sum. A bias is nn.bias_add or an add along the channels.
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.ir import Operation

from lamina.dialects import relay as r
from lamina.dialects.patterns import Pattern
from lamina.dialects.relay.base import TypeMismatch, tensor_info
from lamina.dialects.terms import attr, composite, computed, const, var
from lamina.passes.pattern_tables import PatternTable

Ints = tuple[int, ...]
dnnl = PatternTable("dnnl")

x, w, b, y = var("x w b y")
layout = attr("layout")


@computed
def one_a_channel(bias: Ints, out: Ints, data_layout: str) -> bool:
    """Whether a bias has one number for each channel of a convolution's output."""
    return prod(bias) == out[data_layout.index("C")]


@computed
def one_a_unit(bias: Ints, out: Ints) -> bool:
    return prod(bias) == out[-1]


@computed
def alike(a: Ints, b: Ints) -> bool:
    return a == b


def with_bias(value: Any) -> Pattern:
    return r.nn.bias_add(value, b) | r.add(value, b)


def activated(value: Any, activation: str) -> Any:
    """A value after an activation by name; gelu, swish and mish are several ops in a graph."""
    c, d, e = var("c d e")
    match activation:
        case "gelu":
            return r.multiply(r.multiply(value, r.add(r.erf(r.divide(value, c)), d)), e)
        case "swish":
            return r.multiply(value, r.sigmoid(value))
        case "mish":
            return r.multiply(value, r.tanh(r.log(r.add(r.exp(value), c))))
        case "relu":
            return r.nn.relu(value)
        case "tanh":
            return r.tanh(value)
        case "sigmoid":
            return r.sigmoid(value)
        case "clip":
            return r.clip(value)
        case _:
            return value


# -- quantised: qnn.conv2d and qnn.dense with the steps of their requantisation spelled out ----------------------

for anchor, name in ((r.qnn.conv2d, "dnnl.qnn.conv2d"), (r.qnn.dense, "dnnl.qnn.dense")):
    weight, bias, zero, scale, of_input, of_kernel = const("weight bias zero scale of_input of_kernel")
    act, of_sum, out_zero = const("act of_sum out_zero")
    value: Any = r.cast(anchor(x, weight, zero, zero, of_input, of_kernel))
    value = r.add(value, bias) | value
    value = r.clip(r.multiply(value, scale))
    value = r.multiply(value, act) | value
    value = r.add(value, r.multiply(of_sum, r.cast(y))) | value
    value = r.add(value, out_zero) | value
    dnnl += r.cast(value) >> composite(name)

# -- with a sum --------------------------------------------------------------------------------------------------

conv = r.nn.conv2d(x, w, data_layout=layout)
dense = r.nn.dense(x, w)
fits = one_a_channel(b.shape, conv.shape, layout), alike(conv.shape, y.shape)
dnnl += (r.add(with_bias(dense), y) >> composite("dnnl.dense_bias_sum")).when(one_a_unit(b.shape, dense.shape))
dnnl += (r.nn.relu(r.add(with_bias(conv), y)) >> composite("dnnl.conv2d_bias_sum_relu")).when(*fits)
dnnl += (r.add(with_bias(conv), y) >> composite("dnnl.conv2d_bias_sum")).when(*fits)

# -- with a bias and an activation -------------------------------------------------------------------------------

ACTIVATIONS = ("relu", "tanh", "sigmoid", "clip", "gelu", "swish", "mish", "")
ANCHORS = {
    "conv1d": r.nn.conv1d,
    "conv2d": r.nn.conv2d,
    "conv3d": r.nn.conv3d,
    "deconv2d": r.nn.conv2d_transpose,
    "deconv3d": r.nn.conv3d_transpose,
    "dense": r.nn.dense,
}

for is_biased in (True, False):
    for activation in ACTIVATIONS:
        if not is_biased and not activation:
            continue
        for name, anchor in ANCHORS.items():
            plain = anchor(x, w) if name == "dense" else anchor(x, w, data_layout=layout)
            pattern = activated(with_bias(plain) if is_biased else plain, activation)
            words = [f"dnnl.{name}", *["bias"] * is_biased, *[activation] * bool(activation)]
            entry = pattern >> composite("_".join(words))
            if is_biased:
                fit: Any = one_a_unit(b.shape, plain.shape)
                if name != "dense":
                    fit = one_a_channel(b.shape, plain.shape, layout)
                entry = entry.when(fit)
            dnnl += entry

# -- by themselves -----------------------------------------------------------------------------------------------


def is_float32(op: Operation) -> bool:
    """oneDNN is asked for single precision alone here."""
    try:
        return all(tensor_info(v.type).dtype == "float32" for v in (*op.operands, *op.results))
    except TypeMismatch:
        return False


dnnl.takes(
    *("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.dense"),
    *("nn.max_pool2d", "nn.avg_pool2d", "nn.max_pool3d", "nn.avg_pool3d", "nn.global_avg_pool2d"),
    *("nn.batch_matmul", "nn.batch_norm", "nn.layer_norm", "nn.softmax", "nn.relu", "nn.leaky_relu"),
    *("abs", "add", "clip", "exp", "log", "multiply", "round", "sigmoid", "sqrt", "tanh"),
    check=is_float32,
)
