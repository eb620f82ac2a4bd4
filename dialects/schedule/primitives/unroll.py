"""unroll: the iterations of a loop written out."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from lamina.dialects.schedule.families import LoopKindBase, mark
from lamina.dialects.schedule.primitive import LoopPrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class UnrollOp(LoopKindBase, LoopPrimitiveOp):
    """The iterations of a loop written out.

    Before: `for i in 2: f(i)`    After: `f(0); f(1)`
    """

    name = "te.unroll"

    def apply(self, state: ScheduleState) -> None:
        unroll(state.loop(self.loop))


def unroll(loop: ForOp) -> None:
    """Write the iterations of a loop out. Raises ScheduleError where that cannot be."""
    mark(loop, "unroll", "unrolled", reductions=True)
