"""blockize: a loop and all that stands in it as one block, which the loops around take for an element of a stage."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from lamina.dialects import edit
from lamina.dialects.schedule.nest.edits import blocks_of, function_of
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState
from lamina.dialects.tir.ops import BlockOp, ForOp


@irdl_op_definition
class BlockizeOp(PrimitiveOp):
    """A loop with all that stands in it as one block.

    Before: `for i: for j: block "C"`    After `te.blockize %j "C_o"`: `for i: block "C_o" (for j: block "C")`

    `te.loops "C_o"` gives the loops around. What reorders, fuses or moves loops does not reach through the block.
    """

    name = "te.blockize"
    loop = operand_def(LOOP)
    block = prop_def(StringAttr)
    assembly_format = "$loop $block attr-dict"

    @staticmethod
    def make(loop: SSAValue, block: str) -> BlockizeOp:
        return BlockizeOp.create(operands=[loop], properties={"block": StringAttr(block)})

    def apply(self, state: ScheduleState) -> None:
        blockize(state.loop(self.loop), self.block.data)


def blockize(loop: ForOp, name: str) -> None:
    """Put a loop into a block of its own. What reorders, fuses or moves loops does not reach through it."""
    if name in blocks_of(function_of(loop)):
        raise ScheduleError(f"blockize of {loop.axis.data!r}: there is a stage {name!r} already")
    block = BlockOp.make(name, None, Block())
    block.location = loop.location
    edit.insert_before(loop, block)
    edit.move_into(block.body.block, [loop])
