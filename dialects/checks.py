"""Checks that may fail while a program runs: a value that passes through a condition.

    %b = te.check %rhs, %ok "integer division by zero" : i32

The result is the value. Where the condition fails, the program ends in an error with the message; the code between
does not branch. te and tir have the op alike; with vectors, every lane is checked.
"""

from __future__ import annotations

import abc
from typing import Self

from xdsl.dialects.builtin import StringAttr, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


class CheckOpBase(IRDLOperation, abc.ABC):
    """A value, and an error of the run where a condition fails."""

    value = operand_def()
    condition = operand_def()
    message = prop_def(StringAttr)
    result = result_def()

    @classmethod
    def make(cls, value: SSAValue, condition: SSAValue, message: str) -> Self:
        return cls.create(
            operands=[value, condition], properties={"message": StringAttr(message)}, result_types=[value.type]
        )

    def verify_(self) -> None:
        if self.value.type != self.result.type:
            raise VerifyException("the value and the result have one type")
        if self.condition.type != condition_type(self.value.type):
            raise VerifyException(f"the condition of {self.value.type} is {condition_type(self.value.type)}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(" ")
        printer.print_string_literal(self.message.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        condition = parser.parse_unresolved_operand()
        message = parser.parse_str_literal("the message")
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        op = cls.make(
            parser.resolve_operand(value, type_), parser.resolve_operand(condition, condition_type(type_)), message
        )
        op.attributes |= extra
        return op


def condition_type(type_: Attribute) -> Attribute:
    """One bit, for each lane."""
    if type(type_) is VectorType:
        return VectorType(i1, type_.get_shape())
    return i1
