"""The schedule of a Winograd convolution: what one block of tiles needs, transformed and multiplied, stays in a cache.

    for a block of rows of tiles, in parallel
      the data's tiles transformed                        [a, a, C/16, tiles, 16]
      which tiles are far: their inputs differ too much in size
      a * a matrix products, a register tile at a time    [a, a, O/16, tiles, 16]
      for a tile: the products transformed back, or the direct sums if it is far; and the epilogue

A tile that is far is so for all its channels, and few are: the code for them is short rather than fast. Each block
reads all weights: its rows of tiles are few where these stay in the second-level cache, and all there are where the
weights stream from memory. Where the image has too few blocks for the threads, the three steps are loops of their own,
each in parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target, missed_part
from lamina.backends.cpu.schedules.row_reductions import place_reduction, reduce_in_lanes
from lamina.backends.cpu.schedules.steps import expected, question
from lamina.backends.cpu.stages import Stage
from lamina.backends.cpu.tiles import Tile, candidates, divisor, registers_of, row_cycles
from lamina.backends.cpu.weights import cache_weights, lines_of, weight_of
from lamina.dialects.choices import Pick
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

TAG = "nn.contrib_conv2d_winograd_NCHWc"


class Winograd(NamedTuple):
    """The stages of a convolution, in order, but for its padding."""

    tile_rows: Stage
    tiles: Stage
    products: Stage
    result_rows: Stage
    magnitudes: Stage
    square_columns: Stage
    squares: Stage
    turned: Stage
    sums: Stage
    least_rows: Stage
    least: Stage
    far: Stage
    own_tiles: Stage
    direct: Stage
    conv: Stage


def find_winograd(stages: Sequence[Stage]) -> Winograd | None:
    """The convolution among the stages of a function; it has one at most."""
    own = [s for s in stages if s.tag == TAG and not is_pad(s)]
    return Winograd(*own) if own else None


def is_pad(stage: Stage) -> bool:
    """Whether a stage is the padding of a convolution: its own, or up to whole vectors."""
    return stage.tag == TAG and not stage.is_reduction and stage.name.split("_")[0] == "pad"


def choose_rows(
    down: int,
    across: int,
    tile: int,
    chunks: tuple[int, int],
    lanes: int,
    target: TargetAttr,
    block: int = 1,
    least: int = 1,
) -> int:
    """The rows of tiles in a block. Each block multiplies by all weights, which it reads meanwhile, the first one from
    memory; what a block holds beyond the second-level cache comes from the third, or from memory.

    `tile` is the extent of a tile of the data, `chunks` the vectors of channels of the data and of the result, `block`
    those that lie side by side in the weights. There are at least so many blocks in an image, or it is one.
    """
    costs = for_target(target)
    plane, pixels = tile**2 * lanes * 4, (tile - 2) ** 2 * lanes * 4
    weights = plane * chunks[0] * chunks[1] * lanes

    def multiplied(rows: int, speed: float) -> float:
        register_tile = product_tiles(ImageBlocks(rows, down, across, False), chunks[1], block, target)[0]
        multiplying = weights / costs.vector_bytes * row_cycles(rows * across, *register_tile, costs)
        return max(multiplying, weights / speed) + costs.exposed_weights * weights / speed

    def cycles(rows: int) -> float:
        tiles, count = sum(chunks) * rows * across, down // rows
        held = plane * tiles
        # Between two uses of a line all of this goes through the caches.
        again = costs.speed_beyond_l2(weights + held + pixels * tiles)
        moving = costs.block_moves * held * missed_part(held, costs.figures.l2_bytes, costs.l2_ways) / again
        speed = costs.figures.l2_speed if weights <= costs.figures.l2_bytes else again
        return multiplied(rows, costs.memory_speed) + multiplied(rows, speed) * (count - 1) + count * moving

    # The tiles that a block transforms are those of its rows alone: register tiles have to divide them.
    parts = [d for d in range(1, down) if down % d == 0 and down // d >= least]
    fewest, most = costs.winograd_pixels
    fitting = [d for d in parts if divisor(d * across, most) >= fewest]
    return min((*fitting, down), key=lambda d: (cycles(d), d))


class ImageBlocks(NamedTuple):
    """The blocks of rows of tiles that an image is cut into."""

    rows: int
    """Rows of a block."""
    down: int
    """Rows of an image."""
    across: int
    """Tiles of a row."""
    apart: bool
    """Whether an image has too few blocks for the threads: then each step is a loop of its own."""

    @property
    def tiles(self) -> int:
        return self.rows * self.across


def blocks_of(w: Winograd, target: TargetAttr) -> ImageBlocks:
    """Choose the blocks of a convolution."""
    n, a, _, chunks, _, lanes = w.tiles.spatial
    m, blocks, height, width = w.result_rows.spatial[1], w.products.spatial[3], *w.conv.spatial[2:4]
    down, across = -(-height // m), -(-width // m)
    costs, threads = for_target(target), target.threads.data
    least = 1 if threads == 1 else costs.blocks_per_thread * threads
    block = _weight_block(w)
    rows = choose_rows(down, across, a, (chunks, blocks), lanes, target, block, -(-least // n))
    return ImageBlocks(rows, down, across, n * (down // rows) < least)


def schedule_winograd(s: Schedule, w: Winograd, out: str, target: TargetAttr, pick: Pick) -> None:
    """Schedule the stages of a convolution, which end in the stage `out`: its epilogue, or itself."""
    blocks = blocks_of(w, target)
    memory = s.cache_write(w.products.name, "register")
    n_out, block, ko = _place_result(s, w, out, blocks, target)
    products = _place_products(s, w, memory, block, blocks, target, pick)
    judged = _place_far(s, w, block, blocks, target)
    tiles = _place_tiles(s, w, block, blocks)
    if blocks.apart:
        for loops in ((n_out, block, ko), products, tiles, judged):
            s.parallel(s.fuse(*loops))
    else:
        s.parallel(s.fuse(n_out, block))


def _place_result(
    s: Schedule, w: Winograd, out: str, blocks: ImageBlocks, target: TargetAttr
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Compute the result one tile at a time. Returns its loops over images, blocks and vectors of channels."""
    m = w.result_rows.spatial[1]
    n_out, ko, y, x, kv = s.loops(out)
    yo, yi = s.split(y, [-1, m])
    xo, xi = s.split(x, [-1, m])
    yb, yt = s.split(yo, [-1, blocks.rows])
    s.reorder(n_out, yb, ko, yt, xo, yi, xi, kv)
    _, i, f, *_, lane = s.compute_at(w.result_rows.name, xo)
    # Column by column: the registers hold one column of what is read.
    s.reorder(f, i)
    s.set_scope(w.result_rows.name, "register")
    for loop in (yi, xi, i, f):
        s.unroll(loop)
    s.vectorize(kv)
    s.vectorize(lane)
    s.pragma(yi, "unswitch")
    _place_direct(s, w, xo, target)
    return n_out, yb, ko


def _place_products(
    s: Schedule, w: Winograd, memory: str, at: SSAValue, blocks: ImageBlocks, target: TargetAttr, pick: Pick
) -> list[SSAValue]:
    """Compute the products a register tile at a time. Returns the loops that threads may share."""
    costs, lanes, count = for_target(target), w.tiles.spatial[-1], blocks.tiles
    weight = weight_of(w.products)
    tiles = product_tiles(blocks, w.products.spatial[3], _weight_block(w), target)
    estimate = expected(w.products, count, w.products.spatial[3], costs)
    tile = pick(question("tile", w.products), tiles, estimate=estimate, why="each weight is read once, in one stream")
    p_n, e, f, ko_p, t_p, kv_p = s.loops(memory) if blocks.apart else s.compute_at(memory, at)
    ko_o, ko_i = s.split(ko_p, [-1, tile.vectors])
    t_o, t_i = s.split(t_p, [-1, tile.pixels])
    s.reorder(p_n, e, f, ko_o, t_o, t_i, ko_i, kv_p)
    *_, ko_a, t_a, kv_a, c, ci = s.compute_at(w.products.name, t_o)
    steps = max(1, min(costs.winograd_steps, costs.body_operations // (tile.pixels * tile.vectors)))
    ci_o, ci_i = s.split(ci, [-1, divisor(lanes, steps)])
    s.reorder(c, ci_o, ci_i, t_a, ko_a, kv_a)
    cache_weights(s, w.products.name, weight, ci_i, tile.vectors, lanes)
    passes = -(-count // tile.pixels)
    is_slow = blocks.rows == blocks.down and count >= costs.prefetched_tiles
    if weight is not None and is_slow and passes <= lines_of(w.products, lanes * tile.vectors, costs):
        s.prefetch(weight[0], ko_o, spread=c)
    for loop in (t_i, ko_i, t_a, ko_a, *(() if costs.reserve.one_step else (ci_i,))):
        s.unroll(loop)
    s.vectorize(kv_p)
    s.vectorize(kv_a)
    if count % tile.pixels:
        s.partition(t_o)
    return [p_n, e, f, ko_o]


def _weight_block(w: Winograd) -> int:
    """The vectors that lie side by side in the weights of a convolution."""
    weight = weight_of(w.products)
    return max(weight[1] // w.tiles.spatial[-1], 1) if weight is not None else 1


def product_tiles(blocks: ImageBlocks, chunks: int, block: int, target: TargetAttr) -> list[Tile]:
    """The register tiles that the products of a block may be computed in, the best first.

    `chunks` are the vectors of channels of the result, of which `block` lie side by side in the weights.
    """
    costs, count = for_target(target), blocks.tiles
    tiles = candidates(count, chunks, registers_of(target), block)
    if blocks.rows < blocks.down:
        exact = {Tile(divisor(count, t.pixels), t.vectors) for t in tiles}
        tiles = sorted(exact, key=lambda t: row_cycles(count, *t, costs))
    if tiles[0].pixels == count and tiles[0].vectors > block:
        # Nothing is multiplied twice by a weight: one stream of them is faster.
        tiles.insert(0, tiles[0]._replace(vectors=block))
    return list(dict.fromkeys(tiles))


def _place_far(s: Schedule, w: Winograd, at: SSAValue, blocks: ImageBlocks, target: TargetAttr) -> list[SSAValue]:
    """Judge which tiles are far. Returns the loops that threads may share, none where a block judges its own."""
    costs, lanes = for_target(target), w.tiles.spatial[-1]
    if not blocks.apart:
        s.compute_at(w.far.name, at)
        _place_judgement(s, w, at, lanes, costs)
        return []
    parts = max(w.tiles.spatial[0] * blocks.down // target.threads.data, 1)
    judge_n, judge_t = s.loops(w.far.name)
    judge_rows, _ = s.split(judge_t, [-1, blocks.across * divisor(blocks.down, parts)])
    _place_judgement(s, w, judge_rows, lanes, costs)
    return [judge_n, judge_rows]


def _place_tiles(s: Schedule, w: Winograd, at: SSAValue, blocks: ImageBlocks) -> list[SSAValue]:
    """Transform the data's tiles, all of one in registers. Returns the loops that threads may share."""
    t_n, e_t, f_t, c_t, t_t, ci_t = s.loops(w.tiles.name) if blocks.apart else s.compute_at(w.tiles.name, at)
    ty_t, tx_t = s.split(t_t, [-1, blocks.across])
    s.reorder(t_n, c_t, ty_t, tx_t, e_t, f_t, ci_t)
    _, e_r, s_r, *_, ci_r = s.compute_at(w.tile_rows.name, tx_t)
    s.reorder(s_r, e_r)
    s.set_scope(w.tile_rows.name, "register")
    for loop in (e_t, f_t, e_r, s_r):
        s.unroll(loop)
    s.vectorize(ci_t)
    s.vectorize(ci_r)
    return [t_n, c_t, ty_t]


def _place_direct(s: Schedule, w: Winograd, at: SSAValue, target: TargetAttr) -> None:
    """The sums of a tile that is far, in the loop over tiles: its own data, as many of its rows as fit registers."""
    m = w.direct.spatial[1]
    memory = s.cache_write(w.direct.name, "register")
    _, i, j, *_, lane = s.compute_at(memory, at)
    rows = m if m * m < target.registers.data else 1
    i_o, i_i = s.split(i, [-1, rows])
    s.unroll(i_i)
    s.unroll(j)
    s.vectorize(lane)
    _, i, j, _, _, lane, *steps = s.compute_at(w.direct.name, i_o)
    s.reorder(*steps, i, j, lane)
    s.unroll(i)
    s.unroll(j)
    s.vectorize(lane)
    *_, lane = s.compute_at(w.own_tiles.name, at)
    s.vectorize(lane)


def _place_judgement(s: Schedule, w: Winograd, at: SSAValue, lanes: int, costs: Costs) -> None:
    """All that says which tiles are far, in a loop over rows of tiles: in vectors of channels, then of pixels."""
    s.compute_at(w.least.name, at)
    rows = _vectors(s, s.compute_at(w.least_rows.name, at), lanes)
    sums = s.cache_write(w.sums.name, "register")
    pixels = _vectors(s, s.compute_at(sums, at), lanes)
    *_, x, ci = s.compute_at(w.sums.name, pixels)
    s.reorder(ci, x)
    s.unroll(ci)
    s.vectorize(x)
    if w.least_rows.spatial[-1] % lanes:
        s.partition(rows)
    # Rows of vectors are read, and columns written: tir-transpose-tiles.
    *_, ci, x = s.compute_at(w.turned.name, at)
    xo, xi = s.split(x, [-1, lanes])
    s.reorder(xo, ci, xi)
    s.vectorize(xi)
    squares = s.cache_write(w.squares.name, "register")
    partial = reduce_in_lanes(s, w.squares, lanes, costs)
    place_reduction(s, w.squares, partial, s.compute_at(squares, at)[1])
    s.vectorize(s.compute_at(w.square_columns.name, at)[-1])
    magnitudes = s.cache_write(w.magnitudes.name, "register")
    *_, x, ci = s.compute_at(magnitudes, at)
    s.vectorize(ci)
    *_, ci, c = s.compute_at(w.magnitudes.name, x)
    s.reorder(c, ci)
    s.unroll(c)
    s.vectorize(ci)


def _vectors(s: Schedule, loops: Sequence[SSAValue], lanes: int) -> SSAValue:
    """Vectors along the pixels of a row. Returns the loop over them."""
    vectors, lane = s.split(loops[-1], [-1, lanes])
    s.pragma(lane, "masked_lanes")
    s.vectorize(lane)
    return vectors
