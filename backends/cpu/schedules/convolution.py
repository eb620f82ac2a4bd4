"""Direct convolutions: a register tile over the whole reduction, the epilogue fused at the tile."""

from __future__ import annotations

from math import ceil

from xdsl.ir import BlockArgument, SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.schedules.borders import Border, is_left_out, schedule_padding
from lamina.backends.cpu.schedules.pixel_rows import groups_of
from lamina.backends.cpu.schedules.steps import (
    epilogue_of,
    expected,
    parallel,
    place_epilogue,
    question,
    unroll_reduction,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage, bytes_of, read_shape
from lamina.backends.cpu.tiles import Tile, candidates, divisor, registers_of, row_tile
from lamina.backends.cpu.weights import cache_weights, lines_of, weight_of
from lamina.dialects.choices import Pick
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

PLAIN_CONVOLUTIONS = (
    *(f"nn.conv{n}d{kind}" for n in (1, 2, 3) for kind in ("", "_transpose")),
    "nn.deformable_conv2d",
    "nn.contrib_conv2d_gemm_without_weight_transform",
    "nn.conv2d_backward_weight",
)


def schedule_conv2d(
    s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, pick: Pick, border: Border | None = None
) -> None:
    """koo, y in parallel; xo; c, r, s, ci; then the tile xi, koi, kv in registers. Or koo within xo, see `rereads`.

    A border, which the caller has not scheduled, is left out (`borders.py`; the order is r, s, c, ci) or copied.
    """
    lanes, width, costs = stage.spatial[4], stage.spatial[3], for_target(target)
    weight = weight_of(stage)
    tile = _choose_tile(stage, weight, target, pick)
    left_out = border is not None and is_left_out(border, width, tile.pixels)
    if border is not None and left_out:
        s.compute_inline(border.pad.name)
    elif border is not None:
        schedule_padding(s, border.pad, target)
    out = epilogue_of(s, stage, follower)
    n, ko, y, x, kv, *reductions = s.loops(stage.name)
    extents = list(stage.reduced)
    channels, columns = reductions[0], reductions[-2]
    by_taps = left_out or len(reductions) == 4 and not is_pointwise(stage) and reads_taps_first(stage)
    if by_taps:
        c, *window, ci = reductions
        reductions = [*window, c, ci]
        if left_out and extents[0] == 1 and extents[-1] > 1:
            # Each piece of the window has a loop of its own, see there.
            part = divisor(extents[-1], extents[-1] // 2)
            reductions[-1:], extents = s.split(ci, [-1, part]), [*extents[:-1], part]
    elif len(reductions) == 3:
        # Plain input channels: unrolled taps would share loads across the window and hold them in registers, so the
        # channels are innermost.
        reductions, extents = [*reductions[1:], reductions[0]], [*extents[1:], extents[0]]
    koo, koi = s.split(ko, [-1, tile.vectors])
    xo, xi = s.split(x, [-1, tile.pixels])
    outer = [n, koo, y, xo] if rereads(stage, costs) else [n, y, xo, koo]
    s.reorder(*outer, *reductions, xi, koi, kv)
    n_out, ko_out, y_out, x_out, kv_out = place_epilogue(s, stage, follower, out, outer[-1])
    cache_weights(s, stage.name, weight, reductions[-1], tile.vectors, lanes)
    fetched = fetched_ahead(stage, border.pad if border is not None and left_out else stage, by_taps, costs)
    if fetched is not None:
        s.prefetch(fetched, channels)
    if weight is not None and rereads(stage, costs) and fetches_weights(stage, tile, target):
        s.prefetch(weight[0], koo, spread=channels)
        parallel(s, [n, koo])
    else:
        parallel(s, outer[: outer.index(xo)])
    if not costs.reserve.one_step:
        unroll_reduction(s, extents[-1:], reductions[-1:], tile.pixels * tile.vectors, costs)
    for loop in (xi, koi, ko_out, x_out):
        s.unroll(loop)
    s.vectorize(kv)
    s.vectorize(kv_out)
    if left_out:
        s.pragma(xo, "loop_partition_hint")
        s.pragma(columns, "loop_partition_hint", stage.reduced[2])
    elif width % tile.pixels:
        s.partition(xo)
    del n_out, y_out


def _choose_tile(stage: Stage, weight: tuple[str, int] | None, target: TargetAttr, pick: Pick) -> Tile:
    _, chunks, _, width, lanes = stage.spatial
    costs, block = for_target(target), weight[1] // lanes if weight is not None else 1
    # A window's data comes from beyond the first-level cache again for each tile of output channels.
    loads = 0.0 if is_pointwise(stage) else costs.exposed_load_cycles
    tiles = candidates(width, chunks, registers_of(target), max(block, 1), loads)
    return pick(question("tile", stage), tiles, estimate=expected(stage, width, chunks, costs, loads))


def rereads(stage: Stage, costs: Costs) -> bool:
    """Whether the data is read anew for each tile of output channels, or each of its tiles meets all weights at once:
    that is better for an image that no cache holds from one time to the next, with weights that one does."""
    if not is_pointwise(stage):
        return True
    data, weight = stage.reads()
    # Data beyond the second-level cache is read once, for all output channels, if the weights fit.
    size = costs.figures.l2_bytes
    return bytes_of(data) // read_shape(data)[0] <= size or bytes_of(weight) > size // 2


def fetched_ahead(stage: Stage, reader: Stage, by_taps: bool, costs: Costs) -> str | None:
    """The name of the data, which `reader` reads, where all of it is needed and it is large enough to be waited for."""
    data = reader.reads()[0]
    size = bytes_of(data) // read_shape(data)[0]
    if is_pointwise(stage):
        large = size > costs.prefetched_bytes and read_shape(data)[2:4] == stage.spatial[2:4]
    else:
        # A window reads the same again and again: fetched is what the second-level cache does not hold.
        large = by_taps and size > costs.figures.l2_bytes and stage.reduced[0] > 1
    return data.tensor.name_hint if large and isinstance(data.tensor, BlockArgument) else None


def fetches_weights(stage: Stage, tile: Tile, target: TargetAttr) -> bool:
    """Whether the weights of the next output channels are fetched during these, some lines in each body.

    All tiles of an image meet the same weights, for which the first one has to wait: it asks for them faster than
    memory brings them. Fetching takes a line for each body at least, and the threads share out output channels alone.
    """
    images, chunks, rows, width, lanes = stage.spatial
    costs = for_target(target)
    tiles = rows * -(-width // tile.pixels)
    blocks, threads = images * chunks // tile.vectors, target.threads.data
    shared = blocks % threads == 0 or blocks >= costs.blocks_per_thread * threads
    return blocks > threads and shared and tiles <= lines_of(stage, lanes * tile.vectors, costs)


def is_pointwise(stage: Stage) -> bool:
    """Whether the kernel is 1x1, on blocks of channels."""
    return len(stage.reads()) == 2 and len(stage.reduced) == 4 and stage.reduced[1:3] == (1, 1)


def reads_taps_first(stage: Stage) -> bool:
    """Whether the weights lie by taps of the window first, and by blocks of input channels within."""
    reads = stage.reads()
    channel, row, *_ = stage.op.body.block.args[len(stage.spatial) :]
    order = list(reads[-1].indices)
    return len(reads) == 2 and row in order and channel in order and order.index(row) < order.index(channel)


def has_pixels_last(stage: Stage) -> bool:
    """Whether a convolution reads one weight along the last dimension, and so neighbours of its data."""
    reads = stage.reads()
    return len(reads) == 2 and stage.op.body.block.args[len(stage.spatial) - 1] not in reads[1].indices


def schedule_plain_conv(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Channels in plain order: vectors of pixels, each shared by a tile of output channels of one group.

    There are several vectors where a sum would wait for itself with one, as in a depthwise convolution: of a row, and
    of some rows where that is short.
    """
    lanes = min(vector_lanes(stage, target), stage.spatial[-1])
    rank = len(stage.spatial)
    channels, vectors, lines = _plain_tile(stage, lanes, target)
    out = epilogue_of(s, stage, follower)
    loops = s.loops(stage.name)
    (n, k, *rows, x), reductions = loops[:rank], loops[rank:]
    ko, ki = s.split(k, [-1, channels])
    below: list[SSAValue] = []
    if lines > 1:
        rows[-1], *below = s.split(rows[-1], [-1, lines])
    xo, *across, xi = s.split(x, [-1, *([vectors] if vectors > 1 else []), lanes])
    s.reorder(n, ko, *rows, xo, *reductions, ki, *below, *across, xi)
    *out_loops, x_out = place_epilogue(s, stage, follower, out, xo)
    across_out = []
    if across:
        *across_out, x_out = s.split(x_out, [-1, lanes])
    parallel(s, [n, ko, *rows])
    for loop in (ki, *below, *across, out_loops[1], *(out_loops[-1:] if below else []), *across_out):
        s.unroll(loop)
    s.vectorize(xi)
    s.vectorize(x_out)
    if stage.spatial[-1] % (vectors * lanes):
        s.partition(xo)


def _plain_tile(stage: Stage, lanes: int, target: TargetAttr) -> tuple[int, int, int]:
    """Channels, vectors of a row, and rows, whose sums are under way at once."""
    channels = divisor(max(stage.spatial[1] // groups_of(stage), 1), target.registers.data // 2)
    # A weight takes a register, each vector of pixels one and one for each of its sums.
    most = (target.registers.data - 1) // (channels + 1)
    costs = for_target(target)
    needed = most if costs.loads_apart else min(ceil(costs.waiting_sums / channels), most)
    needed = max(needed, 1)
    vectors = row_tile(-(-stage.spatial[-1] // lanes), needed)
    height = stage.spatial[-2] if len(stage.spatial) > 3 else 1
    return channels, vectors, divisor(height, max(needed // vectors, 1))


def has_channels_last(stage: Stage) -> bool:
    """Whether a convolution reads neighbours of its weights, and one element of its data, along the last dimension."""
    reads = stage.reads()
    lane = stage.op.body.block.args[len(stage.spatial) - 1]
    return len(reads) == 2 and lane in stage.read_forms(reads[1])[-1].dims() and lane not in reads[0].indices


def schedule_channels_last_conv(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Vectors of output channels, each shared by a tile of pixels of one row."""
    lanes = vector_lanes(stage, target)
    width, channels = stage.spatial[-2:]
    tile = divisor(width, target.registers.data // 2)
    out = epilogue_of(s, stage, follower)
    loops = s.loops(stage.name)
    rank = len(stage.spatial)
    (*rows, x, k), reductions = loops[:rank], loops[rank:]
    xo, xi = s.split(x, [-1, tile])
    ko, ki = s.split(k, [-1, lanes]) if channels > lanes else s.split(k, [1, channels])
    s.reorder(*rows, xo, ko, *reductions, xi, ki)
    out_loops = place_epilogue(s, stage, follower, out, ko)
    parallel(s, [*rows, xo])
    s.unroll(xi)
    s.unroll(out_loops[-2])
    s.vectorize(ki)
    s.vectorize(out_loops[-1])
    if channels > lanes and channels % lanes:
        s.partition(ko)
