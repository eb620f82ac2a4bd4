"""The CPU's default schedules, chosen from the shape of a te.func; nothing is tuned.

depthwise convolutions on channel blocks        a row of vectors in registers, the padding left out (`depthwise.py`)
convolutions of few channels a group           a register tile of channels by rows of pixels (`pixel_rows.py`)
conv2d on channel blocks, dense, batch_matmul   a register tile over the whole reduction, epilogue fused at the tile;
                                                a convolution's padding left out (`borders.py`)
Winograd convolutions                           blocks of tiles in the cache (`winograd.py`)
recurrent layers                                a step at a time, the gates' products in registers (`recurrent.py`)
attention                                       a block of rows of a head in the caches (`attention.py`)
softmax, layer and instance norm                row by row, reduced in lanes (`row_reductions.py`)
reductions along memory, few rows times rows    each row in the lanes of vectors (`line_reductions.py`)
reductions of columns                           several vectors of columns in registers (`column_reductions.py`)
pooling                                         a tile of a row in registers, the padding left out (`pooling.py`)
reductions that share what they read            a register tile, whatever they compute (`tiled_reduction.py`)
other reductions                                vectors over the last dimension, accumulators in registers
everything else                                 vectors over the last dimension, the rest in parallel
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.schedules.attention import find_attention, schedule_attention
from lamina.backends.cpu.schedules.borders import Border, find_border, is_padding, schedule_padding
from lamina.backends.cpu.schedules.column_reductions import is_column_reduction, schedule_column_reduction
from lamina.backends.cpu.schedules.convolution import (
    PLAIN_CONVOLUTIONS,
    has_channels_last,
    has_pixels_last,
    schedule_channels_last_conv,
    schedule_conv2d,
    schedule_plain_conv,
)
from lamina.backends.cpu.schedules.depthwise import TAG as DEPTHWISE
from lamina.backends.cpu.schedules.depthwise import (
    find_padding,
    is_plain_depthwise,
    schedule_depthwise,
    schedule_plain_depthwise,
)
from lamina.backends.cpu.schedules.elementwise import schedule_elementwise
from lamina.backends.cpu.schedules.grouped import CONV2D, dot_intrinsic, schedule_grouped_conv2d, schedule_grouped_dense
from lamina.backends.cpu.schedules.line_reductions import (
    is_line_product,
    is_line_reduction,
    schedule_line_product,
    schedule_line_reduction,
)
from lamina.backends.cpu.schedules.matmul import is_row_product, schedule_matmul
from lamina.backends.cpu.schedules.pixel_rows import schedule_pixel_rows, takes_pixel_rows
from lamina.backends.cpu.schedules.pooling import find_pool_padding, is_pool_of_rows, schedule_pool
from lamina.backends.cpu.schedules.recurrent import schedule_scan
from lamina.backends.cpu.schedules.reduction import schedule_plain_reduction
from lamina.backends.cpu.schedules.row_reductions import find_rows, schedule_rows
from lamina.backends.cpu.schedules.steps import FEWEST_LANES, vector_lanes
from lamina.backends.cpu.schedules.tiled_reduction import schedule_tiled_reduction, shares_reads
from lamina.backends.cpu.schedules.winograd import find_winograd, is_pad, schedule_winograd
from lamina.backends.cpu.stages import Stage, reads_elementwise, should_inline, stages_of
from lamina.dialects.choices import Pick, first
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.te.scan import ScanOp


def schedule_function(func: FuncOp, target: TargetAttr, pick: Pick = first) -> ScheduleOp:
    """The default schedule of a function; `pick` takes one of several tiles."""
    stages = stages_of(func)
    s = Schedule(func)
    if any(stage.is_reduction for stage in stages):
        _schedule_reductions(s, stages, target, pick)
    else:
        costs = for_target(target)
        for stage in inline_stages(s, stages, lambda stage: should_inline(stage, costs)):
            schedule_elementwise(s, stage, target)
    for scan in func.body.block.ops:
        if isinstance(scan, ScanOp):
            schedule_scan(s, scan, target)
    return s.build()


def inline_stages(s: Schedule, stages: Sequence[Stage], is_inlined: Callable[[Stage], bool]) -> list[Stage]:
    """Inline stages. Returns the others."""
    kept: list[Stage] = []
    inlined: list[Stage] = []
    for stage in stages:
        if is_inlined(stage):
            inlined.append(stage)
            _forget(stage)
        else:
            kept.append(stage)
    for stage in reversed(inlined):
        # The last first: by then all readers of a stage stand in few bodies, which copy it once each.
        s.compute_inline(stage.name)
    return kept


def _schedule_reductions(s: Schedule, stages: Sequence[Stage], target: TargetAttr, pick: Pick) -> None:
    """Schedule a function with reductions, and what stands before and behind them."""
    winograd = find_winograd(stages)
    padding = find_padding(stages, target)
    attention = find_attention(stages, target)
    whole = winograd or attention or ()
    costs = for_target(target)

    def is_inlined(stage: Stage) -> bool:
        return stage is padding or is_pad(stage) or stage not in whole and should_inline(stage, costs)

    kept = inline_stages(s, stages, is_inlined)
    done: set[str] = set()
    pool_padding = find_pool_padding(kept)
    if pool_padding is not None:
        done.add(pool_padding.name)
    border = find_border(kept, target)
    if border is not None:
        done.add(border.pad.name)
    if winograd is not None:
        follower = follower_of(winograd.conv)
        done |= {stage.name for stage in winograd}
        if follower is not None:
            done.add(follower.name)
            s.compute_inline(winograd.conv.name)
        schedule_winograd(s, winograd, (follower or winograd.conv).name, target, pick)
    if attention is not None:
        schedule_attention(s, attention, target)
        kept = []
    elif find_rows(kept, target):
        schedule_rows(s, kept, target)
        kept = []
    for stage in kept:
        if stage.name in done or 0 in stage.reduced or 0 in stage.spatial:
            continue  # a reduction over nothing is but its initial value, and no elements need no tiles
        if stage.is_reduction:
            follower = follower_of(stage)
            if follower is not None:
                done.add(follower.name)
            if is_pool_of_rows(stage):
                schedule_pool(s, stage, follower, pool_padding, target)
            else:
                _schedule_reduction(s, stage, follower, target, pick, border)
        elif is_padding(stage):
            schedule_padding(s, stage, target)
        else:
            schedule_elementwise(s, stage, target)


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


def follower_of(stage: Stage) -> Stage | None:
    """The one stage that goes through a reduction's result element by element: its epilogue."""
    if stage.is_output or len(stage.readers) != 1:
        return None
    reader = stage.readers[0]
    return reader if reads_elementwise(reader, stage) else None


def _schedule_reduction(
    s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, pick: Pick, border: Border | None = None
) -> None:
    lanes = vector_lanes(stage, target)
    grouped = stage.tag in (CONV2D, "nn.contrib_dense_pack")
    dot = dot_intrinsic(stage, target) if grouped else None
    if dot is not None and stage.tag == "nn.contrib_dense_pack":
        schedule_grouped_dense(s, stage, follower, target, dot)
    elif dot is not None:
        schedule_grouped_conv2d(s, stage, follower, target, dot, pick)
    elif stage.tag == CONV2D and stage.spatial[-1] == lanes:
        schedule_conv2d(s, stage, follower, target, pick, border)
    elif stage.tag == DEPTHWISE and stage.spatial[-1] == lanes:
        schedule_depthwise(s, stage, follower, target)
    elif is_plain_depthwise(stage, target):
        schedule_plain_depthwise(s, stage, follower, target)
    elif takes_pixel_rows(stage, target):
        schedule_pixel_rows(s, stage, follower, target)
    elif stage.tag in PLAIN_CONVOLUTIONS and stage.spatial[-1] >= FEWEST_LANES and has_pixels_last(stage):
        schedule_plain_conv(s, stage, follower, target)
    elif stage.tag in PLAIN_CONVOLUTIONS and stage.spatial[-1] >= FEWEST_LANES and has_channels_last(stage):
        schedule_channels_last_conv(s, stage, follower, target)
    elif stage.tag in ("nn.contrib_dense_pack", "nn.dense", "nn.matmul", "nn.batch_matmul") and is_row_product(stage):
        schedule_matmul(s, stage, follower, target, pick)
    elif is_line_reduction(stage, target):
        schedule_line_reduction(s, stage, follower, target)
    elif is_line_product(stage, target):
        schedule_line_product(s, stage, follower, target)
    elif is_column_reduction(stage, target):
        schedule_column_reduction(s, stage, follower, target)
    elif shares_reads(stage):
        schedule_tiled_reduction(s, stage, follower, target)
    else:
        schedule_plain_reduction(s, stage, follower, target)
