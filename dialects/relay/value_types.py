"""The types of relay values that are no tensors, and the names of extents.

    !relay.adt<@List, tensor<f32>>      a value of the data type @List, its type parameter A taken as tensor<f32>
    !relay.var<A>                       a type parameter, inside the declaration of a data type only
    !relay.ref<tensor<8xf32>>           a cell that holds a value and can be written
    !relay.storage                      bytes in which tensors are placed (`memory.py`)
    tensor<?x3xf32, #relay.dims<n, _>>  a tensor whose first extent is unknown and called n
    tensor<?x3xf32, #relay.dims<n * 2 + 1, _>>  one whose first extent follows from n

Tuples are the builtin `tuple<...>`, functions the builtin function type. Two `?` of one name in a function are equal;
one without a name (`_`, or no #relay.dims at all) equals nothing that is known. What values a name may have, a module
says in `relay.symbols`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FunctionType,
    StringAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from lamina.dialects.dtypes import ir_type, tensor_type

UNNAMED = "_"


@irdl_attr_definition
class AdtType(ParametrizedAttribute, TypeAttribute):
    """A value of an algebraic data type: which, and what its type parameters are here."""

    name = "relay.adt"
    adt: StringAttr = param_def()
    arguments: ArrayAttr[Attribute] = param_def()

    @staticmethod
    def of(adt: str, *arguments: Attribute) -> AdtType:
        return AdtType(StringAttr(adt), ArrayAttr(arguments))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            adt = parser.parse_symbol_name()
            arguments: list[Attribute] = []
            while parser.parse_optional_punctuation(","):
                arguments.append(parser.parse_type())
        return (adt, ArrayAttr(arguments))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_symbol_name(self.adt.data)
            for argument in self.arguments:
                printer.print_string(", ")
                printer.print_attribute(argument)


@irdl_attr_definition
class TypeVar(ParametrizedAttribute, TypeAttribute):
    """A type parameter of the data type whose declaration it stands in."""

    name = "relay.var"
    label: StringAttr = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (StringAttr(parser.parse_identifier(" for the name of a type parameter")),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.label.data)


@irdl_attr_definition
class RefType(ParametrizedAttribute, TypeAttribute):
    """A mutable cell."""

    name = "relay.ref"
    value: Attribute = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parser.parse_type(),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.value)


@irdl_attr_definition
class StorageType(ParametrizedAttribute, TypeAttribute):
    """Bytes that tensors are placed in."""

    name = "relay.storage"


@irdl_attr_definition
class DimsAttr(ParametrizedAttribute):
    """The names of a tensor's extents, one entry for each: a name, a form over names such as `n * 2 + 1`, or `_`.

    Only unknown extents have names.
    """

    name = "relay.dims"
    names: ArrayAttr[StringAttr] = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        from lamina.dialects.index.symbol_forms import parse_extent_text

        names = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: parse_extent_text(parser, UNNAMED))
        return (ArrayAttr(map(StringAttr, names)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(", ".join(n.data for n in self.names))


# -- tensors with unknown extents ------------------------------------------------------------------


def is_dynamic(type_: Attribute) -> bool:
    """Whether an extent of a tensor type is unknown."""
    return isinstance(type_, TensorType) and DYNAMIC_INDEX in type_.get_shape()


def has_unknown_extent(type_: Attribute) -> bool:
    """Whether a tensor anywhere in a type has an unknown extent."""
    found = False

    def look(t: Attribute) -> Attribute | None:
        nonlocal found
        found = found or is_dynamic(t)
        return None

    rebuild(type_, look)
    return found


def extents(type_: TensorType[Any]) -> tuple[int | str, ...]:
    """The extents of a tensor: a number, a name, or `_` for one that is unknown and has no name."""
    shape = type_.get_shape()
    if not isinstance(type_.encoding, DimsAttr):
        return tuple(UNNAMED if e == DYNAMIC_INDEX else e for e in shape)
    names = [n.data for n in type_.encoding.names]
    names += [UNNAMED] * (len(shape) - len(names))
    return tuple(name if e == DYNAMIC_INDEX else e for e, name in zip(shape, names, strict=False))


def dynamic_tensor(dims: Sequence[int | str], dtype: str) -> TensorType[Any]:
    """The tensor type of such extents."""
    shape = tuple(DYNAMIC_INDEX if isinstance(d, str) else d for d in dims)
    if not any(isinstance(d, str) and d != UNNAMED for d in dims):
        return tensor_type(shape, dtype)
    names = [StringAttr(d if isinstance(d, str) else UNNAMED) for d in dims]
    return TensorType(ir_type(dtype), shape, DimsAttr(ArrayAttr(names)))


def dims_problem(type_: Attribute) -> str | None:
    """The mistake in the names of a tensor's extents, None when there is none."""
    if not isinstance(type_, TensorType) or not isinstance(type_.encoding, DimsAttr):
        return None
    shape = type_.get_shape()
    names = [n.data for n in type_.encoding.names]
    if len(names) != len(shape):
        return f"{type_} has {len(shape)} extents and {len(names)} names"
    for extent, name in zip(shape, names, strict=True):
        if extent != DYNAMIC_INDEX and name != UNNAMED:
            return f"{type_}: {name} names the extent {extent}, which is known"
    return None


def accepts(declared: Attribute, actual: Attribute, names: bool = True) -> bool:
    """Whether a value of one type may stand where another is declared: the same, or with less unknown.

    Without `names` an extent that has a name in the declared type takes any: names mean something inside one function.
    """
    if declared == actual:
        return True
    if isinstance(declared, TensorType) and isinstance(actual, TensorType):
        a, b = cast("TensorType[Any]", declared), cast("TensorType[Any]", actual)
        if a.element_type != b.element_type or a.get_num_dims() != b.get_num_dims():
            return False
        pairs = zip(extents(a), extents(b), strict=True)
        return all(d in (UNNAMED, e) or (not names and isinstance(d, str)) for d, e in pairs)
    if isinstance(declared, TupleType) and isinstance(actual, TupleType):
        fields = list(declared.types), list(actual.types)
        return len(fields[0]) == len(fields[1]) and all(accepts(d, a, names) for d, a in zip(*fields, strict=True))
    return False


# -- types inside types ----------------------------------------------------------------------------


def rebuild(type_: Attribute, change: Callable[[Attribute], Attribute | None]) -> Attribute:
    """The type with every type inside it, itself first, replaced where `change` gives another."""
    changed = change(type_)
    if changed is not None:
        return changed
    if isinstance(type_, TupleType):
        # Of a list the type would not equal the same one that was read.
        return TupleType(ArrayAttr([cast(TypeAttribute, rebuild(t, change)) for t in type_.types]))
    if isinstance(type_, FunctionType):
        inputs, outputs = ([rebuild(t, change) for t in side] for side in (type_.inputs, type_.outputs))
        return FunctionType.from_lists(inputs, outputs)
    if isinstance(type_, AdtType):
        return AdtType(type_.adt, ArrayAttr([rebuild(t, change) for t in type_.arguments]))
    if isinstance(type_, RefType):
        return RefType(rebuild(type_.value, change))
    return type_


def substitute(type_: Attribute, arguments: Mapping[str, Attribute]) -> Attribute:
    """The type with type parameters replaced."""

    def change(t: Attribute) -> Attribute | None:
        return arguments.get(t.label.data) if isinstance(t, TypeVar) else None

    return rebuild(type_, change)
