"""Reductions that share what they read, whatever they are called: a tile of rows by vectors in registers.

    for the other dimensions, blocks of rows and of vectors: in parallel
      for the reduction, its innermost steps unrolled
        for the rows of a tile, its vectors: a vector of sums
      the consumer, or a copy, of the tile

An operand that many results meet is loaded once for a tile of them: a product of matrices, a window. What is decided
here by default a search decides anew: `Decisions` are the places where a sketch is open (`backends/cpu/sketches/`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.schedules.steps import (
    epilogue_of,
    lane_pieces,
    parallel,
    place_epilogue,
    vector_dim,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage
from lamina.backends.cpu.tiles import Tile, divisor, registers_of, tail_pieces
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr


class Decisions:
    """The decisions of a tile, by default."""

    def __init__(self, s: Schedule) -> None:
        self.s = s

    def number(self, candidates: Sequence[int], default: int, knob: str) -> int | SSAValue:
        """A factor."""
        return default

    def order(self, blocks: list[SSAValue], knob: str) -> list[SSAValue]:
        """The blocks' loops from the outside in."""
        return blocks

    def unroll(self, loop: SSAValue, knob: str) -> None:
        """Unroll a loop, or not."""
        self.s.unroll(loop)

    def cut(self, block: SSAValue, has_tail: bool, pieces: Sequence[int], knob: str) -> None:
        """Let the tail of a block's tiles be a loop of its own, where there is one by default, or loops of `pieces`."""
        if has_tail:
            self.s.partition(block, pieces)


def shares_reads(stage: Stage) -> bool:
    """Whether a reduction has vectors of results, and a read that several of them share."""
    if not stage.is_reduction or vector_dim(stage.spatial) is None or len(stage.op.tensors) > 1:
        return False
    own = [a for a, e in zip(stage.op.body.block.args, stage.spatial, strict=False) if e > 1]
    dims = [[d for form in stage.read_forms(read) for d in form.dims()] for read in stage.reads()]
    return len(dims) > 1 and any(a not in each for each in dims for a in own)


def row_dims(stage: Stage) -> list[int]:
    """The dimensions that may have the rows of a tile, the best first: the last two that are not the vectors'."""
    vector = vector_dim(stage.spatial)
    return [d for d in reversed(range(len(stage.spatial))) if d != vector and stage.spatial[d] > 1][:2]


def schedule_tiled_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Schedule a reduction in tiles; `follower` takes them out of the registers, a copy where it is None."""
    out = epilogue_of(s, stage, follower)
    along = next(iter(row_dims(stage)), None)
    tile(s, stage, follower, out, s.loops(stage.name), along, target, Decisions(s))


def tile(
    s: Schedule,
    stage: Stage,
    follower: Stage | None,
    out: str,
    axes: Sequence[SSAValue],
    along: int | None,
    target: TargetAttr,
    decide: Decisions,
) -> None:
    """Tiles of rows along a dimension, if there is one, by vectors; `out` is the stage that takes them."""
    vector, rank, costs = vector_dim(stage.spatial), len(stage.spatial), for_target(target)
    assert vector is not None
    lanes = min(vector_lanes(stage, target), stage.spatial[vector])
    name = stage.name if along is None else f"{stage.name}_{along}"
    vectors = min(costs.few_vectors, -(-stage.spatial[vector] // lanes))
    v_o, v_a, v_b = s.split(axes[vector], [-1, decide.number(costs.drawn_vectors, vectors, f"{name}_vectors"), lanes])
    blocks, inner, extents = [v_o], [v_a, v_b], [(stage.spatial[vector], vectors * lanes)]
    pieces = {v_o: lane_pieces(stage, vector, lanes, vectors)}
    if along is not None:
        rows = _rows(stage.spatial[along], registers_of(target).rows(vectors), costs)
        u_o, u_i = s.split(axes[along], [-1, decide.number(costs.drawn_rows, rows, f"{name}_rows")])
        blocks, inner, extents = [u_o, v_o], [u_i, *inner], [(stage.spatial[along], rows), *extents]
        pieces[u_o] = tail_pieces(Tile(rows, vectors), costs) if is_open(stage.spatial[along]) else ()
    steps = 1 if costs.reserve.one_step else divisor(stage.reduced[-1], costs.product_steps)
    k_o, k_i = s.split(axes[-1], [-1, decide.number(costs.drawn_steps, steps, f"{name}_steps")])
    rest = [d for d in range(rank) if d not in (along, vector)]
    single, others = ([axes[d] for d in rest if (stage.spatial[d] > 1) == is_long] for is_long in (False, True))
    wanted = costs.shares * target.threads.data
    iterations = prod(stage.spatial[d] for d in rest)
    if iterations < wanted and -(-extents[0][0] // extents[0][1]) < min(wanted, -(-extents[-1][0] // extents[-1][1])):
        # Few rows of many columns: threads share the columns.
        blocks, extents = blocks[::-1], extents[::-1]
    s.reorder(*single, *others, *blocks, *axes[rank:-1], k_o, k_i, *inner)
    blocks = decide.order(blocks, f"{name}_order")
    ends = place_epilogue(s, stage, follower, out, blocks[-1])
    tails = [extent % size > 0 for extent, size in extents]
    fused = _shared_out(others, blocks, extents, iterations, wanted)
    if fused:
        parallel(s, fused)
    decide.unroll(k_i, f"{name}_unrolled")
    for loop in inner[:-1]:
        s.unroll(loop)
    s.vectorize(v_b)
    if along is not None:
        s.unroll(ends[along])
    e_o, e_i = s.split(ends[vector], [-1, lanes])
    s.unroll(e_o)
    s.vectorize(e_i)
    cut = [n for n, block in enumerate(blocks) if block not in fused or len(fused) == 1]
    # The pieces of a tail are cut as the whole tiles are: what stands within comes first.
    for n in reversed(cut) if any(pieces.values()) else cut:
        decide.cut(blocks[n], tails[n], pieces.get(blocks[n], ()), f"{name}_partition{n}")


def _shared_out(
    others: Sequence[SSAValue],
    blocks: Sequence[SSAValue],
    extents: Sequence[tuple[int, int]],
    iterations: int,
    wanted: int,
) -> list[SSAValue]:
    """The loops that threads share: others, of so many iterations, and blocks until there are as many as are wanted.

    The blocks' own loops are cut where tiles have tails; as a part of a loop that is fused they cannot be.
    """
    fused = list(others)
    for block, (extent, size) in zip(blocks, extents, strict=True):
        if iterations >= wanted or fused and extent % size > 0:
            break
        fused.append(block)
        iterations *= -(-extent // size)
        if extent % size > 0:
            break
    return fused


def _rows(extent: int, most: int, costs: Costs) -> int:
    """The rows of a tile: as many as fit, fewer where these divide the extent, but not less than half."""
    fit = [n for n in costs.drawn_rows if n <= min(most, extent)]
    return max((n for n in fit if extent % n == 0 and 2 * n >= fit[-1]), default=fit[-1])
