"""Run two parallel loops in a row as one, where threads need not wait for each other between them.

Before:
    tir.for %i = 0 to 8 parallel "y.i" { ... tir.store %v, %y[%i * 16 + lane] ... }
    tir.for %j = 0 to 8 parallel "z.j" { %v = tir.load %y[%j * 16 + lane] ... tir.store %w, %z[%j] ... }
After:
    tir.for %i = 0 to 8 parallel "y.i" {
      ... tir.store %v, %y[%i * 16 + lane] ...
      %v = tir.load %y[%i * 16 + lane] ... tir.store %w, %z[%i] ... }

Threads then share out one loop rather than two, nobody waits for the slowest in between, and what an iteration of the
second loop reads has just been computed. The loops have the same extent, and what iteration i of the one touches, no
other iteration of the other does where one of them writes (`passes/tir/loops/same_iteration.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.launch import LaunchOp
from lamina.dialects.tir.memory import AllocOp, LoadOp
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.dialects.tir.team import is_shared_out
from lamina.passes.base import Context, ModulePass, fused_location
from lamina.passes.tir.loops.same_iteration import Touched, touched_by


@dataclass(frozen=True)
class FuseParallelLoopsPass(ModulePass):
    name = "tir-fuse-parallel-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in op.ops if isinstance(f, FuncOp)]:
            for block in {o.parent: None for o in all_ops(func) if type(o) is ForOp and is_shared_out(o)}:
                if block is not None:
                    _fuse_in(block)


def _fuse_in(block: Block) -> None:
    """The parallel loops that stand in a row in a block."""
    first: ForOp | None = None
    done: Touched | None = None
    between: list[Operation] = []
    for op in list(block.ops):
        if isinstance(op, ForOp) and is_shared_out(op):
            touched = touched_by(op)
            if first is not None and done is not None and _may_fuse(first, op, done, touched):
                with edit.transaction(op):
                    edit.move_before(first, *between)
                    _append(first, op)
                done = done.with_(touched)
            else:
                first, done = op, touched
            between = []
        elif isinstance(op, AllocOp) or (not op.regions and is_side_effect_free(op) and not isinstance(op, LoadOp)):
            between.append(op)
        else:
            first = done = None
            between = []


def _may_fuse(first: ForOp, second: ForOp, done: Touched, touched: Touched) -> bool:
    if done.extent is None or done.extent != touched.extent or touched.needs_barrier_behind(done):
        return False
    # Of what another function touches nothing is known.
    return not any(isinstance(o, (CallOp, LaunchOp)) for loop in (first, second) for o in all_ops(loop))


def _append(first: ForOp, second: ForOp) -> None:
    """The body of the second loop behind that of the first."""
    second.var.replace_all_uses_with(first.var)
    edit.move_into(first.body.block, second.body.block.ops)
    first.location = fused_location([first, second])
    edit.erase(second)
