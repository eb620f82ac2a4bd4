"""cache_read and cache_write: what a stage reads or computes, in a buffer of another scope with a copy of its own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, SSAValue

from lamina.dialects.accesses import RangeCache
from lamina.dialects.index_map import Condition
from lamina.dialects.linear import Atom, Linear, constant
from lamina.dialects.tir.legality import belongs, own_nest, spatial_form
from lamina.dialects.tir.memory import (
    AllocOp,
    LoadOp,
    StoreOp,
    buffer_type,
    extents_of,
    shape_with,
    type_of,
)
from lamina.dialects.tir.nest import (
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
from lamina.dialects.tir.normal_form import normal_form
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp
from lamina.dialects.tir.regions import limits_within, local_index, region_of
from lamina.dialects.tir.scopes import check_scope
from lamina.dialects.tir.staging import PADDED
from lamina.dialects.tir.threads import sharing_loops


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
    alloc.result.name_hint = f"{name}_{scope}" if name.isidentifier() else None
    ranges = RangeCache()
    sizes = extents_of(tensor)
    # The box may be larger than what is read of it: where the readers have tails, it ends beyond the tensor.
    copies = {
        d: ForOp.upto(
            limits_within([sizes[d]], region.extent[d], region.base[d], ranges),
            unique_axis(func, f"{label}.{d}"),
            hint=f"{(tensor.name_hint or 'c')}{d}",
        )
        for d in kept
    }
    loops = list(copies.values())
    guard: list[Condition] = []
    for d, base in enumerate(region.base):
        bounds = base.range(ranges)
        index = base + Linear.dim(copies[d].var) if d in copies else base
        if bounds is None or bounds[0] < 0:
            guard.append(Condition(index))
        if d not in copies and len(limits_within([sizes[d]], region.extent[d], base, ranges)) > 1:
            guard.append(Condition(sizes[d] - 1 - index))
    offset = {d: Linear.dim(v.var) for d, v in copies.items()}
    body = Block()
    source = [b + offset[d] if d in offset else b for d, b in enumerate(region.base)]
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
    loop.body.block.insert_op_before(loops[0], first)
    outermost = threads[0] if threads else loops[0]
    assert outermost.parent is not None
    outermost.parent.insert_op_before(alloc, outermost)
    wrap(loops, holder)
    return loops


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
    place = outermost.parent
    assert place is not None
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
        alloc.result.name_hint = label.replace(".", "_") if stage.isidentifier() else None
        if isinstance(buffer.owner, AllocOp) and PADDED in buffer.owner.attributes:
            alloc.attributes[PADDED] = UnitAttr()
        place.insert_op_before(alloc, outermost)
        retarget([o for o in accesses(block) if o.buffer_value() is buffer], alloc.result)
        load = LoadOp.make(alloc.result, index)
        body.add_ops([load, StoreOp.make(load.result, buffer, index)])
    own = {v.var for v in loops if v.var not in renamed}
    predicate = [
        Condition(c.form.substitute(renamed), c.equal) for c in block.conditions() if own.isdisjoint(c.form.dims())
    ]
    holder = Block([BlockOp.make(copy_stage, None, body, predicate)])
    if copies:
        place.insert_op_after(copies[0], outermost)
        wrap(copies, holder)
    else:
        (alone,) = holder.ops
        alone.detach()
        place.insert_op_after(alone, outermost)
    return copy_stage


def _computed(block: BlockOp, buffers: Sequence[SSAValue], spatial: Sequence[ForOp]) -> list[Linear]:
    """How much of its buffers a stage in its normal form computes: it may be the beginning of a scan's state."""
    extents = extents_of(buffers[0])
    index = [Linear.dim(v.var) for v in spatial]
    if any(o.forms() != index for b in buffers for o in accesses(block, b)):
        return extents
    return [v.limits()[0] if len(v.limits()) == 1 else e for v, e in zip(spatial, extents, strict=True)]
