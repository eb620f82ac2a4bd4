"""Convolutions of few channels a group, in plain order: vectors of pixels, a register tile of channels and rows.

    for a group, and its channels or its rows in tiles, in parallel
      for the tiles of the other
        for an input channel and the window
          the vectors of some rows of pixels, and one weight for each channel of the tile
        the epilogue, at the tile

Blocks of channels would be padding for the most part. Rows end in vectors under a mask, and rows of at most half a
vector's lanes are vectors of half as many, so this is for machines with masks. Pixels at a stride are what shuffles
leave of all that lie between them. Padding is left out of the sums, save where a tile has several rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, prod
from typing import NamedTuple

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.schedules.steps import (
    epilogue_of,
    lane_pieces,
    parallel,
    place_epilogue,
    unroll_by,
    unroll_reduction,
)
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

MOST_STRIDE = 4
"""Pixels farther apart are loaded one by one: shuffles bring no more vectors together."""


class Tile(NamedTuple):
    """A register tile: output channels, rows, and vectors of a row, each of some lanes."""

    channels: int
    rows: int
    vectors: int
    lanes: int

    def cycles(self, costs: Costs, whole: int, stride: int = 1, apart: float = 0.0) -> float:
        """Estimated cycles of one step of the reduction; `whole` lanes are a vector, their pixels `stride` apart.

        `apart` are cycles that a step takes whatever the tile.
        """
        channels = self.channels
        held = self.rows * self.vectors
        part = self.lanes / whole
        # Pixels that are no neighbours are so many loads, of whatever length, and as many shuffles.
        load = part * costs.unaligned_cycles
        each = load if stride == 1 else stride * (load + costs.shuffle_cycles)
        loads = held * each + channels / costs.figures.broadcast
        busy = max(channels * held * part / costs.figures.fma, loads, costs.figures.latency)
        return busy + costs.figures.step + apart + costs.row_of_weights_cycles * channels


def choose_tile(
    channels: int,
    height: int,
    width: int,
    lanes: int,
    registers: int,
    costs: Costs,
    stride: int = 1,
    uneven: bool = False,
    apart: float = 0.0,
) -> Tile:
    """The tile with the least estimated time for the pixels of one group.

    With `uneven` the last tile may have fewer channels than the others; `apart` as in `Tile.cycles`.
    """

    def total(tile: Tile) -> float:
        rows = height // tile.rows * ceil(ceil(width / tile.lanes) / tile.vectors)
        whole, rest = divmod(channels, tile.channels)
        last = tile._replace(channels=rest).cycles(costs, lanes, stride, apart) if rest else 0
        cycles = tile.cycles(costs, lanes, stride, apart) * whole + last * costs.last_channels_penalty
        return cycles * rows

    tiles = _tiles(channels, height, width, lanes, registers)
    return min((t for t in tiles if uneven or channels % t.channels == 0), key=lambda t: (total(t), t))


def _tiles(channels: int, height: int, width: int, lanes: int, registers: int) -> Iterator[Tile]:
    for part in (lanes, lanes // 2):
        across = ceil(width / part)
        for vectors in range(1, min(across, registers // 2) + 1):
            # Only whole rows lie one below the other.
            for rows in (r for r in range(1, height + 1) if height % r == 0 and (r == 1 or vectors == across)):
                held = rows * vectors
                most = min((registers - 1 - held) // held, channels)
                yield from (Tile(c, rows, vectors, part) for c in range(1, most + 1))


def takes_pixel_rows(stage: Stage, target: TargetAttr) -> bool:
    """Whether a convolution in plain order reads pixels of one row for neighbouring pixels."""
    if stage.tag != "nn.conv2d" or len(stage.spatial) != 4 or not target.has_feature("avx512vl"):
        return False
    reads = stage.reads()
    lane = stage.op.body.block.args[3]
    if len(reads) != 2 or lane in reads[1].indices:
        return False
    forms = stage.read_forms(reads[0])
    return 1 <= forms[-1].terms.get(lane, 0) <= MOST_STRIDE and lane not in {d for f in forms[:-1] for d in f.dims()}


def leaves_padding_out(stage: Stage, target: TargetAttr) -> bool:
    """Whether the data's padding is left out of the sums: it is copied where a tile has several rows, and where only a
    run tells the width, as each pixel would ask whether it is there."""
    return takes_pixel_rows(stage, target) and not is_open(stage.spatial[3]) and pixel_tile(stage, target).rows == 1


def pixel_tile(stage: Stage, target: TargetAttr) -> Tile:
    """The register tile of a convolution of rows of pixels."""
    _, channels, height, width = stage.spatial
    lane = stage.op.body.block.args[3]
    stride = stage.read_forms(stage.reads()[0])[-1].terms[lane]
    per_group, registers = channels // groups_of(stage), target.registers.data
    uneven = per_group == channels and has_rows_outside(stage)
    costs = for_target(target)
    apart = planes_apart(stage, costs)
    return choose_tile(per_group, height, width, target.lanes(32), registers, costs, stride, uneven, apart)


def planes_apart(stage: Stage, costs: Costs) -> float:
    """Cycles of each step because the planes of its data lie far apart."""
    channels, *window = stage.reduced
    _, _, *plane = read_shape(stage.reads()[0])
    size = prod(plane) * itemsize(dtype_name(stage.reads()[0].result.type))
    apart = channels >= costs.many_planes and size >= costs.page_bytes
    return costs.plane_cycles / prod(window) if apart else 0.0


def has_rows_outside(stage: Stage) -> bool:
    """Whether tiles of channels are inside of those of pixels. What is used again at once is the smaller of both."""
    _, channels, height, width = stage.spatial
    return channels // groups_of(stage) < height * width


def groups_of(stage: Stage) -> int:
    """The number of groups: the channels of the data by those that the stage sums over."""
    return max(read_shape(stage.reads()[0])[1] // max(stage.reduced[0], 1), 1)


def schedule_pixel_rows(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """n, groups and tiles in parallel; c, r, s; ki, rows, vectors in registers."""
    _, channels, _, width = stage.spatial
    per_group = channels // groups_of(stage)
    costs = for_target(target)
    tile = pixel_tile(stage, target)
    out = epilogue_of(s, stage, follower)
    n, k, y, x, *reductions = s.loops(stage.name)
    g, ko, ki = s.split(k, [-1, ceil(per_group / tile.channels), tile.channels])
    yo, *below = s.split(y, [-1, tile.rows]) if tile.rows > 1 else [y]
    xo, *across, xv = s.split(x, [-1, *([tile.vectors] if tile.vectors > 1 else []), tile.lanes])
    outer = [yo, xo, ko] if has_rows_outside(stage) else [ko, yo, xo]
    s.reorder(n, g, *outer, *reductions, ki, *below, *across, xv)
    at = outer[-1]
    _, k_out, y_out, x_out = place_epilogue(s, stage, follower, out, at)
    x_outo, x_outv = s.split(x_out, [-1, tile.lanes])
    parallel(s, [n, g, outer[0]])
    if stage.reduced[1:] == (1, 1):
        unroll_by(s, stage.reduced[0], reductions[0], costs.pixel_steps)
    else:
        rows = 1 if prod(stage.reduced[1:]) <= costs.window_taps else 2
        size = tile.channels * tile.rows * tile.vectors
        unroll_reduction(s, stage.reduced[rows:], reductions[rows:], size, costs)
    for loop in (ki, *below, *across, k_out, y_out, x_outo):
        s.unroll(loop)
    for lanes in (xv, x_outv):
        s.vectorize(lanes)
        s.pragma(lanes, "masked_lanes")
    if is_open(width):
        s.partition(xo, lane_pieces(stage, 3, tile.lanes, tile.vectors))
    elif width > tile.vectors * tile.lanes and leaves_padding_out(stage, target):
        # Masks are constants in the parts of a row that have ends, and none are in the others.
        s.pragma(xo, "loop_partition_hint")
    if per_group % tile.channels:
        s.partition(ko)
