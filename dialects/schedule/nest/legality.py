"""Legality of moves of a stage: what its loops must still be, and what must be complete where it is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.schedule.nest.edits import ScheduleError, accesses, reduction_loops, stores_of
from lamina.dialects.schedule.nest.refusals import refuse as refuse
from lamina.dialects.schedule.nest.refusals import unchecked as unchecked
from lamina.dialects.tir.memory import extents_of
from lamina.dialects.tir.ops import (
    AccessOp,
    AllocOp,
    BlockOp,
    ForOp,
    FuncOp,
    LoadOp,
    StoreOp,
    enclosing_loops,
)


def spatial_form(block: BlockOp, buffer: SSAValue, what: str) -> list[SSAValue]:
    """The loop variable that a naive stage uses for each dimension of its buffer."""
    for store in accesses(block.body.block, buffer):
        if isinstance(store, StoreOp):
            variables: list[SSAValue] = []
            for form in store.forms():
                if form.const or list(form.terms.values()) != [1]:
                    if form.is_constant:
                        raise ScheduleError(f"{what}: stage {block.stage.data!r} writes a constant index")
                    raise ScheduleError(f"{what}: stage {block.stage.data!r} has been split already")
                (atom,) = form.terms
                if not isinstance(atom, BlockArgument):
                    raise ScheduleError(f"{what}: stage {block.stage.data!r} has been split already")
                variables.append(cast(SSAValue, atom))
            return variables
    raise ScheduleError(f"{what}: stage {block.stage.data!r} stores nothing")


def is_inside(op: Operation, loop: ForOp) -> bool:
    """Whether a loop is around an op, at any depth; not so of the loop itself."""
    return any(v is loop for v in enclosing_loops(op))


def belongs(op: Operation, ancestor: Operation) -> bool:
    """Whether an op stands somewhere inside another."""
    parent = op.parent_op()
    while parent is not None:
        if parent is ancestor:
            return True
        parent = parent.parent_op()
    return False


def sees(op: Operation, buffer: SSAValue) -> bool:
    """Whether a buffer lives where an op stands, or around that."""
    owner = buffer.owner
    if not isinstance(owner, AllocOp):
        return True
    home = owner.parent_op()
    return home is not None and (op is home or belongs(op, home))


def own_nest(block: BlockOp, what: str) -> list[ForOp]:
    """The loops around a block in which nothing else stands. Raises ScheduleError where others share its own."""
    chain: list[ForOp] = []
    inner: Operation = block
    for v in reversed(enclosing_loops(block)):
        if inner.parent_op() is not v or len(v.body.block.ops) != 1:
            break
        chain.insert(0, v)
        inner = v
    needed = {d for op in accesses(block) if isinstance(op, StoreOp) for form in op.forms() for d in form.dims()}
    for v in enclosing_loops(block):
        if v not in chain and (v.var in needed or v in reduction_loops(block)):
            outer = inner.parent_op()
            between = (
                f"the block {outer.stage.data!r} stands" if isinstance(outer, BlockOp) else "other statements stand"
            )
            raise ScheduleError(f"{what}: {between} in its loop {v.axis.data!r}")
    return chain


def own_loops(block: BlockOp, buffer: SSAValue, what: str) -> list[ForOp]:
    """The loops of a stage in its normal form, without those that only its consumers stand in."""
    chain = own_nest(block, what)
    used = {d for op in accesses(block, buffer) if isinstance(op, StoreOp) for form in op.forms() for d in form.dims()}
    while chain and chain[0].var not in used and not chain[0].is_reduction:
        chain.pop(0)
    return chain


def check_visible(block: BlockOp, loop: ForOp, what: str) -> None:
    """Raises ScheduleError where a stage reads a buffer that does not live where a loop is."""
    for read in accesses(block):
        owner = read.buffer_value().owner
        if not isinstance(read, LoadOp) or not isinstance(owner, AllocOp) or belongs(owner, block):
            continue
        if not sees(loop, read.buffer_value()):
            name = read.buffer_value().name_hint or owner.stage.data
            raise ScheduleError(f"{what}: it reads {name}, which the loop {loop.axis.data!r} does not see")


def is_exact(stores: Sequence[AccessOp], loop: ForOp) -> bool:
    """Whether the iterations inside a loop store to every element of the box of `region_of`, save beyond the buffer.

    Only what is finished may be consumed, so a box that is merely large enough will not do.
    """
    sizes = extents_of(stores[0].buffer_value())
    forms = stores[0].forms()
    if any(op.forms() != forms or op.conditions() for op in stores):
        return False
    # The only tail may be the one that keeps the index inside the buffer.
    allowed = [size - form - 1 for form, size in zip(forms, sizes, strict=True)]
    blocks = {b for op in stores if isinstance(b := op.parent_op(), BlockOp)}
    if any(c.equal or c.form not in allowed for b in blocks for c in b.conditions()):
        return False
    inside = {op.var: op for op in all_ops(loop.body) if type(op) is ForOp}
    for form, size in zip(forms, sizes, strict=True):
        # `region_of` takes a dimension of one element as that element, also where iterations lie beyond it.
        outer = Linear({a: c for a, c in form.terms.items() if a not in inside}, form.const)
        if size == constant(1) and outer.range(RangeCache()) != (0, 0):
            return False
        reach = 1
        for coef, atom in sorted(((c, a) for a, c in form.terms.items()), key=lambda t: abs(t[0])):
            used = [d for d in Linear({atom: 1}).dims() if d in inside]
            if not used:
                continue
            if isinstance(atom, tuple) or abs(coef) > reach:
                return False
            variable = inside[atom]  # type: ignore[index]
            reach += abs(coef) * (variable.trip - 1)
            if variable.is_dynamic:
                if form != Linear.dim(variable.var) or variable.min_bounds() != [size]:
                    return False
            elif any(coef != 1 or b != size - (form - Linear.dim(atom)) for b in variable.min_bounds()):
                return False
    enclosing = {v.var for v in enclosing_loops(stores[0])}
    used = {d for form in forms for d in form.dims()}
    return all(v.var in used or v.is_reduction or not v.bounds for v in inside.values() if v.var in enclosing)


def _is_finished(buffer: SSAValue, loop: ForOp, order: dict[Operation, int]) -> bool:
    """Whether nothing writes a buffer any more when a loop starts."""
    own = isinstance(buffer.owner, AllocOp)
    lives_in = enclosing_loops(buffer.owner) if own else []  # type: ignore[arg-type]
    around = [v for v in enclosing_loops(loop) if v not in lives_in]
    if own and order[buffer.owner] > order[loop]:  # type: ignore[index]
        return False
    return not any(order[s] > order[loop] or any(is_inside(s, v) for v in around) for s in stores_of(buffer))


def needed_before(func: FuncOp, buffers: Sequence[SSAValue], loop: ForOp, what: str) -> list[Operation]:
    """The statements that must move before a loop's nest for buffers to be complete there, in program order.

    Raises ScheduleError where one of them needs what that nest computes.
    """
    order = {op: n for n, op in enumerate(all_ops(func))}
    block = func.body.block
    nest: Operation = loop
    while nest.parent is not block:
        parent = nest.parent_op()
        assert parent is not None
        nest = parent
    moved: dict[Operation, None] = {}
    waiting = [(b, b) for b in buffers]
    while waiting:
        buffer, wanted = waiting.pop()
        if _is_finished(buffer, loop, order):
            continue
        writers = [op for op in block.ops if any(op is s or belongs(s, op) for s in stores_of(buffer))]
        if nest in writers or not isinstance(buffer.owner, AllocOp) or buffer.owner.parent is not block:
            name = wanted.name_hint or "a buffer"
            refuse(f"{what}: it reads {name}, which is not complete before the loop {loop.axis.data!r}")
            continue
        for op in [buffer.owner, *writers]:
            if order[op] > order[nest] and op not in moved:
                moved[op] = None
                loads = [o for o in accesses(op) if isinstance(o, LoadOp) and _outlives(o, op)]
                waiting.extend((o.buffer_value(), wanted) for o in loads)
    return sorted(moved, key=lambda op: order[op])


def _outlives(load: LoadOp, nest: Operation) -> bool:
    """Whether a load's buffer exists outside a statement."""
    owner = load.buffer.owner
    return not isinstance(owner, AllocOp) or owner is not nest and not belongs(owner, nest)


def move_before(op: Operation, loop: ForOp) -> None:
    """Put a statement before the one of its block that contains a loop, if it is not there already."""
    ancestor: Operation = loop
    while ancestor.parent is not op.parent:
        parent = ancestor.parent_op()
        assert parent is not None
        ancestor = parent
    if not op.is_before_in_block(ancestor):
        edit.move_before(ancestor, op)
