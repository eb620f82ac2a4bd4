"""Matrix products: a register tile over the whole reduction, the epilogue fused at the tile.

    for a panel of columns, in parallel
      the panel of the second factor, copied so that it lies as it is read     (constant ones lie so from the start)
      for a tile of rows
        for k: so many vectors of the panel, and for each row a broadcast and as many multiply-adds
        the epilogue of the tile

Few rows of a large second factor are another matter: it is read once, so it should be read as it lies. There sums stay
in memory, and some rows of the factor at a time are added to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.schedules.elementwise import schedule_elementwise
from lamina.backends.cpu.schedules.steps import (
    FEWEST_LANES,
    cut_tail,
    epilogue_of,
    parallel,
    place_epilogue,
    question,
    unroll_steps,
    vector_lanes,
)
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import (
    Tile,
    choose_vectors,
    product_cycles,
    product_tiles,
    registers_of,
    tail_pieces,
    tile_cycles,
)
from lamina.backends.cpu.weights import cache_weights, weight_of
from lamina.dialects.choices import Estimate, Pick, first
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

BY_PANELS, AS_IT_LIES = "panels", "none"
"""Ways to read the second factor where it may be copied: the answers to the question."""
PACKED_TILES = 3
"""Tiles that are candidates where the width is that of the packed weight."""


def is_row_product(stage: Stage) -> bool:
    """Whether one operand is read along the last dimension, element by element (or in packed blocks)."""
    lane = stage.op.body.block.args[len(stage.spatial) - 1]
    reduction = stage.op.body.block.args[len(stage.spatial)]
    if len(stage.reduced) != 1:
        return False
    for read in stage.reads():
        forms = stage.read_forms(read)
        if lane in read.indices:
            return lane in forms[-1].dims() and reduction not in forms[-1].dims()
    return False


def row_stride(stage: Stage) -> int:
    """Bytes between the rows of the operand that is broadcast; 0 where its last dimension is not reduced."""
    reduction = stage.op.body.block.args[len(stage.spatial)]
    for read in stage.reads():
        forms = stage.read_forms(read)
        if forms and reduction in forms[-1].dims():
            return read_shape(read)[-1] * itemsize(dtype_name(read.result.type))
    return 0


class Shape(NamedTuple):
    """A product and the tile for it."""

    rows: int
    columns: int
    depth: int
    lanes: int
    vectors: int
    pixels: int
    weight: tuple[str, int] | None
    """Name and innermost extent of the second factor."""
    is_packed: bool
    """Whether the second factor lies in panels."""

    @property
    def panel(self) -> int:
        return self.vectors * self.lanes

    def factor_bytes(self, stage: Stage) -> int:
        return self.depth * self.columns * itemsize(dtype_name(stage.op.result.type.element_type))


def lanes_of(stage: Stage, target: TargetAttr) -> int:
    """Elements of a stage in a whole vector."""
    return target.lanes(8 * itemsize(dtype_name(stage.element_type)))


def shape_of(stage: Stage, target: TargetAttr, pick: Pick = first) -> Shape:
    """Choose the tile of a product; with more than one row, `pick` takes one of some."""
    costs = for_target(target)
    *outer, columns = stage.spatial
    lanes = min(vector_lanes(stage, target), columns)
    rows = outer[-1] if outer else 1
    depth = stage.reduced[0]
    weight = weight_of(stage)
    is_packed = weight is not None and weight[1] != columns
    is_narrow = columns < lanes_of(stage, target) and target.has_feature("avx512vl")
    if is_narrow and (is_packed or rows > costs.streamed_rows and columns & (columns - 1)):
        # A packed panel is padded, the result is not: lanes beyond it are idle. There is no code for seven lanes.
        lanes = max(1 << (columns - 1).bit_length(), FEWEST_LANES)
    stride = row_stride(stage)
    registers = registers_of(target)
    if is_packed and weight is not None:
        # A panel may be wider than all columns: what is beyond them is nothing that is computed.
        vectors = max(min(weight[1], -(-columns // lanes) * lanes) // lanes, 1)
    elif rows == 1:
        vectors = min(-(-columns // lanes), costs.stream_vectors)
    else:
        vectors = choose_vectors(rows, columns, stride, lanes, registers, 1, padded=False)
    if rows == 1:
        return Shape(rows, columns, depth, lanes, vectors, 1, weight, is_packed)
    tiles = product_tiles(rows, vectors, registers, stride)[:PACKED_TILES]
    if not is_packed:
        # The width of a tile is free: the best tile of each.
        widths = dict.fromkeys((vectors, *range(min(-(-columns // lanes), max(costs.tile_vectors)), 0, -1)))
        tiles = [product_tiles(rows, width, registers, stride)[0] for width in widths]
    chunks, element = -(-columns // lanes), itemsize(dtype_name(stage.element_type))

    def estimate(tile: Tile) -> Estimate:
        if is_packed:
            step = tile_cycles(tile, rows, costs) * chunks
        else:
            step = product_cycles(tile, rows, chunks, costs, padded=False)
        read = -(-rows // tile.pixels) * chunks * costs.vector_bytes + rows * -(-chunks // tile.vectors) * element
        return Estimate(step * depth * prod(outer[:-1]), read * depth * prod(outer[:-1]))

    pixels, vectors = pick(question("tile", stage), tiles, estimate=estimate)
    return Shape(rows, columns, depth, lanes, vectors, pixels, weight, is_packed)


def schedule_matmul(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr, pick: Pick = first) -> None:
    """[..., m, n] over k: tiles of rows by vectors of n, all of k in registers."""
    costs = for_target(target)
    shape = shape_of(stage, target)
    beyond_caches = shape.factor_bytes(stage) > costs.figures.l2_bytes // 4
    if not shape.is_packed and shape.rows <= costs.streamed_rows and beyond_caches:
        schedule_streamed(s, stage, follower, shape, target)
        return
    shape = shape_of(stage, target, pick)
    # What takes long for each element goes through the tile in a loop of its own: unrolled, it is out of registers.
    costly = follower if follower is not None and follower.calls_functions() else None
    follower = None if costly is not None else follower
    out = epilogue_of(s, stage, follower)
    *batch, n, k = s.loops(stage.name)
    m = batch.pop() if len(stage.spatial) > 1 else None
    no, ni, nv = s.split(n, [-1, shape.vectors, shape.lanes])
    if m is not None and shape.pixels > 1:
        mo, mi = s.split(m, [-1, shape.pixels])
        # A last panel is cut off where its loop is no part of another one, whose number only the run tells.
        apart = shape.is_packed and shape.columns % shape.panel != 0 and any(map(is_open, stage.spatial[:-2]))
        around = [no, *batch] if apart else [*batch, no]
        s.reorder(*around, mo, k, mi, ni, nv)
        at = mo
        outer = [no] if apart else around
    else:
        head = [*batch, *([m] if m is not None else [])]
        s.reorder(*head, no, k, ni, nv)
        mi = None
        at = no
        outer = [*head, no] if shape.rows == 1 else head
    out_loops = place_epilogue(s, stage, follower, out, at)
    in_lanes = [nv]
    if costly is not None:
        in_lanes.append(_place_costly(s, costly, at, shape.lanes))
    weight = _copy_panel(s, stage, shape, no, pick, costs)
    loaded = cache_weights(s, stage.name, weight, k, shape.vectors, shape.lanes)
    if _has_last_panel(shape) and no in outer:
        # The last panel is cut off from the loop over panels, which is no part of another one then.
        if prod(stage.spatial[:-2]) > 1:
            outer = outer[:-1]
        else:
            outer = [no] if is_open(shape.columns) else [no := s.fuse(*outer)]
    shared = parallel(s, outer)
    panels = no if is_open(shape.columns) else shared
    is_wide = shape.vectors >= costs.wide_vectors and not shape.is_packed
    steps = unroll_steps(s, shape.depth, k, costs.wide_product_steps if is_wide else costs.product_steps, costs)
    fetched = fetched_panel(stage, shape, weight, costs) if not is_open(shape.depth) else None
    if steps is not None:
        _fetch_ahead(s, shape, (out, at if mi is not None else None), (fetched, panels), steps, costs)
    if mi is not None:
        s.unroll(mi)
        s.unroll(out_loops[-2])
    s.unroll(ni)
    s.vectorize(nv)
    _mask_lanes(s, shape, (*in_lanes, _vectorize_row(s, out_loops[-1], shape), *loaded))
    # Last of all: the tail runs as the loops do by then, and what stands within a tail is cut before it.
    if mi is not None:
        cut_tail(s, at, shape.rows, shape.pixels, tail_pieces(Tile(shape.pixels, shape.vectors), costs))
    if _has_last_panel(shape):
        s.partition(no)


def _fetch_ahead(
    s: Schedule,
    shape: Shape,
    written: tuple[str, SSAValue | None],
    read: tuple[str | None, SSAValue],
    steps: SSAValue,
    costs: Costs,
) -> None:
    """Fetch, during the steps of the reduction, a tile of the result at a loop, and the next panel at another."""
    out, at = written
    if at is not None and shape.depth >= costs.product_steps * shape.pixels * shape.vectors:
        # No more than a line in each body: so many the tile has at its end, which it would wait for.
        s.prefetch(out, at, 0, steps, write=True)
    fetched, panels = read
    if fetched is not None:
        # Little by little, while the rows pass by: all at once it would be waited for.
        s.prefetch(fetched, panels, 1, steps)


def fetched_panel(stage: Stage, shape: Shape, source: tuple[str, int] | None, costs: Costs) -> str | None:
    """The second factor, where its next panel is fetched during this one: it lies in panels, or is copied to `source`.

    With one tile of rows that is for a factor that no second-level cache keeps from one call to the next; with one row
    it is no more than read, and the hardware follows that by itself.
    """
    if shape.weight is None or not shape.rows >= shape.pixels > 1 or shape.columns <= shape.panel:
        return None
    if shape.rows == shape.pixels and shape.factor_bytes(stage) <= costs.figures.l2_bytes // 2:
        return None
    is_copied = source is not None and source[0] != shape.weight[0]
    return shape.weight[0] if shape.is_packed or is_copied else None


def _has_last_panel(shape: Shape) -> bool:
    """Whether the last panel is narrower than the others, which are more."""
    return not shape.is_packed and shape.columns > shape.panel and shape.columns % shape.panel != 0


def _place_costly(s: Schedule, follower: Stage, at: SSAValue, lanes: int) -> SSAValue:
    """Compute what follows a product in a loop of its own after each tile. Returns the loop of its lanes."""
    *_, along = s.reverse_compute_at(follower.name, at)
    _, lane = s.split(along, [-1, lanes])
    s.vectorize(lane)
    return lane


def _mask_lanes(s: Schedule, shape: Shape, loops: Sequence[SSAValue]) -> None:
    """Mask the lanes of vectors beyond the last column, where there are such."""
    if shape.columns < shape.lanes or _has_last_panel(shape) and shape.columns % shape.lanes:
        for loop in loops:
            s.pragma(loop, "masked_lanes")


def _vectorize_row(s: Schedule, loop: SSAValue, shape: Shape) -> SSAValue:
    if shape.vectors > 1:
        over, loop = s.split(loop, [-1, shape.lanes])
        s.unroll(over)
    elif shape.columns < shape.lanes:
        _, loop = s.split(loop, [-1, shape.lanes])
    s.vectorize(loop)
    return loop


def _copy_panel(
    s: Schedule, stage: Stage, shape: Shape, panel: SSAValue, pick: Pick, costs: Costs
) -> tuple[str, int] | None:
    """Copy a panel of the second factor for all the rows, where that pays. Returns what the vectors are read from."""
    if shape.weight is None or shape.is_packed:
        return shape.weight
    name, _ = shape.weight
    size = shape.factor_bytes(stage)
    # As it lies a small one stays in the second-level cache, unless its rows leave it few lines of the first one.
    is_small = size < costs.figures.l2_bytes and size // shape.depth % (costs.figures.l1_period // 2) != 0
    as_it_lies = name, max(shape.columns, shape.panel)
    # A panel of one row lies together as it is: its copy would have no loop over rows.
    if shape.rows < costs.copied_rows or shape.columns <= shape.panel or shape.depth == 1:
        return as_it_lies
    ways = (AS_IT_LIES, BY_PANELS) if is_small else (BY_PANELS, AS_IT_LIES)
    why = "it stays in the second-level cache as it lies" if is_small else "its rows lie too far apart for the caches"
    if pick(question("copy", stage), ways, why=why) == AS_IT_LIES:
        return as_it_lies
    *_, along = s.cache_read(name, stage.name, panel, "global", 2)
    over, lane = s.split(along, [-1, shape.lanes])
    s.unroll(over)
    s.vectorize(lane)
    return f"{name}.global", shape.panel


def schedule_streamed(s: Schedule, stage: Stage, follower: Stage | None, shape: Shape, target: TargetAttr) -> None:
    """[..., m, n] over k, a few rows of the second factor at a time: for k in blocks, for n, for m."""
    steps = min(shape.depth, for_target(target).streams)
    *_, k = s.loops(stage.name)
    ko, _ = s.split(k, [-1, steps])
    part, _ = s.rfactor(stage.name, ko, 0, len(stage.spatial) + 2)
    *batch, n, k = s.loops(stage.name)
    m = batch.pop() if len(stage.spatial) > 1 else None
    no, ni, nv = s.split(n, [-1, shape.vectors, shape.lanes])
    inner = [m, ni, nv] if m is not None else [ni, nv]
    s.reorder(*batch, k, no, *inner)
    s.decompose_reduction(stage.name, k)
    *part_rows, part_n, part_k = s.compute_at(part, no)
    s.set_scope(part, "register")
    over, lane = s.split(part_n, [-1, shape.lanes])
    s.reorder(part_k, *part_rows[-1:], over, lane)
    for loop in (part_k, *part_rows[-1:], over, *inner[:-1]):
        s.unroll(loop)
    s.vectorize(lane)
    s.vectorize(nv)
    if batch:
        parallel(s, batch)
    if shape.depth % steps:
        # The last rows, which are fewer, have a body of their own.
        s.partition(k)
    if _has_last_panel(shape):
        s.partition(no)
    if follower is not None:
        schedule_elementwise(s, follower, target)
