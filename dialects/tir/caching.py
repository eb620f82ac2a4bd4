"""cache_read and cache_write: what a stage reads or computes, in a buffer of another scope with a copy of its own."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from lamina.dialects.accesses import RangeCache
from lamina.dialects.index_map import Condition
from lamina.dialects.linear import Atom, Linear
from lamina.dialects.tir.legality import own_nest, spatial_form
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, type_of
from lamina.dialects.tir.nest import (
    ScheduleError,
    accesses,
    retarget,
    stage_block,
    stage_buffer,
    unique_axis,
    unique_stage,
    wrap,
)
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp
from lamina.dialects.tir.regions import local_index, region_of


def cache_read(func: FuncOp, tensor: SSAValue, name: str, stage: str, loop: ForOp, scope: str) -> list[ForOp]:
    """Read what one iteration of a loop needs of a buffer into a buffer of its own. Returns the copy's loops."""
    what = f"cache_read of {name!r}"
    readers = [o for o in accesses(loop, tensor) if isinstance(o, LoadOp)]
    if not readers:
        raise ScheduleError(f"{what}: it is not read in the loop {loop.axis.data!r}")
    if any(isinstance(o, StoreOp) for o in accesses(loop, tensor)):
        raise ScheduleError(f"{what}: it is written in the loop {loop.axis.data!r}")
    if any(o.conditions() for o in readers):
        raise ScheduleError(f"{what}: a guarded read cannot be cached")
    region = region_of(readers, loop)
    kept = [d for d, e in enumerate(region.extent) if e > 1] or [len(region.extent) - 1]
    type_ = type_of(tensor)
    label = unique_stage(func, f"{name}.{scope}")
    alloc = AllocOp.make(label, buffer_type([region.extent[d] for d in kept], type_.element_type), scope)
    alloc.result.name_hint = f"{name}_{scope}" if name.isidentifier() else None
    loops = [
        ForOp.make(region.extent[d], unique_axis(func, f"{label}.{d}"), hint=f"{(tensor.name_hint or 'c')}{d}")
        for d in kept
    ]
    shape = type_.get_shape()
    guard: list[Condition] = []
    copies = dict(zip(kept, loops, strict=True))
    for d, base in enumerate(region.base):
        # The box may be larger than what is read of it: where the readers have tails, it ends beyond the tensor.
        bounds = base.range(RangeCache())
        index = base + Linear.dim(copies[d].var) if d in copies else base
        if bounds is None or bounds[0] < 0:
            guard.append(Condition(index))
        if bounds is None or bounds[1] + region.extent[d] > shape[d]:
            if d in copies:
                copies[d].set_min_bounds([shape[d] - base])
            else:
                guard.append(Condition(shape[d] - 1 - index))
    offset = {d: Linear.dim(v.var) for d, v in copies.items()}
    body = Block()
    source = [b + offset[d] if d in offset else b for d, b in enumerate(region.base)]
    load = LoadOp.make(tensor, source, guard)
    body.add_op(load)
    body.add_op(StoreOp.make(load.result, alloc.result, [Linear.dim(v.var) for v in loops]))
    holder = Block()
    holder.add_op(BlockOp.make(label, None, body))
    ranges = RangeCache()
    for op in readers:
        forms = [op.forms()[d] - region.base[d] for d in kept]
        operands = list(op.operands)
        operands[op.buffer_position()] = alloc.result
        op.operands = operands
        op.set_access([local_index(f, ranges) for f in forms])
    first = loop.body.block.first_op
    assert first is not None
    loop.body.block.insert_op_before(alloc, first)
    loop.body.block.insert_op_before(loops[0], first)
    wrap(loops, holder)
    return loops


def cache_write(func: FuncOp, stage: str, scope: str) -> str:
    """Compute a stage into a buffer of another scope and copy it out by a new stage, whose name is returned."""
    block = stage_block(func, stage)
    buffer = stage_buffer(func, stage)
    label = f"{stage}.{scope}"
    what = f"cache_write of {stage!r}"
    spatial = spatial_form(block, buffer, what)
    if any(o.conditions() for o in accesses(block) if isinstance(o, StoreOp)):
        raise ScheduleError(f"{what}: it is stored under a condition")
    loops = own_nest(block, what)
    outermost = loops[0] if loops else block
    alloc = AllocOp.make(label, type_of(buffer), scope)
    alloc.result.name_hint = f"{stage}_{scope}" if stage.isidentifier() else None
    assert outermost.parent is not None
    outermost.parent.insert_op_before(alloc, outermost)
    retarget([o for o in accesses(block) if o.buffer_value() is buffer], alloc.result)
    trips = {v.var: v for v in loops}
    copy_stage = unique_stage(func, f"{stage}.out")
    copies = [
        ForOp.make(trips[v].trip, unique_axis(func, f"{copy_stage}.{n}"), hint=v.name_hint)
        for n, v in enumerate(spatial)
    ]
    renamed: dict[Atom, Linear] = {v: Linear.dim(c.var) for v, c in zip(spatial, copies, strict=True)}
    for v, copy in zip(spatial, copies, strict=True):
        copy.set_min_bounds([b.substitute(renamed) for b in trips[v].min_bounds()])
    body = Block()
    index = [Linear.dim(v.var) for v in copies]
    load = LoadOp.make(alloc.result, index)
    body.add_ops([load, StoreOp.make(load.result, buffer, index)])
    holder = Block()
    holder.add_op(BlockOp.make(copy_stage, None, body))
    outermost.parent.insert_op_after(copies[0], outermost)
    wrap(copies, holder)
    return copy_stage
