"""double_buffer: a stage's buffer twice, one half filled while the other is used."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects.schedule.nest.annotations import DOUBLE_BUFFER
from lamina.dialects.schedule.nest.edits import alloc_of, stage_buffer
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import FuncOp


@irdl_op_definition
class DoubleBufferOp(PrimitiveOp):
    """A stage's buffer twice: one half is filled for the next iteration while the other is used.

    Before: `for i: (B = A[i]; C[i] = f(B))`    After `te.double_buffer "B"`, when tir-inject-double-buffer has run:
    `B[0] = A[0]; for i: (if i + 1 < n: B[(i + 1) % 2] = A[i + 1]); C[i] = f(B[i % 2])`
    """

    name = "te.double_buffer"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> DoubleBufferOp:
        return DoubleBufferOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        double_buffer(state.func, self.stage.data)


def double_buffer(func: FuncOp, stage: str) -> None:
    """Let a stage's buffer be filled for the next iteration while this one is used."""
    alloc = alloc_of(stage_buffer(func, stage), stage)
    if alloc.scope.data == "register":
        raise ScheduleError(f"double_buffer of {stage!r}: registers are not indexed by the iteration")
    alloc.attributes[DOUBLE_BUFFER] = UnitAttr()
