"""Activations of Darknet's layers by their names (src/activations.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.network import NodeBuilder

Activation: TypeAlias = "Callable[[NodeBuilder, Value], Value]"


def _softplus(b: NodeBuilder, x: Value) -> Value:
    """log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|)), which does not overflow."""
    return b.add(b.op("nn.relu", x), b.op("log1p", b.op("exp", b.op("negative", b.op("abs", x)))))


def _plse(b: NodeBuilder, x: Value) -> Value:
    low, high = b.mul(b.add(x, 4.0), 0.01), b.add(b.mul(b.sub(x, 4.0), 0.01), 1.0)
    inner = b.add(b.mul(x, 0.125), 0.5)
    return b.choose(b.one("less", x, -4.0), low, b.choose(b.one("greater", x, 4.0), high, inner))


def _stair(b: NodeBuilder, x: Value) -> Value:
    whole = b.op("floor", x)
    half = b.op("floor", b.mul(x, 0.5))
    is_even = b.one("equal", b.one("floor_mod", whole, 2.0), 0.0)
    return b.choose(is_even, half, b.add(b.sub(x, whole), half))


def _lhtan(b: NodeBuilder, x: Value) -> Value:
    high = b.add(b.mul(b.sub(x, 1.0), 0.001), 1.0)
    return b.choose(b.one("less", x, 0.0), b.mul(x, 0.001), b.choose(b.one("greater", x, 1.0), high, x))


def _gelu(b: NodeBuilder, x: Value) -> Value:
    inner = b.add(b.mul(x, 0.797885), b.mul(b.mul(x, b.mul(x, x)), 0.035677))
    return b.mul(b.mul(x, 0.5), b.add(b.op("tanh", inner), 1.0))


def _elu(b: NodeBuilder, x: Value, alpha: float = 1.0, scale: float = 1.0) -> Value:
    below = b.mul(b.sub(b.op("exp", b.one("minimum", x, 0.0)), 1.0), alpha * scale)
    return b.choose(b.one("greater_equal", x, 0.0), x if scale == 1 else b.mul(x, scale), below)


def _hard_mish(b: NodeBuilder, x: Value) -> Value:
    inner = b.add(b.mul(b.mul(x, x), 0.5), x)
    return b.choose(b.one("greater", x, 0.0), x, b.choose(b.one("greater", x, -2.0), inner, b.zeros(x.shape, x.dtype)))


ACTIVATIONS: dict[str, Activation] = {
    "linear": lambda b, x: x,
    "logistic": lambda b, x: b.op("sigmoid", x),
    "loggy": lambda b, x: b.sub(b.mul(b.op("sigmoid", x), 2.0), 1.0),
    "relu": lambda b, x: b.op("nn.relu", x),
    "relu6": lambda b, x: b.op("clip", x, a_min=0.0, a_max=6.0),
    "relie": lambda b, x: b.op("nn.leaky_relu", x, alpha=0.01),
    "ramp": lambda b, x: b.add(b.op("nn.relu", x), b.mul(x, 0.1)),
    "leaky": lambda b, x: b.op("nn.leaky_relu", x, alpha=0.1),
    "tanh": lambda b, x: b.op("tanh", x),
    "elu": _elu,
    "selu": lambda b, x: _elu(b, x, 1.6732, 1.0507),
    "gelu": _gelu,
    "swish": lambda b, x: b.mul(x, b.op("sigmoid", x)),
    "mish": lambda b, x: b.mul(x, b.op("tanh", _softplus(b, x))),
    "hard_mish": _hard_mish,
    "plse": _plse,
    "stair": _stair,
    "hardtan": lambda b, x: b.op("clip", x, a_min=-1.0, a_max=1.0),
    "lhtan": _lhtan,
}


def activated(b: NodeBuilder, x: Value, name: str) -> Value:
    """A tensor under the activation of a name. Raises UnsupportedError for one that is not known."""
    function = ACTIVATIONS.get(name)
    if function is None:
        raise b.unsupported(f"the activation {shown(name)} is not supported")
    return function(b, x)
