"""Reductions that are not products: vectors over the last dimension, accumulators in registers."""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.open_extents import has_open, is_open
from lamina.backends.cpu.schedules.steps import (
    cut_tail,
    epilogue_of,
    is_long_sum,
    lane_pieces,
    parallel,
    place_epilogue,
    unroll_reduction,
    vector_dim,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr


def schedule_plain_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Schedule a reduction: vectors of results as accumulators in registers, the outer loops in parallel.

    A long sum without a dimension for vectors becomes several sums side by side. `follower` is the stage that takes the
    results out of the registers; a copy does where it is None.
    """
    costs = for_target(target)
    vector = vector_dim(stage.spatial)
    if vector is None and is_long_sum(stage):
        _schedule_chains(s, stage, follower, costs.chains)
        return
    if not stage.spatial:
        return  # one element: the reduction is a chain, wherever its sum stands
    lanes = vector_lanes(stage, target)
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
    unroll_reduction(s, stage.reduced, reductions, costs.reduction_operations, costs)
    if inner is not None and vector is not None:
        s.vectorize(inner)
        s.vectorize(out_loops[vector])
        if is_open(stage.spatial[vector]) and (len(outer) == 1 or outer[vector] is outer[-1]):
            cut_tail(s, outer[vector], stage.spatial[vector], lanes, lane_pieces(stage, vector, lanes))


def _schedule_chains(s: Schedule, stage: Stage, follower: Stage | None, chains: int) -> None:
    """Each element by itself, as the sum of several sums that do not wait for one another."""
    rank, apart = len(stage.spatial), len(stage.reduced) - 1
    *_, last = s.loops(stage.name)
    terms = stage.reduced[-1]
    if terms < chains and not has_open(stage.reduced[1:]):
        last, terms, apart = s.fuse(*s.loops(stage.name)[rank:]), prod(stage.reduced), 0
    _, chain = s.split(last, [-1, chains])
    partial, _ = s.rfactor(stage.name, chain, rank, rank + apart + 2)
    out = epilogue_of(s, stage, follower)
    rows = list(s.loops(out))
    if rows:
        *_, combined = s.compute_at(stage.name, rows[-1])
        *around, step = s.compute_at(partial, rows[-1])[rank:]
        chain, *around = around
    else:
        (combined,) = s.loops(stage.name)
        *around, step, chain = s.loops(partial)
    s.set_scope(stage.name, "register")
    s.unroll(combined)
    s.set_scope(partial, "register")
    s.reorder(*around, step, chain)
    s.unroll(chain)
    if terms % chains:
        # The last terms apart: the others need no test.
        s.pragma(step, "loop_partition_hint")
    if rows:
        parallel(s, rows)
