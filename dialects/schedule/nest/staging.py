"""cache_read at the top: a tensor copied whole by a stage of its own, which some of its readers read instead."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.decompose import in_loops
from lamina.dialects.schedule.nest.edits import (
    ScheduleError,
    accesses,
    refuse,
    retarget,
    stage_block,
    unique_axis,
    unique_stage,
)
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, extents_of, shape_with, type_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp

PADDED = "padded"
"""Attribute of an alloc: nobody writes some of its elements."""


def cache_read_whole(func: FuncOp, tensor: SSAValue, name: str, stages: Sequence[str], scope: str) -> list[ForOp]:
    """Copy a buffer for some stages, before the first of them. Returns the loops of the copy."""
    what = f"cache_read of {name!r}"
    check_scope(scope, extents_of(tensor), what)
    readers: list[LoadOp] = []
    for stage in stages:
        block = stage_block(func, stage)
        found = [o for o in accesses(block, tensor) if isinstance(o, LoadOp)]
        if not found:
            raise ScheduleError(f"{what}: stage {stage!r} does not read it")
        if any(isinstance(o, StoreOp) for o in accesses(block, tensor)):
            raise ScheduleError(f"{what}: stage {stage!r} writes it")
        readers += found
    owner = tensor.owner
    home = func.body.block
    if isinstance(owner, AllocOp):
        if owner.parent is not home:
            raise ScheduleError(f"{what}: it lives in a loop, so no copy of it is made at the top")
        if PADDED in owner.attributes:
            raise ScheduleError(f"{what}: its layout has elements that nobody writes")
    first, *_ = statements_of(readers, home)
    writers = [u.operation for u in tensor.uses if not isinstance(u.operation, LoadOp)]
    if any(not w.is_before_in_block(first) for w in statements_of(writers, home)):
        refuse(f"{what}: it is not complete before {stages[0]!r} begins to read it")
    label = unique_stage(func, f"{name}.{scope}")
    extents = extents_of(tensor)
    alloc = AllocOp.make(label, buffer_type(shape_with(extents), type_of(tensor).element_type), scope, extents)
    loops = [
        ForOp.upto([e], unique_axis(func, f"{label}.{d}"), hint=f"{tensor.name_hint or 'c'}{d}")
        for d, e in enumerate(extents)
    ]
    index = [Linear.dim(v.var) for v in loops]
    load = LoadOp.make(tensor, index)
    block = BlockOp.make(label, None, Block([load, StoreOp.make(load.result, alloc.result, index)]))
    edit.insert_before(first, alloc, in_loops(loops, block))
    retarget(readers, alloc.result)
    return loops


def statements_of(ops: Sequence[Operation], home: Block) -> list[Operation]:
    """The statements of a block in which ops stand, each once, in order."""
    found: dict[Operation, None] = {}
    for op in ops:
        at = op
        while at.parent is not home:
            parent = at.parent_op()
            assert parent is not None
            at = parent
        found[at] = None
    return [op for op in home.ops if op in found]
