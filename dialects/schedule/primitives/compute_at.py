"""compute_at: a producer, or a group of stages, in a loop of its consumer."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.irdl import irdl_op_definition

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.families import PlacementBase
from lamina.dialects.schedule.nest.annotations import PADDED
from lamina.dialects.schedule.nest.attachment import Attachment
from lamina.dialects.schedule.nest.edits import (
    accesses,
    alloc_of,
    blocks_of,
    loads_of,
    reduction_loops,
    stage_block,
    stage_buffers,
    stores_of,
)
from lamina.dialects.schedule.nest.legality import belongs, check_visible, is_inside, own_loops, spatial_form
from lamina.dialects.schedule.nest.normal_form import normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.regions import index_within, limits_within, rebuild, region_of, resize
from lamina.dialects.schedule.nest.threads import sharing_loops
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.tir.memory import AccessOp, AllocOp, extents_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, IndexOp, enclosing_loops


@irdl_op_definition
class ComputeAtOp(PlacementBase):
    """A producer computed inside a loop of its consumer, just what one iteration reads.

    Before: `for i: P[i]`, `for i: C[i] = P[i] + P[i+1]`    After: `for i: (for t in 2: P[t]), C[i] = P[0] + P[1]`
    """

    name = "te.compute_at"

    def apply(self, state: ScheduleState) -> None:
        group = state.groups.get(self.stage.data)
        if group is not None:
            state.bind(self.results, compute_group_at(state.func, group, state.loop(self.loop), state.attached))
            return
        state.bind(self.results, attach(state.func, self.stage.data, state.loop(self.loop), state.attached))


def compute_group_at(
    func: FuncOp, stages: Sequence[str], loop: ForOp, attached: dict[str, Attachment | None]
) -> list[ForOp]:
    """compute_at of each stage, the last one first. Returns their loops, in the order in which stages are given."""
    position = {name: n for n, name in enumerate(blocks_of(func))}
    for stage in stages:
        stage_block(func, stage)
    order = sorted(stages, key=lambda s: position[s], reverse=True)
    # A later stage may be refused when earlier ones have moved: all of it is tried on a copy first.
    copy = func.clone()
    same = next(v for v in copy.walk() if type(v) is ForOp and v.axis == loop.axis)
    tried: dict[str, Attachment | None] = {}
    for stage in order:
        attach(copy, stage, same, tried)
    found = {stage: attach(func, stage, loop, attached) for stage in order}
    return [v for stage in stages for v in found[stage]]


def attach(func: FuncOp, stage: str, loop: ForOp, attached: dict[str, Attachment | None]) -> list[ForOp]:
    """compute_at, remembered so that it can be undone."""
    buffers = stage_buffers(func, stage)
    readers = [o for b in buffers for o in loads_of(b) if belongs(o, loop)]
    extents = extents_of(buffers[0])
    owner = buffers[0].owner
    bases: list[Linear] = []
    # Which elements of a layout with gaps there are is not said of a tile that has none of them.
    padded = isinstance(owner, AllocOp) and PADDED in owner.attributes
    if readers and isinstance(owner, AllocOp):
        bases = region_of(readers, loop, sharing_loops(loop, owner.scope.data)).base
    loops = compute_at(func, stage, loop)
    if stage in attached and attached[stage] is None or padded:
        return loops
    found = attached.setdefault(stage, Attachment(extents))
    assert found is not None
    found.anchors.append([IndexOp.of(f) for f in bases])
    return loops


def compute_at(func: FuncOp, stage: str, loop: ForOp) -> list[ForOp]:
    """Compute of a producer just what one iteration of a consumer's loop reads. Returns the stage's new loops."""
    what = f"compute_at of {stage!r}"
    block = stage_block(func, stage)
    # The results of one stage have one shape, and are stored at one place.
    buffers = stage_buffers(func, stage)
    allocs = [alloc_of(b, stage) for b in buffers]
    buffer, alloc = buffers[0], allocs[0]
    if is_inside(block, loop):
        raise ScheduleError(f"{what}: {loop.axis.data!r} is a loop of the stage itself")
    if any(not is_inside(loop, v) for v in enclosing_loops(alloc)):
        raise ScheduleError(f"{what}: it is computed for one iteration of a loop that {loop.axis.data!r} is not in")
    readers = [o for b in buffers for o in loads_of(b) if not belongs(o, block)]
    outside = [o for o in readers if not is_inside(o, loop)]
    if not readers:
        raise ScheduleError(f"{what}: nobody reads the stage")
    if outside:
        raise ScheduleError(f"{what}: it is also read outside the loop {loop.axis.data!r}")
    if any(not belongs(o, block) for b in buffers for o in stores_of(b)):
        raise ScheduleError(f"{what}: a part of it is computed elsewhere")
    check_visible(block, loop, what)
    back = normal_form(block, buffer, what)
    threads = sharing_loops(loop, alloc.scope.data)
    region = region_of(readers, loop, threads)
    if back is not None:
        back.apply()
    loops = own_loops(block, buffer, what)
    variables = spatial_form(block, buffer, what)
    ranges = RangeCache()
    new_loops: list[ForOp] = []
    mapping: dict[Atom, Linear] = {}
    by_variable = {v.var: v for v in loops}
    conditions: list[Condition] = []
    for d, v in enumerate(variables):
        source = by_variable[v]
        limits = limits_within(source.limits(), region.extent[d], region.base[d], ranges)
        new = ForOp.upto(limits, source.axis.data, hint=v.name_hint)
        new_loops.append(new)
        mapping[v] = region.base[d] + Linear.dim(new.var)
        bounds = region.base[d].range(ranges)
        if bounds is None or bounds[0] < 0:
            conditions.append(Condition(mapping[v]))
    rest = [v for v in loops if v.var not in variables]
    rebuild(block, loops, new_loops, rest, mapping, loop.body.block, None)
    if conditions:
        _add_guard(block, conditions)
    index_within(readers, region)
    for op in [o for b in buffers for o in accesses(block, b)]:
        op.set_access([Linear.dim(v.var) for v in new_loops], op.conditions())
    place = threads[0] if threads else loop.body.block.first_op
    for made in allocs:
        resize(made, region, place)
    return [*new_loops, *reduction_loops(block)]


def _add_guard(block: BlockOp, conditions: Sequence[Condition]) -> None:
    for op in all_ops(block):
        if isinstance(op, AccessOp):
            op.set_access(op.forms(), [*op.conditions(), *conditions])
