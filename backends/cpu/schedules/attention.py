"""The schedule of attention: the scores of some rows of queries stay in the caches until they have mixed the values.

for a head, in parallel
  its keys, transposed
  for a block of rows
    the scores of the block, a register tile at a time, scaled and biased
    for a row: its maximum, its powers of e
    for a row: their sum
    for a register tile of the result: the products with the values, and their division by the sum
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.schedules.row_reductions import place_partial, place_reduction, reduce_in_lanes
from lamina.backends.cpu.schedules.steps import cut_tail, parallel, unroll_steps
from lamina.backends.cpu.stages import Stage
from lamina.backends.cpu.tiles import (
    RegisterFile,
    Tile,
    choose_vectors,
    divisor,
    product_pixels,
    registers_of,
    tail_pieces,
)
from lamina.backends.cpu.weights import cache_weights
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

TAG = "nn.contrib_attention"


class Attention(NamedTuple):
    """The stages of an attention, in order."""

    keys: Stage
    scores: Stage
    logits: Stage
    top: Stage
    powers: Stage
    total: Stage
    mixed: Stage
    out: Stage


def find_attention(stages: Sequence[Stage], target: TargetAttr) -> Attention | None:
    """The attention that a function computes, where its rows are as long as vectors."""
    own = [s for s in stages if s.tag == TAG]
    if len(own) != len(Attention._fields):
        return None
    found = Attention(*own)
    lanes = target.lanes(8 * itemsize(dtype_name(found.out.op.result.type.element_type)))
    narrow = min(found.scores.spatial[-1], found.mixed.spatial[-1]) < lanes
    return None if narrow or 0 in found.scores.spatial else found


class LoopSizes(NamedTuple):
    """LoopSizes of the loops of attention."""

    block: int
    """Rows of queries whose scores are there at a time."""
    chunk: int
    """Values that are mixed at a time."""
    scoring: Tile
    """The register tile of scores."""
    mixing: Tile
    """The register tile of what is mixed."""


def sizes(rows: int, others: int, columns: int, width: int, itemsize: int, target: TargetAttr) -> LoopSizes:
    """Choose them for so many queries and keys; a row of queries has `columns`, a head of values `width`."""
    costs, registers, lanes = for_target(target), registers_of(target), target.lanes(8 * itemsize)
    panel = _choose(costs.attention_rows, width, others * itemsize, lanes, registers).vectors * lanes * itemsize
    chunk = _chunk_of(others, panel, costs)
    block = _block_of(rows, others * itemsize, chunk < others, costs)
    scoring = _choose(block, others, columns * itemsize, lanes, registers)
    mixing = _choose(block, width, others * itemsize, lanes, registers)
    step = lcm(scoring.pixels, mixing.pixels)
    if is_open(rows) and step <= 2 * block:
        # Both tiles fill a block: what is left of the last one can go in pieces.
        block = max(block - block % step, step)
    return LoopSizes(block, chunk, scoring, mixing)


def schedule_attention(s: Schedule, a: Attention, target: TargetAttr) -> None:
    """Everything within the loop over the blocks of rows of a head."""
    size = itemsize(dtype_name(a.out.op.result.type.element_type))
    lanes = target.lanes(8 * size)
    costs = for_target(target)
    _, heads, rows, others = a.scores.spatial
    depth, width = a.scores.reduced[0], a.mixed.spatial[-1]
    block, chunk, scoring, mixing = sizes(rows, others, heads * depth, width, size, target)
    top, total = (reduce_in_lanes(s, stage, lanes, costs) for stage in (a.top, a.total))
    # The result, a register tile at a time.
    b, i, c = s.loops(a.out.name)
    h, c = s.split(c, [heads, width])
    io, i = s.split(i, [-1, block])
    s.reorder(b, h, io, i, c)
    out_vectors = mix_chunks = mix_steps = None
    if chunk < others:
        out_vectors, lane = s.split(c, [-1, lanes])
        s.vectorize(lane)
        s.pragma(lane, "masked_lanes")
        mix_panels, mix_tiles, mix_chunks, mix_steps = _mix_by_chunks(s, a, io, mixing, lanes, chunk, costs)
    else:
        mix_panels, mix_tiles = _tile(s, i, c, mixing, lanes)
        _product(s, a.mixed.name, others, mix_tiles, mixing, lanes, _value_of(a), costs)
    # What the block needs before, the last first.
    *_, row, quarter = s.compute_at(a.total.name, io)
    s.unroll(quarter)
    place_partial(s, a.total, total, row)
    *_, row, j = s.compute_at(a.powers.name, io)
    vectors, lane = s.split(j, [-1, lanes])
    s.vectorize(lane)
    s.pragma(lane, "masked_lanes")
    place_reduction(s, a.top, top, row)
    *_, i, j = s.compute_at(a.logits.name, io)
    panels, tiles = _tile(s, i, j, scoring, lanes)
    _product(s, a.scores.name, depth, tiles, scoring, lanes, a.keys.name, costs)
    *_, d, j = s.compute_at(a.keys.name, h)
    over, lane = s.split(j, [-1, lanes])
    along, step = s.split(d, [-1, lanes])
    s.reorder(over, along, step, lane)
    s.vectorize(lane)
    # Tails of tiles, of panels, and a last block, whose rows only a run tells where it does theirs. Tiles that do not
    # fill a block end at two bounds, of which there are no pieces.
    of_block = rows if is_open(rows) and not block % scoring.pixels and not block % mixing.pixels else block
    for loop, extent, step, pieces in (
        (tiles, of_block, scoring.pixels, tail_pieces(scoring, costs)),
        (mix_tiles, of_block, mixing.pixels, tail_pieces(mixing, costs)),
        (mix_steps, others, divisor(chunk, costs.product_steps), (1,)),
        (io, rows, block, ()),
        (panels, others, scoring.vectors * lanes, ()),
        (vectors, others, lanes, ()),
        (over, others, lanes, ()),
        (mix_panels, width, mixing.vectors * lanes, ()),
        (mix_chunks, others, chunk, ()),
        (out_vectors, width, lanes, ()),
    ):
        if loop is not None and extent > step and (is_open(extent) or loop is not mix_steps):
            cut_tail(s, loop, extent, step, pieces)
    parallel(s, [b, h])


def _mix_by_chunks(
    s: Schedule, a: Attention, at: SSAValue, tile: Tile, lanes: int, chunk: int, costs: Costs
) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue | None]:
    """The product with the values, some of them at a time, whose panel stays in the first-level cache for all tiles of
    rows; sums stay in memory. Returns the loops over panels, tiles, chunks, and steps of a chunk, if there are some."""
    *_, j = s.loops(a.mixed.name)
    over, _ = s.split(j, [-1, chunk])
    part, _ = s.rfactor(a.mixed.name, over, 0, len(a.mixed.spatial) + 2)
    *_, i, c, over = s.compute_at(a.mixed.name, at)
    panels, tiles = _tile(s, i, c, tile, lanes, over)
    s.decompose_reduction(a.mixed.name, over)
    steps = _product(s, part, chunk, tiles, tile, lanes, _value_of(a), costs)
    return panels, tiles, over, steps


def _chunk_of(others: int, row_bytes: int, costs: Costs) -> int:
    """So many values that a panel of them takes an eighth of the first-level cache, or half of it where that is few;
    all of them as far as it goes."""
    most = costs.figures.l1_bytes // row_bytes
    return others if others <= most else max(most // 8, min(costs.mixed_values, most // 2), 1)


def _block_of(rows: int, row_bytes: int, is_long: bool, costs: Costs) -> int:
    """Rows of a block: even blocks where there are some, else all rows if their scores take little of the caches.

    Where a row is mixed by chunks more rows share each panel of them, as many as leave half of the second-level cache.
    """
    most = costs.attention_rows
    if is_long:
        most = max(most, min(costs.long_attention_rows, costs.figures.l2_bytes // 2 // row_bytes))
    if is_open(rows):
        return most
    even = divisor(rows, most)
    if even >= most // 2:
        return even
    return rows if rows * row_bytes <= costs.figures.l2_bytes // 2 else most


def _choose(rows: int, columns: int, stride: int, lanes: int, registers: RegisterFile) -> Tile:
    vectors = choose_vectors(rows, columns, stride, lanes, registers, 1, padded=False)
    return Tile(product_pixels(rows, vectors, registers, stride), vectors)


def _tile(
    s: Schedule, i: SSAValue, c: SSAValue, tile: Tile, lanes: int, *between: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """The loops of a result by register tiles, with others `between` panels and tiles. Returns those over panels and
    over the tiles of a panel."""
    co, ci, cv = s.split(c, [-1, tile.vectors, lanes])
    io, ii = s.split(i, [-1, tile.pixels])
    s.reorder(co, *between, io, ii, ci, cv)
    s.unroll(ii)
    s.unroll(ci)
    s.vectorize(cv)
    s.pragma(cv, "masked_lanes")
    return co, io


def _product(
    s: Schedule, name: str, depth: int, at: SSAValue, tile: Tile, lanes: int, factor: str, costs: Costs
) -> SSAValue | None:
    """A product in the registers of a tile; its second factor is loaded before each step. Returns the loop over some
    steps at a time, if there is one."""
    *_, i, c, k = s.compute_at(name, at)
    s.set_scope(name, "register")
    over, lane = s.split(c, [-1, lanes])
    s.reorder(k, i, over, lane)
    loaded = cache_weights(s, name, (factor, tile.vectors * lanes), k, tile.vectors, lanes)
    steps = unroll_steps(s, depth, k, costs.product_steps, costs)
    s.unroll(i)
    s.unroll(over)
    s.vectorize(lane)
    for loop in (lane, *loaded):
        s.pragma(loop, "masked_lanes")
    return steps


def _value_of(a: Attention) -> str:
    """The argument that is mixed."""
    (name,) = (r.tensor.name_hint for r in a.mixed.reads() if r.tensor is not a.powers.op.result)
    assert name is not None
    return name
