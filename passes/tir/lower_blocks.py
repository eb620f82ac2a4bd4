"""Give each reduction's init a nest of its own and dissolve the blocks.

Until here a tir.block kept a reduction's init beside its update, so that schedules could move them as one. The init
now runs in a copy of the spatial loops, just before the outermost reduction loop.

Before:
    tir.for %k = 0 to 8 reduction "y.k" { tir.for %i = 0 to 4 "y.i" {
      tir.block "y" init { tir.store %zero, %y[%i] } do { ... } } }
After:
    tir.for %i = 0 to 4 "y.i.init" { tir.store %zero, %y[%i] }
    tir.for %k = 0 to 8 reduction "y.k" { tir.for %i = 0 to 4 "y.i" { ... } }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.tir.decompose import decompose_init
from lamina.dialects.tir.ops import BlockOp, FuncOp
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class LowerBlocksPass(ModulePass):
    name = "tir-lower-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                for block in [b for b in func.walk() if type(b) is BlockOp]:
                    decompose_init(block)
                for block in [b for b in func.walk() if type(b) is BlockOp]:
                    _dissolve(block)


def _dissolve(block: BlockOp) -> None:
    place = block.parent
    assert place is not None
    for op in list(block.body.block.ops):
        op.detach()
        place.insert_op_before(op, block)
    block.detach()
    block.erase()
