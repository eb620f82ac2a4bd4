"""Functions of single elements: arithmetic, comparisons, logic, activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.debugging.generators.draw import ANY, FLOATS, INTEGERS, NUMBERS
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor, type_name
from lamina.debugging.generators.operators.table import row

WIDE = ("float32", "float64", "float16", "int64", "int32")
SIGNED = (*FLOATS, "int64", "int32", "int8", "int16")


def allowed(g: OnnxGraph, name: str, wanted: tuple[str, ...], operand: int = 0, domain: str = "") -> tuple[str, ...]:
    """Those of the types that an operand of an operator may have in this operator set."""
    schema = g.schema(name, domain)
    types = schema.inputs[operand].types
    found = tuple(d for d in wanted if type_name(d) in types)
    if not found:
        raise CannotDraw(name)
    return found


def partner(g: OnnxGraph, x: Tensor, bound: float = float("inf")) -> Tensor:
    """A tensor that broadcasts with x: of its shape, with ones in it, of less rank, or one number."""
    assert x.shape is not None
    shape = list(x.shape)
    how = g.draw.integer(0, 5)
    if how == 0:
        shape = []
    elif how == 1 and shape:
        shape = shape[g.draw.integer(0, len(shape) - 1) :]
        if g.opset < 7:
            shape = shape[: g.draw.integer(1, len(shape))]
    elif how == 2 and shape and g.opset >= 7:
        for axis in g.draw.axes(len(shape)):
            shape[axis] = 1
    if g.draw.chance(0.35) and (g.exact or x.is_float):
        return g.constant(g.values(x.dtype, shape, min(bound, 4.0)))
    return g.some(x.dtype, shape=shape, bound=bound)


def ordered(g: OnnxGraph, x: Tensor, y: Tensor) -> list[Tensor]:
    """Both in any order; until operator set 7 only the second broadcasts."""
    return [y, x] if g.draw.chance(0.3) and (g.opset >= 7 or x.shape == y.shape) else [x, y]


UNBOUNDED = (
    *("Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "Identity", "Relu", "LeakyRelu", "Elu", "Selu", "Celu"),
    *("ThresholdedRelu", "HardSwish", "Sigmoid", "HardSigmoid", "Tanh", "Softsign", "Softplus", "Erf", "Gelu"),
    *("Mish", "Swish", "Atan", "Asinh"),
)
LIMITED = {"Exp": 8.0, "Sinh": 5.0, "Cosh": 5.0, "Sin": 20.0, "Cos": 20.0, "Tan": 1.25, "Asin": 0.95, "Acos": 0.95,
           "Atanh": 0.9}  # fmt: skip
"""The largest magnitude at which a function is not too steep."""
BOUNDED = {"Sign": 1.0, "Sigmoid": 1.0, "HardSigmoid": 1.0, "Tanh": 1.0, "Softsign": 1.0, "Erf": 1.0, "Atan": 1.6,
           "Sin": 1.0, "Cos": 1.0, "Exp": 3000.0, "Sinh": 80.0, "Cosh": 80.0, "Tan": 3.1, "Asin": 1.6, "Acos": 3.2,
           "Atanh": 1.5}  # fmt: skip
ALPHA = ("LeakyRelu", "Elu", "Celu", "ThresholdedRelu", "Swish")


@row(*UNBOUNDED, *LIMITED)
def unary(g: OnnxGraph, name: str) -> None:
    wanted = ANY if name == "Identity" else SIGNED if name in ("Abs", "Neg", "Sign", "Relu") else FLOATS
    bound = LIMITED.get(name, float("inf"))
    x = g.some(allowed(g, name, wanted), bound=bound)
    attributes: dict[str, Any] = {}
    if name in ALPHA and g.draw.chance(0.6):
        attributes["alpha"] = g.draw.choice((0.125, 0.25, 0.5, 1.0, 1.5))
    if name in ("Selu", "HardSigmoid") and g.draw.chance(0.5):
        attributes["alpha"] = g.draw.choice((0.125, 0.25, 1.5))
    if name == "Selu" and g.draw.chance(0.5):
        attributes["gamma"] = g.draw.choice((0.5, 1.25))
    if name == "HardSigmoid" and g.draw.chance(0.5):
        attributes["beta"] = g.draw.choice((0.25, 0.5))
    if name == "Gelu" and g.draw.chance(0.5):
        attributes["approximate"] = g.draw.choice(("none", "tanh"))
    g.node(name, [x], bound=BOUNDED.get(name, x.bound * 2), **attributes)


def positive(g: OnnxGraph, x: Tensor) -> Tensor:
    """|x| + 1/4: for logarithms, roots and divisors."""
    (found,) = g.node("Abs", [x], bound=x.bound)
    quarter = g.constant(np.asarray(0.25 if x.is_float else 1), x.dtype)
    (found,) = g.node("Add", [found, quarter], bound=x.bound + 1)
    return found


@row("Log", "Sqrt", "Reciprocal")
def of_positive(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, FLOATS))
    (y,) = g.node(name, [positive(g, x)], bound=x.bound + 4)
    assert y.shape == x.shape


@row("Add", "Sub", "Mul", "Div", "PRelu", "Max", "Min", "Sum", "Mean")
def binary(g: OnnxGraph, name: str) -> None:
    wanted = FLOATS if name in ("Sum", "Mean", "PRelu") else NUMBERS
    x = g.some(allowed(g, name, wanted))
    if name == "PRelu" and g.opset < 7:
        channels = x.shape[1] if x.shape is not None and len(x.shape) > 1 else 1
        y = g.weight((g.draw.choice((1, channels)),), x.dtype, 1.0)
    elif name in ("Max", "Min", "Sum", "Mean") and g.opset < 8:
        y = g.like(x, 64)
    else:
        y = partner(g, x, 64)
    if name == "PRelu":
        g.node(name, [x, y], bound=x.bound * y.bound)
        return
    if name == "Div":
        y = divisor(g, y)
        g.node(name, [x, y], bound=x.bound * 4)
        return
    operands = ordered(g, x, y)
    if name in ("Max", "Min", "Sum", "Mean") and g.opset >= 8:
        operands += [partner(g, x, 64) for _ in range(g.draw.integer(0, 2))]
        operands = operands[: g.draw.integer(1, len(operands))]
    grown = x.bound * y.bound if name == "Mul" else sum(t.bound for t in operands)
    g.node(name, operands, bound=grown)


def divisor(g: OnnxGraph, y: Tensor) -> Tensor:
    """A tensor like y without zeros."""
    assert y.shape is not None
    if g.draw.chance(0.5) or y.dtype in ("uint8", "uint16", "uint32", "uint64", "bfloat16"):
        values = g.draw.integers(y.shape, 1, 5)
        if y.is_float and g.exact:
            return g.either(2.0 ** (values - 3), y.dtype)
        return g.either(values if y.dtype[0] == "u" or g.draw.chance(0.5) else -values, y.dtype)
    return positive(g, y)


@row("Mod")
def mod(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ("float32", "int64", "int32", "int8", "uint8", "float16")))
    assert x.shape is not None
    y = g.either(g.draw.integers(x.shape if g.draw.chance(0.5) else (), 1, 7), x.dtype)
    signed = x.dtype[0] != "u" and g.draw.chance(0.4)
    if signed and not x.is_float:
        (y,) = g.node("Neg", [y], bound=8)
    g.node(name, [x, y], bound=8, fmod=1 if x.is_float or g.draw.chance(0.4) else None)


@row("Pow")
def power(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ("float32", "float64", "float16", "int64", "int32")), bound=8)
    exponent = g.draw.choice((0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0)) if x.is_float else g.draw.integer(0, 3)
    if x.is_float and exponent not in (0.0, 1.0, 2.0, 3.0):
        x = positive(g, x)
    assert x.shape is not None
    if x.is_float and g.draw.chance(0.25):
        y = g.either(g.draw.integers(x.shape, 0, 2), x.dtype)
    else:
        other = "int64" if g.opset >= 12 and float(exponent).is_integer() and g.draw.chance(0.2) else x.dtype
        y = g.constant(np.asarray(exponent), other)
    g.node(name, [x, y], bound=64)


@row("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def comparison(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ANY if name == "Equal" else NUMBERS))
    y = partner(g, x)
    assert x.shape is not None and y.shape is not None
    # ONNX infers nothing of those that it defines by others.
    shape = np.broadcast_shapes(x.shape, y.shape) if g.opset >= 7 else x.shape
    g.node(name, ordered(g, x, y), bound=1, types=[("bool", shape)])


@row("And", "Or", "Xor")
def logic(g: OnnxGraph, name: str) -> None:
    x = g.some("bool")
    g.node(name, ordered(g, x, partner(g, x)), bound=1)


@row("Not")
def negation(g: OnnxGraph, name: str) -> None:
    g.node(name, [g.some("bool")], bound=1)


@row("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(g: OnnxGraph, name: str) -> None:
    x = g.some(INTEGERS)
    g.node(name, ordered(g, x, partner(g, x)))


@row("BitwiseNot")
def bitwise_not(g: OnnxGraph, name: str) -> None:
    g.node(name, [g.some(INTEGERS)])


@row("BitShift")
def bit_shift(g: OnnxGraph, name: str) -> None:
    x = g.some(("uint8", "uint16", "uint32", "uint64"))
    assert x.shape is not None
    count = g.either(g.draw.integers(g.draw.choice((x.shape, ())), 0, 7), x.dtype)
    g.node(name, [x, count], direction=g.draw.choice(("LEFT", "RIGHT")))


@row("Where")
def where(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ANY, 1))
    y = partner(g, x)
    assert x.shape is not None
    shape = list(x.shape)
    if shape and g.draw.chance(0.3):
        shape[g.draw.integer(0, len(shape) - 1)] = 1
    condition = g.some("bool", shape=shape)
    g.node(name, [condition, *ordered(g, x, y)], bound=max(x.bound, y.bound))


@row("Clip")
def clip(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, NUMBERS))
    low, high = sorted((g.draw.integer(-3, 3), g.draw.integer(-3, 6)))
    if x.dtype[0] == "u":
        low, high = max(low, 0), max(high, 0)
    if g.opset < 11:
        g.node(name, [x], bound=6, min=float(low), max=float(high))
        return
    ends = [g.constant(np.asarray(v), x.dtype) if g.draw.chance(0.8) else None for v in (low, high)]
    g.node(name, [x, *ends], bound=6 if all(ends) else x.bound)


@row("IsNaN", "IsInf")
def classes(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, FLOATS))
    attributes: dict[str, Any] = {}
    if name == "IsInf" and g.draw.chance(0.5):
        attributes = {g.draw.choice(("detect_positive", "detect_negative")): 0}
    g.node(name, [x], bound=1, **attributes)


@row("Shrink")
def shrink(g: OnnxGraph, name: str) -> None:
    x = g.some(("float32", "float64"))
    g.node(name, [x], bound=x.bound + 1, lambd=g.draw.choice((0.5, 1.0)), bias=g.draw.choice((0.0, 0.25)))
