"""Add nothing where zeros would be added: sums over a window leave out what lies in the padding.

A sum in registers that adds a guarded load, its magnitude or a product of it, adds zero where the guard does not hold.
The guard becomes a `tir.if` around the addition, and leaves the loops that it does not depend on: a row of the window
beside the image is one test. Unrolled loops decide the rest at compile time. Guards that vectorized loops decide stay
what they are, masks. A factor beside the padding is left out of the sum whatever it is, infinite or no number as well.

Assumes `tir-lower-blocks`.

Before:
    tir.for %r = 0 to 3 reduction "y.r" { tir.for %x = 0 to 8 "y.x" {
      %a = tir.load %acc[%x]
      %p = tir.load %X[%y + %r - 1, %x] where [%y + %r - 1 >= 0]
      %s = arith.addf %a, %p : f32
      tir.store %s, %acc[%x] } }
After:
    tir.for %r = 0 to 3 reduction "y.r" { tir.if [%y + %r - 1 >= 0] { tir.for %x = 0 to 8 "y.x" {
      %a = tir.load %acc[%x]
      %p = tir.load %X[%y + %r - 1, %x]
      %s = arith.addf %a, %p : f32
      tir.store %s, %acc[%x] } } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.index_map import Condition
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, IfOp
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.loops.hoist_if_then_else import hoist_conditions
from lamina.passes.tir.threads.phases import explicit_indices

_WIDER = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp)
_PRODUCTS = (arith.MulfOp, arith.MuliOp)
_SUMS = (arith.AddfOp, arith.AddiOp)


@dataclass(frozen=True)
class SkipPaddingPass(ModulePass):
    name = "tir-skip-padding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = all_ops(op)
        if not any(isinstance(o, LoadOp) and o.guard_set() is not None for o in ops):
            return
        for func in op.ops:
            explicit_indices(func)  # type: ignore[arg-type]
        for store in [o for o in ops if isinstance(o, StoreOp)]:
            with edit.transaction():
                _skip(store)


def _skip(store: StoreOp) -> None:
    """Put an addition under the guards of what it adds."""
    owner = store.buffer.owner
    block = store.parent
    if not isinstance(owner, AllocOp) or owner.scope.data != "register" or block is None or store.conditions():
        return
    added = _added(store)
    if added is None or not _is_all_of(block, store):
        return
    loops = _loops_around(block)
    lanes = {loop.var for loop in loops if loop.kind.data == "vectorized"}
    conditions: list[Condition] = []
    for load in _guarded_factors(added):
        wanted = [c for c in load.conditions() if lanes.isdisjoint(_dims(c))]
        if wanted:
            edit.change(load)
            load.set_access(load.forms(), [c for c in load.conditions() if c not in wanted])
            conditions += [c for c in wanted if c not in conditions]
    if not conditions:
        return
    holder = IfOp.make(conditions)
    inherit_location(holder, store)
    ops = list(block.ops)
    block.add_op(holder)
    edit.move_into(holder.body.block, ops)
    for loop in loops:
        hoist_conditions(loop)


def _added(store: StoreOp) -> SSAValue | None:
    """The value that a store adds to the element that it writes; None for other stores."""
    total = store.value.owner
    if not isinstance(total, _SUMS):
        return None
    for own, other in ((total.lhs, total.rhs), (total.rhs, total.lhs)):
        load = own.owner
        same = isinstance(load, LoadOp) and load.buffer is store.buffer and load.forms() == store.forms()
        if same and isinstance(load, LoadOp) and not load.conditions():
            return other
    return None


def _guarded_factors(value: SSAValue) -> list[LoadOp]:
    """The loads that make a value zero where their guards do not hold."""
    op = value.owner
    if not value.has_one_use():
        return []
    if isinstance(op, LoadOp):
        return [op] if op.guard_set() is not None else []
    if isinstance(op, _WIDER):
        return _guarded_factors(op.input)
    if isinstance(op, math.AbsFOp):
        return _guarded_factors(op.operand)
    if isinstance(op, _PRODUCTS):
        return [*_guarded_factors(op.lhs), *_guarded_factors(op.rhs)]
    return []


def _is_all_of(block: Block, store: StoreOp) -> bool:
    """Whether a block does nothing but compute what one store writes."""
    return not any(
        op.regions or isinstance(op, AllocOp) or isinstance(op, StoreOp) and op is not store for op in block.ops
    )


def _loops_around(block: Block) -> list[ForOp]:
    """The loops that a block stands in, the innermost first, as far as they hold nothing else."""
    found: list[ForOp] = []
    op: Operation | None = block.parent_op()
    while isinstance(op, ForOp):
        found.append(op)
        op = op.parent_op()
    return found


def _dims(condition: Condition) -> Sequence[object]:
    return list(condition.form.dims())
