"""Schedule primitives that dissolve stages, or put them back where they stood."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects.schedule.families import StageLoopsBase
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState


@irdl_op_definition
class ReverseComputeInlineOp(PrimitiveOp):
    """A consumer computed where its producer computes what it reads; the producer's buffer is gone.

    Before: `for i: B[i] = A[i] + 1`, `for i: C[i] = B[i] * 2`    After: `for i: C[i] = (A[i] + 1) * 2`, in B's loops
    """

    name = "te.reverse_compute_inline"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> ReverseComputeInlineOp:
        return ReverseComputeInlineOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.reverse_inline import reverse_compute_inline

        reverse_compute_inline(state.func, self.stage.data)


@irdl_op_definition
class ComputeRootOp(StageLoopsBase):
    """A stage that compute_at has moved into a loop of its consumer, computed whole before it again.

    Before: `for i: (for t in 2: P[t] = A[i + t]), C[i] = P[0] + P[1]`
    After `te.compute_root "P" [1]`: `for g: P[g] = A[g]`, `for i: C[i] = P[i] + P[i + 1]`

    Nothing changes where the stage stands at the top already.
    """

    name = "te.compute_root"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.attachment import compute_root

        state.bind(self.results, compute_root(state.func, self.stage.data, state.attached))
