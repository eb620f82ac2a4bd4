"""Remove what does nothing: empty loops and conditions, buffers that nobody reads, values that nobody uses.

Before:
    %t = tir.alloc "t" scope "global" : memref<8xf32>
    tir.for %i = 0 to 8 "t.i" {
      %x = tir.load %X[%i] : memref<8xf32>
      tir.store %x, %t[%i] : memref<8xf32> }
After:
    (nothing)
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, FuncOp, IfOp
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class RemoveNoOpPass(ModulePass):
    name = "tir-remove-no-op"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                while _remove_unread(func) | _sweep(func.body.block):
                    pass


def _remove_unread(func: FuncOp) -> bool:
    """Remove buffers that are only written."""
    removed = False
    for alloc in [a for a in func.walk() if isinstance(a, AllocOp)]:
        users = [use.operation for use in alloc.result.uses]
        if all(isinstance(u, StoreOp) and u.value is not alloc.result for u in users):
            with edit.transaction():
                edit.erase_all([*users, alloc])
            removed = True
    return removed


def _sweep(block: Block) -> bool:
    """Remove, last first, what has no effect and no use."""
    removed = False
    for op in reversed(list(block.ops)):
        for region in op.regions:
            for inner in region.blocks:
                removed |= _sweep(inner)
        if _does_nothing(op):
            edit.erase(op, safe=False)
            removed = True
    return removed


def _does_nothing(op: Operation) -> bool:
    if isinstance(op, ForOp):
        return not op.body.block.ops or _never_runs(op)
    if isinstance(op, IfOp):
        return not op.body.block.ops or _never_holds(op)
    if any(r.uses for r in op.results) or not op.results:
        return False
    return isinstance(op, LoadOp) or is_side_effect_free(op)


def _never_runs(loop: ForOp) -> bool:
    bounds = [b.range(RangeCache()) for b in loop.limits()]
    return any(b is not None and b[1] <= 0 for b in bounds)


def _never_holds(op: IfOp) -> bool:
    for form, equal in op.conditions():
        bounds = form.range(RangeCache())
        if bounds is not None and (bounds[1] < 0 or (equal and bounds[0] > 0)):
            return True
    return False
