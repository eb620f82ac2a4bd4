"""Elementwise stages and data movement: vectors over the last dimension, the rest in parallel.

Where vectors would take lanes that lie apart while another dimension walks along the memory that is read (a transpose,
a change of layout), the loop of that dimension goes around the vectors, in tiles: `tir-transpose-tiles` reads whole
rows there.

    for the rest in parallel: for the tiles: for the rows of a tile: a vector

A last dimension of a few elements, channels beside each other that lie far apart in what is read, is left to single
stores: the vectors then go along the dimension before it, as the reads do.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.schedules.places import goes_on, places_of
from lamina.backends.cpu.schedules.rows import schedule_row
from lamina.backends.cpu.schedules.steps import cut_tail, parallel, vector_dim, vector_lanes
from lamina.backends.cpu.stages import Stage
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr
from lamina.passes.tir.loops.transpose_tiles import ELEMENT, LEAST


def schedule_elementwise(s: Schedule, stage: Stage, target: TargetAttr) -> None:
    """Schedule a stage without reductions: vectors along the last dimension, or tiles, the rest in parallel.

    A stage of rank 0 is left as it is.
    """
    lanes = vector_lanes(stage, target)
    loops = s.loops(stage.name)
    if not loops:
        return
    if interleaves(stage, target.lanes(32)):
        _schedule_interleaved(s, stage, loops, target.lanes(32))
        return
    vector = vector_dim(stage.spatial)
    along = None if vector is None else walking_dim(stage, vector)
    if vector is not None and along is not None:
        _schedule_tiles(s, stage, loops, (along, vector), lanes, for_target(target).long_row * lanes)
        return
    schedule_row(s, stage, loops, target)


def _schedule_tiles(
    s: Schedule, stage: Stage, loops: list[SSAValue], dims: tuple[int, int], lanes: int, long: int
) -> None:
    """Tiles of two dimensions: one that walks along what is read, one along what is written.

    Where the rows of an image are no whole tiles, and not `long`, its pixels are counted through.
    """
    along, vector = dims
    outer: dict[int, SSAValue] = dict(enumerate(loops))
    extents = dict(enumerate(stage.spatial))
    for dim in (vector, along):
        if dim - 1 in outer and dim - 1 not in dims and _counted_through(stage, dim, extents[dim], lanes, long):
            outer[dim] = s.fuse(outer.pop(dim - 1), outer[dim])
            extents[dim] *= extents.pop(dim - 1)
    columns = outer.pop(vector)
    rows = outer.pop(along)
    ends: SSAValue | None = None
    group, row, lane, far = None, rows, columns, list[SSAValue]()
    if extents[vector] > lanes:
        around, lane = s.split(columns, [-1, lanes])
        far, ends = [around], around if extents[vector] % lanes else None
    # Where a vector is a whole row the pass divides a loop over a known number of rows itself.
    if extents[along] > lanes and (far or is_open(extents[along])):
        group, row = s.split(rows, [-1, lanes])
        outer[along] = group
    s.reorder(*outer.values(), *far, row, lane)
    shared = list(outer.values())
    if outer:
        parallel(s, shared)
    s.vectorize(lane)
    if ends is not None:
        s.partition(ends)
    if group is not None and is_open(extents[along]) and (shared == [group] or group is not shared[0]):
        cut_tail(s, group, extents[along], lanes)


def _counted_through(stage: Stage, dim: int, extent: int, lanes: int, long: int) -> bool:
    """Whether a dimension is better one with the one before: few and no whole tiles, and memory goes on alike."""
    if extent % lanes == 0 or extent >= long or is_open(extent):
        return False
    before, here = (stage.op.body.block.args[d] for d in (dim - 1, dim))
    places = places_of(stage)
    return not places.asked and all(goes_on(place.flat, before, here, extent) for place in places.reads)


def walking_dim(stage: Stage, vector: int) -> int | None:
    """The dimension along which neighbours are read, where the vectors' dimension reads what lies apart; None for none.

    A value that all lanes share, a channel's, is no row of a tile.
    """
    if itemsize(dtype_name(stage.element_type)) != ELEMENT:
        return None
    variables: list[Atom] = list(stage.op.body.block.args)
    for last, place in places_of(stage).reads:
        if variables[vector] not in place.dims():
            continue
        found = [d for d, v in enumerate(variables) if _is_step(last, v)]
        if len(found) == 1 and found[0] != vector and stage.spatial[found[0]] >= LEAST:
            return found[0]
    return None


def _is_step(form: Linear, variable: Atom) -> bool:
    """Whether an index goes on by one where a variable does, at least mostly: within a remainder, too."""
    return form.terms.get(variable) == 1 or any(
        coefficient == 1 and isinstance(atom, tuple) and atom[0] == "mod" and atom[1].terms.get(variable) == 1
        for atom, coefficient in form.terms.items()
    )


FEW = 4
"""Elements of a last dimension that fill no vector."""


def interleaves(stage: Stage, lanes: int) -> bool:
    """Whether the stage reads along its last but one dimension what it stores along a last one of a few elements."""
    if len(stage.spatial) < 2 or not 1 < stage.spatial[-1] <= FEW or stage.spatial[-2] < lanes or not stage.reads():
        return False
    dims = stage.op.body.block.args
    column, few = dims[len(stage.spatial) - 2], dims[len(stage.spatial) - 1]
    for read in stage.reads():
        forms = stage.read_forms(read)
        if forms and (forms[-1].terms.get(column) != 1 or few in forms[-1].terms):
            return False
    return True


def _schedule_interleaved(s: Schedule, stage: Stage, loops: list[SSAValue], lanes: int) -> None:
    """Vectors along the last but one dimension; the last one is unrolled around them."""
    *outer, column, few = loops
    xo, xi = s.split(column, [-1, lanes])
    s.reorder(*outer, xo, few, xi)
    if outer:
        parallel(s, outer)
    s.unroll(few)
    s.vectorize(xi)
    if stage.spatial[-2] % lanes:
        s.partition(xo)
