"""decompose_reduction: what a reduction starts from, in a stage of its own before one of its loops."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from lamina.dialects.index.digits import is_injective
from lamina.dialects.index.linear import Atom
from lamina.dialects.schedule.nest.decompose import decompose_init
from lamina.dialects.schedule.nest.edits import reduction_loops, stage_block, stores_beyond
from lamina.dialects.schedule.nest.legality import belongs
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import AllocOp
from lamina.dialects.tir.ops import ForOp, FuncOp, enclosing_loops


@irdl_op_definition
class DecomposeReductionOp(PrimitiveOp):
    """The start of a reduction, in a stage `<stage>.init` of its own before one of its loops.

    Before: `for i: for k: C[i] (0 at first) += A[i, k]`
    After `te.decompose_reduction "C" at %k`: `for i: (C[i] = 0), (for k: C[i] += A[i, k])`
    """

    name = "te.decompose_reduction"
    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    assembly_format = "$stage `at` $loop attr-dict"

    @staticmethod
    def make(stage: str, loop: SSAValue) -> DecomposeReductionOp:
        return DecomposeReductionOp.create(operands=[loop], properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        decompose_reduction(state.func, self.stage.data, state.loop(self.loop))


def decompose_reduction(func: FuncOp, stage: str, loop: ForOp) -> str:
    """Start a reduction before a loop, for all elements that the loop computes. Returns the new stage's name."""
    what = f"decompose_reduction of {stage!r} at {loop.axis.data!r}"
    block = stage_block(func, stage)
    loops = enclosing_loops(block)
    if all(v is not loop for v in loops):
        raise ScheduleError(f"{what}: it is no loop of the stage")
    if not block.init.blocks:
        raise ScheduleError(f"{what}: the stage has no init; it is no reduction, or was decomposed before")
    stores = stores_beyond(block)
    for store in stores:
        owner = store.buffer_value().owner
        if isinstance(owner, AllocOp) and belongs(owner, loop):
            raise ScheduleError(f"{what}: the buffer that it starts lives in the loop")
    own = loops[loops.index(loop) :]
    reductions = reduction_loops(block)
    outside = [v for v in reductions if v not in own]
    if outside:
        refuse(f"{what}: it would start anew in each iteration of the reduction loop {outside[0].axis.data!r}")
    extents: dict[Atom, int | None] = {v.var: None if v.is_dynamic else v.trip for v in own if v not in reductions}
    if not all(is_injective(s.forms(), extents) for s in stores):
        refuse(f"{what}: two iterations of {loop.axis.data!r} may compute the same element, which starts only once")
    return decompose_init(block, loop)
