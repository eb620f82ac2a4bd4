"""Schedule primitives on several stages, or all of them, at once."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.irdl import base, irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState


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
        from lamina.dialects.schedule.nest.groups import check_group

        stages = [s.data for s in self.stages]
        check_group(state.func, self.group.data, stages)
        state.groups[self.group.data] = stages


@irdl_op_definition
class NormalizeOp(PrimitiveOp):
    """Bounds and conditions that say nothing gone, and indices in their simplest form, in the whole function.

    Before: `for i in 4 min [%n mod 4 + 5]: C[i] = A[(i * 4 + 3) floordiv 4] where [i >= 0]`
    After `te.normalize`: `for i in 4: C[i] = A[i]`
    """

    name = "te.normalize"
    assembly_format = "attr-dict"

    @staticmethod
    def make() -> NormalizeOp:
        return NormalizeOp.create()

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.normalize import normalize

        normalize(state.func)
        # What is simpler in a tile need not hold for the whole stage.
        for stage in [s for s, attachment in state.attached.items() if attachment is not None]:
            del state.attached[stage]
