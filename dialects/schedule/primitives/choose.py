"""choose: one of several pieces of a schedule, drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Region
from xdsl.irdl import irdl_op_definition, opt_prop_def, traits_def, var_region_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.region_text import parse_body, parse_optional_body, print_body
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.schedule.sampling import SamplingBase, parse_decision, parse_position, with_decision


@irdl_op_definition
class ChooseOp(SamplingBase):
    """One of several pieces of a schedule, drawn; a piece may be empty, and its handles are its own.

    Before: `for i in 64: f(i)`
    After `te.choose decision 1 { te.parallel %i } { te.unroll %i }`: `f(0); f(1); ...; f(63)`
    """

    name = "te.choose"
    decision = opt_prop_def(IntegerAttr)
    pieces = var_region_def("single_block")
    traits = traits_def(NoTerminator())

    @staticmethod
    def make(pieces: Sequence[Region], decision: int | None = None, knob: str | None = None) -> ChooseOp:
        return ChooseOp.create(properties=with_decision({}, knob, decision), regions=list(pieces))

    def verify_(self) -> None:
        if not self.pieces:
            raise VerifyException("there is at least one piece to choose")
        for op in (o for piece in self.pieces for o in piece.block.ops):
            if not isinstance(op, PrimitiveOp):
                raise VerifyException(f"{op.name} is no schedule primitive")
        if self.decision is not None and not 0 <= self.decided()[0] < len(self.pieces):
            raise VerifyException(f"the decision {self.decided()[0]} is none of {len(self.pieces)} pieces")

    def print(self, printer: Printer) -> None:
        self.print_decision(printer)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        for piece in self.pieces:
            printer.print_string(" ")
            print_body(printer, piece)

    @classmethod
    def parse(cls, parser: Parser) -> ChooseOp:
        knob, decision = parse_decision(parser, parse_position)
        extra = parser.parse_optional_attr_dict_with_keyword()
        pieces = [parse_body(parser)]
        while (piece := parse_optional_body(parser)) is not None:
            pieces.append(piece)
        found = cls.make(pieces, decision, knob)
        found.attributes |= dict(extra.data) if extra else {}
        return found

    def apply(self, state: ScheduleState) -> None:
        self.decide(len(self.pieces))

    def then(self) -> Iterable[Operation]:
        return self.pieces[self.decided()[0]].block.ops
