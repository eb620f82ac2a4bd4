"""The padding of direct convolutions on channel blocks, left out instead of copied.

    for an image, output channels and a row, in parallel
      for the tiles of the row: the first, those between, the last
        for a row of the window, unless it lies in the padding
          for a column of the window: those that leave the tile's ends in the padding as code of their own
            for the input channels: the pixels of the tile that the column meets

Where tiles do not allow for it, and where an instruction sums up groups of channels, a copy of the data is padded:

    for an image and a block of channels, in parallel
      for the rows: those of padding, those of the image, those of padding
        for the pixels, in the same way: a vector

No product with padding is made in the first case, and the data is read where it is. The channels are inside of the
window, so that the pieces are loops of their own: side by side they would share loads, and hold them in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.schedules.grouped import CONV2D, dot_intrinsic
from lamina.backends.cpu.schedules.steps import parallel, vector_lanes
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

PADDED = (CONV2D, "nn.contrib_depthwise_conv2d_NCHWc")


class Border(NamedTuple):
    """A padded copy of a convolution's data, and how many pixels of a row of the result read padding."""

    pad: Stage
    left: int
    right: int


def find_border(stages: Sequence[Stage], target: TargetAttr) -> Border | None:
    """The padding that the direct convolution among some stages reads, and nobody else."""
    for pad, conv in zip(stages, stages[1:], strict=False):
        if pad.tag == conv.tag == CONV2D and conv.is_reduction and not pad.is_reduction and pad.readers == [conv]:
            direct = conv.spatial[-1] == vector_lanes(conv, target) and dot_intrinsic(conv, target) is None
            return _border(pad, conv, for_target(target).window_columns) if direct else None
    return None


def _border(pad: Stage, conv: Stage, most_columns: int) -> Border | None:
    reads = pad.reads()
    if len(reads) != 1 or len(conv.reduced) != 4 or conv.reduced[2] < 1 or pad.is_output:
        return None
    x = conv.op.body.block.args[3]
    column = conv.op.body.block.args[len(conv.spatial) + 2]
    form = conv.read_forms(conv.reads()[0])[3]
    stride, dilation = form.terms.get(x, 0), form.terms.get(column, 0)
    before = -pad.read_forms(reads[0])[3].const
    last = (conv.spatial[3] - 1) * stride + (conv.reduced[2] - 1) * dilation + form.const
    behind = last - before - (read_shape(reads[0])[3] - 1)
    if stride < 1:
        return None
    left, right = (max(-(-beyond // stride), 0) for beyond in (before, behind))
    if conv.reduced[2] > most_columns and left + right:
        return None
    return Border(pad, left, right)


def is_padding(stage: Stage) -> bool:
    """Whether a stage is the padded copy of a convolution's data on channel blocks."""
    reads = stage.reads()
    of_blocks = stage.tag in PADDED and len(stage.spatial) == 5 and not stage.is_reduction
    return of_blocks and len(reads) == 1 and reads[0].guard is not None


def schedule_padding(s: Schedule, pad: Stage, target: TargetAttr) -> None:
    """Rows and pixels of padding are pieces of the loops, so that those of the image take no test."""
    lanes = vector_lanes(pad, target)
    n, block, y, x, lane = s.loops(pad.name)
    if pad.spatial[-1] > lanes:
        _, lane = s.split(lane, [-1, lanes])
    few = pad.spatial[0] * pad.spatial[1] < for_target(target).slices_per_thread * target.threads.data
    parallel(s, [n, block, y] if few and target.threads.data > 1 else [n, block])
    s.vectorize(lane)
    for loop in (x,) if few and target.threads.data > 1 else (y, x):
        s.pragma(loop, "loop_partition_hint")


def is_left_out(border: Border, width: int, pixels: int) -> bool:
    """Whether tiles of so many pixels read padding in the first and in the last tile of a row only.

    Where only a run tells the width, each pixel would ask whether it is in the last.
    """
    return not is_open(width) and border.left <= pixels and border.right <= (width % pixels or pixels)
