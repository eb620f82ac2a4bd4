"""Reductions of columns, whose elements lie apart in memory: several vectors of columns side by side in registers.

for a tile of columns, in parallel
  for the rows
    the tile's vectors, each with its own sum
  what follows from the sums

Of many rows the sums are those of blocks of rows, added up: an error grows with the additions that follow each other.

A row of the tile is several cache lines beside each other, and the sums do not wait for one another. With one vector
both are missed: of rows of 4 KB a line each is read, which no prefetcher follows.
"""

from __future__ import annotations

from math import prod

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.open_extents import has_open
from lamina.backends.cpu.schedules.steps import (
    LONG,
    epilogue_of,
    is_long_sum,
    parallel,
    place_epilogue,
    unroll_by,
    vector_dim,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage
from lamina.backends.cpu.tiles import divisor
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

BLOCK = 512
"""Rows of a block, or fewer, so that all have as many."""
LEAST_BLOCK = 64
"""Fewer are more work than a block with rows that there are not."""


def is_column_reduction(stage: Stage, target: TargetAttr) -> bool:
    """Whether a stage reduces what it reads in rows of vectors: along its own last dimension, from one tensor."""
    vector = vector_dim(stage.spatial)
    if vector is None or len(stage.op.tensors) != 1 or len(stage.reads()) != 1:
        return False
    costs = for_target(target)
    few = stage.spatial[vector] < costs.tile_columns * vector_lanes(stage, target)
    if few and (prod(stage.reduced) < costs.single_rows or stage.reduced[-1] < costs.column_chains):
        return False
    (read,) = stage.reads()
    columns = stage.op.body.block.args[vector]
    *others, last = stage.read_forms(read)
    return read.guard is None and last == Linear.dim(columns) and not any(columns in form.dims() for form in others)


def schedule_column_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """A tile of vectors of columns over all rows, and what follows from it."""
    lanes = vector_lanes(stage, target)
    vector = vector_dim(stage.spatial)
    assert vector is not None
    costs = for_target(target)
    if stage.spatial[vector] < costs.tile_columns * lanes:
        _schedule_few(s, stage, follower, vector, lanes, costs.column_chains)
        return
    rank = len(stage.spatial)
    most = target.registers.data // 2
    if stage.calls_functions() or follower is not None and follower.calls_functions():
        most = costs.costly_columns
    apart, block_rows = _blocks(stage)
    wide = _tile(stage, vector, lanes, most, target.threads.data, costs)
    rows_unrolled = max(costs.column_vectors // wide, 1)
    out = epilogue_of(s, stage, follower)
    partial = ""
    if block_rows:
        blocks = list(s.loops(stage.name)[rank : rank + apart])
        if block_rows < stage.reduced[apart]:
            outer, _ = s.split(s.loops(stage.name)[rank + apart], [-1, block_rows])
            blocks.append(outer)
        block = s.fuse(*blocks) if len(blocks) > 1 else blocks[0]
        partial, _ = s.rfactor(stage.name, block, rank, rank + 1 + len(stage.reduced) - apart)
    loops = s.loops(stage.name)
    spatial, reductions = list(loops[:rank]), list(loops[rank:])
    spatial[vector], beside, lane = s.split(spatial[vector], [-1, wide, lanes])
    s.reorder(*spatial, *reductions, beside, lane)
    along = place_epilogue(s, stage, follower, out, spatial[-1])[vector]
    out_beside, out_lane = s.split(along, [-1, lanes])
    s.vectorize(out_lane)
    s.unroll(out_beside)
    if block_rows:
        placed = s.compute_at(partial, reductions[-1])
        *around, rows = placed[rank + 1 :]
        s.set_scope(partial, "register")
        own_beside, own_lane = s.split(placed[vector], [-1, lanes])
        s.reorder(*around, rows, own_beside, own_lane)
        if stage.reduced[apart] % block_rows:
            # The last rows apart: the others need no test.
            s.pragma(rows, "loop_partition_hint")
        else:
            unroll_by(s, stage.reduced[-1] if around else block_rows, rows, rows_unrolled)
        s.unroll(own_beside)
        s.vectorize(own_lane)
    else:
        unroll_by(s, stage.reduced[-1], reductions[-1], rows_unrolled)
    s.unroll(beside)
    s.vectorize(lane)
    if stage.spatial[vector] > wide * lanes and stage.spatial[vector] % (wide * lanes):
        # The last tile apart: the others need no masks.
        s.partition(spatial[vector])
        if prod(stage.spatial[:vector]) > 1:
            parallel(s, spatial[:vector])
        else:
            s.parallel(spatial[vector])
    else:
        parallel(s, spatial)


def _blocks(stage: Stage) -> tuple[int, int]:
    """The reduced dimensions that count blocks of a long sum, and how many rows of the next one are in a block, with
    all of those behind it; no rows where nothing is added up in blocks."""
    if not is_long_sum(stage) or has_open(stage.reduced):
        return 0, 0
    apart = len(stage.reduced)
    while prod(stage.reduced[apart:]) < LEAST_BLOCK:
        apart -= 1
    rows = stage.reduced[apart]
    if apart < len(stage.reduced) - 1 or (apart and rows < LONG):
        return (apart, rows) if apart else (0, 0)
    even = divisor(rows, BLOCK)
    return apart, even if even >= LEAST_BLOCK else BLOCK


def _schedule_few(s: Schedule, stage: Stage, follower: Stage | None, vector: int, lanes: int, wanted: int) -> None:
    """A vector of columns: each has as many partial results, `wanted`, as keep it from waiting for the one before."""
    rank = len(stage.spatial)
    out = epilogue_of(s, stage, follower)
    apart = len(stage.reduced) - 1
    chains = divisor(stage.reduced[-1], wanted)
    has_tail = chains < wanted // 2
    if has_tail:
        chains = wanted
    _, chain = s.split(s.loops(stage.name)[rank + apart], [-1, chains])
    # Vectors beside each other: the chain before the columns.
    partial, _ = s.rfactor(stage.name, chain, vector, rank + apart + 2)
    loops = s.loops(out)
    outer, lane = list(loops), loops[vector]
    if stage.spatial[vector] > lanes:
        outer[vector], lane = s.split(lane, [-1, lanes])
    elif len(outer) > 1:
        outer.pop(vector)
    else:
        outer[vector], lane = s.split(lane, [1, -1])
    s.reorder(*outer, lane)
    s.vectorize(lane)
    *own, chain = s.compute_at(stage.name, outer[-1])
    s.set_scope(stage.name, "register")
    s.reorder(chain, own[vector])
    s.unroll(chain)
    s.vectorize(own[vector])
    placed = s.compute_at(partial, outer[-1])
    *around, rows = placed[rank + 1 :]
    chain, lane = placed[vector], placed[vector + 1]
    s.set_scope(partial, "register")
    s.reorder(*around, rows, chain, lane)
    s.unroll(chain)
    s.vectorize(lane)
    if has_tail:
        # The last rows apart: the others need no test.
        s.pragma(rows, "loop_partition_hint")
    if prod(stage.spatial) > stage.spatial[vector]:
        parallel(s, outer[: max(len(outer) - 1, 1)] if len(outer) > 1 else outer)


def _tile(stage: Stage, vector: int, lanes: int, most: int, threads: int, costs: Costs) -> int:
    """Vectors of a tile: as many as there are accumulators, in even tiles if that is near, and enough tiles for the
    threads."""
    vectors = -(-stage.spatial[vector] // lanes)
    outer = prod(stage.spatial[:vector])
    while most > costs.tile_columns and not _busy(outer * -(-vectors // most), threads, costs):
        most //= 2
    for wide in range(min(most, vectors), most // 2, -1):
        if stage.spatial[vector] % (wide * lanes) == 0:
            return wide
    return min(most, vectors)


def _busy(tiles: int, threads: int, costs: Costs) -> bool:
    return tiles % threads == 0 or tiles >= costs.blocks_per_thread * threads
