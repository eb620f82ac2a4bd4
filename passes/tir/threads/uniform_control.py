"""Statements that not all threads run, taken apart so that all of them come to the places between what is in them.

A condition goes to each statement under it, and into the loops there. A loop that differs by thread runs as often as
for the thread that has most to do, its body under a condition. What is computed without effect is computed by all.
So a barrier can stand between an access and the next:

    tir.if [%t * -1 + 5 >= 0] { store %v, %s[%t];  %w = load %s[%t * -1 + 5];  store %w, %y[%t] }
becomes
    store %v, %s[%t] where [...];  %w = load %s[%t * -1 + 5] where [...];  store %w, %y[%t] where [...]
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.edits import move_ops
from lamina.dialects.schedule.nest.threads import is_thread, thread_extent
from lamina.dialects.tir.checks import DIVISIONS
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.memory import AccessOp, AllocOp
from lamina.dialects.tir.ops import ForOp
from lamina.passes.base import inherit_location


def is_uniform(op: ForOp | IfOp, differing: Container[object]) -> bool:
    """Whether all threads take the same way through a statement, so that they may wait in it."""
    if isinstance(op, ForOp) and (is_thread(op, "vthread") or op.kind.data == "vectorized"):
        return False
    return not any(o in differing for o in op.operands)


class Opener:
    """Takes statements of a kernel apart.

    `differing` are the values that may not be the same in all threads; `is_needed` says of a statement that they may
    differ in whether threads have to wait in it.
    """

    def __init__(
        self, threads: Sequence[ForOp], differing: Container[object], is_needed: Callable[[Operation], bool]
    ) -> None:
        self.axes = {v.var: v for v in threads}
        self.differing = differing
        self.is_needed = is_needed

    def open(self, block: Block) -> bool:
        """Take apart what stands in a block, where that is needed and can be done. Returns whether anything was."""
        changed = False
        waiting = list(block.ops)
        while waiting:
            op = waiting.pop(0)
            if not isinstance(op, (IfOp, ForOp)):
                continue
            if not is_uniform(op, self.differing):
                if not self.is_needed(op):
                    continue
                if isinstance(op, IfOp):
                    found = _opened(op)
                    changed = changed or bool(found)
                    waiting = [*found, *waiting]
                    continue
                if not self.level(op):
                    continue
                changed = True
            changed = self.open(op.body.block) or changed
        return changed

    def level(self, loop: ForOp) -> bool:
        """Let a loop run as often in each thread. False where nobody knows how often that is."""
        if loop.kind.data == "thread":
            return False
        bounds = loop.min_bounds()
        own = [b for b in bounds if any(d in self.differing for d in b.dims())]
        common = [b for b in bounds if b not in own]
        if loop.is_dynamic:
            common += [b for b in map(self.most, own) if b is not None]
            if not common:
                return False
        edit.change(loop)
        if loop.kind.data == "vectorized":
            loop.properties["kind"] = StringAttr("serial")
        if own:
            _put_under(loop, [Condition(b - Linear.dim(loop.var) - 1) for b in own])
            loop.set_min_bounds(common)
        return True

    def most(self, form: Linear) -> Linear | None:
        """The greatest value of a form for any thread, where that can be told."""
        for variable, axis in self.axes.items():
            step = form.terms.get(variable, 0)
            form = form - Linear.dim(variable) * step
            if step > 0:
                form = form + (thread_extent(axis) - 1) * step
        return None if any(d in self.differing for d in form.dims()) else form


def _opened(op: IfOp) -> list[Operation]:
    """The statements that stand in the place of a condition; none where it cannot be taken apart."""
    inside = list(op.body.block.ops)
    if not all(_can_be_guarded(o) for o in inside):
        return []
    conditions = op.conditions()
    edit.change(op)
    for inner in inside:
        if isinstance(inner, AccessOp):
            inner.set_access(inner.forms(), [*inner.conditions(), *conditions])
        elif isinstance(inner, IfOp):
            inner.set_conditions([*conditions, *inner.conditions()])
        elif isinstance(inner, ForOp):
            _put_under(inner, conditions)
    edit.dissolve(op)
    return inside


def _can_be_guarded(op: Operation) -> bool:
    """Whether a statement can run, under a condition of its own or none, where those around it do not."""
    if isinstance(op, (AccessOp, IfOp, ForOp, AllocOp, BarrierOp)):
        return True
    return not op.regions and not isinstance(op, DIVISIONS) and is_side_effect_free(op)


def _put_under(loop: ForOp, conditions: Sequence[Condition]) -> None:
    """Put the body of a loop under conditions."""
    body = Block()
    move_ops(loop.body.block, body)
    holder = IfOp.make(conditions, body)
    inherit_location(holder, loop)
    loop.body.block.add_op(holder)
