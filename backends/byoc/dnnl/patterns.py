"""Patterns that oneDNN takes: TVM's table of 95 composites, in its order, its 27 ops by themselves, and some more.

Six anchors (convolutions over one to three axes, transposed ones, dense), with a bias or not, with one of seven
activations or none, less the bare op; and five that are tried before: int8 convolution and dense as importers of
quantised models leave them, and those that take a sum. A bias is nn.bias_add or an add along the channels.

TVM's table takes an add for a bias where the numbers of elements agree, any constants for those of gelu and mish, and
ops of any type but int64. Here what is taken is what oneDNN computes: `limits.py` and the checks below say no, and why.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.backends.byoc.dnnl.limits import bias_refusal, quantised_refusal, refusal_of, sum_refusal
from lamina.dialects import relay as r
from lamina.dialects.rules.patterns import Pattern
from lamina.dialects.rules.terms import composite, computed, const, var
from lamina.passes.relay.partition.pattern_tables import PatternTable, Unfit

Ints = tuple[int, ...]
dnnl = PatternTable("dnnl")

x, w, b, y = var("x w b y")
root, one, half = const("root one half")


def said(why: str) -> bool | Unfit:
    """Unfit with the reason where there is one, True for an empty text."""
    return Unfit(why) if why else True


@computed
def fits(product: SSAValue) -> bool | Unfit:
    """Whether oneDNN computes a product or convolution."""
    assert isinstance(product.owner, Operation)
    return said(refusal_of(product.owner))


@computed
def is_bias(product: SSAValue, bias: SSAValue) -> bool | Unfit:
    """Whether what is added to a product has one number for each channel."""
    return said(bias_refusal(product, bias))


@computed
def is_beside(product: SSAValue, added: SSAValue) -> bool | Unfit:
    """Whether what is added behind the bias is a tensor of its own."""
    return said(sum_refusal(product, added))


@computed
def fits_quantised(product: SSAValue) -> bool | Unfit:
    """Whether oneDNN computes a quantised product and what rescales it."""
    return said(quantised_refusal(product))


@computed
def is_number(value: Any, number: float) -> bool:
    """Whether a constant is that number, as far as single precision tells."""
    return value is not None and bool((abs(value - number) <= 1e-6 * abs(number)).all())


NUMBERS: dict[str, list[Any]] = {
    "gelu": [is_number(root.value, sqrt(2)), is_number(one.value, 1.0), is_number(half.value, 0.5)],
    "mish": [is_number(one.value, 1.0)],
}
"""The values that constants of activations must have, as conditions on their patterns."""


@computed
def alike(a: Ints, b: Ints) -> bool:
    """Whether two shapes are equal."""
    return a == b


def with_bias(value: Any) -> Pattern:
    """A value plus the bias `b`, spelled nn.bias_add or add."""
    return r.nn.bias_add(value, b) | r.add(value, b)


def activated(value: Any, activation: str) -> Any:
    """A value after an activation by name; gelu, swish and mish are several ops in a graph."""
    match activation:
        case "gelu":
            return r.multiply(r.multiply(value, r.add(r.erf(r.divide(value, root)), one)), half)
        case "swish":
            return r.multiply(value, r.sigmoid(value))
        case "mish":
            return r.multiply(value, r.tanh(r.log(r.add(r.exp(value), one))))
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
    weight, bias, scale, of_input, of_kernel = const("weight bias scale of_input of_kernel")
    act, of_sum, out_zero = const("act of_sum out_zero")
    plain: Any = anchor(x, weight, 0, 0, of_input, of_kernel)
    value: Any = r.cast(plain)
    value = r.add(value, bias) | value
    value = r.clip(r.multiply(value, scale))
    value = r.multiply(value, act) | value
    value = r.add(value, r.multiply(of_sum, r.cast(y))) | value
    value = r.add(value, out_zero) | value
    dnnl += (r.cast(value) >> composite(name)).when(fits_quantised(plain.ssa))

# -- with a sum --------------------------------------------------------------------------------------------------

conv = r.nn.conv2d(x, w)
dense = r.nn.dense(x, w)


def with_sum(product: Any) -> list[Any]:
    """The conditions on a product to whose biased value a tensor `y` of its shape is added."""
    return [
        fits(product.ssa),
        is_bias(product.ssa, b.ssa),
        alike(product.shape, y.shape),
        is_beside(product.ssa, y.ssa),
    ]


dnnl += (r.add(with_bias(dense), y) >> composite("dnnl.dense_bias_sum")).when(*with_sum(dense))
dnnl += (r.nn.relu(r.add(with_bias(conv), y)) >> composite("dnnl.conv2d_bias_sum_relu")).when(*with_sum(conv))
dnnl += (r.add(with_bias(conv), y) >> composite("dnnl.conv2d_bias_sum")).when(*with_sum(conv))

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
            plain = anchor(x, w)
            pattern = activated(with_bias(plain) if is_biased else plain, activation)
            words = [f"dnnl.{name}", *["bias"] * is_biased, *[activation] * bool(activation)]
            bias = [is_bias(plain.ssa, b.ssa)] * is_biased
            dnnl += (pattern >> composite("_".join(words))).when(fits(plain.ssa), *bias, *NUMBERS.get(activation, []))

# -- by themselves -----------------------------------------------------------------------------------------------


def is_taken(op: Operation) -> bool | Unfit:
    """Whether oneDNN computes an op by itself."""
    return said(refusal_of(op))


dnnl.takes(
    *("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.dense"),
    *("nn.max_pool2d", "nn.avg_pool2d", "nn.max_pool3d", "nn.avg_pool3d", "nn.global_avg_pool2d"),
    *("nn.batch_matmul", "nn.batch_norm", "nn.layer_norm", "nn.softmax", "nn.relu", "nn.leaky_relu"),
    *("abs", "add", "clip", "exp", "log", "multiply", "round", "sigmoid", "sqrt", "tanh"),
    check=is_taken,
)
# These are not in TVM's table.
dnnl.takes(
    *("nn.conv1d_transpose", "nn.matmul", "nn.bias_add", "subtract", "divide", "concatenate", "nn.lrn"),
    *("nn.max_pool1d", "nn.avg_pool1d", "nn.global_max_pool2d", "nn.log_softmax"),
    check=is_taken,
)
