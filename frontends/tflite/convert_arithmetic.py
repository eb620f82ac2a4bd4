"""Arithmetic on elements, of floats, integers and booleans."""

from __future__ import annotations

from functools import reduce

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode

_BINARY = {
    "ADD": "add",
    "SUB": "subtract",
    "MUL": "multiply",
    "DIV": "divide",
    "MAXIMUM": "maximum",
    "MINIMUM": "minimum",
    "FLOOR_DIV": "floor_divide",
    "FLOOR_MOD": "floor_mod",
    "EQUAL": "equal",
    "NOT_EQUAL": "not_equal",
    "LESS": "less",
    "LESS_EQUAL": "less_equal",
    "GREATER": "greater",
    "GREATER_EQUAL": "greater_equal",
    "LOGICAL_AND": "logical_and",
    "LOGICAL_OR": "logical_or",
    "BITWISE_XOR": "bitwise_xor",
    "RIGHT_SHIFT": "right_shift",
}
_UNARY = {
    "ABS": "abs",
    "NEG": "negative",
    "EXP": "exp",
    "LOG": "log",
    "SIN": "sin",
    "COS": "cos",
    "TAN": "tan",
    "SQRT": "sqrt",
    "RSQRT": "rsqrt",
    "CEIL": "ceil",
    "FLOOR": "floor",
    "ROUND": "round",
    "SIGN": "sign",
    "LOGICAL_NOT": "logical_not",
    "TANH": "tanh",
    "LOGISTIC": "sigmoid",
}


@TABLE.op(*_BINARY)
def binary(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """The operators of two operands, which broadcast."""
    return b.activated(b.op(_BINARY[node.op], x, y), node)


@TABLE.op(*_UNARY)
def unary(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The operators of one operand."""
    return b.op(_UNARY[node.op], x)


@TABLE.op("ADD_N")
def add_n(b: TfliteBuilder, node: TfliteNode, *xs: Value) -> Value:
    """The sum of all operands."""
    return reduce(b.add, xs)


@TABLE.op("SQUARE")
def square(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x * x."""
    return b.mul(x, x)


@TABLE.op("SQUARED_DIFFERENCE")
def squared_difference(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """(x - y) * (x - y)."""
    d = b.sub(x, y)
    return b.mul(d, d)


@TABLE.op("POW")
def power(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """x ** y; that of integers is computed in doubles, as the reference kernel does."""
    if is_float(x.dtype):
        return b.op("power", x, y)
    return b.cast(b.op("power", b.cast(x, "float64"), b.cast(y, "float64")), x.dtype)


@TABLE.op("ATAN2")
def atan2(b: TfliteBuilder, node: TfliteNode, y: Value, x: Value) -> Value:
    """The angle of (x, y) between -pi and pi."""
    half = b.op("atan", b.div(y, x))
    turned = b.add(half, b.op("where", b.op("less", y, b.scalar(0, y)), b.scalar(-np.pi, y), b.scalar(np.pi, y)))
    angle = b.choose(b.op("less", x, b.scalar(0, x)), turned, half)
    up = b.mul(b.op("sign", y), np.pi / 2)
    return b.choose(b.op("equal", x, b.scalar(0, x)), up, angle)


@TABLE.op("CAST")
def cast(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The elements as those of the result's type; a float that becomes an integer is cut off."""
    return b.cast(x, node.dtype())


@TABLE.op("BITCAST")
def bitcast(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The same bits as elements of the result's type, which is as wide."""
    if np.dtype(x.dtype).itemsize != np.dtype(node.dtype()).itemsize:
        raise b.unsupported("the types are not equally wide")
    return x if x.dtype == node.dtype() else b.op("reinterpret", x, dtype=node.dtype())


@TABLE.op(*moves("ZEROS_LIKE"))
def zeros_like(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Zeros in the shape of the operand."""
    return b.zeros(x.shape, x.dtype)


@TABLE.op("FAKE_QUANT")
def fake_quant(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Floats rounded to the numbers that a quantised tensor between `min` and `max` can hold, zero among them.

    The range is moved so that zero is one of the integers (B. Jacob et al., Quantization and training of neural
    networks for efficient integer-arithmetic-only inference, 2018).
    """
    bits = int(node.attr("num_bits", 8))
    if not 2 <= bits <= 16:
        raise b.fail(f"the number of bits is {bits}")
    low, high = np.float32(node.attr("min", 0.0)), np.float32(node.attr("max", 0.0))
    if not low < high:
        raise b.fail(f"the range {low} to {high} is empty")
    least, most = np.float32(1 if node.attr("narrow_range", False) else 0), np.float32((1 << bits) - 1)
    scale = (high - low) / (most - least)
    zero = np.clip(np.float32(np.floor(least - low / scale + np.float32(0.5))), least, most)
    first, last = (least - zero) * scale, (most - zero) * scale
    steps = b.mul(b.sub(b.op("clip", x, a_min=float(first), a_max=float(last)), float(first)), float(1 / scale))
    return b.add(b.mul(b.op("floor", b.add(steps, 0.5)), float(scale)), float(first))


@TABLE.op("DEQUANTIZE")
def dequantize(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """Floats of 16 bits as those of 32; of a quantised tensor the real numbers (q - zero_point) * scale."""
    return b.cast(real(b, node, 0, x), node.dtype())


def real(b: TfliteBuilder, node: TfliteNode, place: int, x: Value) -> Value:
    """An operand as real numbers: (q - zero_point) * scale of a quantised tensor, else itself."""
    tensor = node.operands[place]
    if tensor is None or tensor.quantization is None or is_float(x.dtype):
        return x
    q = tensor.quantization
    scale, zero = (b.constant(a if q.is_per_axis else a[0]) for a in (q.scale, q.zero_point.astype(np.int32)))
    return b.op("qnn.dequantize", x, scale, zero, axis=q.axis if q.is_per_axis else -1)
