"""Values of the functional language besides arrays: functions, data, cells.

A tensor is a numpy array, a tuple a Python tuple. Values nest as deep as a program makes them: nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.relay.functional.adt_patterns import Anything, Declared, Made, Pattern, Variable
from lamina.dialects.relay.value_types import UNNAMED, AdtType, RefType, extents
from lamina.errors import InputError

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp

    from lamina.dialects.relay.core import FnOp

Value: TypeAlias = Any
"""An array, a tuple of values, or one of the classes below."""


class AdtValue:
    """A value that a constructor made."""

    __slots__ = ("constructor", "fields")

    def __init__(self, constructor: str, *fields: Value) -> None:
        self.constructor = constructor
        self.fields: tuple[Value, ...] = fields

    def __repr__(self) -> str:
        return value_text(self)


class Closure:
    """A local function and the values that it captured."""

    __slots__ = ("captured", "function")

    def __init__(self, function: FnOp, captured: Sequence[Value]) -> None:
        self.function = function
        self.captured = captured


class GlobalFunction:
    """A function of the module as a value."""

    __slots__ = ("function",)

    def __init__(self, function: FuncOp) -> None:
        self.function = function


class Cell:
    """A cell that `relay.ref_create` makes."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def value_text(value: Value) -> str:
    """A value on one line: `Cons(1., Nil)`, `(3, [1., 2.])`."""
    parts: list[str] = []
    rest: list[Any] = [value]
    while rest:
        v = rest.pop()
        if isinstance(v, str):
            parts.append(v)
        elif isinstance(v, (AdtValue, tuple)):
            fields: Sequence[Value] = v.fields if isinstance(v, AdtValue) else v  # pyright: ignore[reportUnknownVariableType]
            head = v.constructor if isinstance(v, AdtValue) else ""
            listed: list[Any] = [part for f in fields for part in (", ", f)][1:]  # pyright: ignore[reportUnknownVariableType]
            rest.extend(reversed([f"{head}(", *listed, ")"] if fields or not head else [head]))
        elif isinstance(v, Cell):
            rest.extend(reversed(["ref(", v.value, ")"]))
        elif isinstance(v, (Closure, GlobalFunction)):
            parts.append("<function>")
        else:
            text: str = np.array2string(np.asarray(v), threshold=16, precision=6, separator=", ")
            parts.append(" ".join(text.split()))
    return "".join(parts)


def matches(pattern: Pattern, value: Value, found: list[Value]) -> bool:
    """Whether a value fits a pattern; `found` then has the values of its variables from left to right."""
    if isinstance(pattern, Anything):
        return True
    if isinstance(pattern, Variable):
        found.append(value)
        return True
    if isinstance(pattern, Made):
        if value.constructor != pattern.constructor:
            return False
        value = value.fields
    return all(matches(p, v, found) for p, v in zip(pattern.fields, value, strict=True))


# -- what is given from outside ------------------------------------------------------------------------------------


def check_value(value: Value, type_: Attribute, sizes: dict[str, int], what: str, declared: Declared) -> Value:
    """The value as programs take it; `sizes` has the extents that have names, and gets new ones.

    Raises InputError saying what (`argument 0 of @main`) does not fit.
    """
    # What is still to be checked, and where it goes: constructors' fields are checked in place.
    waiting: list[tuple[AdtValue, AdtType]] = []

    def check(value: Value, type_: Attribute, what: str) -> Value:
        if isinstance(type_, TensorType):
            array: Any = np.asarray(value)
            check_tensor(array, cast("TensorType[Any]", type_), sizes, what)
            return array
        if isinstance(type_, TupleType):
            fields: list[Value] = [*value] if isinstance(value, (tuple, list)) else []
            if len(fields) != len(type_.types):
                raise InputError(f"{what} is a tuple of {len(type_.types)}")
            pairs = enumerate(zip(fields, type_.types, strict=True))
            return tuple(check(v, t, f"field {n} of {what}") for n, (v, t) in pairs)
        if isinstance(type_, AdtType) and isinstance(value, AdtValue):
            waiting.append((value, type_))
            return value
        if isinstance(type_, RefType) and isinstance(value, Cell):
            value.value = check(value.value, type_.value, what)
            return value
        if isinstance(type_, FunctionType) and isinstance(value, (Closure, GlobalFunction)):
            return value
        raise InputError(f"{what} is a {type_}, not a {type(value).__name__}")

    result = check(value, type_, what)
    while waiting:
        made, adt = waiting.pop()
        constructors = declared(adt)
        types = constructors.get(made.constructor)
        if types is None or len(types) != len(made.fields):
            known = ", ".join(f"{c} of {len(t)} fields" for c, t in constructors.items())
            raise InputError(
                f"{what} holds {made.constructor} of {len(made.fields)} fields; @{adt.adt.data} has {known}"
            )
        place = f"{made.constructor} in {what}"
        made.fields = tuple(check(f, t, place) for f, t in zip(made.fields, types, strict=True))
    return result


def check_tensor(array: Any, type_: TensorType[Any], sizes: dict[str, int], what: str) -> None:
    """Check an array against a type. Raises InputError."""
    dims = extents(type_)
    if array.ndim != len(dims) or str(array.dtype) != dtype_name(type_.element_type):
        raise InputError(f"{what} is {array.dtype}{list(array.shape)}, not {type_}")
    for dim, extent in zip(dims, array.shape, strict=True):
        if isinstance(dim, int):
            if dim != extent:
                raise InputError(f"{what} is {array.dtype}{list(array.shape)}, not {type_}")
        elif dim != UNNAMED and sizes.setdefault(dim, extent) != extent:
            raise InputError(f"{what} has {dim} = {extent}, elsewhere it is {sizes[dim]}")
