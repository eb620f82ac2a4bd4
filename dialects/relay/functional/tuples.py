"""Several values as one: what a function value gives a caller that wants one thing, or a data type keeps.

    %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<i32>>
    %x = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<i32>>

Ops with several results are ops with several results, not with a tuple.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import TypeAttribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.core import ProgramOp
from lamina.dialects.relay.declare import *


@irdl_op_definition
class TupleOp(ProgramOp):
    """Several values as one."""

    name = "relay.tuple"
    fields = var_operand_def()
    result = result_def(TupleType)

    traits = traits_def(Pure())

    @staticmethod
    def make(*fields: SSAValue) -> TupleOp:
        type_ = TupleType(ArrayAttr([cast(TypeAttribute, f.type) for f in fields]))
        return TupleOp.create(operands=fields, result_types=[type_])

    def verify_(self) -> None:
        type_ = self.result.type
        given = tuple(f.type for f in self.operands)
        if type_.types.data != given:
            raise VerifyException(f"fields of types {', '.join(map(str, given))} do not make a {type_}")

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> TupleOp:
        fields = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = _parse_tuple_type(parser)
        if len(type_.types) != len(fields):
            parser.raise_error(f"{len(fields)} fields for {type_}", position, parser.pos)
        values = parser.resolve_operands(fields, type_.types.data, position)
        return cls.create(operands=values, result_types=[type_], attributes=attributes)


@irdl_op_definition
class TupleGetItemOp(ProgramOp):
    """One field of a tuple, counted from 0."""

    name = "relay.tuple_get_item"
    tuple_value = operand_def(TupleType)
    index = prop_def(IntegerAttr.constr(i64))
    result = result_def()

    traits = traits_def(Pure())

    @staticmethod
    def make(value: SSAValue, index: int) -> TupleGetItemOp:
        """Raises VerifyException for a value that is no tuple or has no such field."""
        return TupleGetItemOp.create(
            operands=[value],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[_field(value.type, index)],
        )

    def verify_(self) -> None:
        field = _field(self.tuple_value.type, self.index.value.data)
        if field != self.result.type:
            raise VerifyException(f"field {self.index.value.data} is {field}, not {self.result.type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tuple_value)
        printer.print_string(f"[{self.index.value.data}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tuple_value.type)

    @classmethod
    def parse(cls, parser: Parser) -> TupleGetItemOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        position = parser.pos
        index = parser.parse_integer(allow_boolean=False)
        end = parser.pos
        parser.parse_punctuation("]")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = _parse_tuple_type(parser)
        try:
            result = _field(type_, index)
        except VerifyException as e:
            parser.raise_error(str(e), position, end)
        return cls.create(
            operands=[parser.resolve_operand(value, type_)],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[result],
            attributes=attributes,
        )


def _parse_tuple_type(parser: Parser) -> TupleType:
    position = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, TupleType):
        parser.raise_error(f"expected a tuple type, got {type_}", position, parser.pos)
    return type_


def _field(type_: Attribute, index: int) -> Attribute:
    if not isinstance(type_, TupleType):
        raise VerifyException(f"expects a tuple, got {type_}")
    if not 0 <= index < len(type_.types):
        raise VerifyException(f"no field {index} in a tuple of {len(type_.types)}")
    return type_.types.data[index]
