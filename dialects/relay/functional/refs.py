"""Cells that can be written: the one part of the language where order matters.

%r = relay.ref_create %x : tensor<8xf32>
%y = relay.ref_read %r : !relay.ref<tensor<8xf32>>
relay.ref_write %r, %z : tensor<8xf32>
"""

from __future__ import annotations

from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.core import ProgramOp
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.value_types import RefType


@irdl_op_definition
class RefCreateOp(ProgramOp):
    """A new cell that holds a value. Each run of the op makes another cell."""

    name = "relay.ref_create"
    value = operand_def()
    result = result_def(RefType)

    @staticmethod
    def make(value: SSAValue) -> RefCreateOp:
        return RefCreateOp.create(operands=[value], result_types=[RefType(value.type)])

    def verify_(self) -> None:
        _verify_cell(self.result.type, self.value.type)

    def print(self, printer: Printer) -> None:
        _print(printer, self, self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> RefCreateOp:
        (value,), attributes, type_ = _parse(parser, 1)
        operand = parser.resolve_operand(value, type_)
        return cls.create(operands=[operand], result_types=[RefType(type_)], attributes=attributes)


@irdl_op_definition
class RefReadOp(ProgramOp):
    """The value that a cell holds now."""

    name = "relay.ref_read"
    cell = operand_def(RefType)
    result = result_def()

    @staticmethod
    def make(cell: SSAValue) -> RefReadOp:
        return RefReadOp.create(operands=[cell], result_types=[_held(cell.type)])

    def verify_(self) -> None:
        _verify_cell(self.cell.type, self.result.type)

    def print(self, printer: Printer) -> None:
        _print(printer, self, self.cell.type)

    @classmethod
    def parse(cls, parser: Parser) -> RefReadOp:
        position = parser.pos
        (cell,), attributes, type_ = _parse(parser, 1)
        if not isinstance(type_, RefType):
            parser.raise_error(f"expected the type of a cell, got {type_}", position, parser.pos)
        return cls.create(
            operands=[parser.resolve_operand(cell, type_)], result_types=[type_.value], attributes=attributes
        )


@irdl_op_definition
class RefWriteOp(ProgramOp):
    """Lets a cell hold another value."""

    name = "relay.ref_write"
    cell = operand_def(RefType)
    value = operand_def()

    @staticmethod
    def make(cell: SSAValue, value: SSAValue) -> RefWriteOp:
        return RefWriteOp.create(operands=[cell, value])

    def verify_(self) -> None:
        _verify_cell(self.cell.type, self.value.type)

    def print(self, printer: Printer) -> None:
        _print(printer, self, self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> RefWriteOp:
        (cell, value), attributes, type_ = _parse(parser, 2)
        operands = [parser.resolve_operand(cell, RefType(type_)), parser.resolve_operand(value, type_)]
        return cls.create(operands=operands, attributes=attributes)


def _held(type_: Attribute) -> Attribute:
    if not isinstance(type_, RefType):
        raise VerifyException(f"expects a cell, got {type_}")
    return type_.value


def _verify_cell(cell: Attribute, value: Attribute) -> None:
    if _held(cell) != value:
        raise VerifyException(f"a cell of {_held(cell)} does not hold a {value}")


def _print(printer: Printer, op: IRDLOperation, type_: Attribute) -> None:
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_ssa_value)
    if op.attributes:
        printer.print_string(" ")
        printer.print_attr_dict(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(type_)


def _parse(parser: Parser, count: int) -> tuple[list[UnresolvedOperand], dict[str, Attribute], Attribute]:
    operands = [parser.parse_unresolved_operand()]
    while len(operands) < count:
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return operands, attributes, parser.parse_type()
