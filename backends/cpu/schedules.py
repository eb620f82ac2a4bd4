"""The CPU's default schedules, chosen from the shape of a te.func; nothing is tuned.

conv2d on channel blocks, dense, batch_matmul   a register tile over the whole reduction, epilogue fused at the tile
Winograd convolutions                           blocks of tiles in the cache (`winograd.py`)
pooling and other reductions                    vectors over the last dimension, accumulators in registers
everything else                                 vectors over the last dimension, the rest in parallel
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from lamina.backends.cpu.stages import Stage, read_shape, reads_elementwise, should_inline, stages_of
from lamina.backends.cpu.tiles import choose, choose_pixels, divisor
from lamina.backends.cpu.weights import cache_weights, weight_of
from lamina.backends.cpu.winograd import find_winograd, schedule_winograd
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.te.schedule import ScheduleOp
from lamina.dialects.te.scheduling import Schedule
from lamina.passes.stair.limits import lanes_have_code

UNROLL_BUDGET = 800
"""Multiply-adds (and the like) that one body may be unrolled to: beyond it, compile time and code size win nothing."""

PLAIN_CONVOLUTIONS = (
    *(f"nn.conv{n}d{kind}" for n in (1, 2, 3) for kind in ("", "_transpose")),
    "nn.deformable_conv2d",
    "nn.contrib_conv2d_gemm_without_weight_transform",
    "nn.conv2d_backward_weight",
)

MATMUL_UNROLL = 4
"""Steps of a matrix product's reduction in one body. Rows of the data lie far apart, so neighbouring elements of a
row are loaded together when more steps are in sight, and then held in registers that the tile needs."""


def schedule_function(func: FuncOp, target: TargetAttr) -> ScheduleOp:
    """The default schedule of a function."""
    stages = stages_of(func)
    s = Schedule(func)
    kept: list[Stage] = []
    inlined: list[Stage] = []
    winograd = find_winograd(stages)
    for stage in stages:
        if (winograd is None or stage not in winograd) and should_inline(stage):
            inlined.append(stage)
            _forget(stage)
        else:
            kept.append(stage)
    for stage in reversed(inlined):
        # The last first: by then all readers of a stage stand in few bodies, which copy it once each.
        s.compute_inline(stage.name)
    done: set[str] = set()
    if winograd is not None:
        follower = _follower(winograd.conv)
        done |= {stage.name for stage in winograd if stage is not None}
        if follower is not None:
            done.add(follower.name)
            s.compute_inline(winograd.conv.name)
        schedule_winograd(s, winograd, (follower or winograd.conv).name, target)
    for stage in kept:
        if stage.name in done or 0 in stage.reduced:
            continue  # a reduction over nothing is but its initial value
        if stage.is_reduction:
            follower = _follower(stage)
            if follower is not None:
                done.add(follower.name)
            _reduction(s, stage, follower, target)
        else:
            _elementwise(s, stage, target)
    return s.build()


def _forget(stage: Stage) -> None:
    """After inlining, the readers read what the stage read."""
    stage.inlined = True
    for reader in stage.readers:
        reader.producers.remove(stage)
        for producer in stage.producers:
            if producer not in reader.producers:
                reader.producers.append(producer)
            if reader not in producer.readers:
                producer.readers.append(reader)
    for producer in stage.producers:
        producer.readers.remove(stage)


def _follower(stage: Stage) -> Stage | None:
    """The one stage that goes through a reduction's result element by element: its epilogue."""
    if stage.is_output or len(stage.readers) != 1:
        return None
    reader = stage.readers[0]
    return reader if reads_elementwise(reader, stage) else None


def _lanes(stage: Stage, target: TargetAttr) -> int:
    """Elements in one vector of the stage; less than a short row has where there is no code for its length."""
    element = stage.op.result.type.element_type
    lanes = target.lanes(8 * itemsize(dtype_name(element)))
    vector = _vector_dim(stage.spatial)
    row = 1 if vector is None else stage.spatial[vector]
    # What it reads, and what its epilogue writes, are vectors of as many lanes.
    held = [element, *(read.result.type for read in stage.reads())]
    held += [reader.op.result.type.element_type for reader in stage.readers]
    whole = row > lanes or all(lanes_have_code(e, row) for e in held)
    return lanes if whole else 1 << (row.bit_length() - 1)


def _reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    lanes = _lanes(stage, target)
    if stage.tag == "nn.contrib_conv2d_NCHWc" and stage.spatial[-1] == lanes:
        _conv2d(s, stage, follower, target)
    elif stage.tag in PLAIN_CONVOLUTIONS and stage.spatial[-1] >= 4 and _has_pixels_last(stage):
        _plain_conv(s, stage, follower, target)
    elif stage.tag in PLAIN_CONVOLUTIONS and stage.spatial[-1] >= 4 and _has_channels_last(stage):
        _channels_last_conv(s, stage, follower, target)
    elif stage.tag in ("nn.contrib_dense_pack", "nn.dense", "nn.matmul", "nn.batch_matmul") and _is_row_product(stage):
        _matmul(s, stage, follower, target)
    else:
        _plain_reduction(s, stage, follower, target)


def _epilogue(s: Schedule, stage: Stage, follower: Stage | None) -> str:
    """The stage that takes the accumulators out of the registers: the follower, else a copy."""
    return follower.name if follower is not None else s.cache_write(stage.name, "register")


def _place_epilogue(s: Schedule, stage: Stage, follower: Stage | None, name: str, loop: SSAValue) -> list[SSAValue]:
    loops = s.reverse_compute_at(name, loop)
    if follower is not None:
        s.set_scope(stage.name, "register")
    return loops


def _parallel(s: Schedule, loops: Sequence[SSAValue]) -> None:
    """The outer loops as one parallel loop."""
    s.parallel(s.fuse(*loops))


# -- register-tiled contractions ------------------------------------------------------------------------


def _conv2d(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """koo, y in parallel; xo; c, r, s, ci; then the tile xi, koi, kv in registers."""
    _, chunks, _, width, lanes = stage.spatial
    weight = weight_of(stage)
    block = weight[1] // lanes if weight is not None else 1
    tile = choose(width, chunks, target.registers.data, max(block, 1))
    out = _epilogue(s, stage, follower)
    n, ko, y, x, kv, *reductions = s.loops(stage.name)
    extents = list(stage.reduced)
    if len(reductions) == 3:
        # Plain input channels: unrolled taps would share loads across the window and hold them in registers, so the
        # channels are innermost.
        reductions, extents = [*reductions[1:], reductions[0]], [*extents[1:], extents[0]]
    koo, koi = s.split(ko, [-1, tile.vectors])
    xo, xi = s.split(x, [-1, tile.pixels])
    s.reorder(n, koo, y, xo, *reductions, xi, koi, kv)
    n_out, ko_out, y_out, x_out, kv_out = _place_epilogue(s, stage, follower, out, xo)
    cache_weights(s, stage, weight, reductions[-1], tile.vectors, lanes)
    _parallel(s, [n, koo, y])
    _unroll_reduction(s, extents[-1:], reductions[-1:], tile.pixels * tile.vectors)
    for loop in (xi, koi, ko_out, x_out):
        s.unroll(loop)
    s.vectorize(kv)
    s.vectorize(kv_out)
    if width % tile.pixels:
        s.partition(xo)
    del n_out, y_out


def _has_pixels_last(stage: Stage) -> bool:
    """Whether a convolution reads neighbours of its data, and one weight, along the last dimension."""
    reads = stage.reads()
    lane = stage.op.body.block.args[len(stage.spatial) - 1]
    return len(reads) == 2 and lane in stage.read_forms(reads[0])[-1].dims() and lane not in reads[1].indices


def _plain_conv(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Channels in plain order: vectors of pixels, each shared by a tile of output channels of one group."""
    lanes = _lanes(stage, target)
    rank = len(stage.spatial)
    channels, width = stage.spatial[1], stage.spatial[-1]
    tile = divisor(max(channels // _groups(stage), 1), target.registers.data // 2)
    out = _epilogue(s, stage, follower)
    loops = s.loops(stage.name)
    (n, k, *rows, x), reductions = loops[:rank], loops[rank:]
    ko, ki = s.split(k, [-1, tile])
    xo, xi = s.split(x, [-1, lanes]) if width > lanes else s.split(x, [1, width])
    s.reorder(n, ko, *rows, xo, *reductions, ki, xi)
    out_loops = _place_epilogue(s, stage, follower, out, xo)
    _parallel(s, [n, ko, *rows])
    s.unroll(ki)
    s.unroll(out_loops[1])
    s.vectorize(xi)
    s.vectorize(out_loops[-1])


def _has_channels_last(stage: Stage) -> bool:
    """Whether a convolution reads neighbours of its weights, and one element of its data, along the last dimension."""
    reads = stage.reads()
    lane = stage.op.body.block.args[len(stage.spatial) - 1]
    return len(reads) == 2 and lane in stage.read_forms(reads[1])[-1].dims() and lane not in reads[0].indices


def _channels_last_conv(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Vectors of output channels, each shared by a tile of pixels of one row."""
    lanes = _lanes(stage, target)
    width, channels = stage.spatial[-2:]
    tile = divisor(width, target.registers.data // 2)
    out = _epilogue(s, stage, follower)
    loops = s.loops(stage.name)
    rank = len(stage.spatial)
    (*rows, x, k), reductions = loops[:rank], loops[rank:]
    xo, xi = s.split(x, [-1, tile])
    ko, ki = s.split(k, [-1, lanes]) if channels > lanes else s.split(k, [1, channels])
    s.reorder(*rows, xo, ko, *reductions, xi, ki)
    out_loops = _place_epilogue(s, stage, follower, out, ko)
    _parallel(s, [*rows, xo])
    s.unroll(xi)
    s.unroll(out_loops[-2])
    s.vectorize(ki)
    s.vectorize(out_loops[-1])


def _groups(stage: Stage) -> int:
    """The groups of a convolution in plain order: how often the channels that it sums over fit into the data's."""
    data, _ = (read_shape(r) for r in stage.reads())
    return max(data[1] // max(stage.reduced[0], 1), 1)


def _unroll_reduction(s: Schedule, extents: Sequence[int], loops: Sequence[SSAValue], tile: int) -> None:
    """Unroll the innermost reduction loops while the body stays within its budget."""
    size = tile
    for extent, loop in zip(reversed(extents), reversed(loops), strict=True):
        if size * extent > UNROLL_BUDGET:
            factor = divisor(extent, max(UNROLL_BUDGET // size, 1))
            if factor > 1 and size == tile:
                _, inner = s.split(loop, [-1, factor])
                s.unroll(inner)
            return
        s.unroll(loop)
        size *= extent


def _unroll_by(s: Schedule, extent: int, loop: SSAValue, most: int) -> None:
    """Unroll a loop by its largest divisor up to a limit."""
    factor = divisor(extent, most)
    if factor == extent:
        s.unroll(loop)
    elif factor > 1:
        _, inner = s.split(loop, [-1, factor])
        s.unroll(inner)


def _is_row_product(stage: Stage) -> bool:
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


def _matmul(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """[..., m, n] over k: tiles of rows by vectors of n, all of k in registers."""
    lanes = _lanes(stage, target)
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
    pixels = 1 if rows == 1 else choose_pixels(rows, vectors, target.registers.data)
    if columns < lanes:
        _plain_reduction(s, stage, follower, target)
        return
    out = _epilogue(s, stage, follower)
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
    out_loops = _place_epilogue(s, stage, follower, out, at)
    if whole or packed:
        cache_weights(s, stage, weight, k, vectors, lanes)
    _parallel(s, outer)
    _unroll_by(s, stage.reduced[0], k, MATMUL_UNROLL)
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


# -- reductions that are not products --------------------------------------------------------------------------


def _vector_dim(extents: Sequence[int]) -> int | None:
    """The last dimension that has elements beside each other in memory; None when it is too short for vectors."""
    for d in reversed(range(len(extents))):
        if extents[d] > 1:
            return d if extents[d] >= 4 else None
    return None


def _plain_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    if not stage.spatial:
        return  # one element: the reduction is a chain, wherever its sum stands
    lanes = _lanes(stage, target)
    vector = _vector_dim(stage.spatial)
    out = _epilogue(s, stage, follower)
    loops = s.loops(stage.name)
    rank = len(stage.spatial)
    spatial, reductions = list(loops[:rank]), list(loops[rank:])
    inner: SSAValue | None = None
    outer = list(spatial)
    if vector is not None:
        if stage.spatial[vector] > lanes:
            outer[vector], inner = s.split(spatial[vector], [-1, lanes])
        else:
            inner = outer.pop(vector)
    if not outer:
        # A single vector: give the epilogue a loop to stand in.
        head, inner = s.split(inner if inner is not None else spatial[0], [1, -1])
        outer = [head]
    s.reorder(*outer, *reductions, *([inner] if inner is not None else []))
    out_loops = _place_epilogue(s, stage, follower, out, outer[-1])
    if prod(stage.spatial) > 1:
        _parallel(s, outer[: max(len(outer) - 1, 1)] if len(outer) > 1 else outer)
    _unroll_reduction(s, stage.reduced, reductions, 16)
    if inner is not None and vector is not None:
        s.vectorize(inner)
        s.vectorize(out_loops[vector])


# -- elementwise, data movement -------------------------------------------------------------------------------------


def _elementwise(s: Schedule, stage: Stage, target: TargetAttr) -> None:
    lanes = _lanes(stage, target)
    loops = s.loops(stage.name)
    if not loops:
        return
    vector = _vector_dim(stage.spatial)
    outer = list(loops)
    inner: SSAValue | None = None
    if vector is not None:
        extent = stage.spatial[vector]
        if extent > lanes:
            outer[vector], inner = s.split(loops[vector], [-1, lanes])
        else:
            inner = outer.pop(vector)
        s.reorder(*outer, inner)
    if outer:
        _parallel(s, [v for v in outer if v is not outer[-1]] or outer)
    if inner is not None:
        s.vectorize(inner)
