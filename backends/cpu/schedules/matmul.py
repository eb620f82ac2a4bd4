"""Matrix products: a register tile over the whole reduction, the epilogue fused at the tile."""

from __future__ import annotations

from lamina.backends.cpu.schedules.reduction import schedule_plain_reduction
from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue, unroll_by, vector_lanes
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import choose_pixels, divisor
from lamina.backends.cpu.weights import cache_weights, weight_of
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

MATMUL_UNROLL = 4
"""Steps of a matrix product's reduction in one body. Rows of the data lie far apart, so neighbouring elements of a
row are loaded together when more steps are in sight, and then held in registers that the tile needs."""


def is_row_product(stage: Stage) -> bool:
    """Whether one operand is read along the last dimension, element by element (or in packed blocks)."""
    lane = stage.op.body.block.args[len(stage.spatial) - 1]
    reduction = stage.op.body.block.args[len(stage.spatial)]
    if len(stage.reduced) != 1:
        return False
    for read in stage.reads():
        forms = stage.read_forms(read)
        if lane in read.indices:
            return lane in forms[-1].dims() and reduction not in forms[-1].dims()
    return False


def row_stride(stage: Stage) -> int:
    """Bytes between the rows of the operand that is broadcast; 0 where it is not read along its last dimension."""
    lane, reduction = (stage.op.body.block.args[len(stage.spatial) + n] for n in (-1, 0))
    for read in stage.reads():
        forms = stage.read_forms(read)
        if lane not in read.indices and forms and reduction in forms[-1].dims():
            return read_shape(read)[-1] * itemsize(dtype_name(read.result.type))
    return 0


def schedule_matmul(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """[..., m, n] over k: tiles of rows by vectors of n, all of k in registers."""
    lanes = vector_lanes(stage, target)
    *outer_extents, columns = stage.spatial
    rows = outer_extents[-1] if outer_extents else 1
    chunks = max(-(-columns // lanes), 1)
    weight = weight_of(stage)
    packed = weight is not None and weight[1] != columns
    whole = not columns % lanes
    if packed and weight is not None:
        vectors = max(weight[1] // lanes, 1)
    else:
        vectors = divisor(chunks, 4 if rows == 1 else 2) if whole else 1
    pixels = 1 if rows == 1 else choose_pixels(rows, vectors, target.registers.data, row_stride(stage))
    if columns < lanes:
        schedule_plain_reduction(s, stage, follower, target)
        return
    out = epilogue_of(s, stage, follower)
    loops = s.loops(stage.name)
    *batch, n, k = loops
    m = batch.pop() if outer_extents else None
    no, ni, nv = s.split(n, [-1, vectors, lanes])
    if m is not None and pixels > 1:
        mo, mi = s.split(m, [-1, pixels])
        s.reorder(*batch, no, mo, k, mi, ni, nv)
        at = mo
        outer = [*batch, no]
    else:
        head = [*batch, *([m] if m is not None else [])]
        s.reorder(*head, no, k, ni, nv)
        mi = None
        at = no
        outer = [*head, no] if rows == 1 else head
    out_loops = place_epilogue(s, stage, follower, out, at)
    if whole or packed:
        cache_weights(s, stage, weight, k, vectors, lanes)
    parallel(s, outer)
    unroll_by(s, stage.reduced[0], k, MATMUL_UNROLL)
    if mi is not None:
        s.unroll(mi)
        s.unroll(out_loops[-2])
    s.unroll(ni)
    s.vectorize(nv)
    if vectors * lanes > lanes:
        oo, ov = s.split(out_loops[-1], [-1, lanes])
        s.unroll(oo)
        s.vectorize(ov)
    else:
        s.vectorize(out_loops[-1])
    if mi is not None and rows % pixels:
        s.partition(at)
