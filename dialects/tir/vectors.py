"""Vector forms of the arith ops that xDSL defines on scalars only: comparisons and conversions, lane by lane.

%c = tir.compare slt, %a, %b : vector<16xi32>            // arith.cmpi, arith.cmpf: vector<16xi1>
%w = tir.cast extsi %a : vector<16xi8> to vector<16xi32> // the kind is the name of the arith op
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, StringAttr, VectorType, i1, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

__all__ = ["CASTS", "CastOp", "CompareOp"]

CASTS: dict[str, type[Operation]] = {
    op.name.removeprefix("arith."): op
    for op in (
        *(arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.SIToFPOp, arith.UIToFPOp),
        *(arith.FPToSIOp, arith.FPToUIOp),
    )
}
"""The kinds of tir.cast, each with the arith op that does the same to a scalar."""


def _element(type_: Attribute) -> Attribute:
    return cast("VectorType[Attribute]", type_).element_type


@irdl_op_definition
class CompareOp(IRDLOperation):
    """Whether a relation holds, lane by lane: `tir.compare slt, %a, %b : vector<16xi32>`."""

    name = "tir.compare"

    predicate = prop_def(IntegerAttr)
    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    @staticmethod
    def make(predicate: IntegerAttr, lhs: SSAValue, rhs: SSAValue) -> CompareOp:
        type_ = VectorType(i1, cast("VectorType[Attribute]", lhs.type).get_shape())
        return CompareOp.create(operands=[lhs, rhs], properties={"predicate": predicate}, result_types=[type_])

    def is_float(self) -> bool:
        return isinstance(_element(self.lhs.type), AnyFloat)

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyException("both sides have one type")
        if self.result.type != VectorType(i1, self.lhs.type.get_shape()):  # type: ignore[attr-defined]
            raise VerifyException("the result has one bit for each lane")
        if not 0 <= self.predicate.value.data < len(_predicates(self.lhs.type)):
            raise VerifyException(f"there is no predicate {self.predicate.value.data}")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {_predicates(self.lhs.type)[self.predicate.value.data]}, ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_end(printer, self, self.lhs.type)

    @classmethod
    def parse(cls, parser: Parser) -> CompareOp:
        position = parser.pos
        predicate = parser.parse_identifier()
        parser.parse_punctuation(",")
        given = parse_two(parser)
        type_, operands, extra = parse_end(
            parser, given, position, "tir.compare takes vectors; scalars are compared by arith.cmpi and arith.cmpf"
        )
        names = _predicates(type_)
        if predicate not in names:
            parser.raise_error(f"'{predicate}' is none of {', '.join(names)}", position)
        op = cls.make(IntegerAttr(names.index(predicate), i64), *operands)
        op.attributes |= extra
        return op


def parse_two(parser: Parser) -> list[UnresolvedOperand]:
    """`%a, %b`."""
    first = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    return [first, parser.parse_unresolved_operand()]


def print_end(printer: Printer, op: Operation, type_: Attribute) -> None:
    """`{attributes} : type` of an op whose operands have one type."""
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(type_)


def parse_end(
    parser: Parser, given: Sequence[UnresolvedOperand], position: int, refusal: str
) -> tuple[VectorType[Attribute], Sequence[SSAValue], dict[str, Attribute]]:
    """The same read: the type of the operands, which is that of a vector or refused; the operands; the attributes."""
    extra = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    if not isa(type_, VectorType):
        parser.raise_error(refusal, position)
    return type_, parser.resolve_operands(given, [type_] * len(given), parser.pos), extra


def _predicates(type_: Attribute) -> list[str]:
    return CMPF_COMPARISON_OPERATIONS if isinstance(_element(type_), AnyFloat) else CMPI_COMPARISON_OPERATIONS


@irdl_op_definition
class CastOp(IRDLOperation):
    """A conversion, lane by lane: `tir.cast extsi %a : vector<16xi8> to vector<16xi32>`."""

    name = "tir.cast"

    kind = prop_def(StringAttr)
    value = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    @staticmethod
    def make(kind: str, value: SSAValue, type_: Attribute) -> CastOp:
        return CastOp.create(operands=[value], properties={"kind": StringAttr(kind)}, result_types=[type_])

    def verify_(self) -> None:
        if self.kind.data not in CASTS:
            raise VerifyException(f"'{self.kind.data}' is none of {', '.join(CASTS)}")
        if self.value.type.get_shape() != self.result.type.get_shape():  # type: ignore[attr-defined]
            raise VerifyException("a conversion keeps the number of lanes")
        # What converts from what, and that a number grows or shrinks as the name says, is arith's to tell.
        operand = Block(arg_types=[_element(self.value.type)]).args[0]
        scalar = CASTS[self.kind.data].create(operands=[operand], result_types=[_element(self.result.type)])
        scalar.verify()

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> CastOp:
        position = parser.pos
        kind = parser.parse_identifier()
        if kind not in CASTS:
            parser.raise_error(f"'{kind}' is none of {', '.join(CASTS)}", position)
        value = parser.parse_unresolved_operand()
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        op = cls.make(kind, parser.resolve_operand(value, source), parser.parse_type())
        op.attributes |= extra
        return op
