"""Compute once what every iteration of a loop computes: loads and arithmetic that do not depend on it move before it.

A load moves where nothing in the loop writes its buffer and the loop surely has an iteration; so does a division, which
has no result for some operands. Other arithmetic moves out of any loop. Loops whose iterations run at once keep what
they compute: where their threads start, no values of others are known.

Before:
    tir.for %i = 0 to 8 "y.i" {
      %a = tir.load %A[%j] : memref<4xf32>
      %b = arith.mulf %a, %a : f32
      %x = tir.load %X[%i] ... }
After:
    %a = tir.load %A[%j] : memref<4xf32>
    %b = arith.mulf %a, %a : f32
    tir.for %i = 0 to 8 "y.i" { %x = tir.load %X[%i] ... }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.checks import DIVISIONS
from lamina.dialects.tir.control import BarrierOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import CopyOp, ForOp, FuncOp
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class HoistExpressionPass(ModulePass):
    name = "tir-hoist-expression"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                # Inner loops first: what leaves one may leave the next as well.
                for loop in reversed([v for v in func.walk() if type(v) is ForOp]):
                    if loop.kind.data in ("serial", "unrolled"):
                        _hoist(loop)


def _hoist(loop: ForOp) -> None:
    written: set[SSAValue] = set()
    for op in loop.body.walk():
        if isinstance(op, StoreOp):
            written.add(op.buffer)
        elif isinstance(op, CopyOp):
            written.add(op.target)
    # Behind a barrier, or what nobody here knows, a load may read what others have written.
    opaque = any(isinstance(op, BarrierOp) or op.name == "tir.call" for op in loop.body.walk())
    runs = _surely_runs(loop)
    inside: set[SSAValue] = {loop.var}
    for op in list(loop.body.block.ops):
        if op.regions or any(v in inside for v in op.operands) or not _may_move(op, written, runs, opaque):
            inside.update(op.results)
        else:
            edit.move_before(loop, op)


def _may_move(op: Operation, written: set[SSAValue], runs: bool, opaque: bool) -> bool:
    if isinstance(op, LoadOp):
        return runs and not opaque and op.buffer not in written
    if isinstance(op, (AllocOp, StoreOp)) or op.name == "tir.check":
        return False
    return is_side_effect_free(op) and (runs or not isinstance(op, DIVISIONS))


def _surely_runs(loop: ForOp) -> bool:
    """Whether a loop has an iteration whatever the sizes."""

    def positive(limit: Linear) -> bool:
        bounds = limit.range(RangeCache())
        return bounds is not None and bounds[0] > 0

    return all(positive(limit) for limit in loop.limits())
