"""Products whose instruction sums up a small group of input channels in each lane: vpdpbusd and vdpbf16ps.

The weight has the group innermost (`OIHW32o4i`, `NK32n4k`), the data has it in a row: four bytes or two bfloat16
numbers are one word, which goes to all lanes. Tiles are those of f32, a step of the reduction is a group.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue, question, unroll_by
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import candidates
from lamina.dialects.choices import Pick
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

DOTS = (
    (("uint8", "int8", "int32"), 4, "avx512vnni", "cpu.vnni_u8s8s32_16x4"),
    (("bfloat16", "bfloat16", "float32"), 2, "avx512bf16", "cpu.bf16_dot_16x2"),
)
"""Dtypes of data, weight and sum, group, the feature that has the instruction, and its tensor intrinsic."""

GROUP_UNROLL = 4
"""Groups of input channels in one body: a block of sixteen bytes of data."""


def dot_intrinsic(stage: Stage, target: TargetAttr) -> str | None:
    """The tensor intrinsic of a stage's innermost product; None where the target or the stage has none."""
    reads = stage.reads()
    if len(reads) != 2 or target.lanes(32) != 16 or not stage.reduced:
        return None
    shape = read_shape(reads[1])
    if shape[-1] != stage.reduced[-1] or len(shape) < 2 or shape[-2] % 16:
        return None
    dtypes = *(element_dtype(r.tensor.type) for r in reads), dtype_name(stage.op.result.type.element_type)
    for given, group, feature, intrinsic in DOTS:
        if given == dtypes and group == shape[-1] and target.has_feature(feature):
            return intrinsic
    return None


def element_dtype(type_: Attribute) -> str:
    return dtype_name(cast("TensorType[Attribute]", type_).element_type)


def schedule_grouped_conv2d(
    s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, dot: str, pick: Pick
) -> None:
    """koo, y in parallel; xo; c, r, s; then the tile xi, koi of instructions."""
    _, chunks, _, width, lanes = stage.spatial
    weight = stage.reads()[1]
    block = read_shape(weight)[-2] // lanes
    tile = pick(question("tile", stage), candidates(width, chunks, target.registers.data, max(block, 1)))
    out = epilogue_of(s, stage, follower)
    n, ko, y, x, kv, c, r, q, ci = s.loops(stage.name)
    koo, koi = s.split(ko, [-1, tile.vectors])
    xo, xi = s.split(x, [-1, tile.pixels])
    s.reorder(n, koo, y, xo, c, r, q, xi, koi, kv, ci)
    _, ko_out, _, x_out, kv_out = place_epilogue(s, stage, follower, out, xo)
    s.tensorize(kv, dot)
    parallel(s, [n, koo, y])
    unroll_by(s, stage.reduced[0], c, GROUP_UNROLL)
    for loop in (xi, koi, ko_out, x_out):
        s.unroll(loop)
    s.vectorize(kv_out)
    if width % tile.pixels:
        s.partition(xo)
