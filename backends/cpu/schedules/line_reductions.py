"""Reductions of what lies side by side in memory: each row in as many partial results as a vector has lanes.

for a row, in parallel
  its partial results, one for each lane, then those combined
  what follows from the result
"""

from __future__ import annotations

from lamina.backends.cpu.schedules.row_reductions import place_reduction, reduce_in_lanes
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
    """Whether a stage reduces one axis, along which its one tensor lies side by side."""
    reads = stage.reads()
    dtype = dtype_name(stage.element_type)
    if len(stage.reduced) != 1 or not stage.spatial or len(reads) != 1 or len(stage.op.tensors) != 1:
        return False
    if dtype not in DTYPES or stage.reduced[0] < LEAST_VECTORS * target.lanes(8 * itemsize(dtype)):
        return False
    (read,) = reads
    along = stage.op.body.block.args[len(stage.spatial)]
    *others, last = stage.read_forms(read)
    return read.guard is None and last == Linear.dim(along) and not any(along in form.dims() for form in others)


def schedule_line_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Rows in parallel, each in the lanes of vectors."""
    lanes = target.lanes(8 * itemsize(dtype_name(stage.element_type)))
    out = epilogue_of(s, stage, follower)
    partial = reduce_in_lanes(s, stage, lanes)
    rows = s.loops(out)
    place_reduction(s, stage, partial, rows[-1])
    parallel(s, rows)
