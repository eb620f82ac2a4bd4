"""A reduction's init in a nest of its own, before the loops that it starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, OpResult

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.nest.edits import (
    NestNames,
    ScheduleError,
    function_of,
    reduction_loops,
    substitute_in,
    wrap,
)
from lamina.dialects.tir.memory import AccessOp
from lamina.dialects.tir.ops import (
    MASKED_LANES,
    BlockOp,
    ConditionOp,
    ForOp,
    IndexOp,
    LoopKind,
    enclosing_loops,
)


def decompose_init(block: BlockOp, before: ForOp | None = None, names: NestNames | None = None) -> str:
    """Give a block's init a nest of its own before a loop, by default the outermost of its reduction loops.

    `names` are those of the function, found anew where none are given. Returns the name of the stage that it becomes.
    Without any loop the init goes to the start of the block's body.
    Raises ScheduleError where the init needs what the loop computes.
    """
    name = block.stage.data
    if not block.init.blocks:
        return name
    init = block.init.blocks[0]
    loops = enclosing_loops(block)
    reductions = reduction_loops(block)
    before = before or (reductions[0] if reductions else None)
    if before is None:
        ops = [*init.ops, *block.body.block.ops]
        for op in ops:
            edit.take(op)
        block.body.block.add_ops(ops)
        block.init.erase_block(init)
        return name
    for used in {v for op in all_ops(init) for v in op.operands if isinstance(v, OpResult)}:
        if before.is_ancestor(used.op) and not block.is_ancestor(used.op):
            named = f"%{used.name_hint}" if used.name_hint else "a value"
            raise ScheduleError(
                f"the init of {name!r} uses {named}, which is computed in the loop {before.axis.data!r} that it starts "
                "before; compute it in the init"
            )
    names = names or NestNames(function_of(block))
    zero: dict[Atom, Linear] = {v.var: constant(0) for v in reductions}
    mapping: dict[Atom, Linear] = {}
    copies: list[ForOp] = []
    for v in loops[loops.index(before) :]:
        if v not in reductions:
            copies.append(copy_of_loop(v, names.axis(f"{v.axis.data}.init"), mapping | zero))
            mapping[v.var] = Linear.dim(copies[-1].var)
    body = Block()
    edit.move_into(body, init.ops)
    mapping |= zero
    substitute_all(body.ops, mapping)
    new = BlockOp.make(names.stage(f"{name}.init"), None, body, initial_conditions(block, mapping))
    new.location = block.location
    nest = in_loops(copies, new)
    edit.insert_before(before, nest)
    block.init.erase_block(init)
    return new.stage.data


def initial_conditions(block: BlockOp, mapping: dict[Atom, Linear]) -> list[Condition]:
    """The conditions of a block's predicate that say which elements there are, its loops replaced.

    Conditions on the reduction alone say nothing about elements: they hold before its first iteration.
    """
    reductions = {v.var for v in reduction_loops(block)}
    spatial = {v.var for v in enclosing_loops(block)} - reductions
    kept = [c for c in block.conditions() if not reductions.intersection(c.form.dims()) or spatial & {*c.form.dims()}]
    ranges = RangeCache()
    found = [Condition(c.form.substitute(mapping, ranges), c.equal) for c in kept]
    return [c for c in found if not _always(c, ranges)]


def _always(condition: Condition, ranges: RangeCache) -> bool:
    bounds = condition.form.range(ranges)
    return bounds is not None and bounds[0] >= 0 and (not condition.equal or bounds == (0, 0))


def copy_of_loop(loop: ForOp, axis: str, mapping: dict[Atom, Linear]) -> ForOp:
    """A loop that runs like another, empty and no reduction; `mapping` replaces what its bounds depend on."""
    ranges = RangeCache()
    kind: LoopKind = loop.kind.data  # type: ignore[assignment]
    bounds = [b.substitute(mapping, ranges) for b in loop.min_bounds()]
    extent = None if loop.is_dynamic else loop.trip
    copy = ForOp.make(extent, axis, kind=kind, bounds=bounds, hint=loop.var.name_hint)
    if loop.thread is not None:
        copy.properties["thread"] = StringAttr(loop.thread.data)
    if MASKED_LANES in loop.attributes:
        copy.attributes[MASKED_LANES] = loop.attributes[MASKED_LANES]
    copy.location = loop.location
    return copy


def substitute_all(ops: Iterable[Operation], mapping: dict[Atom, Linear]) -> None:
    """Replace loop variables in the index arithmetic of a block's ops."""
    ranges = RangeCache()
    for op in ops:
        if isinstance(op, (AccessOp, IndexOp, ConditionOp)):
            substitute_in(op, mapping, ranges)


def in_loops(loops: Sequence[ForOp], statement: Operation) -> Operation:
    """A statement under loops, outermost first."""
    if not loops:
        return statement
    holder = Block()
    holder.add_op(statement)
    wrap(loops, holder)
    return loops[0]
