"""sample_annotation: how a loop runs, drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.primitive import LOOP, ScheduleState, parse_loop
from lamina.dialects.schedule.primitives.parallel import parallel
from lamina.dialects.schedule.primitives.unroll import unroll
from lamina.dialects.schedule.primitives.vectorize import vectorize
from lamina.dialects.schedule.sampling import SamplingBase, parse_decision, parse_position, with_decision
from lamina.dialects.tir.ops import ForOp
from lamina.errors import did_you_mean

WAYS: dict[str, Callable[[ForOp], None]] = {
    "none": lambda loop: None,
    "parallel": parallel,
    "unroll": unroll,
    "vectorize": vectorize,
}
"""Ways for a loop to run: the primitive of that name, or as it stands."""


@irdl_op_definition
class SampleAnnotationOp(SamplingBase):
    """A way for a loop to run, drawn from a list of none, parallel, unroll, vectorize; the decision is its position.

    Before: `for i in 16: C[i] = A[i]`
    After `te.sample_annotation %i ["none", "unroll", "vectorize"] decision 2`: `C[lane] = A[lane]`, sixteen at once
    """

    name = "te.sample_annotation"
    loop = operand_def(LOOP)
    ways = prop_def(ArrayAttr[StringAttr])
    decision = opt_prop_def(IntegerAttr)

    @staticmethod
    def make(
        loop: SSAValue, ways: Sequence[str], decision: int | None = None, knob: str | None = None
    ) -> SampleAnnotationOp:
        properties = with_decision({"ways": ArrayAttr([StringAttr(w) for w in ways])}, knob, decision)
        return SampleAnnotationOp.create(operands=[loop], properties=properties)

    def verify_(self) -> None:
        for way in (w.data for w in self.ways):
            if way not in WAYS:
                hint = did_you_mean(way, list(WAYS)) or f"there are {', '.join(WAYS)}"
                raise VerifyException(f"{way!r} is no way to run a loop; {hint}")
        if not self.ways.data:
            raise VerifyException("there is at least one way to run the loop")
        if self.decision is not None and not 0 <= self.decided()[0] < len(self.ways):
            raise VerifyException(f"the decision {self.decided()[0]} is none of {len(self.ways)} positions")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        printer.print_attribute(self.ways)
        self.print_decision(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SampleAnnotationOp:
        loop = parse_loop(parser)
        ways = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        knob, decision = parse_decision(parser, parse_position)
        return cls.make(loop, ways, decision, knob)

    def apply(self, state: ScheduleState) -> None:
        loop = state.loop(self.loop)
        self.decide(len(self.ways))
        WAYS[self.ways.data[self.decided()[0]].data](loop)
