"""Drop what the bounds decide: loops of one iteration, tails that never bind, guards that always hold.

Assumes that blocks have been dissolved (`tir-lower-blocks`).

Before:
    tir.for %i = 0 to 1 "a.i" {
      tir.for %j = 0 to 4 min [%i + 4] "a.j" { %x = tir.load %X[%i, %j] where [%j >= 0] : memref<1x4xf32> ... } }
After:
    tir.for %j = 0 to 4 "a.j" { %x = tir.load %X[0, %j] : memref<1x4xf32> ... }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.accesses import RangeCache
from lamina.dialects.index_map import Condition
from lamina.dialects.linear import constant
from lamina.dialects.tir.nest import substitute
from lamina.dialects.tir.ops import AccessOp, ForOp, FuncOp
from lamina.dialects.tir.tails import resolve_bounds
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class SimplifyPass(ModulePass):
    name = "tir-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                _simplify_loops(func)
                ranges = RangeCache()
                for access in func.walk():
                    if isinstance(access, AccessOp):
                        _simplify_access(access, ranges)


def _simplify_loops(func: FuncOp) -> None:
    for loop in [v for v in func.walk() if type(v) is ForOp]:
        resolve_bounds(loop)
        if loop.trip == 0:
            loop.detach()
            loop.erase(safe_erase=False)
        elif loop.trip == 1 and not loop.bounds and loop.kind.data not in ("parallel", "thread"):
            substitute(loop.var, constant(0))
            place = loop.parent
            assert place is not None
            for inner in list(loop.body.block.ops):
                inner.detach()
                place.insert_op_before(inner, loop)
            loop.detach()
            loop.erase()


def _simplify_access(access: AccessOp, ranges: RangeCache) -> None:
    conditions = access.conditions()
    kept = [c for c in conditions if not _always(c, ranges)]
    if len(kept) != len(conditions):
        access.set_access(access.forms(), kept)


def _always(condition: Condition, ranges: RangeCache) -> bool:
    bounds = condition.form.range(ranges)
    if bounds is None:
        return False
    return bounds == (0, 0) if condition.equal else bounds[0] >= 0
