"""Functions of single elements: arithmetic, comparisons, choices, activations."""

from __future__ import annotations

from collections.abc import Callable

from lamina.frontends.aten.elsewhere import aten
from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE

_RELAY = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan",
    "Atanh": "atanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "Invert": "bitwise_not", "IsFinite": "isfinite", "IsInf": "isinf", "IsNan": "isnan", "Log": "log",
    "Log1p": "log1p", "LogicalNot": "logical_not", "Neg": "negative", "Relu": "nn.relu", "Rint": "round",
    "Round": "round", "Rsqrt": "rsqrt", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
    "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
    "Add": "add", "AddV2": "add", "Sub": "subtract", "Mul": "multiply", "Maximum": "maximum", "Minimum": "minimum",
    "Pow": "power", "RealDiv": "divide", "Div": "divide", "FloorDiv": "floor_divide", "FloorMod": "floor_mod",
    "Mod": "trunc_mod", "TruncateMod": "trunc_mod", "TruncateDiv": "trunc_divide", "Equal": "equal",
    "NotEqual": "not_equal", "Less": "less", "LessEqual": "less_equal", "Greater": "greater",
    "GreaterEqual": "greater_equal", "LogicalAnd": "logical_and", "LogicalOr": "logical_or",
    "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "LeftShift": "left_shift",
    "RightShift": "right_shift",
}  # fmt: skip
"""Operators that are one of relay's on the same operands."""
_ATEN = {
    "Atan2": "atan2", "Digamma": "digamma", "Erfc": "erfc", "Erfinv": "erfinv", "Expm1": "expm1", "Lgamma": "lgamma",
    "Softplus": "softplus", "Selu": "selu", "Elu": "elu", "Softsign": "softsign",
}  # fmt: skip
"""Operators that ATen has too."""


def _relay(name: str) -> Callable[..., Value]:
    def convert(b: NodeBuilder, node: NetworkNode, *operands: Value) -> Value:
        return b.op(name, *operands)

    return convert


def _aten(name: str) -> Callable[..., Value]:
    def convert(b: NodeBuilder, node: NetworkNode, *operands: Value) -> Value:
        return aten(b, name, *operands)

    return convert


for _name, _op in _RELAY.items():
    TABLE.op(_name)(_relay(_op))
for _name, _op in _ATEN.items():
    TABLE.op(_name)(_aten(_op))


# -- arithmetic --------------------------------------------------------------------------------------


@TABLE.op("Square")
def square(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.mul(x, x)


@TABLE.op("SquaredDifference")
def squared_difference(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return square(b, node, b.sub(x, y))


@TABLE.op("Inv", "Reciprocal")
def reciprocal(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.div(b.tensor(1, x.dtype), x)


@TABLE.op("AddN", "AccumulateNV2")
def sum_of_all(b: NodeBuilder, node: NetworkNode, first: Value, *rest: Value) -> Value:
    for value in rest:
        first = b.add(first, value)
    return first


def _unless_zero(b: NodeBuilder, by: Value, result: Callable[[Value], Value]) -> Value:
    """A result for what is not zero, 0 for what is; the branch that is not taken is given 1."""
    none = b.one("equal", by, 0)
    return b.choose(none, 0, result(b.choose(none, 1, by)))


@TABLE.op("DivNoNan")
def div_no_nan(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return _unless_zero(b, y, lambda divisor: b.div(x, divisor))


@TABLE.op("MulNoNan")
def mul_no_nan(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return b.choose(b.one("equal", y, 0), 0, b.mul(x, y))


@TABLE.op("Xdivy")
def x_by_y(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return b.choose(b.one("equal", x, 0), 0, b.div(x, y))


@TABLE.op("Xlogy")
def x_log_y(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return b.choose(b.one("equal", x, 0), 0, b.mul(x, b.op("log", y)))


@TABLE.op("Xlog1py")
def x_log1p_y(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return b.choose(b.one("equal", x, 0), 0, b.mul(x, b.op("log1p", y)))


@TABLE.op("ApproximateEqual")
def approximate_equal(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    return b.one("less", b.op("abs", b.sub(x, y)), float(node.attr("tolerance", 1e-5)))


@TABLE.op("Cast", "Bitcast")
def cast(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Numbers of another type; of floats the fraction is cut off. A bitcast is of elements of one width."""
    dtype = str(node.attr("DstT" if node.op == "Cast" else "type"))
    if node.op == "Bitcast":
        return b.op("reinterpret", x, dtype=dtype)
    return b.cast(x, dtype)


@TABLE.op("ClipByValue")
def clip_by_value(b: NodeBuilder, node: NetworkNode, x: Value, low: Value, high: Value) -> Value:
    return b.op("maximum", b.op("minimum", x, high), low)


# -- choices -----------------------------------------------------------------------------------------


@TABLE.op("SelectV2")
def select(b: NodeBuilder, node: NetworkNode, condition: Value, x: Value, y: Value) -> Value:
    return b.op("where", condition, x, y)


@TABLE.op("Select")
def select_rows(b: NodeBuilder, node: NetworkNode, condition: Value, x: Value, y: Value) -> Value:
    """A condition of rank 1 chooses among the slices of the first axis."""
    if condition.rank == 1 and x.rank > 1:
        condition = b.reshape(condition, (condition.shape[0], *[1] * (x.rank - 1)))
    return b.op("where", condition, x, y)


# -- activations -------------------------------------------------------------------------------------


@TABLE.op("Relu6")
def relu6(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.op("clip", x, a_min=0.0, a_max=6.0)


@TABLE.op("LeakyRelu")
def leaky_relu(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.op("nn.leaky_relu", x, alpha=float(node.attr("alpha", 0.2)))


# -- quantisation in training --------------------------------------------------------------------------


def nudged(low: Value | float, high: Value | float, node: NetworkNode, b: NodeBuilder) -> tuple[Value, Value, Value]:
    """The bounds moved so that zero is one of the steps, and the step (tensorflow/core/kernels/fake_quant_ops)."""
    bits, narrow = int(node.attr("num_bits", 8)), bool(node.attr("narrow_range", False))
    if not 2 <= bits <= 16:
        raise b.fail(f"{bits} bits, expects 2 to 16")
    least, most = (b.tensor(float(v), "float32") for v in (narrow, (1 << bits) - 1))
    lower, upper = b.tensor(low, "float32"), b.tensor(high, "float32")
    step = b.div(b.sub(upper, lower), b.sub(most, least))
    zero = b.op("floor", b.add(b.sub(least, b.div(lower, step)), 0.5))
    inside = b.op("minimum", b.op("maximum", zero, least), most)
    return b.mul(b.sub(least, inside), step), b.mul(b.sub(most, inside), step), step


@TABLE.op("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quantized(b: NodeBuilder, node: NetworkNode, x: Value, low: Value | float, high: Value | float) -> Value:
    """x at the nearest of the steps between the bounds."""
    lower, upper, step = nudged(low, high, node, b)
    shifted = b.sub(b.op("maximum", b.op("minimum", x, upper), lower), lower)
    return b.add(b.mul(b.op("floor", b.add(b.div(shifted, step), 0.5)), step), lower)


@TABLE.op("FakeQuantWithMinMaxArgs")
def fake_quantized_args(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return fake_quantized(b, node, x, float(node.attr("min", -6.0)), float(node.attr("max", 6.0)))
