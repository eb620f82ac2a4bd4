"""Attributes of ops as Python values: integers are i64, reals f64, lists dense arrays, flags i1.

A list of integers of which some depend on symbols is `#relay.extents<n, 8, n * 2 + 1>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class ExtentsAttr(ParametrizedAttribute):
    """Integers that depend on symbols: forms over the names of extents, of which one may be a number."""

    name = "relay.extents"
    forms: ArrayAttr[StringAttr] = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        from lamina.dialects.index.symbol_forms import extent_text, parse_extent

        forms = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: StringAttr(extent_text(parse_extent(parser)))
        )
        return (ArrayAttr(forms),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(", ".join(f.data for f in self.forms))

    def numbers(self) -> tuple[int, ...]:
        """The integers, as numbers of the current symbols. Raises TypeMismatch where there are none."""
        from lamina.dialects.index.symbols import numbers_of

        return numbers_of([f.data for f in self.forms])


def to_attribute(value: Any) -> Attribute:
    """A Python attribute value as the IR keeps it."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int) or hasattr(value, "symbols"):  # a symbol is asked for its number
        return IntegerAttr(int(value), i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, (list, tuple)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        if any(isinstance(v, float) for v in items):
            return DenseArrayBase.from_list(f64, [float(v) for v in items])
        if any(hasattr(v, "symbols") for v in items):
            return ExtentsAttr(ArrayAttr([StringAttr(str(v)) for v in items]))
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
    return attr.numbers() if isinstance(attr, ExtentsAttr) else attr
