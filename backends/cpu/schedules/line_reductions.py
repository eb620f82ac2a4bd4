"""Reductions of what lies side by side in memory, along an axis or several: each row in the lanes of vectors.

for a row, in parallel
  its partial results, one for each lane, then those combined
  what follows from the result
"""

from __future__ import annotations

from math import prod

from lamina.backends.cpu.schedules.row_reductions import counts_through, place_reduction, reads_along, reduce_in_lanes
from lamina.backends.cpu.schedules.steps import epilogue_of, parallel
from lamina.backends.cpu.stages import Stage
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.linear import Linear
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scheduling import Schedule

LEAST_VECTORS = 2
"""Vectors of a row from which on lanes of their own are worth combining."""
DTYPES = ("float32", "float64", "int32", "int64")


def is_line_reduction(stage: Stage, target: TargetAttr) -> bool:
    """Whether a stage reduces the axes, one or several, along which its one tensor lies side by side."""
    reads = stage.reads()
    dtype = dtype_name(stage.element_type)
    if not stage.reduced or not stage.spatial or len(reads) != 1 or len(stage.op.tensors) != 1:
        return False
    if dtype not in DTYPES or prod(stage.reduced) < LEAST_VECTORS * target.lanes(8 * itemsize(dtype)):
        return False
    (read,) = reads
    along = stage.op.body.block.args[len(stage.spatial) :]
    last = stage.read_forms(read)[-1:]
    if read.guard is not None or last != [Linear.dim(along[-1])] or not reads_along(stage, read, along):
        return False
    return len(along) == 1 or counts_through(stage, len(along))


def schedule_line_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Rows in parallel, each in the lanes of vectors."""
    lanes = target.lanes(8 * itemsize(dtype_name(stage.element_type)))
    out = epilogue_of(s, stage, follower)
    partial = reduce_in_lanes(s, stage, lanes)
    rows = s.loops(out)
    place_reduction(s, stage, partial, rows[-1])
    parallel(s, rows)
