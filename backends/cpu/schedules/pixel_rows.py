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

from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue, unroll_by, unroll_reduction
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import FMA_LATENCY, STEP_OVERHEAD
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

UNALIGNED = 2.2
"""Cycles of a whole vector's load that goes across cache lines, as rows of pixels do."""
SHUFFLE = 1.0
"""Cycles of a shuffle of two vectors."""
STREAM = 0.25
"""Cycles for each channel's row of weights that is read beside the others: they lie apart, and are new to the cache."""
APART = 3.0
"""Cycles of a step in another plane of the data than the one before, where the planes that a tile goes through are
many and a page or more apart: nothing is fetched ahead. Shared by the taps of a window."""
MANY_PLANES = 64
"""With weights and results these take all of the first level of the translation of addresses (72 pages)."""
PAGE = 4096
MOST_STRIDE = 4
"""Pixels farther apart are loaded one by one."""
LAST_PENALTY = 1.3
"""Fewer channels at the end are code of their own."""
UNROLL_WINDOW = 9
"""Taps of a window that is unrolled whole; of larger ones each row is."""
UNROLL = 8
"""Input channels in one body."""


class Tile(NamedTuple):
    """A register tile: output channels, rows, and vectors of a row, each of some lanes."""

    channels: int
    rows: int
    vectors: int
    lanes: int

    def cycles(self, whole: int, stride: int = 1, apart: float = 0.0) -> float:
        """Estimated cycles of one step of the reduction; `whole` lanes are a vector, their pixels `stride` apart.

        `apart` are cycles that a step takes whatever the tile.
        """
        channels = self.channels
        held = self.rows * self.vectors
        part = self.lanes / whole
        # Pixels that are no neighbours are so many loads, of whatever length, and as many shuffles.
        each = part * UNALIGNED if stride == 1 else stride * (part * UNALIGNED + SHUFFLE)
        loads = held * each + channels * 0.5
        return max(channels * held * part, loads, FMA_LATENCY) + STEP_OVERHEAD + apart + STREAM * channels


def choose_tile(
    channels: int,
    height: int,
    width: int,
    lanes: int,
    registers: int,
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
        last = tile._replace(channels=rest).cycles(lanes, stride, apart) * LAST_PENALTY if rest else 0
        return (tile.cycles(lanes, stride, apart) * whole + last) * rows

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
    """Whether the data's padding is left out of the sums: it is copied where a tile has several rows."""
    return takes_pixel_rows(stage, target) and pixel_tile(stage, target).rows == 1


def pixel_tile(stage: Stage, target: TargetAttr) -> Tile:
    """The register tile of a convolution of rows of pixels."""
    _, channels, height, width = stage.spatial
    lane = stage.op.body.block.args[3]
    stride = stage.read_forms(stage.reads()[0])[-1].terms[lane]
    per_group, registers = channels // groups_of(stage), target.registers.data
    uneven = per_group == channels and has_rows_outside(stage)
    return choose_tile(per_group, height, width, target.lanes(32), registers, stride, uneven, planes_apart(stage))


def planes_apart(stage: Stage) -> float:
    """Cycles of each step because the planes of its data lie far apart."""
    channels, *window = stage.reduced
    _, _, *plane = read_shape(stage.reads()[0])
    size = prod(plane) * itemsize(dtype_name(stage.reads()[0].result.type))
    return APART / prod(window) if channels >= MANY_PLANES and size >= PAGE else 0.0


def has_rows_outside(stage: Stage) -> bool:
    """Whether tiles of channels are inside of those of pixels. What is used again at once is the smaller of both."""
    _, channels, height, width = stage.spatial
    return channels // groups_of(stage) < height * width


def groups_of(stage: Stage) -> int:
    """How often the channels that it sums over fit into those of the data."""
    return max(read_shape(stage.reads()[0])[1] // max(stage.reduced[0], 1), 1)


def schedule_pixel_rows(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """n, groups and tiles in parallel; c, r, s; ki, rows, vectors in registers."""
    _, channels, _, width = stage.spatial
    per_group = channels // groups_of(stage)
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
        unroll_by(s, stage.reduced[0], reductions[0], UNROLL)
    else:
        rows = 1 if prod(stage.reduced[1:]) <= UNROLL_WINDOW else 2
        size = tile.channels * tile.rows * tile.vectors
        unroll_reduction(s, stage.reduced[rows:], reductions[rows:], size)
    for loop in (ki, *below, *across, k_out, y_out, x_outo):
        s.unroll(loop)
    for lanes in (xv, x_outv):
        s.vectorize(lanes)
        s.pragma(lanes, "masked_lanes")
    if width > tile.vectors * tile.lanes and leaves_padding_out(stage, target):
        # Masks are constants in the parts of a row that have ends, and none are in the others.
        s.pragma(xo, "loop_partition_hint")
    if per_group % tile.channels:
        s.partition(ko)
