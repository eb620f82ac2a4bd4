"""Products whose instruction sums up a small group of input channels in each lane: vpdpbusd and vdpbf16ps.

The weight has the group innermost (`OIHW32o4i`, `NK32n4k`), the data has it in a row: four bytes or two bfloat16
numbers are one word, which goes to all lanes. Tiles are those of f32, a step of the reduction is a group.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.schedules.steps import (
    cut_tail,
    epilogue_of,
    expected,
    parallel,
    place_epilogue,
    question,
    unroll_by,
)
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import Tile, candidates, choose_pixels, registers_of, tail_pieces
from lamina.dialects.choices import Pick
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

DOTS = (
    (("uint8", "int8", "int32"), 4, "avx512vnni", "cpu.vnni_u8s8s32"),
    (("bfloat16", "bfloat16", "float32"), 2, "avx512bf16", "cpu.bf16_dot"),
)
"""Dtypes of data, weight and sum, group, the feature that has the instruction, and its tensor intrinsic."""

CONV2D = "nn.contrib_conv2d_NCHWc"


def dot_intrinsic(stage: Stage, target: TargetAttr) -> str | None:
    """The tensor intrinsic of a stage's innermost product; None where the target or the stage has none."""
    reads = stage.reads()
    if len(reads) != 2 or target.lanes(32) != 16 or not stage.reduced:
        return None
    shape = read_shape(reads[1])
    if shape[-1] != stage.reduced[-1] or len(shape) < 2:
        return None
    lanes = 8 if shape[-2] % 16 and target.has_feature("avx512vl") else 16
    if shape[-2] % lanes or stage.spatial[-1] % lanes:
        return None
    if stage.tag == CONV2D and stage.spatial[-1] != lanes:
        return None  # a block of the result is one instruction's vector, and weights lie in whole ones
    dtypes = *(element_dtype(r.tensor.type) for r in reads), dtype_name(stage.op.result.type.element_type)
    for given, group, feature, intrinsic in DOTS:
        if given == dtypes and group == shape[-1] and target.has_feature(feature):
            return f"{intrinsic}_{lanes}x{group}"
    return None


def element_dtype(type_: Attribute) -> str:
    """The numpy dtype name of the elements of a tensor type."""
    return dtype_name(cast("TensorType[Attribute]", type_).element_type)


def schedule_grouped_conv2d(
    s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, dot: str, pick: Pick
) -> None:
    """koo, y in parallel; xo; c, r, s; then the tile xi, koi of instructions."""
    _, chunks, _, width, lanes = stage.spatial
    weight = stage.reads()[1]
    block = read_shape(weight)[-2] // lanes
    registers = registers_of(target)
    if follower is not None and reads_more(follower, stage):
        # A long epilogue of few vectors at once runs beside the next products, and leaves accumulators in registers.
        registers = replace(registers, free=target.registers.data // 2, row=0)
    tiles = candidates(width, chunks, registers, max(block, 1))
    estimate = expected(stage, width, chunks, registers.costs, group=stage.reduced[-1])
    tile = pick(question("tile", stage), tiles, estimate=estimate)
    out = epilogue_of(s, stage, follower)
    n, ko, y, x, kv, c, r, q, ci = s.loops(stage.name)
    koo, koi = s.split(ko, [-1, tile.vectors])
    xo, xi = s.split(x, [-1, tile.pixels])
    s.reorder(n, koo, y, xo, c, r, q, xi, koi, kv, ci)
    _, ko_out, _, x_out, kv_out = place_epilogue(s, stage, follower, out, xo)
    s.tensorize(kv, dot)
    parallel(s, [n, koo, y])
    unroll_by(s, stage.reduced[0], c, for_target(target).group_steps)
    for loop in (xi, koi, ko_out, x_out):
        s.unroll(loop)
    s.vectorize(kv_out)
    if width % tile.pixels:
        s.partition(xo)


def reads_more(follower: Stage, stage: Stage) -> bool:
    """Whether an epilogue goes through another tensor of the result's shape, as that of a residual sum does."""
    reads = [read for part in follower.within() for read in part.reads() if part.inputs.get(read.tensor) is None]
    return any(read_shape(read) == stage.spatial for read in reads)


def schedule_grouped_dense(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, dot: str) -> None:
    """n's blocks in parallel; rows in tiles; k; then the tile mi, ni of instructions."""
    *outer, columns = stage.spatial
    _, block, group = read_shape(stage.reads()[1])[-3:]
    lanes = int(dot.rpartition("_")[2].removesuffix(f"x{group}"))
    rows, vectors = outer[-1] if outer else 1, block // lanes
    pixels = 1 if rows == 1 else choose_pixels(rows, vectors, registers_of(target))
    out = epilogue_of(s, stage, follower)
    *batch, n, k, ki = s.loops(stage.name)
    no, ni, nv = s.split(n, [columns // block, vectors, lanes])
    tiled = [ni, nv, ki]
    at, mi = no, None
    if pixels > 1:
        at, mi = s.split(batch.pop(), [-1, pixels])
        s.reorder(*batch, no, at, k, mi, *tiled)
    else:
        s.reorder(*batch, no, k, *tiled)
    out_loops = place_epilogue(s, stage, follower, out, at)
    s.tensorize(nv, dot)
    parallel(s, [*batch, no])
    unroll_by(s, stage.reduced[0], k, for_target(target).group_steps)
    s.unroll(ni)
    if mi is not None:
        s.unroll(mi)
        s.unroll(out_loops[-2])
    column = out_loops[-1]
    if vectors > 1:
        v, column = s.split(column, [vectors, lanes])
        s.unroll(v)
    s.vectorize(column)
    if mi is not None:
        cut_tail(s, at, rows, pixels, tail_pieces(Tile(pixels, vectors), for_target(target)))
