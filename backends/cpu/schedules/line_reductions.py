"""Reductions of what lies side by side in memory, along an axis or several: each row in the lanes of vectors.

for a row, in parallel
  its partial results, one for each lane, then those combined
  what follows from the result

A row may lie in pieces, as a channel of several images does: its lanes go on from one to the next.

Products of few rows with rows, as queries with keys, are such reductions too: a row of the second factor is read once
for some rows of the first one. Of many rows the second factor is better transposed (`cpu-transpose-factors`).
"""

from __future__ import annotations

from math import prod

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.open_extents import has_open, is_open
from lamina.backends.cpu.schedules.row_reductions import counts_through, place_reduction, reads_along, reduce_in_lanes
from lamina.backends.cpu.schedules.steps import cut_tail, epilogue_of, parallel
from lamina.backends.cpu.stages import Stage
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

DTYPES = ("bool", "float32", "float64", *(f"{s}int{n}" for s in ("", "u") for n in (8, 16, 32, 64)))


def is_line_reduction(stage: Stage, target: TargetAttr) -> bool:
    """Whether a stage reduces axes, the last ones at least, along which what it reads lies side by side.

    Of several tensors each lies so, with elements of its own for each result, or has one element for a whole row.
    """
    return _pieces(stage, target) is not None


def _pieces(stage: Stage, target: TargetAttr) -> int | None:
    """The number of leading reduced axes that count the pieces of a row; None where there are no rows."""
    if dtype_name(stage.element_type) not in DTYPES:
        return None
    return next((n for n in range(len(stage.reduced)) if _lies_along(stage, n, target)), None)


def _lies_along(stage: Stage, apart: int, target: TargetAttr) -> bool:
    """Whether what is read lies side by side along the reduced axes behind the first `apart`."""
    if has_open(stage.reduced[apart + 1 :]):
        return False  # what is counted through as one has inner dimensions that are numbers
    if prod(stage.reduced[apart:]) < for_target(target).line_vectors * _lanes(stage, apart, target):
        return False
    reads = stage.reads()
    rank = len(stage.spatial)
    rows, along = stage.op.body.block.args[:rank], stage.op.body.block.args[rank + apart :]
    own = [dim for dim, extent in zip(rows, stage.spatial, strict=True) if extent > 1]
    lines, has_own = 0, False
    for read in reads:
        forms = stage.read_forms(read)
        if read.guard is not None or not reads_along(stage, read, along):
            return False
        if not any(d in form.dims() for form in forms for d in along):
            continue
        if forms[-1:] != [Linear.dim(along[-1])]:
            return False
        has_own = has_own or all(any(dim in form.dims() for form in forms) for dim in own)
        lines += 1
    if not has_own and len(reads) > 1:
        return False  # what several results share is to be read once for all of them
    return lines > 0 and (len(along) == 1 or counts_through(stage, len(along)))


def _lanes(stage: Stage, apart: int, target: TargetAttr) -> int:
    """Lanes of a row: those of a whole vector, or of a part of one for a short row of 8 or 16 bits.

    Elements that lie apart are gathered where they have 32 bits or 64. Smaller ones would be read one by one: a row of
    few of them is better read as it lies.
    """
    costs, size = for_target(target), itemsize(dtype_name(stage.element_type))
    lanes, row = target.lanes(8 * size), prod(stage.reduced[apart:])
    while size < costs.gathered_bytes and lanes * size > costs.least_vector_bytes and row < costs.line_vectors * lanes:
        lanes //= 2
    return lanes


def is_line_product(stage: Stage, target: TargetAttr) -> bool:
    """Whether a stage multiplies few rows, or nobody knows how many, with rows of another factor.

    Both lie along the sum; all dimensions but the last two are of both.
    """
    rank, lanes = len(stage.spatial), _lanes(stage, 0, target)
    costs, reads = for_target(target), stage.reads()
    if dtype_name(stage.element_type) not in ("float32", "float64") or len(stage.reduced) != 1 or len(reads) != 2:
        return False
    if has_open(stage.reduced) or rank < 2:
        return False
    rows, columns = stage.spatial[-2:]
    # Rows beyond those that go together read the second factor once more, and a last vector that is not whole as well.
    # Sums of a few vectors are combined for longer than they take: as fast is a tile that gathers what lies transposed.
    most = costs.rows_together * (1 if stage.reduced[0] % lanes else 2)
    least = costs.line_vectors * lanes * (1 if is_open(rows) else 2)
    if not (is_open(rows) or 1 < rows <= most) or columns == 1 or stage.reduced[0] < least:
        return False
    along = stage.op.body.block.args[rank]
    lacks: list[int] = []
    for read in reads:
        forms = stage.read_forms(read)
        if read.guard is not None or not reads_along(stage, read, [along]) or forms[-1:] != [Linear.dim(along)]:
            return False
        used = {d for form in forms for d in form.dims()}
        dims = zip(stage.op.body.block.args, stage.spatial, strict=False)
        lacks += [n for n, (dim, extent) in enumerate(dims) if extent != 1 and dim not in used]
    return sorted(lacks) == [rank - 2, rank - 1]


def schedule_line_product(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Some rows at a time with one row of the other factor; each sum goes in lanes."""
    costs, rank = for_target(target), len(stage.spatial)
    out = epilogue_of(s, stage, follower)
    partial = reduce_in_lanes(s, stage, _lanes(stage, 0, target), costs, unrolls=True)
    *batch, m, n = s.loops(out)
    blocks, row = s.split(m, [-1, costs.rows_together])
    matrices = prod(stage.spatial[:-2]) > 1
    s.reorder(*batch, *((blocks, n) if matrices else (n, blocks)), row)
    place_reduction(s, stage, partial, n if matrices else blocks, rank - 2)
    s.unroll(row)
    parallel(s, batch if matrices else [*batch, n])
    cut_tail(s, blocks, stage.spatial[-2], costs.rows_together, [1])


def schedule_line_reduction(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Rows in parallel, each in the lanes of vectors."""
    out = epilogue_of(s, stage, follower)
    apart = _pieces(stage, target) or 0
    partial = reduce_in_lanes(s, stage, _lanes(stage, apart, target), for_target(target), apart, unrolls=True)
    rows = s.loops(out)
    place_reduction(s, stage, partial, rows[-1] if rows else None)
    if rows:
        parallel(s, rows)
