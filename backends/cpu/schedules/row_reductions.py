"""Functions of rows that reduce them on the way: softmax, layer norm. A row stays in the first-level cache.

    for a row, in parallel
      each stage for this row alone, in order: sums and maxima in as many partial ones as a vector has lanes

The stages of other functions stand one after the other, each over the whole tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from lamina.backends.cpu.schedules.steps import parallel, vector_lanes
from lamina.backends.cpu.stages import Stage
from lamina.backends.cpu.tiles import divisor
from lamina.dialects.linear import Linear
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

QUARTER = 4
"""Lanes of the last vector of partial results."""
CHAINS = 4
"""Partial sums of each lane: an addition waits as long for the one before it as that takes."""
LEAST_VECTORS = 8
"""Vectors of a row from which on chains are worth adding up."""


def find_rows(stages: Sequence[Stage], target: TargetAttr) -> bool:
    """Whether stages, what is inlined left out, compute rows of the last one that do not depend on each other."""
    if len(stages) < 2 or sum(s.is_output for s in stages) != 1 or not any(s.is_reduction for s in stages):
        return False
    *before, out = stages
    if not out.is_output or out.is_reduction or len(out.spatial) < 2 or out.spatial[-1] < vector_lanes(out, target):
        return False
    return all(_is_row_stage(s, out) for s in stages) and all(s.readers for s in before)


def _is_row_stage(stage: Stage, out: Stage) -> bool:
    """Whether a stage has a row, or an element, for each row of the output, and reads no other rows of the others."""
    head, width = out.spatial[:-1], out.spatial[-1]
    if stage.is_reduction:
        if stage.reduced != (width,) or stage.spatial not in (head, (*head, 1)):
            return False
    elif stage.spatial not in (out.spatial, head, (*head, 1)):
        return False
    return all(_reads_own_row(stage, tensor, len(head)) for tensor in stage.inputs)


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
    lanes = vector_lanes(out, target)
    partial = {stage.name: reduce_in_lanes(s, stage, lanes) for stage in before if stage.is_reduction}
    *rows, column = s.loops(out.name)
    width = out.spatial[-1]
    ends = [_vectorize(s, column, lanes)]
    for stage in reversed(before):
        if stage.is_reduction:
            place_reduction(s, stage, partial[stage.name], rows[-1])
            continue
        loops = s.compute_at(stage.name, rows[-1])
        if stage.spatial == out.spatial:
            ends.append(_vectorize(s, loops[-1], lanes))
        else:
            s.set_scope(stage.name, "register")
    parallel(s, rows)
    if width > lanes and width % lanes:
        # The last vector apart: the others need no mask.
        for loop in ends:
            s.partition(loop)


def _vectorize(s: Schedule, loop: SSAValue, lanes: int) -> SSAValue:
    """Vectors along a row. Returns the loop over them."""
    vectors, inner = s.split(loop, [-1, lanes])
    s.vectorize(inner)
    s.pragma(inner, "masked_lanes")
    return vectors


def reduce_in_lanes(s: Schedule, stage: Stage, lanes: int) -> list[str]:
    """Reduce each lane of the last dimension for itself. Returns the stages of partial results, the last one first.

    The lanes are quarters of quarters, so that their results are combined in two steps.
    """
    rank = len(stage.spatial)
    *_, k = s.loops(stage.name)
    steps = -(-stage.reduced[0] // lanes)
    last = min(QUARTER, lanes)
    _, _, quarter = s.split(k, [-1, lanes // last, last])
    chains = divisor(steps, CHAINS) if steps >= LEAST_VECTORS else 1
    quarters, loops = s.rfactor(stage.name, quarter, rank, rank + 3)
    partial, loops = s.rfactor(quarters, loops[rank + 1], rank, rank + 3)
    found = [quarters, partial]
    if chains > 1:
        _, chain = s.split(loops[rank], [-1, chains])
        found.append(s.rfactor(partial, chain, rank, rank + 4)[0])
    return found


def place_reduction(s: Schedule, stage: Stage, partial: Sequence[str], at: SSAValue) -> None:
    """A reduction in lanes within a loop over rows, all but its terms in registers."""
    *_, quarter = s.compute_at(stage.name, at)
    s.set_scope(stage.name, "register")
    s.unroll(quarter)
    place_partial(s, stage, partial, at)


def place_partial(s: Schedule, stage: Stage, partial: Sequence[str], at: SSAValue) -> None:
    """The partial results of a reduction in lanes within a loop over its rows."""
    rank = len(stage.spatial)
    for name in partial:
        *lanes, step = s.compute_at(name, at)[rank:]
        s.set_scope(name, "register")
        s.reorder(step, *lanes)
        for loop in lanes[:-2]:
            s.unroll(loop)
        s.vectorize(s.fuse(*lanes[-2:]))
        if name != partial[-1]:
            s.unroll(step)
