"""Attributes of ops as Python values: integers are i64, reals f64, lists dense arrays, flags i1.

A list of numbers of which some depend on symbols is a `FormsAttr`.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute

from lamina.dialects.infos import SymbolicAttribute, is_symbolic


def to_attribute(value: Any) -> Attribute:
    """A Python attribute value as the IR keeps it."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, (list, tuple)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        if any(map(is_symbolic, items)):
            from lamina.dialects.index.forms_attr import FormsAttr

            return FormsAttr.of(items)
        if any(isinstance(v, float) for v in items):
            return DenseArrayBase.from_list(f64, [float(v) for v in items])
        return DenseArrayBase.from_list(i64, [int(v) for v in items])
    raise TypeError(f"no attribute for {value!r}")


def from_attribute(attr: Attribute) -> Any:
    """The inverse of `to_attribute`; attributes with no Python form are returned as they are."""
    if isinstance(attr, IntegerAttr):
        type_: Attribute = attr.type  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return bool(attr.value.data) if type_ == i1 else attr.value.data
    if isinstance(attr, FloatAttr):
        return attr.value.data
    if isinstance(attr, StringAttr):
        return attr.data
    if isinstance(attr, DenseArrayBase):
        return tuple(attr.get_values())
    if isinstance(attr, SymbolicAttribute):
        return attr.numbers()
    return attr
