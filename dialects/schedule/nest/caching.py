"""cache_read and cache_write: what a stage reads or computes, in a buffer of another scope with a copy of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.nest.edits import (
    ScheduleError,
    accesses,
    retarget,
    stage_block,
    stage_buffers,
    stores_of,
    unique_axis,
    unique_stage,
    wrap,
)
from lamina.dialects.schedule.nest.legality import belongs, own_nest, spatial_form
from lamina.dialects.schedule.nest.normal_form import normal_form
from lamina.dialects.schedule.nest.regions import limits_within, local_index, region_of
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.schedule.nest.staging import PADDED
from lamina.dialects.schedule.nest.threads import sharing_loops
from lamina.dialects.tir.memory import (
    AllocOp,
    LoadOp,
    StoreOp,
    buffer_type,
    extents_of,
    shape_with,
    type_of,
)
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, enclosing_loops


def cache_read(
    func: FuncOp, tensor: SSAValue, name: str, stages: Sequence[str], loop: ForOp, scope: str
) -> list[ForOp]:
    """Read what stages need of a buffer in one iteration of a loop into a buffer of its own. Returns its loops."""
    what = f"cache_read of {name!r}"
    check_scope(scope, (), what)
    blocks = [stage_block(func, s) for s in stages]
    readers = [o for o in accesses(loop, tensor) if isinstance(o, LoadOp) and any(belongs(o, b) for b in blocks)]
    if not readers:
        raise ScheduleError(f"{what}: it is not read in the loop {loop.axis.data!r}")
    if any(isinstance(o, StoreOp) for o in accesses(loop, tensor)):
        raise ScheduleError(f"{what}: it is written in the loop {loop.axis.data!r}")
    if isinstance(tensor.owner, AllocOp) and PADDED in tensor.owner.attributes:
        raise ScheduleError(f"{what}: its layout has elements that nobody writes")
    threads = sharing_loops(loop, scope)
    region = region_of(readers, loop, threads)
    check_scope(scope, region.extent, what)
    kept = [d for d, e in enumerate(region.extent) if e != constant(1)] or [len(region.extent) - 1]
    label = unique_stage(func, f"{name}.{scope}")
    extents = [region.extent[d] for d in kept]
    alloc = AllocOp.make(label, buffer_type(shape_with(extents), type_of(tensor).element_type), scope, extents)
    ranges = RangeCache()
    written = _written(tensor)
    # The box may be larger than what is read of it: where the readers have tails, it ends beyond the tensor.
    copies = {
        d: ForOp.upto(
            limits_within(written.limits[d], region.extent[d], region.base[d], ranges),
            unique_axis(func, f"{label}.{d}"),
            hint=f"{(tensor.name_hint or 'c')}{d}",
        )
        for d in kept
    }
    loops = list(copies.values())
    source = [b + Linear.dim(copies[d].var) if d in copies else b for d, b in enumerate(region.base)]
    guard: list[Condition] = []
    for d, base in enumerate(region.base):
        bounds = base.range(ranges)
        if bounds is None or bounds[0] < 0:
            guard.append(Condition(source[d]))
        if d not in copies:
            _, *limits = limits_within(written.limits[d], region.extent[d], base, ranges)
            guard += [Condition(limit - 1) for limit in limits]
    facts = Facts(ranges, [*guard, *(Condition(e - Linear.dim(v.var) - 1) for v in loops for e in v.limits())])
    index: dict[Atom, Linear] = {v: source[d] for v, d in written.place.items()}
    conditions = [Condition(c.form.substitute(index, ranges), c.equal) for c in written.conditions]
    guard += [c for c in conditions if not facts.proves(c)]
    body = Block()
    load = LoadOp.make(tensor, source, guard)
    body.add_op(load)
    body.add_op(StoreOp.make(load.result, alloc.result, [Linear.dim(v.var) for v in loops]))
    holder = Block()
    holder.add_op(BlockOp.make(label, None, body))
    for op in readers:
        forms = [op.forms()[d] - region.base[d] for d in kept]
        operands = list(op.operands)
        operands[op.buffer_position()] = alloc.result
        op.operands = operands
        op.set_access([local_index(f, ranges) for f in forms], op.conditions())
    first = loop.body.block.first_op
    assert first is not None
    edit.insert_before(first, loops[0])
    outermost = threads[0] if threads else loops[0]
    edit.insert_before(outermost, alloc)
    wrap(loops, holder)
    return loops


class Written(NamedTuple):
    """The elements of a buffer that are written: a tile may have a tail, or begin before the first element."""

    limits: list[list[Linear]]
    """The upper limits of the index of each dimension, exclusive: the extent, and where the stores end before it."""
    conditions: list[Condition]
    """The other conditions that hold where the stores are, over `place`."""
    place: dict[Atom, int]
    """The loop variable that a dimension is indexed by."""


def _written(tensor: SSAValue) -> Written:
    found = Written([[e] for e in extents_of(tensor)], [], {})
    stores = stores_of(tensor) if isinstance(tensor.owner, AllocOp) else []
    if not isinstance(tensor.owner, AllocOp) or not stores or any(s.forms() != stores[0].forms() for s in stores):
        return found
    inside: dict[Atom, ForOp] = {v.var: v for v in enclosing_loops(stores[0])}
    for v in enclosing_loops(tensor.owner):
        inside.pop(v.var, None)
    block = stores[0].parent_op()
    asked = [*stores[0].conditions(), *(block.conditions() if isinstance(block, BlockOp) else ())]
    for d, form in enumerate(stores[0].forms()):
        if form.dims() and form == Linear.dim(next(iter(form.dims()))):
            found.place[next(iter(form.dims()))] = d
        tails = [b + (form - Linear.dim(v)) for v in form.dims() if v in inside for b in inside[v].min_bounds()]
        tails += [c.form + form + 1 for c in asked if not c.equal]
        for tail in tails:
            if inside.keys().isdisjoint(tail.dims()) and tail not in found.limits[d]:
                found.limits[d].append(tail)
    found.conditions.extend(c for c in asked if found.place.keys() >= inside.keys() & set(c.form.dims()))
    return found


def cache_write(func: FuncOp, stage: str, scope: str) -> str:
    """Compute a stage into a buffer of another scope and copy it out by a new stage, whose name is returned."""
    block = stage_block(func, stage)
    buffers = stage_buffers(func, stage)
    what = f"cache_write of {stage!r}"
    for buffer in buffers:
        check_scope(scope, extents_of(buffer), what)
        begun_elsewhere = any(o.parent_op() is not block for o in stores_of(buffer))
        if begun_elsewhere and any(isinstance(o, LoadOp) for o in accesses(block, buffer)):
            raise ScheduleError(f"{what}: a part of it is computed elsewhere")
    back = normal_form(block, buffers[0], what)
    if any(o.conditions() for o in accesses(block) if isinstance(o, StoreOp)):
        raise ScheduleError(f"{what}: it is stored under a condition")
    if back is not None:
        back.apply()
    spatial = spatial_form(block, buffers[0], what)
    loops = own_nest(block, what)
    outermost = loops[0] if loops else block
    trips = {v.var: v for v in loops}
    extents = _computed(block, buffers, [trips[v] for v in spatial])
    copy_stage = unique_stage(func, f"{stage}.out")
    copies = [
        ForOp.upto(trips[v].limits(), unique_axis(func, f"{copy_stage}.{n}"), hint=v.name_hint)
        for n, v in enumerate(spatial)
    ]
    renamed: dict[Atom, Linear] = {v: Linear.dim(c.var) for v, c in zip(spatial, copies, strict=True)}
    for copy in copies:
        copy.set_min_bounds([b.substitute(renamed) for b in copy.min_bounds()])
    index = [Linear.dim(v.var) for v in copies]
    body = Block()
    for n, buffer in enumerate(buffers):
        label = f"{stage}.{scope}" if len(buffers) == 1 else f"{stage}.{scope}.v{n}"
        alloc = AllocOp.make(label, buffer_type(shape_with(extents), type_of(buffer).element_type), scope, extents)
        if isinstance(buffer.owner, AllocOp) and PADDED in buffer.owner.attributes:
            alloc.attributes[PADDED] = UnitAttr()
        edit.insert_before(outermost, alloc)
        retarget([o for o in accesses(block) if o.buffer_value() is buffer], alloc.result)
        load = LoadOp.make(alloc.result, index)
        body.add_ops([load, StoreOp.make(load.result, buffer, index)])
    own = {v.var for v in loops if v.var not in renamed}
    predicate = [
        Condition(c.form.substitute(renamed), c.equal) for c in block.conditions() if own.isdisjoint(c.form.dims())
    ]
    holder = Block([BlockOp.make(copy_stage, None, body, predicate)])
    if copies:
        edit.insert_after(outermost, copies[0])
        wrap(copies, holder)
    else:
        (alone,) = holder.ops
        edit.take(alone)
        edit.insert_after(outermost, alone)
    return copy_stage


def _computed(block: BlockOp, buffers: Sequence[SSAValue], spatial: Sequence[ForOp]) -> list[Linear]:
    """The extents that a stage in its normal form computes: it may be the beginning of a scan's state."""
    extents = extents_of(buffers[0])
    index = [Linear.dim(v.var) for v in spatial]
    if any(o.forms() != index for b in buffers for o in accesses(block, b)):
        return extents
    return [v.limits()[0] if len(v.limits()) == 1 else e for v, e in zip(spatial, extents, strict=True)]
