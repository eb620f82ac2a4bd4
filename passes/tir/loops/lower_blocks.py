"""Give each reduction's init a nest of its own and dissolve the blocks; their predicates become conditions.

Until here a tir.block kept a reduction's init beside its update, so that schedules could move them as one. The init
now runs in a copy of the spatial loops, just before the outermost reduction loop. The predicate of a block becomes a
`tir.if` around its body. Where the block writes register buffers only, it guards the stores instead: a select costs
less than a branch, and the values stay in one piece of code.

Before:
    tir.for %k = 0 to 8 reduction "y.k" { tir.for %i = 0 to 4 "y.i" {
      tir.block "y" where [%n - %i - 1 >= 0] init { tir.store %zero, %y[%i] } do { ... } } }
After:
    tir.for %i = 0 to 4 "y.i.init" { tir.if [%n - %i - 1 >= 0] { tir.store %zero, %y[%i] } }
    tir.for %k = 0 to 8 reduction "y.k" { tir.for %i = 0 to 4 "y.i" { tir.if [%n - %i - 1 >= 0] { ... } } }
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.schedule.nest.decompose import decompose_init
from lamina.dialects.schedule.nest.edits import NestNames
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.tir.checks import DIVISIONS, CheckOp, unless
from lamina.dialects.tir.ops import AccessOp, AllocOp, BlockOp, FuncOp, IfOp, StoreOp, loops_and_blocks
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class LowerBlocksPass(ModulePass):
    name = "tir-lower-blocks"
    needed: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                names = NestNames(func)
                for block in [b for b in loops_and_blocks(func) if type(b) is BlockOp]:
                    try:
                        with edit.transaction():
                            decompose_init(block, names=names)
                    except ScheduleError as e:
                        raise InputError(str(e), op=block) from e
                for block in [b for b in loops_and_blocks(func) if type(b) is BlockOp]:
                    with edit.transaction(block):
                        dissolve(block)


def dissolve(block: BlockOp) -> None:
    """The statements of a block in its place, under its predicate."""
    conditions = [c for c in block.conditions() if not _always(c)]
    if conditions:
        if _writes_registers_only(block):
            _guard(block, conditions)
        else:
            holder = IfOp.make(conditions)
            inherit_location(holder, block)
            edit.insert_before(block, holder)
            edit.move_into(holder.body.block, block.body.block.ops)
    edit.dissolve(block, block.body.block)


def _always(condition: Condition) -> bool:
    bounds = condition.form.range(RangeCache())
    return bounds is not None and (bounds == (0, 0) if condition.equal else bounds[0] >= 0)


def _writes_registers_only(block: BlockOp) -> bool:
    """Whether guards on accesses do what a branch does: straight code that has a result whatever it loads."""
    for op in all_ops(block.body):
        if op.regions and op is not block or isinstance(op, DIVISIONS):
            return False
        if isinstance(op, StoreOp):
            owner = op.buffer.owner
            if not isinstance(owner, AllocOp) or owner.scope.data != "register":
                return False
    return True


def _guard(block: BlockOp, conditions: list[Condition]) -> None:
    for op in list(block.body.block.ops):
        if isinstance(op, AccessOp):
            op.set_access(op.forms(), [*op.conditions(), *conditions])
        elif isinstance(op, CheckOp):
            asked = unless(op.condition, conditions)
            edit.insert_before(op, *asked)
            op.operands[1] = asked[-1].results[0]
