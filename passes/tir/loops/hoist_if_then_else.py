"""Ask once what does not change: conditions that do not depend on a loop move out of it.

A `tir.if` that is all that stands in a loop changes places with it, as far as its conditions do not depend on the
loop's variable. With `guards` a condition that all stores of a loop's body stand under, and that is the same in every
iteration, is asked around the loop as well; what the body only loads is then not loaded either.

Before:
    tir.for %i = 0 to 8 "y.i" { tir.if [%n - 4 >= 0, %n - %i >= 0] { ... } }
After:
    tir.if [%n - 4 >= 0] { tir.for %i = 0 to 8 "y.i" { tir.if [%n - %i >= 0] { ... } } }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.index_map import Condition
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.control import BarrierOp
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, FuncOp, IfOp
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class HoistIfThenElsePass(ModulePass):
    name = "tir-hoist-if-then-else"

    guards: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                # Inner loops first: what leaves one may leave the next as well.
                for loop in reversed([v for v in func.walk() if type(v) is ForOp]):
                    hoist_conditions(loop, self.guards)


def hoist_conditions(loop: ForOp, guards: bool = False) -> None:
    """Ask what is asked in a loop, and does not depend on it, around the loop."""
    if loop.kind.data in ("parallel", "thread"):
        return  # where threads start is no matter of a condition's cost
    ops = [op for op in loop.body.block.ops if not isinstance(op, AllocOp) and not _is_preparation(op, loop)]
    only = ops[0] if len(ops) == 1 else None
    if isinstance(only, IfOp):
        fixed = [c for c in only.conditions() if is_fixed(c, loop)]
        left = [c for c in only.conditions() if not is_fixed(c, loop)]
        if fixed:
            with edit.transaction(only):
                if left:
                    only.set_conditions(left)
                else:
                    edit.dissolve(only)
                _wrap(loop, fixed)
    elif guards:
        common = [c for c in _common_guards(loop) if is_fixed(c, loop)]
        if common:
            with edit.transaction(loop):
                for op in loop.body.walk():
                    if isinstance(op, AccessOp):
                        op.set_access(op.forms(), [c for c in op.conditions() if c not in common])
                _wrap(loop, common)


def _is_preparation(op: Operation, loop: ForOp) -> bool:
    """Whether an op does nothing but fill buffers of a loop's body from memory."""
    own = {a.result for a in loop.body.block.ops if isinstance(a, AllocOp)}
    return isinstance(op, ForOp) and all(
        isinstance(o, (ForOp, LoadOp)) or isinstance(o, StoreOp) and o.buffer in own for o in op.walk()
    )


def is_fixed(condition: Condition, loop: ForOp) -> bool:
    """Whether a condition is known before a loop starts."""
    for value in condition.form.dims():
        if not isinstance(value, SSAValue):
            return False  # the lane
        op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        while op is not None:
            if op is loop:
                return False
            op = op.parent_op()
    return True


def _common_guards(loop: ForOp) -> list[Condition]:
    """Conditions under which every store inside a loop stands. None where leaving its other ops out would be seen."""
    common: list[Condition] | None = None
    inside = {a.result for a in loop.walk() if isinstance(a, AllocOp)}
    for op in loop.body.walk():
        if isinstance(op, (CheckOp, BarrierOp)) or (op.regions and not isinstance(op, (ForOp, IfOp))):
            return []
        if isinstance(op, StoreOp) and op.buffer not in inside:
            guard = op.conditions()
            common = guard if common is None else [c for c in common if c in guard]
        elif not isinstance(op, (StoreOp, LoadOp)) and op.name.startswith("tir.call"):
            return []
    return common or []


def _wrap(loop: ForOp, conditions: list[Condition]) -> None:
    holder = IfOp.make(conditions)
    inherit_location(holder, loop)
    edit.insert_before(loop, holder)
    edit.move_into(holder.body.block, [loop])
