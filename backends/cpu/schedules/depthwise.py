"""Depthwise convolutions: a row of vectors in registers, the window unrolled, no padded copy. On channel blocks:

for a block of channels and a row, in parallel
  for a tile of the row
    for a row of the window, unless it lies in the padding
      the tile's pixels, and the window's columns that lie in the image
    the epilogue, at the tile
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.schedules.pixel_rows import leaves_padding_out
from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue, vector_lanes
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import divisor, row_tile
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

TAG = "nn.contrib_depthwise_conv2d_NCHWc"
PLAIN_TAG = "nn.conv2d"
HALF = 8
"""Lanes of half a vector, of 256 bits, for which AVX-512 has masks too."""


def find_padding(stages: Sequence[Stage], target: TargetAttr) -> Stage | None:
    """The padded data of a convolution whose schedule leaves the padding out."""
    for pad, conv in zip(stages, stages[1:], strict=False):
        if pad.tag == conv.tag and not pad.is_reduction and conv.is_reduction and pad.readers == [conv]:
            blocked = conv.tag == TAG and conv.spatial[-1] == vector_lanes(conv, target)
            plain = is_plain_depthwise(conv, target) or leaves_padding_out(conv, target)
            return pad if blocked or plain else None
    return None


def is_plain_depthwise(stage: Stage, target: TargetAttr) -> bool:
    """Whether a stage is a depthwise convolution in plain order whose vectors of pixels read vectors of pixels."""
    masks = target.has_feature("avx512vl")
    if stage.tag != PLAIN_TAG or len(stage.spatial) != 4 or stage.reduced[0] != 1 or not masks:
        return False
    data, weight = stage.reads()
    lane = stage.op.body.block.args[3]
    neighbours = stage.read_forms(data)[-1].terms.get(lane) == 1 and lane not in weight.indices
    return neighbours and read_shape(data)[1] == stage.spatial[1]


def short_rows(height: int, vectors: int, costs: Costs) -> int:
    """Rows of so many vectors in a tile, so that no sum waits for the one before."""
    if vectors >= costs.waiting_sums:
        return 1
    rows = divisor(height, costs.depthwise_vectors // vectors)
    return rows if rows * vectors >= costs.waiting_sums else divisor(height, costs.short_row_vectors // vectors)


def schedule_depthwise(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """n, ko, y in parallel; xo; r, xi, s in registers, kv in vectors."""
    width = stage.spatial[-2]
    costs = for_target(target)
    tile = row_tile(width, costs.depthwise_vectors)
    out = epilogue_of(s, stage, follower)
    n, ko, y, x, kv, r, c = s.loops(stage.name)
    xo, xi = s.split(x, [-1, tile])
    s.reorder(n, ko, y, xo, r, xi, c, kv)
    *_, x_out, kv_out = place_epilogue(s, stage, follower, out, xo)
    parallel(s, [n, ko, y])
    if stage.reduced[0] * stage.reduced[1] <= costs.window_taps:
        s.unroll(r)
    for loop in (xi, c, x_out):
        s.unroll(loop)
    s.vectorize(kv)
    s.vectorize(kv_out)
    s.pragma(xo, "loop_partition_hint")


def schedule_plain_depthwise(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """n, k, y in parallel; xo; r, s, the vectors of a part of a row in registers, or of some short rows."""
    height, width = stage.spatial[2:]
    taps = stage.reduced[1] * stage.reduced[2]
    costs = for_target(target)
    lanes = vector_lanes(stage, target) if width > HALF and taps < costs.halved_window else HALF
    vectors = row_tile(-(-width // lanes), costs.depthwise_vectors)
    rows = short_rows(height, vectors, costs) if width <= vectors * lanes else 1
    out = epilogue_of(s, stage, follower)
    n, k, y, x, c, r, q = s.loops(stage.name)
    y, *below = s.split(y, [-1, rows]) if rows > 1 else [y]
    xo, *across, xv = s.split(x, [-1, *([vectors] if vectors > 1 else []), lanes])
    s.reorder(n, k, y, xo, c, r, *below, q, *across, xv)
    *_, y_out, x_out = place_epilogue(s, stage, follower, out, xo)
    x_outo, x_outv = s.split(x_out, [-1, lanes])
    parallel(s, [n, k, y])
    if taps <= costs.window_taps:
        s.unroll(r)
    for loop in (*below, q, *across, *([y_out] if below else []), x_outo):
        s.unroll(loop)
    for loop in (xv, x_outv):
        s.vectorize(loop)
        s.pragma(loop, "masked_lanes")
    if width > vectors * lanes:
        # Masks are constants in the parts of a row that have ends, and none are in the others.
        s.pragma(xo, "loop_partition_hint")
