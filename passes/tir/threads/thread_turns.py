"""Loops along an axis of threads: those that threads of a kernel can share out, and those that each runs whole.

A loop in another along its axis is work that threads do together: the thread that runs an iteration of the inner loop
is no longer the one of the outer's. So it can be where what stands inside does not know the outer iteration, save in
conditions: it is done where any outer iteration has it done. Otherwise each thread runs the inner loop from its first
to its last iteration. Blocks that would have to wait for others become one block that does the work of all.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.schedule.nest.edits import stands_in, substitute
from lamina.dialects.schedule.nest.threads import blocks_exchange, is_real, run_in_turn, tag_of, thread_loops
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, enclosing_loops
from lamina.errors import InputError


def settle_turns(root: ForOp, name: str) -> None:
    """Make those loops of a kernel serial that threads cannot share out. Raises InputError, with the pass's name, where
    threads that run them whole would get in each other's way.
    """
    for loop in thread_loops(root):
        if is_real(loop) and not loop.is_dynamic and loop.trip == 1:
            substitute(loop.var, constant(0))
    while (apart := blocks_exchange(root, [v for v in thread_loops(root, "blockIdx") if v is not root])) is not None:
        run_in_turn(apart[0])
    for inner in thread_loops(root):
        for outer in enclosing_loops(inner):
            if is_real(inner) and is_real(outer) and tag_of(outer) == tag_of(inner) and not _folds(outer, inner):
                _check_apart(outer, inner, name)
                run_in_turn(inner)


def _folds(outer: ForOp, inner: ForOp) -> bool:
    """Whether what stands in a loop does not know the iteration of one around it, save in conditions."""
    conditions: dict[Condition, None] = {}
    for use in outer.var.uses:
        op = use.operation
        if isinstance(op, ConditionalBase):
            if stands_in(op, inner) or stands_in(inner, op):
                conditions |= dict.fromkeys(c for c in op.conditions() if outer.var in c.form.dims())
        elif stands_in(op, inner):
            return False
    if not all(_is_simple(c, outer.var) for c in conditions):
        return False
    signs = {c.form.terms[outer.var] > 0 for c in conditions}
    if len(conditions) > 1 and (len(signs) > 1 or any(c.equal for c in conditions)):
        return False  # some outer iteration fulfils each, but maybe none fulfils all
    allocs = [op for op in outer.walk() if isinstance(op, AllocOp) and not stands_in(op, inner)]
    own: set[SSAValue] = {a.result for a in allocs}
    if any(isinstance(op, StoreOp) and op.buffer in own for op in inner.walk()):
        return False
    known = _knowing(outer, inner, own)
    return not any(isinstance(op, LoadOp) and op.buffer in known for op in inner.walk())


def _knowing(outer: ForOp, inner: ForOp, own: set[SSAValue]) -> set[SSAValue]:
    """The buffers of a loop's iterations whose elements may differ from one to the other."""
    stores = [op for op in outer.walk() if isinstance(op, StoreOp) and op.buffer in own and not stands_in(op, inner)]
    known: set[SSAValue] = set()
    while True:
        before = len(known)
        known.update(s.buffer for s in stores if s.buffer not in known and _knows(s, outer, known))
        if len(known) == before:
            return known


def _knows(store: StoreOp, outer: ForOp, known: set[SSAValue]) -> bool:
    """Whether what is stored, where, or whether at all, depends on a loop's iteration or on some buffers."""
    seen: set[Operation] = set()
    waiting: list[Operation] = []
    holder: Operation | None = store
    while holder is not None and holder is not outer:
        waiting.append(holder)
        holder = holder.parent_op()
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            if outer.var in op.operands or (isinstance(op, LoadOp) and op.buffer in known):
                return True
            waiting += [o.owner for o in op.operands if isinstance(o.owner, Operation) and stands_in(o.owner, outer)]
    return False


def _check_apart(outer: ForOp, inner: ForOp, name: str) -> None:
    """Raises InputError where threads that each run the inner loop whole would store to the same elements."""
    for store in inner.walk():
        if not isinstance(store, StoreOp):
            continue
        owner = store.buffer.owner
        if isinstance(owner, AllocOp) and stands_in(owner, outer):
            continue
        if any(outer.var in f.dims() for f in store.forms()):
            continue
        around: list[Condition] = store.conditions()
        holder = store.parent_op()
        while holder is not None and holder is not outer:
            if isinstance(holder, ConditionalBase):
                around += holder.conditions()
            holder = holder.parent_op()
        if not any(c.equal and outer.var in c.form.dims() for c in around):
            raise InputError(
                f'{name}: {inner.axis.data!r} stands in a loop that is bound to "{tag_of(inner)}" too, and what '
                "stands inside depends on both",
                op=inner,
            )


# -- conditions on the outer iteration ----------------------------------------------------------------------------


def _is_simple(condition: Condition, variable: SSAValue) -> bool:
    """Whether it can be said where a condition holds for some value of a variable."""
    form, equal = condition
    step = form.terms.get(variable, 0)
    rest = form - Linear.dim(variable) * step
    return step != 0 and variable not in rest.dims() and (not equal or abs(step) == 1 or rest.is_constant)


def for_any(conditions: Sequence[Condition], variable: SSAValue, extent: Linear) -> list[Condition] | None:
    """Conditions that hold where each of the given ones does for any value of a variable below an extent.

    None where they cannot be told.
    """
    found: list[Condition] = []
    for condition in conditions:
        form, equal = condition
        if variable not in form.dims():
            found.append(condition)
            continue
        if not _is_simple(condition, variable):
            return None
        step = form.terms[variable]
        rest = form - Linear.dim(variable) * step
        if not equal:
            found.append(Condition(rest + (extent - 1) * step if step > 0 else rest))
        elif abs(step) == 1:
            value = rest * -step
            found += [Condition(value), Condition(extent - 1 - value)]
        else:
            value = constant(-rest.const // step)
            found += [Condition(value), Condition(extent - 1 - value), Condition(constant(rest.const % step), True)]
    return [c for c in found if not _holds(c)]


def _holds(condition: Condition) -> bool:
    """Whether a condition holds whatever the sizes are."""
    form, equal = condition
    return form.is_constant and (form.const == 0 if equal else form.const >= 0)
