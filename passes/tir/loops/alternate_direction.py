"""Walk the loops annotated `alternate` back and forth: forwards while the loop around them is at an even iteration,
backwards while it is at an odd one. So an iteration begins with what the one before it has left in the caches.

Before:
    tir.for %t = 0 to 64 "t" {
      tir.for %j = 0 to 8 "j" attributes {alternate} { %w = tir.load %W[%j] ... } }
After:
    tir.for %t = 0 to 64 "t" {
      %odd = tir.condition [%t mod 2 - 1 == 0] : i1
      tir.for %j = 0 to 8 "j" {
        %back = tir.index [%j * -1 + 7] : index
        %forth = tir.index [%j] : index
        %at = arith.select %odd, %back, %forth : index
        %w = tir.load %W[%at] ... } }

The loop around is the innermost one that is not parallel: only that one has its iterations one after the other.

Assumes that the iterations of such a loop are independent of each other, which te.alternate checks. A loop with
bounds beside its extent, or with no loop around it, is walked forwards.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from lamina.dialects import edit
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear, mod
from lamina.dialects.schedule.nest.annotations import ALTERNATE
from lamina.dialects.tir.ops import ConditionOp, ForOp, IndexOp, enclosing_loops
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.rules.rewriting import Rules

alternate = Rules("tir-alternate-direction")


@alternate.lower(ForOp)
def walk_back_and_forth(loop: ForOp) -> bool:
    """Before: for %j alternate: f(%j)    After: %odd = %t mod 2; for %j: f(%odd ? extent - 1 - %j : %j)"""
    if loop.attributes.pop(ALTERNATE, None) is None:
        return False
    around = [v for v in enclosing_loops(loop) if v.kind.data != "parallel"]
    if not around or loop.is_dynamic or loop.min_bounds():
        return True
    forth = Linear.dim(loop.var)
    odd = ConditionOp.of([Condition(mod(Linear.dim(around[-1].var), 2) - 1, True)])
    places = [IndexOp.of(form) for form in (forth * -1 + (loop.trip - 1), forth)]
    at = arith.SelectOp(odd.result, *(p.result for p in places))
    for new in (odd, *places, at):
        inherit_location(new, loop)
    loop.var.replace_uses_with_if(at.result, lambda use: use.operation not in places)
    outer, inner = around[-1].body.block.first_op, loop.body.block.first_op
    assert outer is not None and inner is not None
    edit.insert_before(outer, odd)
    edit.insert_before(inner, *places, at)
    return True


@dataclass(frozen=True)
class AlternateDirectionPass(ModulePass):
    name = "tir-alternate-direction"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        alternate.apply(op)
