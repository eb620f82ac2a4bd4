"""Choose once what is the same in every iteration: a loop for each of two choices, under conditions around them.

A value is chosen by a condition that does not depend on the loops around it, such as the tensor that a row of a
concatenation comes from, or an integer that was read. The loops stand twice then, each without the choice and without
what was read for the other; a part that is computed before, into a buffer that only one of them reads, goes with it.
Of several choices, those of the second loop are taken apart in the same way. That is code for each of them: `most` is
how many of a function's choices it is made for, and `ops` what loops may hold, other than those with the pragma
`unswitch`. Loops that keep sums in registers stay.

Before:
    tir.for %j = 0 to 8 "y.j" {
      %a = tir.load %A[%i, %j] where [7 - %i >= 0]
      %b = tir.load %B[%i - 8, %j] where [%i - 8 >= 0]
      %c = tir.condition [7 - %i >= 0] : i1
      %v = arith.select %c, %a, %b : f32
      tir.store %v, %y[%i, %j] }
After:
    tir.if [7 - %i >= 0] { tir.for %j = 0 to 8 "y.j" { %a = tir.load %A[%i, %j]  tir.store %a, %y[%i, %j] } }
    tir.if [%i - 8 >= 0] { tir.for %j = 0 to 8 "y.j_1" { %b = tir.load %B[%i - 8, %j]  tir.store %b, %y[%i, %j] } }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import Condition
from lamina.dialects.schedule.nest.annotations import pragma_of
from lamina.dialects.schedule.nest.edits import function_of, unique_axis
from lamina.dialects.tir.facts import facts_at
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, extents_of
from lamina.dialects.tir.ops import ConditionOp, ForOp, FuncOp, IfOp
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.phases import explicit_indices

LOOPS = ("serial", "unrolled", "vectorized")
WIDER = (arith.ExtSIOp, arith.ExtUIOp)


@dataclass(frozen=True)
class UnswitchLoopPass(ModulePass):
    name = "tir-unswitch-loop"

    most: int = 8
    ops: int = 100

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in op.ops if isinstance(f, FuncOp)]:
            if not any(isinstance(o, arith.SelectOp) for o in all_ops(func)):
                continue
            explicit_indices(func)
            for _ in range(self.most):
                found = self.find(func)
                if found is None:
                    break
                with edit.transaction(found[0]):
                    _lift(*found)
                    for holder in _unswitch(*found):
                        _sink(holder)

    def find(self, func: FuncOp) -> tuple[ForOp, Condition] | None:
        """A loop, and what decides a choice in it that is the same in all iterations."""
        for op in all_ops(func):
            if not isinstance(op, arith.SelectOp):
                continue
            condition = _decision(op)
            if condition is None:
                continue
            loop = _loop_of(op, condition)
            if loop is not None and self.may_stand_twice(loop):
                return loop, condition
        return None

    def may_stand_twice(self, loop: ForOp) -> bool:
        if pragma_of(loop, "unswitch"):
            return True
        inside = all_ops(loop)
        buffers = [o.buffer.owner for o in inside if isinstance(o, StoreOp)]
        return len(inside) <= self.ops and not any(
            isinstance(b, AllocOp) and b.scope.data == "register" for b in buffers
        )


def _decision(select: arith.SelectOp) -> Condition | None:
    """The one condition under which the first of two values is taken, where the other one is read for nothing then."""
    owner = select.cond.owner
    if not isinstance(owner, ConditionOp):
        return None
    conditions = _conditions(owner)
    if len(conditions) != 1 or conditions[0].equal:
        return None
    return conditions[0] if all(_reads(v) for v in (select.lhs, select.rhs)) else None


def _conditions(op: ConditionOp) -> list[Condition]:
    conditions = op.set.data.conditions
    forms = over_values([c.form for c in conditions], op.indices)
    return [Condition(form, c.equal) for form, c in zip(forms, conditions, strict=True)]


def _reads(value: SSAValue) -> bool:
    """Whether a value is made of something that is read."""
    waiting, seen = [value], {value}
    while waiting:
        op = waiting.pop().owner
        if isinstance(op, LoadOp):
            return True
        if isinstance(op, Operation):
            new = [v for v in op.operands if v not in seen]
            waiting += new
            seen.update(new)
    return False


def _loop_of(select: Operation, condition: Condition) -> ForOp | None:
    """The outermost loop around a choice, none of them shared out among threads, that does not change its condition."""
    found: ForOp | None = None
    loop = select.parent_op()
    while isinstance(loop, ForOp) and loop.kind.data in LOOPS and _steps(condition, loop) is not None:
        found = loop if loop.kind.data != "vectorized" else found
        loop = loop.parent_op()
    return found


def _steps(condition: Condition, loop: ForOp) -> list[Operation] | None:
    """The ops in a loop that a condition depends on, in order, if it is the same in all iterations: else None.

    They are integers that are read from elements which the loop does not write, and are there before it.
    """
    found: list[Operation] = []
    written: set[SSAValue] | None = None
    waiting = [v for v in condition.form.dims() if isinstance(v, SSAValue)]
    if len(waiting) < len(condition.form.dims()):
        return None  # the lane
    while waiting:
        value = waiting.pop()
        if not _stands_in(value, loop):
            continue
        op = value.owner
        if not isinstance(op, (arith.IndexCastOp, LoadOp, *WIDER)) or op.parent is None:
            return None
        if isinstance(op, LoadOp):
            if written is None:
                written = {o.buffer for o in all_ops(loop) if isinstance(o, StoreOp)}
            if op.buffer in written or op.lanes is not None or not _is_there(op, loop):
                return None
        found.append(op)
        waiting += op.operands
    return found[::-1]


def _stands_in(value: SSAValue, loop: ForOp) -> bool:
    op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    while op is not None and op is not loop:
        op = op.parent_op()
    return op is loop


def _is_there(load: LoadOp, loop: ForOp) -> bool:
    """Whether a load reads within its buffer wherever the loop starts, even if the loop then has no iterations."""
    facts = facts_at(loop)
    for form, extent in zip(load.forms(), extents_of(load.buffer), strict=True):
        for inside in (form, extent - form - 1):
            bounds = facts.bounds(inside)
            if bounds is None or bounds[0] < 0:
                return False
    return not load.conditions()


def _lift(loop: ForOp, condition: Condition) -> None:
    """Put what a condition depends on before the loop."""
    for op in _steps(condition, loop) or ():
        edit.take(op)
        edit.insert_before(loop, op)


def _unswitch(loop: ForOp, condition: Condition) -> list[IfOp]:
    other = loop.clone()
    func = function_of(loop)
    opposite = Condition(-condition.form - 1)
    holders = [IfOp.make([c]) for c in (condition, opposite)]
    for holder in holders:
        inherit_location(holder, loop)
        edit.insert_before(loop, holder)
    edit.take(loop)
    for holder, body in zip(holders, (loop, other), strict=True):
        holder.body.block.add_op(body)
    for inner in [o for o in all_ops(other) if isinstance(o, ForOp)]:
        inner.properties["axis"] = StringAttr(unique_axis(func, inner.axis.data))
    _choose(loop, condition, True)
    _choose(other, condition, False)
    return holders


def _sink(holder: IfOp) -> None:
    """Compute what only the statements under a condition read there, and not where the condition fails."""
    before: list[Operation] = []
    op = holder.prev_op
    while op is not None:
        before.append(op)
        op = op.prev_op
    for alloc in before:
        if not isinstance(alloc, AllocOp):
            continue
        fills = _fills(alloc, holder)
        if fills is None or not _may_wait(fills, holder):
            continue
        first = holder.body.block.first_op
        assert first is not None
        for moved in (alloc, *fills):
            edit.move_before(first, moved)


def _fills(alloc: AllocOp, holder: IfOp) -> list[Operation] | None:
    """The statements before a condition that do nothing but fill a buffer which is read under it alone; else None."""
    fills: list[Operation] = []
    for use in alloc.result.uses:
        top: Operation = use.operation
        while top.parent is not None and top.parent is not holder.parent:
            parent = top.parent_op()
            if parent is None:
                return None
            top = parent
        if top is not holder and top not in fills:
            fills.append(top)
    for top in fills:
        if top.parent is not holder.parent:
            return None
        inside = all_ops(top)
        own = {alloc.result, *(o.result for o in inside if isinstance(o, AllocOp))}
        for op in inside:
            if isinstance(op, StoreOp):
                if op.buffer not in own:
                    return None
            elif not isinstance(op, ForOp | IfOp | AllocOp | LoadOp) and not is_side_effect_free(op):
                return None
    order = {op: n for n, op in enumerate(holder.parent.ops)} if holder.parent is not None else {}
    fills.sort(key=order.__getitem__)
    return fills if fills and order[fills[-1]] < order[holder] else None


def _may_wait(fills: list[Operation], holder: IfOp) -> bool:
    """Whether nothing that statements read is written between them and a condition."""
    read = {o.buffer for top in fills for o in all_ops(top) if isinstance(o, LoadOp)}
    op = fills[0].next_op
    while op is not None and op is not holder:
        if op not in fills and any(isinstance(o, StoreOp) and o.buffer in read for o in all_ops(op)):
            return False
        op = op.next_op
    return True


def _choose(loop: ForOp, condition: Condition, holds: bool) -> None:
    """Take the choices in a loop as a condition decides them, and leave out what is used no more."""
    for select in [o for o in all_ops(loop) if isinstance(o, arith.SelectOp)]:
        owner = select.cond.owner
        if isinstance(owner, ConditionOp) and _conditions(owner) == [condition]:
            select.result.replace_all_uses_with(select.lhs if holds else select.rhs)
            _drop(select)


def _drop(op: Operation) -> None:
    """Erase an op that nobody uses, unless it does more than compute, and then what it was made of.

    Of operands that are made of each other, the first may have taken the second with it.
    """
    is_value = isinstance(op, LoadOp) or is_side_effect_free(op)
    if op.parent is None or not is_value or any(r.first_use is not None for r in op.results):
        return
    operands = list(op.operands)
    edit.erase(op)
    for value in dict.fromkeys(operands):
        if isinstance(value.owner, Operation) and not value.owner.regions:
            _drop(value.owner)
