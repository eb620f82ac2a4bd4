"""Operators on elements: of one tensor, of two, of one and a number."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder

_UNARY = {"abs": "abs", "sign": "sign", "ceil": "ceil", "floor": "floor", "trunc": "trunc", "fix": "trunc",
          "sqrt": "sqrt", "rsqrt": "rsqrt", "exp": "exp", "log": "log", "log10": "log10",
          "log2": "log2", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
          "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
          "arccosh": "acosh", "arctanh": "atanh", "negative": "negative", "relu": "nn.relu", "sigmoid": "sigmoid",
          "erf": "erf"}  # fmt: skip
_NUMERIC = {"add": "add", "plus": "add", "sub": "subtract", "minus": "subtract", "mul": "multiply", "div": "divide",
            "mod": "floor_mod", "power": "power", "maximum": "maximum", "minimum": "minimum"}  # fmt: skip
_COMPARED = {"equal": "equal", "not_equal": "not_equal", "greater": "greater", "greater_equal": "greater_equal",
             "lesser": "less", "lesser_equal": "less_equal", "logical_and": "logical_and",
             "logical_or": "logical_or", "logical_xor": "logical_xor"}  # fmt: skip
_OLD = {"_Plus": "add", "_Minus": "subtract", "_Mul": "multiply", "_Div": "divide", "_Power": "power",
        "_Maximum": "maximum", "_Minimum": "minimum", "_grad_add": "add"}  # fmt: skip
_OLD_SCALAR = {"_PlusScalar": "_plus_scalar", "_MinusScalar": "_minus_scalar", "_RMinusScalar": "_rminus_scalar",
               "_MulScalar": "_mul_scalar", "_DivScalar": "_div_scalar", "_RDivScalar": "_rdiv_scalar",
               "_PowerScalar": "_power_scalar", "_MaximumScalar": "_maximum_scalar",
               "_MinimumScalar": "_minimum_scalar"}  # fmt: skip
_FLIPPED = ("rminus", "rdiv", "rpower", "rmod")


@TABLE.op(*_UNARY)
def unary(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A function of each element."""
    return b.op(_UNARY[node.op], x)


_COMPOSED: dict[str, Callable[[NodeBuilder, Value], Value]] = {
    "square": lambda b, x: b.mul(x, x),
    "reciprocal": lambda b, x: b.div(b.filled(1, (), x.dtype), x),
    "expm1": lambda b, x: b.sub(b.op("exp", x), 1.0),
    "cbrt": lambda b, x: b.mul(b.op("sign", x), b.one("power", b.op("abs", x), 1 / 3)),
    "rcbrt": lambda b, x: b.mul(b.op("sign", x), b.one("power", b.op("abs", x), -1 / 3)),
    "degrees": lambda b, x: b.mul(x, 180 / pi),
    "radians": lambda b, x: b.mul(x, pi / 180),
    "softsign": lambda b, x: b.div(x, b.add(b.op("abs", x), 1.0)),
    "rint": lambda b, x: b.choose(b.one("greater", b.sub(x, b.op("floor", x)), 0.5), b.op("ceil", x), b.op("floor", x)),
    "round": lambda b, x: b.mul(b.op("sign", x), b.op("floor", b.add(b.op("abs", x), 0.5))),
    "logical_not": lambda b, x: b.cast(b.one("equal", x, 0), x.dtype),
    "zeros_like": lambda b, x: b.zeros(x.shape, x.dtype),
    "ones_like": lambda b, x: b.filled(1, x.shape, x.dtype),
}


@TABLE.op(*_COMPOSED)
def composed(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A function of each element, of several ops."""
    return _COMPOSED[node.op](b, x)


@TABLE.op("hard_sigmoid")
def hard_sigmoid(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """alpha x + beta, within 0 and 1."""
    attrs = TextAttributes(node)
    line = b.add(b.mul(x, attrs.float("alpha", 0.2)), attrs.float("beta", 0.5))
    return b.op("clip", line, a_min=0.0, a_max=1.0)


@TABLE.op("smooth_l1")
def smooth_l1(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """(s x)^2 / 2 near zero, |x| - 1 / (2 s^2) elsewhere, s squared being the bound."""
    square = TextAttributes(node).float("scalar", 1.0) ** 2
    far = b.one("greater", b.op("abs", x), 1 / square)
    return b.choose(far, b.sub(b.op("abs", x), 0.5 / square), b.mul(b.mul(x, x), 0.5 * square))


@TABLE.op("clip")
def clip(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Elements within [a_min, a_max]."""
    attrs = TextAttributes(node)
    return b.op("clip", x, a_min=attrs.float("a_min"), a_max=attrs.float("a_max"))


@TABLE.op("Cast", "cast", "amp_cast")
def cast(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Another element type."""
    return b.cast(x, TextAttributes(node).word("dtype", "float32"))


@TABLE.op("amp_multicast")
def multicast(b: NodeBuilder, node: NetworkNode, *given: Value) -> list[Value]:
    """Floats of the widest type among them."""
    widths = ["float16", "float32", "float64"]
    widest = max((x.dtype for x in given), key=widths.index)
    return [b.cast(x, widest) for x in given]


def _binary(b: NodeBuilder, name: str, x: Value, y: Value) -> Value:
    if name in _COMPARED.values():
        if name.startswith("logical"):
            return b.cast(b.op(name, b.cast(x, "bool"), b.cast(y, "bool")), x.dtype)
        return b.cast(b.op(name, x, y), x.dtype)
    return b.op(name, x, y)


@TABLE.op(*[f"{p}_{n}" for n in (*_NUMERIC, *_COMPARED) for p in ("broadcast", "")], *_OLD,
          *[f"elemwise_{n}" for n in ("add", "sub", "mul", "div")])  # fmt: skip
def binary(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    """A function of two tensors, whose axes broadcast; comparisons give 0 and 1 of the tensors' type."""
    short = node.op.removeprefix("broadcast_").removeprefix("elemwise_").removeprefix("_")
    name = _OLD.get(node.op) or {**_NUMERIC, **_COMPARED}[short]
    return _binary(b, name, x, y)


@TABLE.op("_hypot", "broadcast_hypot")
def hypot(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    """sqrt(x^2 + y^2)."""
    return b.op("sqrt", b.add(b.mul(x, x), b.mul(y, y)))


@TABLE.op(*[f"_{n}_scalar" for n in (*_NUMERIC, *_COMPARED, *_FLIPPED) if n not in ("add", "sub")], *_OLD_SCALAR)
def scalar(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """A function of a tensor and a number, of the tensor's type."""
    op = _OLD_SCALAR.get(node.op, node.op)
    short = op.removeprefix("_").removesuffix("_scalar")
    y = b.scalar(TextAttributes(node).float("scalar"), x)
    if short in _FLIPPED:
        return _binary(b, _NUMERIC[short[1:]], y, x)
    return _binary(b, {**_NUMERIC, **_COMPARED}[short], x, y)


@TABLE.op("add_n", "ElementWiseSum")
def add_n(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """The sum of tensors."""
    total = given[0]
    for x in given[1:]:
        total = b.add(total, x)
    return total


@TABLE.op("where")
def where(b: NodeBuilder, node: NetworkNode, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition is not zero, else y; a condition of rank 1 chooses rows."""
    chosen = b.cast(condition, "bool")
    if chosen.rank == 1 and x.rank > 1:
        chosen = b.reshape(chosen, (chosen.shape[0], *[1] * (x.rank - 1)))
    return b.op("where", chosen, x, y)


@TABLE.op("_contrib_div_sqrt_dim")
def div_sqrt_dim(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """x by the root of its last extent."""
    return b.mul(x, x.shape[-1] ** -0.5)
