"""The functions of keras.activations, as layers have them in their configuration, and as operations."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any, cast

import numpy as np

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.network import NodeBuilder

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
"""Klambauer et al., Self-Normalizing Neural Networks, 2017."""


def relu(b: NodeBuilder, x: Value, negative_slope: float = 0.0, max_value: float | None = None,
         threshold: float = 0.0) -> Value:  # fmt: skip
    """x from a threshold on, at most a maximum, and below it a part of its distance to it."""
    if negative_slope == 0.0 and threshold == 0.0:
        return b.op("nn.relu", x) if max_value is None else b.op("clip", x, a_min=0.0, a_max=float(max_value))
    if threshold == 0.0 and max_value is None:
        return b.op("nn.leaky_relu", x, alpha=float(negative_slope))
    above = x if max_value is None else b.one("minimum", x, max_value)
    below = b.mul(b.sub(x, threshold), negative_slope) if negative_slope else 0.0
    return b.choose(b.op("greater_equal", x, b.scalar(threshold, x)), above, below)


def elu(b: NodeBuilder, x: Value, alpha: float = 1.0) -> Value:
    """alpha (exp(x) - 1) below 0, else x."""
    below = b.mul(b.sub(b.op("exp", b.one("minimum", x, 0.0)), 1.0), alpha)
    return b.choose(b.op("greater", x, b.scalar(0, x)), x, below)


def selu(b: NodeBuilder, x: Value) -> Value:
    """A scaled elu."""
    return b.mul(elu(b, x, SELU_ALPHA), SELU_SCALE)


def celu(b: NodeBuilder, x: Value, alpha: float = 1.0) -> Value:
    """alpha (exp(x / alpha) - 1) below 0, else x."""
    below = b.mul(b.sub(b.op("exp", b.div(b.one("minimum", x, 0.0), alpha)), 1.0), alpha)
    return b.add(b.op("nn.relu", x), b.one("minimum", below, 0.0))


def softplus(b: NodeBuilder, x: Value) -> Value:
    """log(1 + exp(x)), without an overflow."""
    rest = b.op("log1p", b.op("exp", b.op("negative", b.op("abs", x))))
    return b.add(b.op("nn.relu", x), rest)


def softsign(b: NodeBuilder, x: Value) -> Value:
    """x / (1 + |x|)."""
    return b.div(x, b.add(b.op("abs", x), 1.0))


def silu(b: NodeBuilder, x: Value) -> Value:
    """x sigmoid(x)."""
    return b.mul(x, b.op("sigmoid", x))


def gelu(b: NodeBuilder, x: Value, approximate: bool = False) -> Value:
    """x times the distribution function of the normal distribution, or its approximation by tanh."""
    if approximate:
        inner = b.mul(b.add(x, b.mul(b.mul(b.mul(x, x), x), 0.044715)), sqrt(2 / pi))
        return b.mul(b.mul(x, 0.5), b.add(b.op("tanh", inner), 1.0))
    return b.mul(b.mul(x, 0.5), b.add(b.op("erf", b.mul(x, 1 / sqrt(2))), 1.0))


def hard_sigmoid(b: NodeBuilder, x: Value) -> Value:
    """x / 6 + 1/2 within 0 and 1."""
    return b.op("clip", b.add(b.mul(x, 1 / 6), 0.5), a_min=0.0, a_max=1.0)


def hard_silu(b: NodeBuilder, x: Value) -> Value:
    """x hard_sigmoid(x)."""
    return b.mul(x, hard_sigmoid(b, x))


def hard_tanh(b: NodeBuilder, x: Value) -> Value:
    """x within -1 and 1."""
    return b.op("clip", x, a_min=-1.0, a_max=1.0)


def hard_shrink(b: NodeBuilder, x: Value, threshold: float = 0.5) -> Value:
    """x outside of a threshold, else 0."""
    return b.choose(b.op("greater", b.op("abs", x), b.scalar(threshold, x)), x, 0.0)


def soft_shrink(b: NodeBuilder, x: Value, threshold: float = 0.5) -> Value:
    """x moved towards 0 by a threshold."""
    return b.add(b.op("nn.relu", b.sub(x, threshold)), b.one("minimum", b.add(x, threshold), 0.0))


def threshold(b: NodeBuilder, x: Value, threshold: float, default_value: float) -> Value:
    """x above a threshold, else a number."""
    return b.choose(b.op("greater", x, b.scalar(threshold, x)), x, default_value)


def softmax(b: NodeBuilder, x: Value, axis: Any = -1) -> Value:
    """exp(x) over its sum along an axis, or along several."""
    if isinstance(axis, (list, tuple)):
        axes = b.axes(axis, x.rank)
        if len(axes) == 1:
            return b.op("nn.softmax", x, axis=axes[0])
        kept = [a for a in range(x.rank) if a not in axes]
        order = [*kept, *axes]
        turned = b.transpose(x, order)
        rows = b.op("nn.softmax", b.reshape(turned, (*(x.shape[a] for a in kept), _size(x, axes))), axis=-1)
        return b.transpose(b.reshape(rows, turned.shape), [order.index(a) for a in range(x.rank)])
    return b.op("nn.softmax", x, axis=b.axis(int(axis), x.rank))


def _size(x: Value, axes: list[int]) -> int:
    return int(np.prod([x.shape[a] for a in axes]))


def log_softmax(b: NodeBuilder, x: Value, axis: int = -1) -> Value:
    """The logarithm of a softmax."""
    return b.op("nn.log_softmax", x, axis=b.axis(int(axis), x.rank))


def glu(b: NodeBuilder, x: Value, axis: int = -1) -> Value:
    """The first half of an axis times the sigmoid of the second."""
    first, second = b.ops("split", x, indices_or_sections=2, axis=b.axis(int(axis), x.rank))
    return b.mul(first, b.op("sigmoid", second))


def squareplus(b: NodeBuilder, x: Value, constant: float = 4.0) -> Value:
    """(x + sqrt(x x + b)) / 2."""
    return b.mul(b.add(x, b.op("sqrt", b.add(b.mul(x, x), float(constant)))), 0.5)


def sparse_plus(b: NodeBuilder, x: Value) -> Value:
    """0 below -1, x above 1, in between (x + 1)^2 / 4."""
    near = b.op("clip", b.add(x, 1.0), a_min=0.0, a_max=2.0)
    return b.add(b.mul(b.mul(near, near), 0.25), b.op("nn.relu", b.sub(x, 1.0)))


def sparsemax(b: NodeBuilder, x: Value, axis: int = -1) -> Value:
    """max(x - (s - 1) / k, 0) with Keras's s: the sum of the first k sums of the ordered elements.

    The projection of Martins and Astudillo (From Softmax to Sparsemax, 2016) has the last of these sums alone; what
    models were trained with is this.
    """
    at = b.axis(int(axis), x.rank)
    ordered = b.op("sort", x, axis=at, is_ascend=False)
    counts = np.arange(1, x.shape[at] + 1).reshape([-1 if a == at else 1 for a in range(x.rank)]).astype(x.dtype)
    sums = b.op("cumsum", ordered, axis=at)
    support = b.op("greater", ordered, b.div(b.sub(sums, 1.0), b.constant(counts)))
    number = b.op("sum", b.cast(support, x.dtype), axis=[at], keepdims=True)
    total = b.op("sum", b.choose(support, sums, 0.0), axis=[at], keepdims=True)
    return b.op("nn.relu", b.sub(x, b.div(b.sub(total, 1.0), number)))


def linear(b: NodeBuilder, x: Value) -> Value:
    """x."""
    return x


def leaky_relu(b: NodeBuilder, x: Value, negative_slope: float = 0.2) -> Value:
    """x, below 0 times a slope."""
    return b.op("nn.leaky_relu", x, alpha=float(negative_slope))


def hard_sigmoid_2(b: NodeBuilder, x: Value) -> Value:
    """x / 5 + 1/2 within 0 and 1: the hard_sigmoid of Keras 2."""
    return b.op("clip", b.add(b.mul(x, 0.2), 0.5), a_min=0.0, a_max=1.0)


def tanh_shrink(b: NodeBuilder, x: Value) -> Value:
    """x - tanh(x)."""
    return b.sub(x, b.op("tanh", x))


def log_sigmoid(b: NodeBuilder, x: Value) -> Value:
    """log(sigmoid(x))."""
    return b.op("negative", softplus(b, b.op("negative", x)))


def mish(b: NodeBuilder, x: Value) -> Value:
    """x tanh(softplus(x))."""
    return b.mul(x, b.op("tanh", softplus(b, x)))


def sparse_sigmoid(b: NodeBuilder, x: Value) -> Value:
    """(x + 1) / 2 within 0 and 1."""
    return b.op("clip", b.mul(b.add(x, 1.0), 0.5), a_min=0.0, a_max=1.0)


def _op(name: str, **attrs: Any) -> Callable[[NodeBuilder, Value], Value]:
    return lambda b, x: b.op(name, x, **attrs)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "linear": linear,
    "relu": relu,
    "relu6": _op("clip", a_min=0.0, a_max=6.0),
    "leaky_relu": leaky_relu,
    "elu": elu,
    "selu": selu,
    "celu": celu,
    "softplus": softplus,
    "softsign": softsign,
    "soft_sign": softsign,
    "silu": silu,
    "swish": silu,
    "gelu": gelu,
    "tanh": _op("tanh"),
    "sigmoid": _op("sigmoid"),
    "exponential": _op("exp"),
    "hard_sigmoid": hard_sigmoid,
    "hard_sigmoid_2": hard_sigmoid_2,
    "hard_silu": hard_silu,
    "hard_swish": hard_silu,
    "hard_tanh": hard_tanh,
    "hard_shrink": hard_shrink,
    "soft_shrink": soft_shrink,
    "tanh_shrink": tanh_shrink,
    "threshold": threshold,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "log_sigmoid": log_sigmoid,
    "mish": mish,
    "glu": glu,
    "squareplus": squareplus,
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": sparse_sigmoid,
    "sparsemax": sparsemax,
}
"""By Keras's names."""


def activated(b: NodeBuilder, x: Value, given: Any) -> Value:
    """A tensor behind an activation as a configuration has it: a name, a function, a layer, or nothing."""
    if given is None:
        return x
    if isinstance(given, dict):
        described = cast("dict[str, Any]", given)
        config = described.get("config")
        if isinstance(config, dict):
            return _of_layer(b, x, str(described.get("class_name")), cast("dict[str, Any]", config))
        given = config if isinstance(config, str) else described.get("class_name")
    function = FUNCTIONS.get(str(given))
    if function is None:
        raise b.unsupported(f"the activation {shown(str(given))} is not supported")
    return function(b, x)


def _of_layer(b: NodeBuilder, x: Value, class_name: str, config: dict[str, Any]) -> Value:
    """An activation that is a layer without weights."""
    if class_name == "Activation":
        return activated(b, x, config.get("activation"))
    if class_name == "ReLU":
        return relu(b, x, float(config.get("negative_slope") or 0), config.get("max_value"),
                    float(config.get("threshold") or 0))  # fmt: skip
    if class_name == "LeakyReLU":
        return relu(b, x, leak_of(config))
    if class_name == "ELU":
        return elu(b, x, float(config.get("alpha", 1.0)))
    if class_name == "Softmax":
        return softmax(b, x, config.get("axis", -1))
    raise b.unsupported(f"the activation {shown(class_name)} is not supported")


def leak_of(config: Any) -> float:
    """The slope of a LeakyReLU, which Keras 2 calls alpha."""
    found = config.get("negative_slope", config.get("alpha"))
    return 0.3 if found is None else float(found)
