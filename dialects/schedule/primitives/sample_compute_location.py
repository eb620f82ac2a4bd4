"""sample_compute_location: the loop of its consumer in which a stage is computed, drawn."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, ScheduleState, parse_count
from lamina.dialects.schedule.primitives.compute_at import attach
from lamina.dialects.schedule.sampling import SamplingBase, parse_decision, parse_position, with_decision


@irdl_op_definition
class SampleComputeLocationOp(SamplingBase):
    """The loop of a consumer in which a stage is computed, drawn: 0 leaves it where it stands, 1 is the outermost loop.

    Before: `for i: for j: P[i, j]`, `for i: for j: C[i, j] = P[i, j]`
    After `te.sample_compute_location "P" in "C" [2] decision 1`: `for i: (for j: P[0, j]), for j: C[i, j] = P[0, j]`
    """

    name = "te.sample_compute_location"
    stage = prop_def(StringAttr)
    consumer = prop_def(StringAttr)
    decision = opt_prop_def(IntegerAttr)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(
        stage: str, consumer: str, count: int, decision: int | None = None, knob: str | None = None
    ) -> SampleComputeLocationOp:
        properties = with_decision({"stage": StringAttr(stage), "consumer": StringAttr(consumer)}, knob, decision)
        return SampleComputeLocationOp.create(properties=properties, result_types=[LOOP] * count)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" in ")
        printer.print_string_literal(self.consumer.data)
        printer.print_string(f" [{len(self.loops)}]")
        self.print_decision(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SampleComputeLocationOp:
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("in")
        consumer, count = parser.parse_str_literal("the consumer's name"), parse_count(parser)
        knob, decision = parse_decision(parser, parse_position)
        return cls.make(stage, consumer, count, decision, knob)

    def apply(self, state: ScheduleState) -> None:
        stage, around = self.stage.data, state.stage_loops(self.consumer.data)
        self.decide(len(around) + 1)
        (position,) = self.decided()
        if not 0 <= position <= len(around):
            raise ScheduleError(
                f"sample_compute_location of {stage!r}: the decision {position}; "
                f"{self.consumer.data!r} has {len(around)} loops"
            )
        if position:
            loops = attach(state.func, stage, around[position - 1], state.attached)
        else:
            loops = state.stage_loops(stage)
        state.bind(self.results, loops)
