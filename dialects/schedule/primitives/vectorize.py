"""vectorize: the iterations of a loop as the lanes of vectors."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from lamina.dialects.schedule.families import LoopKindBase, mark
from lamina.dialects.schedule.nest.edits import accesses
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LoopPrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class VectorizeOp(LoopKindBase, LoopPrimitiveOp):
    """The iterations of a loop as the lanes of vectors.

    Before: `for i in 16: C[i] = A[i]`    After: `C[lane] = A[lane]`, sixteen lanes at once
    """

    name = "te.vectorize"

    def apply(self, state: ScheduleState) -> None:
        vectorize(state.loop(self.loop))


def vectorize(loop: ForOp) -> None:
    """Let the iterations of a loop be lanes. Raises ScheduleError where they cannot be."""
    if any(access.lanes is not None for access in accesses(loop)):
        raise ScheduleError(f"vectorize of {loop.axis.data!r}: a tensorized block inside has vectors already")
    mark(loop, "vectorize", "vectorized", reductions=False)
