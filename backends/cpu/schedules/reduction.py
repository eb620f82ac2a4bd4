"""Reductions that are not products: vectors over the last dimension, accumulators in registers."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from lamina.backends.cpu.schedules.steps import (
    epilogue_of,
    parallel,
    place_epilogue,
    unroll_reduction,
    vector_dim,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule


def schedule_plain_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    if not stage.spatial:
        return  # one element: the reduction is a chain, wherever its sum stands
    lanes = vector_lanes(stage, target)
    vector = vector_dim(stage.spatial)
    out = epilogue_of(s, stage, follower)
    loops = s.loops(stage.name)
    rank = len(stage.spatial)
    spatial, reductions = list(loops[:rank]), list(loops[rank:])
    inner: SSAValue | None = None
    outer = list(spatial)
    if vector is not None:
        if stage.spatial[vector] > lanes:
            outer[vector], inner = s.split(spatial[vector], [-1, lanes])
        else:
            inner = outer.pop(vector)
    if not outer:
        # A single vector: give the epilogue a loop to stand in.
        head, inner = s.split(inner if inner is not None else spatial[0], [1, -1])
        outer = [head]
    s.reorder(*outer, *reductions, *([inner] if inner is not None else []))
    out_loops = place_epilogue(s, stage, follower, out, outer[-1])
    if prod(stage.spatial) > 1:
        parallel(s, outer[: max(len(outer) - 1, 1)] if len(outer) > 1 else outer)
    unroll_reduction(s, stage.reduced, reductions, 16)
    if inner is not None and vector is not None:
        s.vectorize(inner)
        s.vectorize(out_loops[vector])
