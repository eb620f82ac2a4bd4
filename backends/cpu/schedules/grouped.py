"""Products whose instruction sums up a small group of input channels in each lane: vpdpbusd and vdpbf16ps.

The weight has the group innermost (`OIHW32o4i`, `NK32n4k`), the data has it in a row: four bytes or two bfloat16
numbers are one word, which goes to all lanes. Tiles are those of f32, a step of the reduction is a group.
"""

from __future__ import annotations

from lamina.backends.cpu.schedules.steps import epilogue_of, parallel, place_epilogue, unroll_by
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import choose
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

GROUP_UNROLL = 4
"""Groups of input channels in one body: a block of sixteen bytes of data."""


def dot_intrinsic(stage: Stage, target: TargetAttr) -> str | None:
    """The tensor intrinsic of a stage's innermost product; None where the target or the stage has none."""
    reads = stage.reads()
    if len(reads) != 2 or target.lanes(32) != 16 or not stage.reduced:
        return None
    data, weight = (dtype_name(r.result.type) for r in reads)
    out = dtype_name(stage.op.result.type.element_type)
    unsigned = dtype_name(reads[0].tensor.type.element_type) == "uint8"  # type: ignore[union-attr]
    group, lanes = stage.reduced[-1], read_shape(reads[1])[-2]
    del data, weight
    signed = dtype_name(reads[1].tensor.type.element_type)  # type: ignore[union-attr]
    if lanes % 16:
        return None
    if unsigned and signed == "int8" and out == "int32" and group == 4 and target.has_feature("avx512vnni"):
        return "cpu.vnni_u8s8s32_16x4"
    if signed == "bfloat16" and out == "float32" and group == 2 and target.has_feature("avx512bf16"):
        return "cpu.bf16_dot_16x2"
    return None


def schedule_grouped_conv2d(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, dot: str) -> None:
    """koo, y in parallel; xo; c, r, s; then the tile xi, koi of instructions."""
    _, chunks, _, width, lanes = stage.spatial
    weight = stage.reads()[1]
    block = read_shape(weight)[-2] // lanes
    tile = choose(width, chunks, target.registers.data, max(block, 1))
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
