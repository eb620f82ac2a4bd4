"""Elementwise stages and data movement: vectors over the last dimension, the rest in parallel."""

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
