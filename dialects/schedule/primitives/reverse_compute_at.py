"""reverse_compute_at: a consumer in the loop of its producer that finishes what the consumer reads.

    for i: for j: B[i * 4 + j] = f                   for i:
    for k: C[k] = g(B[k])                  becomes     for j: B[j] = f
                                                       for k: C[i * 4 + k] = g(B[k])

The consumer reads its producer element by element, so its loops over the box that an iteration finishes are those that
index it; its other loops stay whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.families import PlacementBase
from lamina.dialects.schedule.nest.edits import (
    accesses,
    loads_of,
    reduction_loops,
    stage_block,
    stage_buffers,
    stores_of,
)
from lamina.dialects.schedule.nest.legality import (
    check_visible,
    is_exact,
    is_inside,
    move_before,
    needed_before,
    own_loops,
    sees,
)
from lamina.dialects.schedule.nest.normal_form import NormalForm, normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.nest.regions import Region, index_within, limits_within, rebuild, region_of, resize
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, extents_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, enclosing_loops


@irdl_op_definition
class ReverseComputeAtOp(PlacementBase):
    """A consumer computed inside a loop of its producer, just what one iteration has finished.

    Before: `for i: P[i]`, `for i: C[i] = f(P[i])`    After: `for i: P, C[i] = f(P)`
    """

    name = "te.reverse_compute_at"

    def apply(self, state: ScheduleState) -> None:
        state.bind(self.results, reverse_compute_at(state.func, self.stage.data, state.loop(self.loop)))
        state.attached[self.stage.data] = None


def reverse_compute_at(func: FuncOp, stage: str, loop: ForOp) -> list[ForOp]:
    """Compute of a consumer just what one iteration of its producer's loop has finished. Returns its new loops.

    Raises ScheduleError where that cannot be, IllegalError where it changed what the program means.
    """
    what = f"reverse_compute_at of {stage!r}"
    block = stage_block(func, stage)
    outs = stage_buffers(func, stage)
    _check_place(block, outs, loop, what)
    back = normal_form(block, outs[0], what)
    if any(v.is_reduction for v in [*enclosing_loops(loop), loop]):
        refuse(f"{what}: {loop.axis.data!r} is, or stands in, a reduction loop of the producer")
    reads = _reads_of_the_producer(block, loop, what)
    buffer = reads[0].buffer_value()
    region = _finished_region(func, buffer, loop, what)
    read = dict.fromkeys(o.buffer_value() for o in accesses(block.body.block) if isinstance(o, LoadOp))
    hoisted = needed_before(func, [b for b in read if b is not buffer], loop, what)
    loops = own_loops(block, outs[0], what) if back is None else [*back.loops]
    sources = _loops_that_index(reads, loops, back, what)
    new_loops, mapping = _loops_over(region, loops, sources)
    # Nothing is refused from here on.
    if back is not None:
        back.apply()
    users: list[AccessOp] = [*loads_of(buffer), *stores_of(buffer)]
    for op in [*hoisted, *(b.owner for b in outs if isinstance(b.owner, AllocOp))]:
        move_before(op, loop)
    rebuild(block, loops, new_loops, [], mapping, loop.body.block, loop.body.block.last_op)
    if isinstance(buffer.owner, AllocOp) and all(is_inside(o, loop) for o in users):
        index_within(users, region)
        resize(buffer.owner, region, loop.body.block.first_op)
    return new_loops


def _check_place(block: BlockOp, outs: Sequence[SSAValue], loop: ForOp, what: str) -> None:
    """Whether a stage may stand in a loop, whatever that computes."""
    if is_inside(block, loop):
        raise ScheduleError(f"{what}: it stands in the loop {loop.axis.data!r} already")
    if reduction_loops(block):
        raise ScheduleError(f"{what}: a reduction cannot follow a tile of its input")
    check_visible(block, loop, what)
    if not all(sees(loop, b) for b in outs):
        raise ScheduleError(f"{what}: it is computed for one iteration of a loop that {loop.axis.data!r} is not in")


def _reads_of_the_producer(block: BlockOp, loop: ForOp, what: str) -> list[LoadOp]:
    """The loads of a consumer from the one buffer that a loop computes for it."""
    produced = {s.buffer_value() for s in accesses(loop) if isinstance(s, StoreOp)}
    reads = [o for o in accesses(block.body.block) if isinstance(o, LoadOp) and o.buffer_value() in produced]
    if not reads:
        raise ScheduleError(f"{what}: it reads nothing that is computed in the loop {loop.axis.data!r}")
    if any(o.buffer_value() is not reads[0].buffer_value() for o in reads):
        raise ScheduleError(f"{what}: it reads more than one stage computed in the loop {loop.axis.data!r}")
    return reads


def _finished_region(func: FuncOp, buffer: SSAValue, loop: ForOp, what: str) -> Region:
    """The box of a buffer that is complete when an iteration of a loop ends."""
    name = buffer.name_hint or "its producer"
    stores = [s for s in accesses(loop, buffer) if isinstance(s, StoreOp)]
    if len(stores) < len(stores_of(buffer)) and not _fills(stores[0], RangeCache()):
        refuse(f"{what}: a part of {name} is computed outside the loop {loop.axis.data!r}")
    region = region_of(stores, loop)
    order = {op: n for n, op in enumerate(all_ops(func))}
    if any(order[o] > order[loop] and not is_inside(o, loop) for o in stores_of(buffer)):
        refuse(f"{what}: {name} is completed after the loop {loop.axis.data!r}")
    if not is_exact(stores, loop):
        refuse(f"{what}: an iteration of {loop.axis.data!r} does not finish a whole box of {name}")
    return region


def _fills(store: StoreOp, ranges: RangeCache) -> bool:
    """Whether a store reaches the first and the last element of each dimension of its buffer."""
    for form, size in zip(store.forms(), extents_of(store.buffer), strict=True):
        reach = form.range(ranges)
        if reach is None or reach[0] != 0 or (size.is_constant and reach[1] < size.const - 1):
            return False
    return True


def _loops_that_index(
    reads: Sequence[LoadOp], loops: Sequence[ForOp], back: NormalForm | None, what: str
) -> list[ForOp | None]:
    """The consumer's loop that indexes each dimension of its producer; None where that has one element."""
    name = reads[0].buffer_value().name_hint or "its producer"
    index = reads[0].forms()
    if any(o.forms() != index for o in reads):
        raise ScheduleError(f"{what}: it reads {name} at several places")
    if back is not None:
        index = [back.form(f) for f in index]
    ranges = RangeCache()
    found: list[ForOp | None] = []
    for d, (form, size) in enumerate(zip(index, extents_of(reads[0].buffer_value()), strict=True)):
        if form == constant(0) and size == constant(1):
            found.append(None)
            continue
        source = next((v for v in loops if form == Linear.dim(v.var)), None)
        if source is None:
            raise ScheduleError(f"{what}: it does not read its producer element by element (dimension {d})")
        bounds = [(size - e).range(ranges) for e in source.limits()]
        if not any(b is not None and b[0] >= 0 for b in bounds):
            refuse(f"{what}: it has elements that read nothing of {name} (dimension {d})")
        found.append(source)
    return found


def _loops_over(
    region: Region, loops: Sequence[ForOp], sources: Sequence[ForOp | None]
) -> tuple[list[ForOp], dict[Atom, Linear]]:
    """New loops in place of a consumer's, those in `sources` over a box only, and the old variables over the new."""
    ranges = RangeCache()
    new_loops: dict[ForOp, ForOp] = {}
    mapping: dict[Atom, Linear] = {}
    for source, base, extent in zip(sources, region.base, region.extent, strict=True):
        if source is not None:
            limits = limits_within(source.limits(), extent, base, ranges)
            new = new_loops[source] = ForOp.upto(limits, source.axis.data, hint=source.var.name_hint)
            mapping[source.var] = base + Linear.dim(new.var)
    for v in loops:
        if v not in new_loops:
            new = new_loops[v] = ForOp.upto(v.limits(), v.axis.data, hint=v.var.name_hint)
            mapping[v.var] = Linear.dim(new.var)
    return [new_loops[v] for v in loops], mapping
