"""Elementwise operators: arithmetic, comparison, logic, activations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from lamina.dialects.dtypes import is_float, itemsize
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import AnyValue, Builder, Node
from lamina.frontends.onnx.legacy import legacy_operand
from lamina.frontends.onnx.narrow import HELD
from lamina.frontends.onnx.registry import onnx_op

_UNARY = {
    "Relu": "nn.relu",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Erf": "erf",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "Neg": "negative",
    "Abs": "abs",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round",
    "Sign": "sign",
    "IsNaN": "isnan",
    "Not": "logical_not",
    "BitwiseNot": "bitwise_not",
    **{f: f.lower() for f in ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan")},
    **{f: f.lower() for f in ("Sinh", "Cosh", "Asinh", "Acosh", "Atanh")},
}

_BINARY = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Less": "less",
    "Greater": "greater",
    "LessOrEqual": "less_equal",
    "GreaterOrEqual": "greater_equal",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
}


@onnx_op(*_UNARY)
def unary(n: Node, b: Builder) -> Value:
    return b.op(_UNARY[n.op_type], n.input(0))


@onnx_op("Equal", held=True)
def equal(n: Node, b: Builder) -> Value:
    """Strings are equal where their numbers are."""
    x, y = n.input(0), n.input(1)
    if {x.logical, y.logical} & {*HELD} and (x.logical, y.logical) != ("string", "string"):
        raise n.unsupported(f"Equal of {x.logical} and {y.logical} is not supported", "cast to float32 first")
    return b.op("equal", b.plain(x), legacy_operand(n, b, x, b.plain(y)))


@onnx_op(*_BINARY)
def binary(n: Node, b: Builder) -> Value:
    x, y = n.input(0), n.input(1)
    return b.op(_BINARY[n.op_type], x, legacy_operand(n, b, x, y))


@onnx_op("Identity")
def identity(n: Node, b: Builder) -> AnyValue:
    return n.any(0)


@onnx_op("Reciprocal")
def reciprocal(n: Node, b: Builder) -> Value:
    x = n.input(0)
    return b.op("divide", b.scalar(1.0, x), x)


@onnx_op("Div")
def divide(n: Node, b: Builder) -> Value:
    return b.op("divide", n.input(0), legacy_operand(n, b, n.input(0), _divisor(n, b)))


@onnx_op("Mod")
def modulo(n: Node, b: Builder) -> Value:
    """The sign of the divisor, as Python's %; with fmod = 1 that of the dividend, as C's fmod."""
    fmod = n.attr("fmod", 0)
    if is_float(n.input(0).dtype) and not fmod and n.version < 28:
        raise n.fail("floats need fmod = 1")
    return b.op("mod" if fmod else "floor_mod", n.input(0), _divisor(n, b))


def _divisor(n: Node, b: Builder) -> Value:
    """The divisor; an integer that is known only at run time is checked there, for the result of x / 0 is an error."""
    divisor = n.input(1)
    if is_float(divisor.dtype):
        return divisor
    if divisor.array is None:
        return b.op("check_divisor", divisor)
    if not np.all(divisor.array):
        raise n.fail("divides an integer by zero")
    return divisor


@onnx_op("BitShift")
def bit_shift(n: Node, b: Builder) -> Value:
    direction = n.attr("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise n.fail(f"direction is {direction!r}, expects LEFT or RIGHT")
    return b.op("left_shift" if direction == "LEFT" else "right_shift", n.input(0), n.input(1))


@onnx_op("Pow")
def power(n: Node, b: Builder) -> Value:
    """The exponent may have another type than the base; small whole ones become products, which are exact."""
    x, exponent = n.input(0), legacy_operand(n, b, n.input(0), n.input(1))
    constant = exponent.array
    if constant is not None and constant.size == 1 and exponent.rank <= x.rank:
        number = float(constant.reshape(-1)[0])
        if number in (1.0, 2.0, 3.0) and (number == 1.0 or x.dtype != "bool"):
            return reduce(lambda y, _: b.op("multiply", y, x), range(int(number) - 1), x)
    if is_float(x.dtype):
        return b.op("power", x, b.cast(exponent, x.dtype))
    if is_float(exponent.dtype):
        return _float_power(b, x, exponent)
    return _whole_power(b, x, exponent)


def _float_power(b: Builder, x: Value, exponent: Value) -> Value:
    """An integer to a broken power, without what is behind the point; what is nearly whole is meant to be so."""
    y = b.op("power", b.cast(x, "float64"), b.cast(exponent, "float64"))
    whole = b.op("round", y)
    apart = b.op("abs", b.op("subtract", y, whole))
    near = b.op("less", apart, b.op("multiply", b.op("abs", y), b.scalar(1e-12, y)))
    return b.cast(b.op("where", near, whole, y), x.dtype)


def _whole_power(b: Builder, x: Value, exponent: Value) -> Value:
    """By squares: x to the bits of the exponent. A negative exponent of an integer gives 0, or 1 and -1 of those."""
    bits = itemsize(exponent.dtype) * 8 - (not exponent.dtype.startswith("uint"))
    zero, one = b.scalar(0, exponent), b.scalar(1, exponent)
    result, square = b.scalar(1, x), x
    for k in range(bits):
        bit = b.op("bitwise_and", b.op("right_shift", exponent, b.scalar(k, exponent)), one)
        result = b.op("where", b.op("equal", bit, one), b.op("multiply", result, square), result)
        square = b.op("multiply", square, square)
    if exponent.dtype.startswith("uint"):
        return result
    # 1 / x**n: of all integers only 1 and -1 have one.
    odd = b.op("equal", b.op("bitwise_and", exponent, one), one)
    inverse = b.op("where", b.op("equal", x, b.scalar(1, x)), x, b.scalar(0, x))
    if not x.dtype.startswith("uint"):
        minus = b.op("where", odd, b.scalar(-1, x), b.scalar(1, x))
        inverse = b.op("where", b.op("equal", x, b.scalar(-1, x)), minus, inverse)
    return b.op("where", b.op("less", exponent, zero), inverse, result)


@onnx_op("Sum", "Max", "Min", "Mean")
def variadic(n: Node, b: Builder) -> Value:
    ops = {"Sum": "add", "Mean": "add", "Max": "maximum", "Min": "minimum"}
    values = n.values()
    if not values:
        raise n.fail("there are no inputs")
    total = reduce(lambda x, y: b.op(ops[n.op_type], x, y), values)
    return b.op("divide", total, b.scalar(len(values), total)) if n.op_type == "Mean" else total


@onnx_op("Where")
def where(n: Node, b: Builder) -> Value:
    return b.op("where", n.input(0), n.input(1), n.input(2))


@onnx_op("IsInf")
def is_inf(n: Node, b: Builder) -> Value:
    x = n.input(0)
    found = b.op("isinf", x)
    if not n.attr("detect_positive", 1):
        found = b.op("logical_and", found, b.op("less", x, b.scalar(0, x)))
    if not n.attr("detect_negative", 1):
        found = b.op("logical_and", found, b.op("greater", x, b.scalar(0, x)))
    return found


@onnx_op("Clip")
def clip(n: Node, b: Builder) -> Value:
    """The bounds are attributes until opset 11, then inputs; the upper one wins when they cross."""
    x = n.input(0)
    bounds: list[Value | None] = [None, None]
    if n.version < 11:
        bounds = [b.scalar(n.attrs[k], x) if k in n.attrs else None for k in ("min", "max")]
    else:
        bounds = [n.input(i) if n.has(i) else None for i in (1, 2)]
    for v in bounds:
        if v is not None and math.prod(v.shape) != 1:
            raise n.fail("the bounds must be scalars")
    low, high = (None if v is None else b.reshape(v, ()) for v in bounds)
    if low is not None and high is not None and low.array is not None and high.array is not None and is_float(x.dtype):
        a_min, a_max = float(low.array), float(high.array)
        if a_min <= a_max:
            return b.op("clip", x, a_min=a_min, a_max=a_max)
    if low is not None:
        x = b.op("maximum", x, low)
    return x if high is None else b.op("minimum", x, high)


# -- activations -----------------------------------------------------------------------------------


@onnx_op("LeakyRelu")
def leaky_relu(n: Node, b: Builder) -> Value:
    return b.op("nn.leaky_relu", n.input(0), alpha=n.attr("alpha", 0.01))


@onnx_op("PRelu")
def prelu(n: Node, b: Builder) -> Value:
    """The slope is broadcast to the input; one number a channel of axis 1 is nn.prelu."""
    x, slope = n.input(0), n.input(1)
    if slope.rank > x.rank and set(slope.shape) == {1}:
        slope = b.reshape(slope, ())
    if n.version < 7 and x.rank > 1 and slope.shape == (x.shape[1],):
        slope = b.reshape(slope, (x.shape[1], *[1] * (x.rank - 2)))
    if x.rank > 1 and slope.shape == (x.shape[1], *[1] * (x.rank - 2)):
        return b.op("nn.prelu", x, b.reshape(slope, (x.shape[1],)), axis=1)
    return b.op("where", b.op("greater", x, b.scalar(0, x)), x, b.op("multiply", x, slope))


def _exp_minus_one(b: Builder, x: Value) -> Value:
    """exp(x) - 1 for x <= 0, and 0 above: the branch that is not taken must not overflow."""
    return b.op("subtract", b.op("exp", b.op("minimum", x, b.scalar(0, x))), b.scalar(1, x))


@onnx_op("Elu", "Selu", "Celu")
def elu(n: Node, b: Builder) -> Value:
    """gamma * (x if x > 0 else alpha * (exp(x) - 1)); Celu divides x by alpha inside exp."""
    x = n.input(0)
    selu = n.op_type == "Selu"
    alpha = n.attr("alpha", (1.6732 if n.version < 6 else 1.67326319217681884765625) if selu else 1.0)
    inner = b.op("divide", x, b.scalar(alpha, x)) if n.op_type == "Celu" and alpha != 1.0 else x
    below = _exp_minus_one(b, inner)
    if alpha != 1.0:
        below = b.op("multiply", below, b.scalar(alpha, x))
    y = b.op("where", b.op("greater", x, b.scalar(0, x)), x, below)
    gamma = n.attr("gamma", 1.0507 if n.version < 6 else 1.05070102214813232421875) if selu else 1.0
    return y if gamma == 1.0 else b.op("multiply", y, b.scalar(gamma, y))


@onnx_op("HardSigmoid")
def hard_sigmoid(n: Node, b: Builder) -> Value:
    return _hard_sigmoid(b, n.input(0), n.attr("alpha", 0.2), n.attr("beta", 0.5))


def _hard_sigmoid(b: Builder, x: Value, alpha: float, beta: float) -> Value:
    line = b.op("add", b.op("multiply", x, b.scalar(alpha, x)), b.scalar(beta, x))
    return b.op("clip", line, a_min=0.0, a_max=1.0)


@onnx_op("HardSwish")
def hard_swish(n: Node, b: Builder) -> Value:
    x = n.input(0)
    return b.op("multiply", x, _hard_sigmoid(b, x, 1 / 6, 0.5))


@onnx_op("Swish")
def swish(n: Node, b: Builder) -> Value:
    x = n.input(0)
    alpha = n.attr("alpha", 1.0)
    inner = x if alpha == 1.0 else b.op("multiply", x, b.scalar(alpha, x))
    return b.op("multiply", x, b.op("sigmoid", inner))


def _softplus(b: Builder, x: Value) -> Value:
    """log(1 + exp(x)) as max(x, 0) + log1p(exp(-|x|)): exp never overflows, and what is small is not lost beside 1."""
    tail = b.op("exp", b.op("negative", b.op("abs", x)))
    return b.op("add", b.op("nn.relu", x), b.op("log1p", tail))


@onnx_op("Softplus")
def softplus(n: Node, b: Builder) -> Value:
    return _softplus(b, n.input(0))


@onnx_op("Mish")
def mish(n: Node, b: Builder) -> Value:
    x = n.input(0)
    return b.op("multiply", x, b.op("tanh", _softplus(b, x)))


@onnx_op("Softsign")
def softsign(n: Node, b: Builder) -> Value:
    x = n.input(0)
    return b.op("divide", x, b.op("add", b.op("abs", x), b.scalar(1, x)))


@onnx_op("ThresholdedRelu")
def thresholded_relu(n: Node, b: Builder) -> Value:
    x = n.input(0)
    above = b.op("greater", x, b.scalar(n.attr("alpha", 1.0), x))
    return b.op("where", above, x, b.scalar(0, x))


@onnx_op("Gelu")
def gelu(n: Node, b: Builder) -> Value:
    """x/2 * (1 + erf(x / sqrt 2)), or the tanh approximation of it."""
    x = n.input(0)
    kind = n.attr("approximate", "none")
    if kind == "none":
        bell = b.op("erf", b.op("multiply", x, b.scalar(math.sqrt(0.5), x)))
    elif kind == "tanh":
        cubic = _product(b, [x, x, x, b.scalar(0.044715, x)])
        bell = b.op("tanh", b.op("multiply", b.op("add", x, cubic), b.scalar(math.sqrt(2 / math.pi), x)))
    else:
        raise n.fail(f"approximate is {kind!r}, expects none or tanh")
    return _product(b, [b.op("multiply", x, b.scalar(0.5, x)), b.op("add", bell, b.scalar(1, x))])


def _product(b: Builder, factors: Sequence[Value]) -> Value:
    return reduce(lambda x, y: b.op("multiply", x, y), factors)
