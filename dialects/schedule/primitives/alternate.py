"""alternate: a loop walked back and forth."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import irdl_op_definition, operand_def

from lamina.dialects.schedule.nest.annotations import ALTERNATE
from lamina.dialects.schedule.nest.recurrence import check_at_once
from lamina.dialects.schedule.nest.refusals import refuse
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState


@irdl_op_definition
class AlternateOp(PrimitiveOp):
    """A loop walked forwards and backwards by turns, so that it begins with what the caches hold from the turn before.

    Before: `for t in 64: for j in 8: f(t, j)`    After `te.alternate %j`, when tir-alternate-direction has run:
    `for t in 64: for j in 8: f(t, j if t is even else 7 - j)`
    """

    name = "te.alternate"
    loop = operand_def(LOOP)
    assembly_format = "$loop attr-dict"

    def apply(self, state: ScheduleState) -> None:
        loop = state.loop(self.loop)
        if loop.is_reduction and loop.trip > 1:
            refuse(f"alternate of {loop.axis.data!r}: its iterations add into the same element, in their order")
        check_at_once(loop, "alternate")
        loop.attributes[ALTERNATE] = UnitAttr()
