"""Arithmetic of the tir interpreter on numpy scalars and lanes: the common table, and short cuts through it.

A short cut is an operator of numpy's that gives, for the type at hand, the same value as the table.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import VectorType, f32, f64, i1
from xdsl.ir import Attribute, Operation

from lamina.dialects.tir.intrinsics import BitcastOp, evaluate_intrinsic
from lamina.dialects.tir.vectors import CastOp, CompareOp
from lamina.runtime.scalar_ops import SCALAR_OPS, check, element_dtype

_FAST_FLOAT: dict[str, Callable[..., Any]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": np.divide,
    "arith.negf": operator.neg,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "math.exp": np.exp,
    "math.sqrt": np.sqrt,
}
_FAST_INTEGER: dict[str, Callable[..., Any]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
}


def _select_lanes(_: Operation, condition: Any, then: Any, otherwise: Any) -> Any:
    return cast(Any, np.where)(condition, then, otherwise)


def _compare(op: Operation, a: Any, b: Any) -> Any:
    assert isinstance(op, CompareOp)
    return SCALAR_OPS["arith.cmpf" if op.is_float() else "arith.cmpi"](op, a, b)


def _cast(op: Operation, value: Any) -> Any:
    assert isinstance(op, CastOp)
    return SCALAR_OPS[f"arith.{op.kind.data}"](op, value)


def _bitcast(op: Operation, value: Any) -> Any:
    assert isinstance(op, BitcastOp)
    bits = np.atleast_1d(value).view(element_dtype(op.result.type))
    return bits if isinstance(op.result.type, VectorType) else bits[0]


HANDLERS: dict[str, Callable[..., Any]] = {
    **SCALAR_OPS,
    "tir.select": _select_lanes,
    "tir.compare": _compare,
    "tir.cast": _cast,
    "tir.check": check,
    "tir.bitcast": _bitcast,
    "tir.intrinsic": evaluate_intrinsic,
}
"""handler(op, *operands) -> the op's value."""


def fast_handler(op: Operation) -> Callable[..., Any] | None:
    """function(*operands) -> the op's value, where there is a short cut."""
    type_ = op.results[0].type
    element: Attribute = cast(VectorType, type_).element_type if isinstance(type_, VectorType) else type_
    if element in (f32, f64):
        return _FAST_FLOAT.get(op.name)
    return None if element == i1 else _FAST_INTEGER.get(op.name)
