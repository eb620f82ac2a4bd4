"""Functions of rows that reduce them on the way: softmax, layer norm, instance norm. A row stays in the cache.

    for a row, or a block of a few short ones, in parallel
      each stage for these rows alone, in order: sums and maxima in as many partial ones as a vector has lanes

A row may have several dimensions that lie side by side in memory, as the pixels of a channel do.

The stages of other functions stand one after the other, each over the whole tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.open_extents import has_open
from lamina.backends.cpu.schedules.steps import parallel, vector_lanes
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import divisor
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.ops import ReadOp

QUARTER = 4
"""Lanes of the last vector of partial results: those of 128 bits, in which vectors are shuffled everywhere."""


class Partial(NamedTuple):
    """Partial results of a reduction, one for each lane."""

    names: list[str]
    """Their stages, the last one first."""
    has_tail: bool
    """Whether the last step has idle lanes, which the others have not."""
    apart: int = 0
    """Reduced dimensions whose elements lie apart: loops around those over the lanes."""
    is_short: bool = False
    """Whether its steps are so few that they need no loop."""


def find_rows(stages: Sequence[Stage], target: TargetAttr) -> bool:
    """Whether stages, what is inlined left out, compute rows of the last one that do not depend on each other."""
    if len(stages) < 2 or sum(s.is_output for s in stages) != 1 or not any(s.is_reduction for s in stages):
        return False
    *before, out = stages
    along = _dims_of_row(stages)
    if not out.is_output or out.is_reduction or len(out.spatial) <= along:
        return False
    if along == 1:
        if out.spatial[-1] < vector_lanes(out, target):
            return False
    elif (
        # Dimensions are counted through as one where the inner ones are numbers.
        has_open(out.spatial[1 - along :])
        or prod(out.spatial[-along:]) <= _lanes(out, target)
        # Fewer rows than threads: the dimensions of a row are shared among them.
        or prod(out.spatial[:-along]) < target.threads.data
        or not all(counts_through(s, along) for s in stages if s.is_reduction or s.spatial == out.spatial)
    ):
        return False
    return all(_is_row_stage(s, out, along) for s in stages) and all(s.readers for s in before)


def _lanes(stage: Stage, target: TargetAttr) -> int:
    """Elements of a whole vector."""
    return target.lanes(8 * itemsize(dtype_name(stage.element_type)))


def _dims_of_row(stages: Sequence[Stage]) -> int:
    """The last dimensions that are one row: those of the first reduction."""
    return next(len(s.reduced) for s in stages if s.is_reduction)


def _is_row_stage(stage: Stage, out: Stage, along: int) -> bool:
    """Whether a stage has a row, or an element, for each row of the output, and reads no other rows of the others."""
    head, row = out.spatial[:-along], out.spatial[-along:]
    elements = (head, (*head, *[1] * along))
    if stage.is_reduction:
        if stage.reduced != row or stage.spatial not in elements:
            return False
    elif stage.spatial not in (out.spatial, *elements):
        return False
    return all(_reads_own_row(stage, tensor, len(head)) for tensor in stage.inputs)


def counts_through(stage: Stage, along: int) -> bool:
    """Whether a row of several dimensions lies side by side in all that is read for it."""
    return all(
        reads_along(source, read, source.op.body.block.args[-along:])
        for source in stage.within()
        for read in source.reads()
    )


def reads_along(stage: Stage, read: ReadOp, dims: Sequence[Atom]) -> bool:
    """Whether a read goes through memory as dimensions count, without a gap, or does not depend on them."""
    forms = stage.read_forms(read)
    if not any(d in form.dims() for form in forms for d in dims):
        return True
    if read.guard is not None or len(forms) < len(dims):
        return False
    others, last = forms[: -len(dims)], forms[-len(dims) :]
    extents = (*stage.spatial, *stage.reduced)[-len(dims) :]
    if any(d in form.dims() for form in others for d in dims):
        return False
    if any(f != Linear.dim(d) and (e, f) != (1, Linear()) for f, d, e in zip(last, dims, extents, strict=True)):
        return False
    return read_shape(read)[-len(dims) + 1 :] == extents[1:] if len(dims) > 1 else True


def _reads_own_row(stage: Stage, tensor: SSAValue, dims: int) -> bool:
    own = stage.op.body.block.args[:dims]
    for read in stage.reads(tensor):
        forms = stage.read_forms(read)
        if len(forms) < dims or read.guard is not None:
            return False
        extents = stage.spatial[:dims]
        for form, dim, extent in zip(forms, own, extents, strict=False):
            if form != Linear.dim(dim) and not (extent == 1 and form == Linear()):
                return False
    source = stage.inputs[tensor]
    return not source.inlined or all(_reads_own_row(source, t, dims) for t in source.inputs)


def schedule_rows(s: Schedule, stages: Sequence[Stage], target: TargetAttr) -> None:
    """All stages in the loop over the rows of the last one."""
    *before, out = stages
    along = _dims_of_row(stages)
    lanes = vector_lanes(out, target) if along == 1 else _lanes(out, target)
    block = _block(out, along, target)
    copied = {
        stage.name: s.cache_write(stage.name, "register")
        for stage in before
        if block > 1 and stage.is_reduction and _reader_of_rows(stage, out) is None
    }
    costs = for_target(target)
    partial = {stage.name: reduce_in_lanes(s, stage, lanes, costs) for stage in before if stage.is_reduction}
    loops = s.loops(out.name)
    rows, column = loops[:-along], _counted(s, loops[-along:])
    width = prod(out.spatial[-along:])
    if block > 1:
        rows[-1], row = s.split(rows[-1], [-1, block])
        s.reorder(*rows, row, column)
    at = rows[-1]
    ends = [_vectorize(s, column, lanes)]
    own: dict[str, SSAValue] = {}
    for stage in reversed(before):
        if stage.is_reduction:
            place = at
            if block > 1:
                reader = _reader_of_rows(stage, out)
                place = own[reader.name] if reader is not None else s.compute_at(copied[stage.name], at)[len(rows) - 1]
            place_reduction(s, stage, partial[stage.name], place)
            continue
        loops = s.compute_at(stage.name, at)
        if stage.spatial == out.spatial:
            ends.append(_vectorize(s, _counted(s, loops[-along:]), lanes))
        elif block > 1:
            own[stage.name] = loops[len(rows) - 1]
        else:
            s.set_scope(stage.name, "register")
    parallel(s, rows)
    if width > lanes and width % lanes:
        # The last vector apart: the others need no mask.
        for loop in ends:
            s.partition(loop)


def _block(out: Stage, along: int, target: TargetAttr) -> int:
    """Rows of a block, which is in the first-level cache with what is computed from it."""
    costs = for_target(target)
    size = prod(out.spatial[-along:]) * itemsize(dtype_name(out.element_type))
    block = min(costs.rows_at_once, costs.figures.l1_bytes // 8 // size, out.spatial[-along - 1])
    rows = prod(out.spatial[:-along])
    return block if block > 1 and rows >= block * costs.blocks_per_thread * target.threads.data else 1


def _reader_of_rows(stage: Stage, out: Stage) -> Stage | None:
    """The one stage that takes a reduction's result, and is an element of a row itself."""
    if len(stage.readers) != 1 or stage.readers[0].is_reduction or stage.readers[0].spatial == out.spatial:
        return None
    return stage.readers[0]


def _counted(s: Schedule, loops: Sequence[SSAValue]) -> SSAValue:
    """The dimensions of a row as one loop."""
    return s.fuse(*loops) if len(loops) > 1 else loops[0]


def _vectorize(s: Schedule, loop: SSAValue, lanes: int) -> SSAValue:
    """Vectors along a row. Returns the loop over them."""
    vectors, inner = s.split(loop, [-1, lanes])
    s.vectorize(inner)
    s.pragma(inner, "masked_lanes")
    return vectors


def reduce_in_lanes(
    s: Schedule, stage: Stage, lanes: int, costs: Costs, apart: int = 0, unrolls: bool = False
) -> Partial:
    """Reduce each lane of the dimensions that are reduced, counted through save the first `apart`, for itself.

    The lanes are quarters of quarters, so that their results are combined in two steps. With `unrolls` few vectors of a
    row are no loop.
    """
    rank = len(stage.spatial)
    k = _counted(s, s.loops(stage.name)[rank + apart :])
    last = min(QUARTER, lanes)
    _, _, quarter = s.split(k, [-1, lanes // last, last])
    row = prod(stage.reduced[apart:])
    chains = _chains(row, lanes, costs)
    quarters, loops = s.rfactor(stage.name, quarter, rank, rank + apart + 3)
    partial, loops = s.rfactor(quarters, loops[rank + apart + 1], rank, rank + apart + 3)
    found = [quarters, partial]
    if chains > 1:
        _, chain = s.split(loops[rank + apart], [-1, chains])
        found.append(s.rfactor(partial, chain, rank, rank + apart + 4)[0])
    step = chains * lanes
    is_short = unrolls and row % step == 0 and row // step < costs.chained_vectors
    return Partial(found, row > step and row % step > 0, apart, is_short)


def _chains(row: int, lanes: int, costs: Costs) -> int:
    """Partial sums of each lane, for a row of so many elements."""
    steps = -(-row // lanes)
    if row % lanes and steps <= costs.lane_chains:
        return steps  # no loop, so it is known which lanes are idle
    if steps < costs.chained_vectors:
        return 1
    return costs.lane_chains if row % lanes else divisor(steps, costs.lane_chains)


def place_reduction(
    s: Schedule, stage: Stage, partial: Partial, at: SSAValue | None, together: int | None = None
) -> None:
    """A reduction in lanes within a loop over rows, all but its terms in registers; None where all is one row.

    Along the dimension `together` so many rows as the loop has left over are reduced side by side.
    """
    *rows, quarter = _placed(s, stage.name, at)
    s.set_scope(stage.name, "register")
    s.unroll(quarter)
    if together is not None:
        s.unroll(rows[together])
    place_partial(s, stage, partial, at, together)


def place_partial(
    s: Schedule, stage: Stage, partial: Partial, at: SSAValue | None, together: int | None = None
) -> None:
    """The partial results of a reduction in lanes within a loop over its rows."""
    rank = len(stage.spatial)
    for name in partial.names:
        placed = _placed(s, name, at)
        loops, beside = list(placed[rank:]), [placed[together]] if together is not None else []
        apart = partial.apart if name == partial.names[-1] else 0
        if at is None and name == partial.names[-1]:
            # Where it was made its loops stand as those that they come from did.
            around, step, lanes = loops[:apart], loops[apart], loops[apart + 1 :]
        else:
            *lanes, step = loops
            lanes, around = lanes[: len(lanes) - apart], lanes[len(lanes) - apart :]
        s.set_scope(name, "register")
        s.reorder(*around, step, *beside, *lanes)
        for loop in (*beside, *lanes[:-2]):
            s.unroll(loop)
        s.vectorize(s.fuse(*lanes[-2:]))
        if name != partial.names[-1] or partial.is_short:
            s.unroll(step)
        elif partial.has_tail:
            # The last vectors apart: the others need no mask.
            s.pragma(step, "loop_partition_hint")


def _placed(s: Schedule, name: str, at: SSAValue | None) -> list[SSAValue]:
    """The loops of a stage within a loop, or where it stands."""
    return s.compute_at(name, at) if at is not None else s.loops(name)
