"""Arithmetic, vector and control-flow ops of the llvm dialect that xDSL lacks or narrows.

`llvm.fcmp`, `llvm.icmp` and `llvm.select` replace xDSL's, which refuse vectors, pointers or fast-math flags.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import (
    ALL_FCMP_FLAGS,
    ALL_ICMP_FLAGS,
    FastMathAttr,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "AddrSpaceCastOp",
    "ExtractElementOp",
    "FCmpOp",
    "FPToSIOp",
    "FPToUIOp",
    "FreezeOp",
    "ICmpOp",
    "PoisonOp",
    "SelectOp",
    "SwitchOp",
    "UIToFPOp",
]

ICMP_PREDICATES = tuple(str(flag) for flag in ALL_ICMP_FLAGS)
FCMP_PREDICATES = tuple(str(flag) for flag in ALL_FCMP_FLAGS)


def _compared(type_: Attribute) -> Attribute:
    """The type of a comparison: one bit for each element."""
    if isinstance(type_, VectorType):
        return VectorType(i1, cast("VectorType[Attribute]", type_).shape)
    return i1


class _CompareOp(IRDLOperation):
    """`llvm.icmp "slt" %a, %b : i32`; operands of one type, scalar or vector."""

    lhs = operand_def()
    rhs = operand_def()
    res = result_def()
    predicate = prop_def(IntegerAttr[IntegerType])

    traits = traits_def(Pure())

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyException(f"compares {self.lhs.type} with {self.rhs.type}")
        if self.res.type != _compared(self.lhs.type):
            raise VerifyException(f"gives {_compared(self.lhs.type)}, not {self.res.type}")

    def print(self, printer: Printer) -> None:
        names = FCMP_PREDICATES if isinstance(self, FCmpOp) else ICMP_PREDICATES
        printer.print_string(f' "{names[self.predicate.value.data]}" ')
        printer.print_list(self.operands, printer.print_ssa_value)
        shown = dict(self.attributes)
        flags = self.properties.get("fastmathFlags")
        if isinstance(flags, FastMathAttr) and flags.data:
            shown["fastmathFlags"] = flags
        printer.print_op_attributes(shown)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    @classmethod
    def parse(cls, parser: Parser) -> _CompareOp:
        names = FCMP_PREDICATES if cls is FCmpOp else ICMP_PREDICATES
        word = parser.parse_str_literal()
        if word not in names:
            parser.raise_error(f"unknown predicate '{word}'; one of {', '.join(names)}")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(names.index(word), i64)}
        if cls is FCmpOp and "fastmathFlags" in attributes:
            properties["fastmathFlags"] = attributes.pop("fastmathFlags")
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands([lhs, rhs], [type_, type_], parser.pos),
            result_types=[_compared(type_)],
            properties=properties,
            attributes=attributes,
        )


@irdl_op_definition
class ICmpOp(_CompareOp):
    """`llvm.icmp "slt" %a, %b : i32`; integers, pointers and vectors of them."""

    name = "llvm.icmp"


@irdl_op_definition
class FCmpOp(_CompareOp):
    """`llvm.fcmp "olt" %a, %b : vector<16xf32>`"""

    name = "llvm.fcmp"

    fastmathFlags = opt_prop_def(FastMathAttr)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`llvm.select %c, %a, %b : vector<16xi1>, vector<16xf32>`"""

    name = "llvm.select"

    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    res = result_def()
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    def verify_(self) -> None:
        if not self.lhs.type == self.rhs.type == self.res.type:
            raise VerifyException(f"chooses between {self.lhs.type} and {self.rhs.type}, gives {self.res.type}")
        if self.cond.type != i1 and self.cond.type != _compared(self.res.type):
            raise VerifyException(f"condition is i1 or {_compared(self.res.type)}, not {self.cond.type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        shown = dict(self.attributes)
        if self.fastmathFlags.data:
            shown["fastmathFlags"] = self.fastmathFlags
        printer.print_op_attributes(shown)
        printer.print_string(" : ")
        printer.print_list((self.cond.type, self.res.type), printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {}
        if "fastmathFlags" in attributes:
            properties["fastmathFlags"] = attributes.pop("fastmathFlags")
        parser.parse_punctuation(":")
        cond = parser.parse_type()
        parser.parse_punctuation(",")
        type_ = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(names, [cond, type_, type_], parser.pos),
            result_types=[type_],
            properties=properties,
            attributes=attributes,
        )


class _CastOp(IRDLOperation):
    arg = operand_def()
    result = result_def()

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"


@irdl_op_definition
class FPToSIOp(_CastOp):
    """Truncates toward zero; a value that does not fit is poison."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(_CastOp):
    """Truncates toward zero; a value that does not fit is poison."""

    name = "llvm.fptoui"


@irdl_op_definition
class UIToFPOp(IRDLOperation):
    """`llvm.uitofp nneg %i : i32 to f32`"""

    name = "llvm.uitofp"

    arg = operand_def()
    result = result_def()
    non_neg = opt_prop_def(UnitAttr, prop_name="nonNeg")

    traits = traits_def(NoMemoryEffect())

    assembly_format = "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($result)"


@irdl_op_definition
class AddrSpaceCastOp(_CastOp):
    """A pointer in another address space."""

    name = "llvm.addrspacecast"


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """Some fixed value where the operand is poison."""

    name = "llvm.freeze"

    val = operand_def()
    res = result_def()

    traits = traits_def(NoMemoryEffect())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.val)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.val.type)

    @classmethod
    def parse(cls, parser: Parser) -> FreezeOp:
        val = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return cls.create(operands=[parser.resolve_operand(val, type_)], result_types=[type_], attributes=attributes)


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A value that no result may depend on."""

    name = "llvm.mlir.poison"

    res = result_def()

    traits = traits_def(NoMemoryEffect())

    assembly_format = "attr-dict `:` type($res)"


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """`llvm.extractelement %v[%i : i32] : vector<16xf32>`"""

    name = "llvm.extractelement"

    vector = operand_def(VectorType)
    position = operand_def(IntegerType)
    res = result_def()

    traits = traits_def(NoMemoryEffect())

    def verify_(self) -> None:
        element = cast("VectorType[Attribute]", self.vector.type).element_type
        if self.res.type != element:
            raise VerifyException(f"an element of {self.vector.type} is {element}, not {self.res.type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.vector)
        printer.print_string("[")
        printer.print_ssa_value(self.position)
        printer.print_string(" : ")
        printer.print_attribute(self.position.type)
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.vector.type)

    @classmethod
    def parse(cls, parser: Parser) -> ExtractElementOp:
        vector = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        position = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        index = parser.resolve_operand(position, parser.parse_type())
        parser.parse_punctuation("]")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        at = parser.pos
        type_: Attribute = parser.parse_type()
        if not isinstance(type_, VectorType):
            parser.raise_error(f"expected a vector type, got {type_}", at, parser.pos)
        vector_type = cast("VectorType[Attribute]", type_)
        return cls.create(
            operands=[parser.resolve_operand(vector, vector_type), index],
            result_types=[vector_type.element_type],
            attributes=attributes,
        )


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """A jump by value:

    llvm.switch %i : i32, ^bb1 [
      42: ^bb2(%f : f32),
      43: ^bb1
    ]
    """

    name = "llvm.switch"

    value = operand_def(IntegerType)
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_values = opt_prop_def(DenseIntElementsAttr)
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))

    default_dest = successor_def()
    case_dests = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def numbers(self) -> tuple[int, ...]:
        return () if self.case_values is None else tuple(self.case_values.get_values())

    def segments(self) -> tuple[int, ...]:
        return tuple(self.case_operand_segments.iter_values())

    def verify_(self) -> None:
        if not len(self.numbers()) == len(self.segments()) == len(self.case_dests):
            raise VerifyException("one value, one operand count and one block for each case")
        if sum(self.segments()) != len(self.case_operands):
            raise VerifyException("case_operand_segments does not add up to the case operands")

    def _print_target(self, printer: Printer, block: Block, values: tuple[SSAValue, ...]) -> None:
        printer.print_block_name(block)
        if values:
            printer.print_string("(")
            printer.print_list(values, printer.print_ssa_value)
            printer.print_string(" : ")
            printer.print_list((v.type for v in values), printer.print_attribute)
            printer.print_string(")")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        self._print_target(printer, self.default_dest, tuple(self.default_operands))
        printer.print_string(" [")
        used = 0
        for i, (number, count, block) in enumerate(zip(self.numbers(), self.segments(), self.case_dests, strict=True)):
            printer.print_string(f"{',' if i else ''} {number}: ")
            self._print_target(printer, block, tuple(self.case_operands)[used : used + count])
            used += count
        printer.print_string(" ]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SwitchOp:
        def target() -> tuple[Block, list[SSAValue]]:
            block = parser.parse_successor()
            names: list[UnresolvedOperand] = []
            types: list[Attribute] = []
            if parser.parse_optional_punctuation("(") is not None:
                names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
                parser.parse_punctuation(":")
                types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
                parser.parse_punctuation(")")
            return block, list(parser.resolve_operands(names, types, parser.pos))

        def case() -> tuple[int, Block, list[SSAValue]]:
            number = parser.parse_integer()
            parser.parse_punctuation(":")
            return number, *target()

        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type_ = cast(IntegerType, parser.parse_type())
        parser.parse_punctuation(",")
        default, default_values = target()
        cases = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, case)
        attributes = parser.parse_optional_attr_dict()
        case_values = [v for _, _, values in cases for v in values]
        properties: dict[str, Attribute] = {
            "case_operand_segments": DenseArrayBase.from_list(i32, [len(v) for _, _, v in cases]),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(default_values), len(case_values)]),
        }
        if cases:
            numbers = VectorType(type_, [len(cases)])
            properties["case_values"] = DenseIntElementsAttr.from_list(numbers, [n for n, _, _ in cases])
        return cls.create(
            operands=[parser.resolve_operand(value, type_), *default_values, *case_values],
            properties=properties,
            attributes=attributes,
            successors=[default, *(block for _, block, _ in cases)],
        )
