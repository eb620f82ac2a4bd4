"""Depthwise convolutions on channel blocks: a row of vectors in registers, the window unrolled, no padded copy.

for a block of channels and a row, in parallel
  for a tile of the row
    for a row of the window, unless it lies in the padding
      the tile's pixels, and the window's columns that lie in the image
    the epilogue, at the tile
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue
from lamina.backends.cpu.stages import Stage
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

TAG = "nn.contrib_depthwise_conv2d_NCHWc"
MOST_PIXELS = 8
"""Vectors of a tile: with the data that neighbours share, and the weights of a row, they fill 32 registers."""
UNROLL_WINDOW = 9
"""Taps of a window that is unrolled whole; of larger ones each row is."""


def find_padding(stages: Sequence[Stage]) -> Stage | None:
    """The padded data of a depthwise convolution, which its schedule computes nowhere."""
    own = [s for s in stages if s.tag == TAG]
    return own[0] if len(own) == 2 and not own[0].is_reduction and own[0].readers == [own[1]] else None


def row_tile(width: int) -> int:
    """Pixels of a tile: few tiles, and no short one where that can be had."""
    tiles = -(-width // MOST_PIXELS)
    even = [p for p in range(MOST_PIXELS, MOST_PIXELS // 2, -1) if width % p == 0]
    return even[0] if even else -(-width // tiles)


def schedule_depthwise(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """n, ko, y in parallel; xo; r, xi, s in registers, kv in vectors."""
    width = stage.spatial[-2]
    tile = row_tile(width)
    out = epilogue_of(s, stage, follower)
    n, ko, y, x, kv, r, c = s.loops(stage.name)
    xo, xi = s.split(x, [-1, tile])
    s.reorder(n, ko, y, xo, r, xi, c, kv)
    *_, x_out, kv_out = place_epilogue(s, stage, follower, out, xo)
    parallel(s, [n, ko, y])
    if stage.reduced[0] * stage.reduced[1] <= UNROLL_WINDOW:
        s.unroll(r)
    for loop in (xi, c, x_out):
        s.unroll(loop)
    s.vectorize(kv)
    s.vectorize(kv_out)
    s.pragma(xo, "loop_partition_hint")
