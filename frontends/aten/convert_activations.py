"""Activations, and the gradients of those that torch leaves whole."""

from __future__ import annotations

import math
from typing import Any

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import computed, var
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.equations import AtenTable, Promotion, aten, default
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

x, y, g = var("x y g")
slope = default("slope", 0.01)

same = AtenTable(Promotion.SAME)


@computed
def real(number: float) -> float:
    """A number as an attribute of floats."""
    return float(number)


same += aten.relu(x) >> r.nn.relu(x)
same += aten.relu6(x) >> r.clip(x, a_min=0.0, a_max=6.0)
same += aten.leaky_relu(x, slope) >> r.nn.leaky_relu(x, alpha=real(slope))
same += aten.silu(x) >> x * r.sigmoid(x)
same += aten.hardsigmoid(x) >> r.clip(x * (1 / 6) + 0.5, a_min=0.0, a_max=1.0)
same += aten.hardswish(x) >> x * r.clip(x * (1 / 6) + 0.5, a_min=0.0, a_max=1.0)
same += aten.tanhshrink(x) >> x - r.tanh(x)
same += aten.softsign(x) >> x / (r.abs(x) + 1.0)
same += (
    aten.gelu(x, approximate="none")
    >> (x * 0.5) * (r.erf(x * math.sqrt(0.5)) + 1.0)
)  # fmt: skip
same += (
    aten.gelu(x, approximate="tanh")
    >> (x * 0.5) * (r.tanh((x + ((x * x) * x) * 0.044715) * math.sqrt(2 / math.pi)) + 1.0)
)  # fmt: skip
same += aten.tanh_backward(g, y) >> g * (1.0 - y * y)
same += aten.sigmoid_backward(g, y) >> g * (y * (1.0 - y))


def _exp_minus_one(b: AtenBuilder, x: Value) -> Value:
    """exp(x) - 1 of what is not above 0: the branch that is not taken must not overflow."""
    return b.sub(b.op("exp", b.one("minimum", x, 0.0)), 1.0)


@aten_op("elu", "elu_")
def elu(b: AtenBuilder, self: Value, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Value:
    below = b.mul(_exp_minus_one(b, b.mul(self, input_scale)), alpha)
    found = b.choose(b.one("greater", self, 0.0), self, below)
    return found if scale == 1 else b.mul(found, scale)


@aten_op("celu")
def celu(b: AtenBuilder, self: Value, alpha: Any = 1.0) -> Value:
    return b.choose(b.one("greater", self, 0.0), self, b.mul(_exp_minus_one(b, b.div(self, alpha)), alpha))


@aten_op("selu")
def selu(b: AtenBuilder, self: Value) -> Value:
    return elu(b, self, 1.6732632423543772, 1.0507009873554805)


@aten_op("hardtanh")
def hardtanh(b: AtenBuilder, self: Value, min_val: Any = -1, max_val: Any = 1) -> Value:
    if self.dtype.startswith(("int", "uint")):
        return b.one("minimum", b.one("maximum", self, int(min_val)), int(max_val))
    return b.op("clip", self, a_min=float(min_val), a_max=float(max_val))


def softplus_of(b: AtenBuilder, x: Value) -> Value:
    """log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|)): exp never overflows, and what is small is not lost beside 1."""
    return b.add(b.op("nn.relu", x), b.op("log1p", b.op("exp", b.op("negative", b.op("abs", x)))))


@aten_op("softplus")
def softplus(b: AtenBuilder, self: Value, beta: Any = 1, threshold: Any = 20) -> Value:
    scaled = self if beta == 1 else b.mul(self, beta)
    soft = softplus_of(b, scaled)
    found = soft if beta == 1 else b.div(soft, beta)
    # Above 20 the two agree in single precision.
    return found if threshold >= 20 else b.choose(b.one("greater", scaled, threshold), self, found)


@aten_op("mish")
def mish(b: AtenBuilder, self: Value) -> Value:
    return b.mul(self, b.op("tanh", softplus_of(b, self)))


@aten_op("log_sigmoid")
def log_sigmoid(b: AtenBuilder, self: Value) -> Value:
    return b.op("negative", softplus_of(b, b.op("negative", self)))


@aten_op("log_sigmoid_forward")
def log_sigmoid_forward(b: AtenBuilder, self: Value) -> tuple[Value, Value]:
    """The second result is a buffer of the CPU's kernel, exp(-|x|), for the gradient."""
    return log_sigmoid(b, self), b.op("exp", b.op("negative", b.op("abs", self)))


@aten_op("softshrink")
def softshrink(b: AtenBuilder, self: Value, lambd: Any = 0.5) -> Value:
    above, below = b.one("greater", self, lambd), b.one("less", self, -lambd)
    shrunk = b.choose(above, b.sub(self, lambd), b.choose(below, b.add(self, lambd), 0.0))
    return b.choose(b.op("isnan", self), self, shrunk)


@aten_op("hardshrink")
def hardshrink(b: AtenBuilder, self: Value, lambd: Any = 0.5) -> Value:
    inside = b.op("logical_and", b.one("greater_equal", self, -lambd), b.one("less_equal", self, lambd))
    return b.choose(inside, 0.0, self)


@aten_op("threshold")
def threshold(b: AtenBuilder, self: Value, threshold: Any, value: Any) -> Value:
    return b.choose(b.one("less_equal", self, threshold), value, self)


@aten_op("threshold_backward")
def threshold_backward(b: AtenBuilder, grad_output: Value, self: Value, threshold: Any) -> Value:
    return b.choose(b.one("less_equal", self, threshold), 0.0, grad_output)


@aten_op("prelu", "_prelu_kernel")
def prelu(b: AtenBuilder, self: Value, weight: Value) -> Value:
    """A slope for each channel of axis 1, or one for all; the kernel's broadcasts already."""
    assert b.call is not None
    if b.call.packet == "prelu" and weight.rank <= 1:
        count = weight.shape[0] if weight.rank else 1
        if self.rank > 1 and count == self.shape[1]:
            return b.op("nn.prelu", self, b.reshape(weight, (count,)), axis=1)
        weight = b.reshape(weight, (count,) if self.rank else ())
    return b.choose(b.one("greater", self, 0.0), self, b.mul(self, weight))


@aten_op("glu")
def glu(b: AtenBuilder, self: Value, dim: int = -1) -> Value:
    first, second = b.ops("split", self, indices_or_sections=2, axis=b.axis(dim, self.rank))
    return b.mul(first, b.op("sigmoid", second))


@aten_op("rrelu", "rrelu_with_noise")
def rrelu(b: AtenBuilder, self: Value, *args: Any, lower: float = 0.125, upper: float = 1 / 3, training: bool = False,
          **_: Any) -> Value:  # fmt: skip
    """Outside of training the slope is the mean of its bounds."""
    given = [v for v in args if not isinstance(v, Value)]
    lower, upper = (*given[:2], lower, upper)[:2] if len(given) >= 2 else (lower, upper)
    if any(v is True for v in given) or training:
        raise b.unsupported("training with random slopes is not supported")
    return b.op("nn.leaky_relu", self, alpha=(lower + upper) / 2)
