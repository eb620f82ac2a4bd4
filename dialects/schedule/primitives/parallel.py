"""parallel: the iterations of a loop on the threads of the pool."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from lamina.dialects.schedule.families import LoopKindBase, mark
from lamina.dialects.schedule.primitive import LoopPrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class ParallelOp(LoopKindBase, LoopPrimitiveOp):
    """The iterations of a loop on the threads of the pool.

    Before: `for i in 64: f(i)`    After: `f(0) ... f(63)` in any order, at once
    """

    name = "te.parallel"

    def apply(self, state: ScheduleState) -> None:
        parallel(state.loop(self.loop))


def parallel(loop: ForOp) -> None:
    """Let the iterations of a loop run on several threads. Raises ScheduleError where that cannot be."""
    mark(loop, "parallel", "parallel", reductions=False)
