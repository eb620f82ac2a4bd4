"""Schedule primitives that dissolve stages, or put them back where they stood."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects.te.primitive import PrimitiveOp, ScheduleState


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
        from lamina.dialects.tir.reverse_inline import reverse_compute_inline

        reverse_compute_inline(state.func, self.stage.data)
