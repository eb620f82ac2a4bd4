"""Rows of stages that go through memory once: as long as memory allows, and without a test for each vector.

    for the rest in parallel
      for the copies of what a row repeats
        for the vectors of a row: those whose lanes a condition decides, and the last one, are code of their own

Dimensions that go on alike in all that is read are one row, up to a length at which its end does not matter: 56 x 56
pixels of a channel are 196 vectors, while 56 of them are three and a half. A row that repeats a shorter one is copies
of it, so that no index is a remainder. Padding, or the next of tensors side by side, begins in one vector of a row.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.schedules.places import Places, goes_on, is_divided, places_of
from lamina.backends.cpu.schedules.steps import parallel, vector_dim, vector_lanes
from lamina.backends.cpu.stages import Stage
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr


def schedule_row(s: Schedule, stage: Stage, loops: list[SSAValue], target: TargetAttr) -> None:
    """Vectors over the last dimension, or over the row that it makes with those before it."""
    costs = for_target(target)
    lanes = vector_lanes(stage, target)
    places = places_of(stage)
    last = len(loops) - 1
    while last > 0 and stage.spatial[last] == 1:
        last -= 1
    first = _first_of_row(stage, last, places, target)
    outer = list(loops)
    inner: SSAValue | None = None
    cut: SSAValue | None = None
    extent = prod(stage.spatial[first : last + 1])
    if first < last:
        lanes = target.lanes(8 * itemsize(dtype_name(stage.element_type)))
        outer[first : last + 1] = [s.fuse(*loops[first : last + 1])]
    if first < last or vector_dim(stage.spatial) is not None:
        row = outer[first]
        repeated = _repeated(stage, first, places, lanes) if first == last else None
        if repeated is not None:
            copies, row = s.split(row, [-1, repeated])
            outer[first] = copies
            extent = repeated
        else:
            outer.pop(first)
        if extent > lanes:
            cut, inner = s.split(row, [-1, lanes])
            outer.append(cut)
        else:
            inner = row
        s.reorder(*outer, inner)
    alone = outer == [cut] and target.threads.data == 1 and not stage.producers and not stage.readers
    pieces = _pieces(stage, last, extent % lanes, places, costs) if cut is not None and (alone or len(outer) > 1) else 1
    if outer and not (alone and pieces > 1):
        # One thread cuts a single row; others share it out as it is.
        parallel(s, [v for v in outer if v is not outer[-1]] or outer)
    if cut is not None and pieces > 1:
        s.pragma(cut, "loop_partition_hint", pieces)
    if inner is not None:
        s.vectorize(inner)


def _first_of_row(stage: Stage, last: int, places: Places, target: TargetAttr) -> int:
    """The dimension from which on those to the last one are one row in memory, for all that is read."""
    lanes = target.lanes(8 * itemsize(dtype_name(stage.element_type)))
    costs = for_target(target)
    variables = stage.op.body.block.args
    first = last
    extent = stage.spatial[last]
    if stage.producers or stage.readers or not places.whole:
        return last  # neighbours may share its loops
    while first > 0 and extent % lanes and extent < costs.long_row * lanes:
        pair = (variables[first - 1], variables[first])
        outside = prod(stage.spatial[: first - 1])
        if target.threads.data > 1 and outside < costs.blocks_per_thread * target.threads.data:
            break
        if any(not set(pair).isdisjoint(form.dims()) for form in places.asked):
            break
        if not all(goes_on(place.flat, *pair, stage.spatial[first]) for place in places.reads):
            break
        first -= 1
        extent *= stage.spatial[first]
    return first if extent >= lanes else last


def _repeated(stage: Stage, dim: int, places: Places, lanes: int) -> int | None:
    """The length of what a row repeats: all that is read along it is read at the same remainder."""
    variable = stage.op.body.block.args[dim]
    lengths: set[int] = set()
    for place in places.reads:
        divisions = [a for a in place.flat.terms if isinstance(a, tuple) and variable in a[1].dims()]
        if variable in place.flat.terms or any(a[:2] != ("mod", Linear.dim(variable)) for a in divisions):
            return None
        lengths.update(a[2] for a in divisions)
    if len(lengths) != 1 or any(variable in form.dims() for form in places.asked):
        return None
    (length,) = lengths
    return length if length >= lanes and stage.spatial[dim] % length == 0 else None


def _pieces(stage: Stage, dim: int, tail: int, places: Places, costs: Costs) -> int:
    """The most pieces of a row: each condition, and its end, is met within a vector, with a piece before it."""
    variable = stage.op.body.block.args[dim]
    cuts = [form for form in places.asked if form.terms.get(variable) and not is_divided(form, [variable])]
    if not cuts and not tail:
        return 1
    ops = sum(len(list(s.op.body.block.ops)) for s in stage.within())
    most = costs.costly_row_pieces if stage.calls_functions() else costs.row_pieces
    return min(2 * len(cuts) + 2, most, costs.body_operations // ops)
