"""cache_write: a stage computed into a buffer of another scope, with a stage that copies it out."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def

from lamina.dialects import edit
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.nest.annotations import PADDED
from lamina.dialects.schedule.nest.edits import (
    accesses,
    retarget,
    stage_block,
    stage_buffers,
    stores_of,
    unique_axis,
    unique_stage,
    wrap,
)
from lamina.dialects.schedule.nest.legality import own_nest, spatial_form
from lamina.dialects.schedule.nest.normal_form import normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, extents_of, shape_with, type_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp


@irdl_op_definition
class CacheWriteOp(PrimitiveOp):
    """A stage computed into a buffer of another scope, and copied out by a new stage `<stage>.out`.

    Before: `for i: C[i] = f`    After `te.cache_write "C" scope "register"`: `for i: R[i] = f`, `for i: C[i] = R[i]`

    Where extents are known only at run time, a later primitive has to place one of the stages in a loop of the other:
    a tile's registers have a number.
    """

    name = "te.cache_write"
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    assembly_format = "$stage `scope` $scope attr-dict"

    @staticmethod
    def make(stage: str, scope: str) -> CacheWriteOp:
        return CacheWriteOp.create(properties={"stage": StringAttr(stage), "scope": StringAttr(scope)})

    def apply(self, state: ScheduleState) -> None:
        cache_write(state.func, self.stage.data, self.scope.data)
        if self.scope.data == "register":
            state.await_place(self, self.stage.data)


def cache_write(func: FuncOp, stage: str, scope: str) -> str:
    """Compute a stage into a buffer of another scope and copy it out by a new stage, whose name is returned."""
    block = stage_block(func, stage)
    buffers = stage_buffers(func, stage)
    what = f"cache_write of {stage!r}"
    for buffer in buffers:
        check_scope(scope, (), what)
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
    """The extents that a stage in its normal form computes of its buffers: maybe the first part of a scan's state."""
    extents = extents_of(buffers[0])
    index = [Linear.dim(v.var) for v in spatial]
    if any(o.forms() != index for b in buffers for o in accesses(block, b)):
        return extents
    return [v.limits()[0] if len(v.limits()) == 1 else e for v, e in zip(spatial, extents, strict=True)]
