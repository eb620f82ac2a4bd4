"""set_scope: the memory that holds a stage."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects.schedule.nest.annotations import DOUBLE_BUFFER, STORAGE_ALIGN
from lamina.dialects.schedule.nest.edits import alloc_of, stage_buffers
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import FuncOp


@irdl_op_definition
class SetScopeOp(PrimitiveOp):
    """The memory that holds a stage: `register` keeps each element in an SSA value where loops are unrolled.

    Before: `tir.alloc "acc" scope "global"`    After `te.set_scope "acc" "register"`: `... scope "register"`
    """

    name = "te.set_scope"
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    assembly_format = "$stage $scope attr-dict"

    @staticmethod
    def make(stage: str, scope: str) -> SetScopeOp:
        return SetScopeOp.create(properties={"stage": StringAttr(stage), "scope": StringAttr(scope)})

    def apply(self, state: ScheduleState) -> None:
        set_scope(state.func, self.stage.data, self.scope.data)
        if self.scope.data == "register":
            state.await_place(self, self.stage.data)


def set_scope(func: FuncOp, stage: str, scope: str) -> None:
    """Let a stage's buffers live in memory of a scope. Raises ScheduleError where they cannot."""
    what = f"set_scope of {stage!r} to {scope!r}"
    check_scope(scope, (), what)
    allocs = [alloc_of(b, stage) for b in stage_buffers(func, stage)]
    for alloc in allocs if scope == "register" else ():
        if DOUBLE_BUFFER in alloc.attributes or STORAGE_ALIGN in alloc.attributes:
            raise ScheduleError(f"{what}: it is to be aligned, or to have two halves, which registers have not")
    for alloc in allocs:
        alloc.properties["scope"] = StringAttr(scope)
