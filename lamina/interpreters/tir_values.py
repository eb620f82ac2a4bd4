"""Domains of the values in a run of tir: an abstract domain of values, and the domain of numbers.

Numbers are numpy scalars and arrays of lanes, computed by the common table and by short cuts through it. A short cut
is an operator of numpy's that gives, for the type at hand, the same value as the table.
"""

from __future__ import annotations

import abc
import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import VectorType, f32, f64, i1
from xdsl.ir import Attribute, Operation

from lamina.dialects.scalar.oracles import SCALAR_OPS, element_dtype, evaluate
from lamina.dialects.tir.intrinsics import BitcastOp, evaluate_intrinsic
from lamina.dialects.tir.vectors import CastOp, CompareOp
from lamina.errors import InputError
from lamina.interpreters.reductions import check
from lamina.interpreters.tir_memory import Memory

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


class Domain(abc.ABC):
    """A domain of values. A value of type index is an integer in every domain, since accesses and bounds need it."""

    @abc.abstractmethod
    def fresh(self, name: str, type_: Attribute, shape: tuple[int, ...]) -> Memory:
        """A buffer whose elements hold nothing yet."""

    @abc.abstractmethod
    def zero(self, element: Attribute) -> Any:
        """The value of a load whose guard fails."""

    @abc.abstractmethod
    def poison(self, element: Attribute) -> Any:
        """The value of an idle lane that loads what nothing has written: it shows in results."""

    @abc.abstractmethod
    def vector(self, values: list[Any], element: Attribute) -> Any:
        """Lanes as one value; a lane is taken out of it by its number."""

    @abc.abstractmethod
    def taken(self, values: Any) -> Any:
        """Elements of a buffer as lanes of their own."""

    @abc.abstractmethod
    def truth(self, holds: bool) -> Any:
        """A value of type i1."""

    @abc.abstractmethod
    def integer(self, value: int) -> Any:
        """A value of type index."""

    @abc.abstractmethod
    def broadcast(self, value: Any, lanes: int) -> Any:
        """A scalar in every lane."""

    @abc.abstractmethod
    def constant(self, op: Operation) -> Any:
        """The value of an op without operands."""

    @abc.abstractmethod
    def function(self, op: Operation) -> Callable[..., Any]:
        """Return a function from operand values to the op's only result. Raises InputError for an unknown op."""


class Numbers(Domain):
    """numpy scalars and arrays."""

    def fresh(self, name: str, type_: Attribute, shape: tuple[int, ...]) -> Memory:
        return Memory.fresh(name, type_, shape)

    def zero(self, element: Attribute) -> Any:
        return np.zeros((), element_dtype(element))[()]

    def poison(self, element: Attribute) -> Any:
        dtype = element_dtype(element)
        # Of booleans what is no number is true.
        return np.iinfo(dtype).min if dtype.kind == "i" else dtype.type(np.nan)

    def vector(self, values: list[Any], element: Attribute) -> Any:
        return np.array(values, element_dtype(element))

    def taken(self, values: Any) -> Any:
        return values.copy()

    def truth(self, holds: bool) -> Any:
        return np.bool_(holds)

    def integer(self, value: int) -> Any:
        return np.int64(value)

    def broadcast(self, value: Any, lanes: int) -> Any:
        return np.full((lanes,), value)

    def constant(self, op: Operation) -> Any:
        constant = evaluate(op, ())
        return constant if isinstance(op.results[0].type, VectorType) else constant[()]

    def function(self, op: Operation) -> Callable[..., Any]:
        fast = fast_handler(op)
        if fast is not None:
            return fast
        handler = HANDLERS.get(op.name)
        if handler is None:
            raise InputError(f"{op.name} has no meaning to the tir interpreter", op=op)
        if isinstance(op.results[0].type, VectorType):
            return lambda *operands: handler(op, *operands)
        return lambda *operands: np.asarray(handler(op, *operands))[()]
