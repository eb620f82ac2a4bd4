"""loops: handles on the loops of a stage."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from lamina.dialects.schedule.families import StageLoopsBase
from lamina.dialects.schedule.primitive import LoopPrimitiveOp, ScheduleState


@irdl_op_definition
class LoopsOp(StageLoopsBase, LoopPrimitiveOp):
    """All loops of a stage as they stand, outermost first.

    Before: `for i: for j: A[i, j] = ...`    After: the same; `%i, %j = te.loops "A" [2]`
    """

    name = "te.loops"

    def apply(self, state: ScheduleState) -> None:
        state.bind(self.results, state.stage_loops(self.stage.data))
