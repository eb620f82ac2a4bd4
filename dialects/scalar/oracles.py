"""Functions that arith and math ops compute, on numpy values: the one table of interpreters and rules.

`evaluate(op, operands)` takes scalars or arrays (lanes, or whole index grids) that broadcast, and computes in the
op's own type: f32 in f32, f16 and bf16 rounded after each op, integers wrap. Integers are held signed, whatever
the tensor they come from; ops that read them as unsigned say so by their name. A boolean is numpy's bool.
What LLVM leaves undefined (x / 0, the smallest integer / -1, a shift by the width) is an error here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.errors import InputError

Value: TypeAlias = Any
"""A numpy scalar or array."""


class UndefinedError(InputError):
    """A program computed something that has no defined value."""


def element_dtype(type_: Attribute) -> np.dtype[Any]:
    """The numpy dtype in which values of an IR type are held."""
    if isinstance(type_, (TensorType, VectorType, MemRefType)):
        return numpy_dtype(dtype_name(cast(Any, type_).element_type))
    return numpy_dtype(dtype_name(type_))


def signless(array: Value) -> Value:
    """The same bits as scalars are held: unsigned integers become signed."""
    return array.view(f"i{array.dtype.itemsize}") if array.dtype.kind == "u" else array


def evaluate(op: Operation, operands: Sequence[Value]) -> Value:
    """The value of the op's only result. Raises UndefinedError where it has none."""
    handler = SCALAR_OPS.get(op.name)
    if handler is None:
        raise UndefinedError(f"{op.name} has no meaning to the interpreter", op=op)
    with np.errstate(all="ignore"):
        return handler(op, *operands)


# -- integers --------------------------------------------------------------------------------------


def as_unsigned(x: Value) -> Value:
    """The same bits read as unsigned integers."""
    x = np.asarray(x)
    return x.view(f"u{x.dtype.itemsize}") if x.dtype.kind == "i" else x


def _as_result(op: Operation, x: Value) -> Value:
    return np.asarray(x).astype(element_dtype(op.results[0].type), copy=False)


def _bits(function: Callable[..., Value]) -> Callable[..., Value]:
    """On bit patterns, so that booleans are one bit and sums wrap."""

    def run(op: Operation, *xs: Value) -> Value:
        return function(*(np.asarray(x) for x in xs))

    return run


def _on_unsigned(function: Callable[..., Value]) -> Callable[..., Value]:
    def run(op: Operation, *xs: Value) -> Value:
        result = np.asarray(function(*map(as_unsigned, xs)))
        return result if result.dtype.kind == "b" else signless(result)

    return run


def _bool_arithmetic(on_bool: Callable[..., Value], on_integers: Callable[..., Value]) -> Callable[..., Value]:
    def run(op: Operation, a: Value, b: Value) -> Value:
        return (on_bool if np.asarray(a).dtype.kind == "b" else on_integers)(np.asarray(a), np.asarray(b))

    return run


def _check_division(op: Operation, a: Value, b: Value, signed: bool) -> None:
    if np.any(np.asarray(b) == 0):
        raise UndefinedError(f"{op.name} divides by zero", op=op)
    if signed and np.any((np.asarray(b) == -1) & (np.asarray(a) == np.iinfo(np.asarray(a).dtype).min)):
        raise UndefinedError(f"{op.name} divides the smallest integer by -1", op=op)


def _divide(op: Operation, a: Value, b: Value) -> Value:
    """Towards zero."""
    _check_division(op, a, b, True)
    quotient = a // b
    return quotient + ((np.fmod(a, b) != 0) & ((a < 0) != (b < 0))).astype(quotient.dtype)


def _floor_divide(op: Operation, a: Value, b: Value) -> Value:
    _check_division(op, a, b, True)
    return a // b


def _ceil_divide(op: Operation, a: Value, b: Value) -> Value:
    _check_division(op, a, b, True)
    down = a // b  # not by -a, which the smallest integer has not
    return down + (np.mod(a, b) != 0).astype(down.dtype)


def _remainder(op: Operation, a: Value, b: Value) -> Value:
    _check_division(op, a, b, True)
    return np.fmod(a, b)


def _divide_unsigned(op: Operation, a: Value, b: Value) -> Value:
    _check_division(op, a, b, False)
    return signless(np.asarray(as_unsigned(a) // as_unsigned(b)))


def _remainder_unsigned(op: Operation, a: Value, b: Value) -> Value:
    _check_division(op, a, b, False)
    return signless(np.asarray(as_unsigned(a) % as_unsigned(b)))


def _shift(function: Callable[..., Value], unsigned: bool = False) -> Callable[..., Value]:
    def run(op: Operation, a: Value, b: Value) -> Value:
        width = np.asarray(a).dtype.itemsize * 8
        if np.any((np.asarray(b) < 0) | (np.asarray(b) >= width)):
            raise UndefinedError(f"{op.name} shifts {width} bits by less than 0 or more than {width - 1}", op=op)
        if unsigned:
            return signless(np.asarray(function(as_unsigned(a), as_unsigned(b))))
        return function(a, b)

    return run


_COMPARE_INT: list[Callable[..., Value]] = [
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.less, np.less_equal, np.greater, np.greater_equal,
]  # fmt: skip


def _compare_integers(op: Operation, a: Value, b: Value) -> Value:
    predicate: int = cast(Any, op.properties["predicate"]).value.data
    if predicate >= 6:
        a, b = as_unsigned(a), as_unsigned(b)
    elif predicate >= 2 and np.asarray(a).dtype.kind == "b":
        a, b = b, a  # the boolean true is -1 as a signed number
    return _COMPARE_INT[predicate](a, b)


def _compare_floats(op: Operation, a: Value, b: Value) -> Value:
    predicate: int = cast(Any, op.properties["predicate"]).value.data
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in (0, 15):
        return np.full(np.shape(unordered), predicate == 15)
    if predicate in (7, 14):
        return unordered if predicate == 14 else ~unordered
    kind = (predicate - 1) % 7
    compared = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)[kind](a, b)
    return compared & ~unordered if predicate < 7 else compared | unordered


# -- floats ----------------------------------------------------------------------------------------


def _floats(function: Callable[..., Value]) -> Callable[..., Value]:
    """In the op's type; what numpy has not for narrow floats is computed in f32 and rounded."""

    def run(op: Operation, *xs: Value) -> Value:
        type_ = element_dtype(op.results[0].type)
        if type_.itemsize == 2:
            return np.asarray(function(*(np.asarray(x).astype(np.float32) for x in xs))).astype(type_)
        return np.asarray(function(*xs)).astype(type_, copy=False)

    return run


def _rsqrt(x: Value) -> Value:
    return 1 / np.sqrt(x)


def _round_away(x: Value) -> Value:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def fma(a: Value, b: Value, c: Value) -> Value:
    """a * b + c with one rounding (for f64 up to ties: from error-free transformations)."""
    dtype = np.result_type(a, b, c)
    if dtype.itemsize < 8:
        wide = [np.asarray(v).astype(np.float64) for v in (a, b, c)]
        return (wide[0] * wide[1] + wide[2]).astype(dtype)
    product = a * b
    total = product + c
    splitter = 134217729.0  # 2^27 + 1, Dekker's
    a_high = a * splitter - (a * splitter - a)
    b_high = b * splitter - (b * splitter - b)
    a_low, b_low = a - a_high, b - b_high
    product_error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    back = total - product
    sum_error = (product - (total - back)) + (c - back)
    exact = total + (product_error + sum_error)
    return cast(Any, np.where(np.isfinite(exact), exact, total))


# -- conversions -----------------------------------------------------------------------------------


def _constant(op: Operation) -> Value:
    value = op.properties["value"]
    dtype = element_dtype(op.results[0].type)
    if isinstance(value, DenseIntOrFPElementsAttr):
        return np.asarray(value.get_values()).astype(dtype).reshape(value.get_shape())
    assert isinstance(value, (IntegerAttr, FloatAttr))
    number = value.value.data
    return np.asarray(bool(number) if dtype.kind == "b" else number).astype(dtype)


def _sign_extend(op: Operation, x: Value) -> Value:
    x = np.asarray(x)
    return _as_result(op, -x.astype(np.int8) if x.dtype.kind == "b" else x)


def _unsigned_to(op: Operation, x: Value) -> Value:
    return _as_result(op, as_unsigned(x))


def _truncate(op: Operation, x: Value) -> Value:
    dtype = element_dtype(op.results[0].type)
    return (np.asarray(x) & 1).astype(bool) if dtype.kind == "b" else np.asarray(x).astype(dtype)


def _to_unsigned(op: Operation, x: Value) -> Value:
    dtype = element_dtype(op.results[0].type)
    return signless(np.asarray(x).astype(np.dtype(f"u{dtype.itemsize}")))


def _round_to(op: Operation, x: Value) -> Value:
    return _as_result(op, x)


def _bitcast(op: Operation, x: Value) -> Value:
    return np.asarray(x).view(element_dtype(op.results[0].type))


def _select(op: Operation, condition: Value, then: Value, otherwise: Value) -> Value:
    return cast(Any, np.where(condition, then, otherwise))


_BINARY_FLOATS: dict[str, Callable[..., Value]] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "arith.remf": np.fmod, "math.powf": np.power, "math.atan2": np.arctan2, "math.copysign": np.copysign,
    "math.fma": fma,
}  # fmt: skip

_UNARY_FLOATS: dict[str, Callable[..., Value]] = {
    "arith.negf": np.negative, "math.absf": np.abs, "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1,
    "math.log": np.log, "math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p, "math.sqrt": np.sqrt,
    "math.rsqrt": _rsqrt, "math.cbrt": np.cbrt, "math.sin": np.sin, "math.cos": np.cos,
    "math.tan": np.tan, "math.asin": np.arcsin, "math.acos": np.arccos, "math.atan": np.arctan,
    "math.sinh": np.sinh, "math.cosh": np.cosh, "math.tanh": np.tanh, "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh, "math.atanh": np.arctanh, "math.erf": _erf, "math.floor": np.floor,
    "math.ceil": np.ceil, "math.trunc": np.trunc, "math.roundeven": np.rint,
    "math.round": _round_away,
}  # fmt: skip

SCALAR_OPS: dict[str, Callable[..., Value]] = {
    **{name: _floats(function) for name, function in (_BINARY_FLOATS | _UNARY_FLOATS).items()},
    "arith.constant": _constant,
    "arith.addi": _bool_arithmetic(np.logical_xor, np.add),
    "arith.subi": _bool_arithmetic(np.logical_xor, np.subtract),
    "arith.muli": _bool_arithmetic(np.logical_and, np.multiply),
    "arith.divsi": _divide,
    "arith.floordivsi": _floor_divide,
    "arith.ceildivsi": _ceil_divide,
    "arith.remsi": _remainder,
    "arith.divui": _divide_unsigned,
    "arith.remui": _remainder_unsigned,
    "arith.andi": _bits(np.bitwise_and),
    "arith.ori": _bits(np.bitwise_or),
    "arith.xori": _bits(np.bitwise_xor),
    "arith.shli": _shift(np.left_shift),
    "arith.shrsi": _shift(np.right_shift),
    "arith.shrui": _shift(np.right_shift, unsigned=True),
    "arith.maxsi": _bool_arithmetic(np.logical_and, np.maximum),
    "arith.minsi": _bool_arithmetic(np.logical_or, np.minimum),
    "arith.maxui": _on_unsigned(np.maximum),
    "arith.minui": _on_unsigned(np.minimum),
    "math.absi": _bits(np.abs),
    "math.ipowi": _bits(np.power),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.extsi": _sign_extend,
    "arith.extui": _unsigned_to,
    "arith.trunci": _truncate,
    "arith.index_cast": _sign_extend,
    "arith.index_castui": _unsigned_to,
    "arith.extf": _round_to,
    "arith.truncf": _round_to,
    "arith.sitofp": _sign_extend,
    "arith.uitofp": _unsigned_to,
    "arith.fptosi": _round_to,
    "arith.fptoui": _to_unsigned,
    "arith.bitcast": _bitcast,
}
