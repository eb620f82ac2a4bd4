"""reverse_compute_inline: a consumer's equation in its producer, where what it reads is computed.

    B[i * 4 + j] = f    C[x, y] = g(B[y * 6 + x])    becomes    C[b mod 6, b floordiv 6] = g(f)  with b = i * 4 + j

The way from an element of the producer back to the consumer's iteration is the inverse of the consumer's index map
(`lamina.dialects.index.digits`). Where it leads to no iteration, the producer's block does nothing: its predicate says
so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.digits import inverse
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.nest.edits import (
    accesses,
    blocks_of,
    erase_empty,
    erase_nest,
    loads_of,
    reduction_loops,
    scalar_only,
    stage_block,
    stores_beyond,
    stores_of,
    substitute_in,
)
from lamina.dialects.schedule.nest.legality import belongs, move_before, needed_before, sees
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.facts import facts_at
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, extents_of
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, FuncOp, IndexOp, enclosing_loops


@irdl_op_definition
class ReverseComputeInlineOp(PrimitiveOp):
    """A consumer computed where its producer computes what it reads; the producer's buffer is gone.

    Before: `for i: B[i] = A[i] + 1`, `for i: C[i] = B[i] * 2`    After: `for i: C[i] = (A[i] + 1) * 2`, in B's loops
    """

    name = "te.reverse_compute_inline"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> ReverseComputeInlineOp:
        return ReverseComputeInlineOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        reverse_compute_inline(state.func, self.stage.data)


class Link(NamedTuple):
    """A producer and what its consumer reads of it."""

    block: BlockOp
    store: StoreOp
    reads: list[LoadOp]


def reverse_compute_inline(func: FuncOp, stage: str) -> None:
    """Compute a consumer where its producer computes what it reads, and drop the producer's buffer."""
    what = f"reverse_compute_inline of {stage!r}"
    block = stage_block(func, stage)
    if block.init.blocks or reduction_loops(block):
        raise ScheduleError(f"{what}: a reduction reads its producer many times for one element")
    scalar_only(accesses(block))
    link = _link(func, block, what)
    buffer = link.store.buffer_value()
    mapping = _way_back(block, link, what)
    conditions = _domain(block, link, mapping)
    if conditions and len(stores_beyond(link.block)) > 1:
        raise ScheduleError(f"{what}: its producer has other results, which it needs elements beyond its own of")
    moved = _needed_there(func, block, link, what)
    anchor: Operation = link.block
    for op in moved:
        move_before(op, anchor)  # type: ignore[arg-type]
    values: dict[SSAValue, SSAValue] = {load.result: link.store.value for load in link.reads}
    ranges = RangeCache()
    for op in block.body.block.ops:
        if op in link.reads:
            continue
        clone = op.clone(values)
        edit.insert_before(link.store, clone)
        if isinstance(clone, (AccessOp, IndexOp, ConditionOp)):
            substitute_in(clone, mapping, ranges)
    link.block.set_conditions([*link.block.conditions(), *conditions])
    edit.erase(link.store)
    erase_nest(block)
    if isinstance(buffer.owner, AllocOp):
        home = buffer.owner.parent_op()
        edit.erase(buffer.owner)
        erase_empty(home)


def _link(func: FuncOp, block: BlockOp, what: str) -> Link:
    """The last stage that a block, and nobody else, reads. Raises ScheduleError where there is none to inline into."""
    read = dict.fromkeys(o.buffer_value() for o in accesses(block.body.block) if isinstance(o, LoadOp))
    read = [b for b in read if isinstance(b.owner, AllocOp)]
    readers = {b: {o.parent_op() for o in loads_of(b)} - {s.parent_op() for s in stores_of(b)} for b in read}
    only = [b for b in read if readers[b] == {block}]
    if not only:
        others = {o for b in read for o in readers[b]} - {block}
        names = [n for n, blocks in blocks_of(func).items() if others.intersection(blocks)]
        reader = f"; its producer is also read by {', '.join(map(repr, names))}" if names else ""
        raise ScheduleError(f"{what}: it reads no stage that nobody else reads{reader}")
    order = {op: n for n, op in enumerate(func.walk())}
    buffer = max(only, key=lambda b: max((order[s] for s in stores_of(b)), default=-1))
    stores = stores_of(buffer)
    producers = [s.parent_op() for s in stores]
    producer = producers[-1] if producers else None
    if not isinstance(producer, BlockOp) or any(p is not producer for p in producers):
        raise ScheduleError(f"{what}: its producer is computed in more than one place")
    name = producer.stage.data
    if producer.init.blocks or reduction_loops(producer):
        raise ScheduleError(f"{what}: its producer {name!r} is a reduction, complete only after its last term")
    if len(stores) != 1:
        raise ScheduleError(f"{what}: its producer {name!r} stores it in more than one place")
    (store,) = stores
    scalar_only([store])
    if store.conditions():
        raise ScheduleError(f"{what}: its producer {name!r} is stored under a condition")
    reads = loads_of(buffer)
    if any(o.conditions() for o in reads):
        raise ScheduleError(f"{what}: it reads {name!r} under a condition, so it has elements that need none of it")
    if any(o.forms() != reads[0].forms() for o in reads):
        raise ScheduleError(f"{what}: it reads {name!r} at several places")
    return Link(producer, store, reads)


def _way_back(block: BlockOp, link: Link, what: str) -> dict[Atom, Linear]:
    """The consumer's loop variables over those of the producer."""
    common = enclosing_loops(link.block)
    own = [v for v in enclosing_loops(block) if v not in common]
    extents: dict[Atom, int | None] = {v.var: None if v.is_dynamic else v.trip for v in own}
    found = inverse(link.reads[0].forms(), extents, link.store.forms())
    if found is None:
        raise ScheduleError(
            f"{what}: it does not read each element of {link.block.stage.data!r} once, "
            "or the index it reads at does not say in which iteration it is read"
        )
    ranges = RangeCache()
    return {v.var: found[v.var].simplify(ranges) if v.var in found else constant(0) for v in own}


def _domain(block: BlockOp, link: Link, mapping: dict[Atom, Linear]) -> list[Condition]:
    """The conditions for the producer's element to be read at all, as far as they do not follow from others."""
    ranges = RangeCache()
    common = enclosing_loops(link.block)
    own = [v for v in enclosing_loops(block) if v not in common]
    index, read = link.store.forms(), link.reads[0].forms()
    wanted = [Condition(r.substitute(mapping, ranges) - b, True) for r, b in zip(read, index, strict=True)]
    for v in own:
        wanted.append(Condition(mapping[v.var]))
        wanted += [Condition(e.substitute(mapping, ranges) - mapping[v.var] - 1) for e in v.limits()]
    wanted += [Condition(c.form.substitute(mapping, ranges), c.equal) for c in _conditions_around(block, common)]
    inside = [Condition(f) for f in index]
    inside += [Condition(e - f - 1) for e, f in zip(extents_of(link.store.buffer), index, strict=True)]
    facts = facts_at(link.store).given(inside)
    kept: list[Condition] = []
    for c in wanted:
        if c not in kept and not facts.given(kept).proves(c):
            kept.append(c)
    return kept


def _conditions_around(block: BlockOp, common: Sequence[ForOp]) -> list[Condition]:
    """The predicate of a block and of what stands between it and the loops that it shares."""
    found = block.conditions()
    parent = block.parent_op()
    while parent is not None and parent not in common and not isinstance(parent, FuncOp):
        if isinstance(parent, ConditionalBase):
            found += parent.conditions()
        parent = parent.parent_op()
    return found


def _needed_there(func: FuncOp, block: BlockOp, link: Link, what: str) -> list[Operation]:
    """The statements that must stand before the producer for its block to compute what the consumer does."""
    loops = enclosing_loops(link.block)
    buffer = link.store.buffer_value()
    read = dict.fromkeys(o.buffer_value() for o in accesses(block.body.block) if isinstance(o, LoadOp))
    others = [b for b in read if b is not buffer]
    for b in others:
        if not sees(link.block, b):
            name = b.name_hint or "a buffer"
            raise ScheduleError(f"{what}: it reads {name}, which {link.block.stage.data!r} does not see")
    moved: list[Operation] = []
    if loops:
        moved = needed_before(func, others, loops[-1], what)
    elif any(isinstance(b.owner, AllocOp) for b in others):
        raise ScheduleError(f"{what}: it reads another stage, and its producer has no loop to stand before")
    for store in stores_beyond(block):
        owner = store.buffer_value().owner
        if not isinstance(owner, AllocOp):
            continue
        home = owner.parent_op()
        if home is None or not belongs(link.block, home):
            name = link.block.stage.data
            raise ScheduleError(f"{what}: its buffer lives in a loop in which {name!r} is not computed")
        moved.append(owner)
    return moved
