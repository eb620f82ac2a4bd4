"""A choice between two computations.

    %r = relay.if %c -> tensor<8xf32> {
      %0 = relay.exp %x : tensor<8xf32>
      relay.yield %0 : tensor<8xf32>
    } else {
      relay.yield %x : tensor<8xf32>
    }

Both regions see the values around them. There are no loops besides recursion (`self` of relay.fn, global functions):
a call whose results are returned as they are takes no memory, however often it is made.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation, region_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.core import ProgramOp, fits, parse_types, print_types
from lamina.dialects.relay.declare import *

CONDITION = tensor_type((), "bool")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of relay.if or relay.match with its results."""

    name = "relay.yield"
    arguments = var_operand_def()
    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    traits = traits_def(IsTerminator())

    @staticmethod
    def make(*values: SSAValue) -> YieldOp:
        return YieldOp.create(operands=values)

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name not in ("relay.if", "relay.match"):
            raise VerifyException(f"ends a region of relay.if or relay.match, not of {parent.name}")


@irdl_op_definition
class IfOp(ProgramOp):
    """The results of one of two regions. Only that region is computed."""

    name = "relay.if"
    condition = operand_def(TensorType.constr(i1))
    res = var_result_def()
    true_region = region_def("single_block")
    false_region = region_def("single_block")

    @staticmethod
    def make(
        condition: SSAValue, true_block: Block, false_block: Block, result_types: Sequence[Attribute] | None = None
    ) -> IfOp:
        """An if of two finished blocks, which end in relay.yield; by default the first one states the types."""
        if result_types is None:
            last = true_block.last_op
            if not isinstance(last, YieldOp):
                raise TypeError("a region of relay.if ends in relay.yield")
            result_types = [v.type for v in last.operands]
        regions = [Region(true_block), Region(false_block)]
        return IfOp.create(operands=[condition], result_types=result_types, regions=regions)

    def verify_(self) -> None:
        if self.condition.type != CONDITION:
            raise VerifyException(f"the condition is one truth value, tensor<i1>, not {self.condition.type}")
        for region, what in ((self.true_region, "first"), (self.false_region, "second")):
            if region.block.args:
                raise VerifyException(f"the {what} region takes arguments; it sees the values around it")
            verify_yield(region, self.result_types, f"the {what} region")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        if self.results:
            printer.print_string(" -> ")
            print_types(printer, self.result_types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.true_region)
        printer.print_string(" else ")
        printer.print_region(self.false_region)

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), CONDITION)
        types = parse_types(parser) if parser.parse_optional_punctuation("->") else ()
        attributes = parser.parse_optional_attr_dict() if parser.parse_optional_keyword("attributes") else {}
        first = parser.parse_region()
        parser.parse_keyword("else")
        second = parser.parse_region()
        return cls.create(operands=[condition], result_types=types, regions=[first, second], attributes=attributes)


def verify_yield(region: Region, types: Sequence[Attribute], what: str) -> None:
    """Check that a region ends in a yield of the types. Raises VerifyException."""
    last = region.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{what} does not end in relay.yield")
    given = [v.type for v in last.operands]
    if not fits(types, given):
        listed = [", ".join(map(str, side)) or "nothing" for side in (given, types)]
        raise VerifyException(f"{what} yields {listed[0]}, expected {listed[1]}")
