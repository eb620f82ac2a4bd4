"""Lanes of two vectors in any order: what transposing tiles in registers is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.tir.vectors import parse_end, parse_two, print_end

__all__ = ["ShuffleOp"]


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """Lanes picked from two vectors laid end to end: `tir.shuffle %a, %b [0, 4, 1, 5] : vector<4xf32>`.

    The result has a lane for each number: 0 is the first lane of the first vector, 4 here that of the second.
    """

    name = "tir.shuffle"

    first = operand_def(VectorType)
    second = operand_def(VectorType)
    picks = prop_def(DenseArrayBase.constr(i32))
    result = result_def(VectorType)
    traits = traits_def(Pure())

    @staticmethod
    def make(first: SSAValue, second: SSAValue, picks: Sequence[int]) -> ShuffleOp:
        element = cast("VectorType[Attribute]", first.type).element_type
        return ShuffleOp.create(
            operands=[first, second],
            properties={"picks": DenseArrayBase.from_list(i32, list(picks))},
            result_types=[VectorType(element, [len(picks)])],
        )

    def numbers(self) -> tuple[int, ...]:
        """The lanes that are picked."""
        return tuple(self.picks.get_values())

    def verify_(self) -> None:
        if self.first.type != self.second.type:
            raise VerifyException(f"lanes of {self.first.type} and of {self.second.type}; both vectors have one type")
        (lanes,) = cast("VectorType[Attribute]", self.first.type).get_shape()
        element = cast("VectorType[Attribute]", self.first.type).element_type
        if self.result.type != VectorType(element, [len(self.numbers())]):
            raise VerifyException("the result has a lane for each number")
        wrong = [n for n in self.numbers() if not 0 <= n < 2 * lanes]
        if wrong or not self.numbers():
            said = f"there is no lane {wrong[0]}" if wrong else "no lane is picked"
            raise VerifyException(f"{said}; two vectors of {lanes} have the lanes 0 to {2 * lanes - 1}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(f" {list(self.numbers())}")
        print_end(printer, self, self.first.type)

    @classmethod
    def parse(cls, parser: Parser) -> ShuffleOp:
        position = parser.pos
        given = parse_two(parser)
        picks = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        _, operands, extra = parse_end(parser, given, position, "tir.shuffle takes vectors")
        op = cls.make(operands[0], operands[1], picks)
        op.attributes |= extra
        return op
