"""Pooling: a tile of a row in registers while the window goes over it, no padded copy.

    for a row of the result, in parallel
      for a tile of the row, those at its ends as code of their own
        the window, in registers; what lies in the padding is left out

Vectors lie along the last dimension: channels of a block, several pixels a tile, or pixels of a row in plain layouts.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.schedules.steps import (
    epilogue_of,
    parallel,
    place_epilogue,
    unroll_reduction,
    vector_dim,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage
from lamina.backends.cpu.tiles import divisor
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

POOLS = tuple(f"nn.{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3))


def find_pool_padding(stages: Sequence[Stage]) -> Stage | None:
    """The padded data of a pool, which its schedule computes nowhere: a stage that nobody else reads."""
    own = [s for s in stages if s.tag in POOLS]
    if len(own) < 2 or own[0].is_reduction or own[0].readers != [own[1]] or own[0].tag != own[1].tag:
        return None
    return own[0] if is_pool_of_rows(own[1]) else None


def is_pool_of_rows(stage: Stage) -> bool:
    """Whether a stage is a pool with vectors along its last dimension."""
    rank = len(stage.spatial)
    return stage.tag in POOLS and stage.is_reduction and rank >= 3 and vector_dim(stage.spatial) == rank - 1


def schedule_pool(s: Schedule, stage: Stage, follower: Stage | None, pad: Stage | None, target: TargetAttr) -> None:
    """Rows in parallel; a tile of a row; the window; the tile's vectors."""
    lanes = vector_lanes(stage, target)
    vector = vector_dim(stage.spatial)
    assert vector is not None
    costs = for_target(target)
    if pad is not None:
        s.compute_inline(pad.name)
    pixels = stage.spatial[vector] > lanes
    out = epilogue_of(s, stage, follower)
    loops = s.loops(stage.name)
    rank = len(stage.spatial)
    spatial, reductions = list(loops[:rank]), list(loops[rank:])
    *rows, last = [v for v in spatial if v is not spatial[vector] or pixels]
    if pixels:
        column, kv = s.split(last, [-1, lanes])
        inner = [kv]
        size = 1
    else:
        size = divisor(stage.spatial[spatial.index(last)], costs.pool_vectors)
        column, tile = s.split(last, [-1, size])
        kv = spatial[vector]
        inner = [tile, kv]
    s.reorder(*rows, column, *reductions, *inner)
    out_loops = place_epilogue(s, stage, follower, out, column)
    parallel(s, rows)
    unroll_reduction(s, stage.reduced, reductions, size, costs)
    for loop in inner[:-1]:
        s.unroll(loop)
        s.unroll(out_loops[spatial.index(last)])
    s.vectorize(kv)
    s.vectorize(out_loops[vector])
    if pad is not None:
        s.pragma(column, "loop_partition_hint")
    elif pixels and stage.spatial[vector] % lanes:
        s.partition(column)
