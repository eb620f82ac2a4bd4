"""create_group: a name for several stages that move together."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.irdl import base, irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.nest.edits import blocks_of, stage_block
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import FuncOp


@irdl_op_definition
class CreateGroupOp(PrimitiveOp):
    """A name for several stages, which compute_at then moves together.

    Before: `for i: P[i]`, `for i: Q[i] = f(P[i])`, `for i: C[i] = g(Q[i])`
    After `te.create_group "g" ["P", "Q"]` and `te.compute_at "g" at %i [2]`: `for i: P, Q = f(P), C[i] = g(Q)`
    """

    name = "te.create_group"
    group = prop_def(StringAttr)
    stages = prop_def(ArrayAttr.constr(base(StringAttr)))

    @staticmethod
    def make(group: str, stages: Sequence[str]) -> CreateGroupOp:
        names = ArrayAttr([StringAttr(s) for s in stages])
        return CreateGroupOp.create(properties={"group": StringAttr(group), "stages": names})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.group.data)
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list([s.data for s in self.stages], printer.print_string_literal)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> CreateGroupOp:
        group = parser.parse_str_literal("the group's name")
        stages = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_str_literal("a stage's name")
        )
        return cls.make(group, stages)

    def apply(self, state: ScheduleState) -> None:
        stages = [s.data for s in self.stages]
        check_group(state.func, self.group.data, stages)
        state.groups[self.group.data] = stages


def check_group(func: FuncOp, name: str, stages: Sequence[str]) -> None:
    """Raises ScheduleError where a group cannot be: of no stage, of one twice, or under the name of one."""
    what = f"create_group of {name!r}"
    if not stages:
        raise ScheduleError(f"{what}: it has no stage")
    if len(set(stages)) != len(stages):
        raise ScheduleError(f"{what}: a stage is named twice")
    if name in blocks_of(func):
        raise ScheduleError(f"{what}: there is a stage of that name")
    for stage in stages:
        stage_block(func, stage)
