"""Operations of keras.ops that are elementwise or sum up."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.keras import activations
from lamina.frontends.keras.promotion import both, floating, tensor
from lamina.frontends.keras.table import operation
from lamina.frontends.keras.tensors import listed
from lamina.frontends.network import NodeBuilder

# -- of two operands -------------------------------------------------------------------------------

_BINARY = {
    "Add": "add", "Subtract": "subtract", "Multiply": "multiply", "Power": "power", "Maximum": "maximum",
    "Minimum": "minimum", "Mod": "floor_mod", "Equal": "equal", "NotEqual": "not_equal", "Greater": "greater",
    "GreaterEqual": "greater_equal", "Less": "less", "LessEqual": "less_equal",
}  # fmt: skip
_LOGICAL = {"LogicalAnd": "logical_and", "LogicalOr": "logical_or", "LogicalXor": "logical_xor"}


def _register_binary(name: str, op: str, logical: bool = False) -> None:
    @operation(name)
    def convert(b: NodeBuilder, x1: Any, x2: Any) -> Value:
        x, y = both(b, x1, x2)
        return b.op(op, *((b.cast(v, "bool") for v in (x, y)) if logical else (x, y)))


for _name, _op in _BINARY.items():
    _register_binary(_name, _op)
for _name, _op in _LOGICAL.items():
    _register_binary(_name, _op, logical=True)


@operation("Divide", "TrueDivide")
def divide(b: NodeBuilder, x1: Any, x2: Any) -> Value:
    x, y = both(b, x1, x2)
    return b.op("divide", floating(b, x), floating(b, y))


@operation("FloorDivide")
def floor_divide(b: NodeBuilder, x1: Any, x2: Any) -> Value:
    return b.op("floor_divide", *both(b, x1, x2))


@operation("Where")
def where(b: NodeBuilder, condition: Any, x1: Any, x2: Any) -> Value:
    return b.op("where", b.cast(tensor(b, condition), "bool"), *both(b, x1, x2))


# -- of one operand --------------------------------------------------------------------------------

_UNARY = {
    "Exp": "exp", "Log": "log", "Log1p": "log1p", "Log2": "log2", "Log10": "log10", "Sqrt": "sqrt", "Rsqrt": "rsqrt",
    "Sin": "sin", "Cos": "cos", "Tan": "tan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Arcsin": "asin",
    "Arccos": "acos", "Arctan": "atan", "Arcsinh": "asinh", "Arccosh": "acosh", "Arctanh": "atanh", "Erf": "erf",
    "Sigmoid": "sigmoid", "Ceil": "ceil", "Floor": "floor",
}  # fmt: skip
"""Functions of real numbers."""
_SAME = {"Negative": "negative", "Absolute": "abs", "Abs": "abs", "Sign": "sign", "Trunc": "trunc"}
"""Functions whose results have the type of the operand."""
_TESTS = {"Isnan": "isnan", "Isinf": "isinf", "Isfinite": "isfinite"}


def _register_unary(name: str, op: str, real: bool) -> None:
    @operation(name)
    def convert(b: NodeBuilder, x: Any) -> Value:
        value = tensor(b, x)
        return b.op(op, floating(b, value) if real else value)


for _name, _op in {**_UNARY, **_TESTS}.items():
    _register_unary(_name, _op, True)
for _name, _op in _SAME.items():
    _register_unary(_name, _op, False)


@operation("LogicalNot")
def logical_not(b: NodeBuilder, x: Value) -> Value:
    return b.op("logical_not", b.cast(x, "bool"))


@operation("Square")
def square(b: NodeBuilder, x: Value) -> Value:
    return b.mul(x, x)


@operation("Reciprocal")
def reciprocal(b: NodeBuilder, x: Value) -> Value:
    value = floating(b, x)
    return b.op("divide", b.tensor(1.0, value.dtype), value)


@operation("Expm1")
def expm1(b: NodeBuilder, x: Value) -> Value:
    """exp(x) - 1: near 0 by 2 sinh(x / 2) exp(x / 2), which loses no digits."""
    value = floating(b, x)
    half = b.mul(value, 0.5)
    near = b.mul(b.mul(b.op("sinh", half), b.op("exp", half)), 2.0)
    return b.choose(b.op("less", b.op("abs", value), b.scalar(0.5, value)), near, b.sub(b.op("exp", value), 1.0))


@operation("Round")
def round_(b: NodeBuilder, x: Value, decimals: int = 0) -> Value:
    if not decimals:
        return b.op("round", x)
    factor = 10.0 ** int(decimals)
    return b.div(b.op("round", b.mul(x, factor)), factor)


@operation("Clip")
def clip(b: NodeBuilder, x: Value, x_min: Any = None, x_max: Any = None) -> Value:
    found = x
    for bound, op in ((x_min, "maximum"), (x_max, "minimum")):
        if bound is not None:
            found = b.op(op, *both(b, found, bound))
    return found


@operation("Cast", "SaturateCast")
def cast(b: NodeBuilder, x: Value, dtype: Any = "float32") -> Value:
    return b.cast(x, dtype_of(dtype))


def dtype_of(given: Any) -> str:
    """The type of an argument: Keras's names, and `float` and `int` for its defaults."""
    return {"float": "float32", "int": "int32"}.get(str(given), str(given))


@operation("StopGradient", "Copy", "ConvertToTensor")
def same(b: NodeBuilder, x: Value, *_: Any, dtype: Any = None, **__: Any) -> Value:
    return x if dtype is None else b.cast(x, dtype_of(dtype))


# -- activations -----------------------------------------------------------------------------------

_ACTIVATIONS = {
    "Relu": "relu", "ReLU": "relu", "Relu6": "relu6", "LeakyRelu": "leaky_relu", "Elu": "elu", "Selu": "selu",
    "Celu": "celu", "Softplus": "softplus", "Softsign": "softsign", "SoftShrink": "soft_shrink", "Silu": "silu",
    "SparsePlus": "sparse_plus", "SparseSigmoid": "sparse_sigmoid", "Squareplus": "squareplus", "Gelu": "gelu",
    "LogSigmoid": "log_sigmoid", "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu", "HardTanh": "hard_tanh",
    "HardShrink": "hard_shrink", "TanhShrink": "tanh_shrink", "Threshold": "threshold", "Glu": "glu", "Mish": "mish",
    "Softmax": "softmax", "LogSoftmax": "log_softmax", "Sparsemax": "sparsemax",
}  # fmt: skip


def _register_activation(name: str, function: str) -> None:
    @operation(name)
    def convert(b: NodeBuilder, x: Value, **given: Any) -> Value:
        named = {{"b": "constant"}.get(k, k): v for k, v in given.items()}
        if name in ("Softmax", "LogSoftmax") and "axis" in named and named["axis"] is None:
            flat = b.reshape(floating(b, x), (int(np.prod(x.shape)),))
            return b.reshape(activations.FUNCTIONS[function](b, flat), x.shape)
        return activations.FUNCTIONS[function](b, floating(b, x), **named)


for _name, _function in _ACTIVATIONS.items():
    _register_activation(_name, _function)


# -- sums and their kin ----------------------------------------------------------------------------

_REDUCTIONS = {"Max": "max", "Amax": "max", "Min": "min", "Amin": "min", "Any": "any", "All": "all"}


def _axes(b: NodeBuilder, axis: Any, rank: int) -> list[int]:
    return b.axes(None if axis is None else listed(axis), rank)


def _register_reduction(name: str, op: str) -> None:
    @operation(name)
    def convert(b: NodeBuilder, x: Value, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Value:
        value = b.cast(x, "bool") if op in ("any", "all") else x
        if initial is not None:
            raise b.unsupported("an initial value is not supported")
        return b.op(op, value, axis=_axes(b, axis, x.rank), keepdims=bool(keepdims))


for _name, _op in _REDUCTIONS.items():
    _register_reduction(_name, _op)


@operation("Sum", "Prod")
def total(b: NodeBuilder, x: Value, axis: Any = None, keepdims: bool = False, dtype: Any = None, **_: Any) -> Value:
    """The sum, or by the name of the node the product; of narrow integers in 32 bits."""
    wide = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
    value = b.cast(x, dtype_of(dtype) if dtype is not None else wide.get(x.dtype, x.dtype))
    op = "prod" if b.node is not None and b.node.op == "ops.Prod" else "sum"
    return b.op(op, value, axis=_axes(b, axis, x.rank), keepdims=bool(keepdims))


@operation("Mean")
def mean(b: NodeBuilder, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    return b.op("mean", floating(b, x), axis=_axes(b, axis, x.rank), keepdims=bool(keepdims))


@operation("Var", "Std")
def variance(b: NodeBuilder, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """The variance, or by the name of the node its root."""
    value, axes = floating(b, x), _axes(b, axis, x.rank)
    away = b.sub(value, b.op("mean", value, axis=axes, keepdims=True))
    found = b.op("mean", b.mul(away, away), axis=axes, keepdims=bool(keepdims))
    return b.op("sqrt", found) if b.node is not None and b.node.op == "ops.Std" else found


@operation("Moments")
def moments(
    b: NodeBuilder, x: Value, axes: Any = None, keepdims: bool = False, synchronized: bool = False
) -> list[Value]:  # noqa: E501
    return [mean(b, x, axes, keepdims), variance(b, x, axes, keepdims)]


@operation("Argmax", "Argmin")
def arg_extreme(b: NodeBuilder, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    name = "argmin" if b.node is not None and b.node.op == "ops.Argmin" else "argmax"
    value = x if axis is not None else b.reshape(x, (int(np.prod(x.shape)),))
    at = b.axis(int(axis), x.rank) if axis is not None else 0
    found = b.cast(b.op(name, value, axis=[at], keepdims=bool(keepdims) and axis is not None), "int32")
    return b.reshape(found, [1] * x.rank) if keepdims and axis is None else found


@operation("Logsumexp")
def logsumexp(b: NodeBuilder, x: Value, axis: Any = None, keepdims: bool = False) -> Value:
    axes = _axes(b, axis, x.rank)
    most = b.op("max", x, axis=axes, keepdims=True)
    found = b.add(b.op("log", b.op("sum", b.op("exp", b.sub(x, most)), axis=axes, keepdims=True)), most)
    return found if keepdims else b.reshape(found, [e for a, e in enumerate(x.shape) if a not in axes])


@operation("Cumsum", "Cumprod")
def cumulated(b: NodeBuilder, x: Value, axis: Any = None, dtype: Any = None) -> Value:
    name = "cumprod" if b.node is not None and b.node.op == "ops.Cumprod" else "cumsum"
    value = x if dtype is None else b.cast(x, dtype_of(dtype))
    value = b.cast(value, "int32") if value.dtype == "bool" else value
    if axis is None:
        return b.op(name, b.reshape(value, (int(np.prod(x.shape)),)), axis=0)
    return b.op(name, value, axis=b.axis(int(axis), x.rank))


@operation("Norm")
def norm(b: NodeBuilder, x: Value, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Value:
    """The Euclidean length, or the sum or the largest of the absolute numbers of vectors."""
    axes = _axes(b, axis, x.rank)
    value = floating(b, x)
    if ord in (None, "euclidean", 2, "fro") and (ord is None or ord == "fro" or len(axes) == 1):
        return b.op("sqrt", b.op("sum", b.mul(value, value), axis=axes, keepdims=bool(keepdims)))
    if ord in (1, float("inf")) and len(axes) == 1:
        return b.op("sum" if ord == 1 else "max", b.op("abs", value), axis=axes, keepdims=bool(keepdims))
    raise b.unsupported(f"the norm {ord!r} is not supported")


@operation("Normalize")
def normalize(b: NodeBuilder, x: Value, axis: Any = -1, order: Any = 2, epsilon: Any = None) -> Value:
    """x over its length along an axis."""
    from lamina.frontends.keras.convert_norm import unit

    if order != 2:
        raise b.unsupported(f"the norm {order!r} is not supported")
    return unit(b, floating(b, x), _axes(b, axis, x.rank), 1e-7 if epsilon is None else float(epsilon))


# -- products --------------------------------------------------------------------------------------


@operation("Matmul", "Dot")
def matmul(b: NodeBuilder, x1: Any, x2: Any) -> Value:
    """The product of stacks of matrices; a vector is a row in front or a column behind."""
    x, y = both(b, x1, x2)
    if b.node is not None and b.node.op == "ops.Dot" and (x.rank > 2 or y.rank > 2):
        raise b.unsupported("dot of more than two axes is not supported", "use matmul or tensordot")
    if 0 in (x.rank, y.rank):
        return b.op("multiply", x, y)
    row, column = x.rank == 1, y.rank == 1
    x = b.op("expand_dims", x, axis=0) if row else x
    y = b.op("expand_dims", y, axis=1) if column else y
    found = b.matrices(x, y)
    shape = [*found.shape[:-2], *([] if row else [found.shape[-2]]), *([] if column else [found.shape[-1]])]
    return b.reshape(found, shape)


@operation("Einsum")
def einsum(b: NodeBuilder, *operands: Any, subscripts: str = "") -> Value:
    values = [tensor(b, o) for o in operands if not isinstance(o, str)]
    equation = next((o for o in operands if isinstance(o, str)), subscripts)
    return b.op("einsum", *values, equation=str(equation).replace(" ", ""))


@operation("Tensordot")
def tensordot(b: NodeBuilder, x1: Any, x2: Any, axes: Any = 2) -> Value:
    """The sums of products along axes of each of two tensors."""
    x, y = both(b, x1, x2)
    if isinstance(axes, int):
        first, second = list(range(x.rank - axes, x.rank)), list(range(axes))
    else:
        first, second = ([int(a)] if isinstance(a, int) else [int(e) for e in a] for a in axes)
    first, second = [b.axis(a, x.rank) for a in first], [b.axis(a, y.rank) for a in second]
    letters = [chr(ord("a") + k) for k in range(x.rank + y.rank)]
    of_x, of_y = letters[: x.rank], letters[x.rank :]
    for a, c in zip(first, second, strict=True):
        of_y[c] = of_x[a]
    kept = [c for a, c in enumerate(of_x) if a not in first] + [c for a, c in enumerate(of_y) if a not in second]
    return b.op("einsum", x, y, equation=f"{''.join(of_x)},{''.join(of_y)}->{''.join(kept)}")
