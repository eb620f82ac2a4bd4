"""Elementwise stages and data movement: vectors over the last dimension, the rest in parallel.

A last dimension of a few elements, channels beside each other that lie far apart in what is read, is left to single
stores: the vectors then go along the dimension before it, as the reads do.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from lamina.backends.cpu.schedules.steps import parallel, vector_dim, vector_lanes
from lamina.backends.cpu.stages import Stage
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule


def schedule_elementwise(s: Schedule, stage: Stage, target: TargetAttr) -> None:
    lanes = vector_lanes(stage, target)
    loops = s.loops(stage.name)
    if not loops:
        return
    if interleaves(stage, target.lanes(32)):
        _schedule_interleaved(s, stage, loops, target.lanes(32))
        return
    vector = vector_dim(stage.spatial)
    outer = list(loops)
    inner: SSAValue | None = None
    if vector is not None:
        extent = stage.spatial[vector]
        if extent > lanes:
            outer[vector], inner = s.split(loops[vector], [-1, lanes])
        else:
            inner = outer.pop(vector)
        s.reorder(*outer, inner)
    if outer:
        parallel(s, [v for v in outer if v is not outer[-1]] or outer)
    if inner is not None:
        s.vectorize(inner)


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
