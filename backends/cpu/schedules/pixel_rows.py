"""Convolutions of few channels a group, in plain order: vectors of pixels, a register tile of channels and rows.

    for a group, and its channels or its rows in tiles, in parallel
      for the tiles of the other
        for an input channel and the window
          the vectors of some rows of pixels, and one weight for each channel of the tile
        the epilogue, at the tile

Blocks of channels would be padding for the most part. Rows end in vectors under a mask, and rows of at most half a
vector's lanes are vectors of half as many, so this is for machines with masks.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue, unroll_by
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import FMA_LATENCY, STEP_OVERHEAD
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

UNALIGNED = 2.2
"""Cycles of a whole vector's load that goes across cache lines, as rows of pixels do."""
STREAM = 0.25
"""Cycles for each channel's row of weights that is read beside the others: they lie apart, and are new to the cache."""
UNROLL = 8
"""Input channels in one body."""


class Tile(NamedTuple):
    """A register tile: output channels, rows, and vectors of a row, each of some lanes."""

    channels: int
    rows: int
    vectors: int
    lanes: int

    def cycles(self, whole: int) -> float:
        """Estimated cycles of one step of the reduction; `whole` lanes are a vector."""
        channels = self.channels
        held = self.rows * self.vectors
        part = self.lanes / whole
        loads = held * part * UNALIGNED + channels * 0.5
        return max(channels * held * part, loads, FMA_LATENCY) + STEP_OVERHEAD + STREAM * channels


def choose_tile(channels: int, height: int, width: int, lanes: int, registers: int) -> Tile:
    """The tile with the least estimated time for the pixels of one group."""

    def total(tile: Tile) -> float:
        tiles = channels // tile.channels * (height // tile.rows) * ceil(ceil(width / tile.lanes) / tile.vectors)
        return tile.cycles(lanes) * tiles

    return min(_tiles(channels, height, width, lanes, registers), key=lambda t: (total(t), t))


def _tiles(channels: int, height: int, width: int, lanes: int, registers: int) -> Iterator[Tile]:
    for part in (lanes, lanes // 2):
        across = ceil(width / part)
        for vectors in (v for v in range(1, across + 1) if across % v == 0):
            # Only whole rows lie one below the other.
            for rows in (r for r in range(1, height + 1) if height % r == 0 and (r == 1 or vectors == across)):
                held = rows * vectors
                most = min((registers - 1 - held) // held, channels)
                yield from (Tile(c, rows, vectors, part) for c in range(1, most + 1) if channels % c == 0)


def takes_pixel_rows(stage: Stage, target: TargetAttr) -> bool:
    """Whether a convolution in plain order reads neighbouring pixels for neighbouring pixels, in several groups."""
    if stage.tag != "nn.conv2d" or len(stage.spatial) != 4 or not target.has_feature("avx512vl"):
        return False
    reads = stage.reads()
    lane = stage.op.body.block.args[3]
    if len(reads) != 2 or lane in reads[1].indices:
        return False
    return stage.read_forms(reads[0])[-1].terms.get(lane) == 1 and groups_of(stage) > 1


def groups_of(stage: Stage) -> int:
    """How often the channels that it sums over fit into those of the data."""
    return max(read_shape(stage.reads()[0])[1] // max(stage.reduced[0], 1), 1)


def schedule_pixel_rows(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """n, groups and tiles in parallel; c, r, s; ki, rows, vectors in registers."""
    _, channels, height, width = stage.spatial
    per_group = channels // groups_of(stage)
    tile = choose_tile(per_group, height, width, target.lanes(32), target.registers.data)
    out = epilogue_of(s, stage, follower)
    n, k, y, x, *reductions = s.loops(stage.name)
    g, ko, ki = s.split(k, [-1, per_group // tile.channels, tile.channels])
    yo, yi = s.split(y, [-1, tile.rows])
    xo, *across, xv = s.split(x, [-1, *([tile.vectors] if tile.vectors > 1 else []), tile.lanes])
    # What is used again at once is the smaller: the pixels of a tile, or the weights.
    rows_outside = per_group < height * width
    outer = [yo, xo, ko] if rows_outside else [ko, yo, xo]
    s.reorder(n, g, *outer, *reductions, ki, yi, *across, xv)
    at = outer[-1]
    _, k_out, y_out, x_out = place_epilogue(s, stage, follower, out, at)
    x_outo, x_outv = s.split(x_out, [-1, tile.lanes])
    parallel(s, [n, g, outer[0]])
    unroll_by(s, stage.reduced[0], reductions[0], UNROLL)
    for loop in (ki, yi, *across, k_out, y_out, x_outo):
        s.unroll(loop)
    for lanes in (xv, x_outv):
        s.vectorize(lanes)
        s.pragma(lanes, "masked_lanes")
