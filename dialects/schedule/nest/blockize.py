"""blockize: a loop and all that stands in it as one block, which the loops around take for an element of a stage."""

from __future__ import annotations

from xdsl.ir import Block

from lamina.dialects import edit
from lamina.dialects.schedule.nest.edits import ScheduleError, blocks_of, function_of
from lamina.dialects.tir.ops import BlockOp, ForOp


def blockize(loop: ForOp, name: str) -> None:
    """Put a loop into a block of its own. What reorders, fuses or moves loops does not reach through it."""
    if name in blocks_of(function_of(loop)):
        raise ScheduleError(f"blockize of {loop.axis.data!r}: there is a stage {name!r} already")
    block = BlockOp.make(name, None, Block())
    block.location = loop.location
    edit.insert_before(loop, block)
    edit.move_into(block.body.block, [loop])
