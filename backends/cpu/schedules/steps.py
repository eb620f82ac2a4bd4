"""Steps that schedules share: the lanes of a stage, its epilogue at the tile, outer loops in parallel, unrolling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs
from lamina.backends.cpu.open_extents import is_open
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.backends.cpu.tiles import Tile, divisor, tile_cycles
from lamina.dialects.choices import Estimate, spelling
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.linear import constant
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr

FEWEST_LANES = 4
"""Lanes of the shortest vectors, of 128 bits: rows of fewer elements are none."""
LONG = 4096
"""Terms from which on a sum is one of several sums: a chain of so many additions loses more than three digits."""


def is_long_sum(stage: Stage) -> bool:
    """Whether a stage adds up floats in a chain that loses digits."""
    combiner = stage.op.combiner
    is_sum = combiner is not None and combiner.data == "sum" and isinstance(stage.element_type, AnyFloat)
    return is_sum and prod(stage.reduced) >= LONG


def vector_lanes(stage: Stage, target: TargetAttr) -> int:
    """Elements in one vector of the stage."""
    return target.lanes(8 * itemsize(dtype_name(stage.element_type)))


def epilogue_of(s: Schedule, stage: Stage, follower: Stage | None) -> str:
    """The stage that takes the accumulators out of the registers: the follower, else a copy."""
    return follower.name if follower is not None else s.cache_write(stage.name, "register")


def place_epilogue(s: Schedule, stage: Stage, follower: Stage | None, name: str, loop: SSAValue) -> list[SSAValue]:
    """Compute the stage `name` at a loop and return its own loops; what a follower reads stays in registers."""
    loops = s.reverse_compute_at(name, loop)
    if follower is not None:
        s.set_scope(stage.name, "register")
    return loops


def parallel(s: Schedule, loops: Sequence[SSAValue]) -> SSAValue:
    """The outer loops as one parallel loop, which is returned.

    One whose extent only a run tells is the first of them, or stays within.
    """
    if any(map(s.is_open, loops)):
        # Loops of one step go from before it. Those further in stay: only what is nested perfectly is fused.
        loops = loops[next(n for n, loop in enumerate(loops) if s.extent.get(loop) != constant(1)) :]
    inner = next((n for n, loop in enumerate(loops) if n and s.is_open(loop)), len(loops))
    fused = s.fuse(*loops[:inner])
    s.parallel(fused)
    return fused


def cut_tail(s: Schedule, loop: SSAValue, extent: int, size: int, pieces: Sequence[int] = ()) -> None:
    """Let the tail of a loop over tiles of `size` be code of its own, where there is one.

    Of an extent that only a run tells it goes in `pieces`, or under its bounds where there are none.
    """
    if extent % size:
        s.partition(loop, pieces if is_open(extent) else ())


def lane_pieces(stage: Stage, dim: int, lanes: int, vectors: int = 1) -> Sequence[int]:
    """The pieces in which elements beyond whole tiles of `vectors` vectors go along a dimension of unknown extent.

    None where all vectors are whole, or lanes read what lies side by side: what there is not is masked. What lies apart
    is read lane by lane, each by a test of its own: there the last elements go in vectors, in fours and one by one.
    """
    variable = stage.op.body.block.args[dim]
    read = [stage.read_forms(r) for r in stage.reads()]
    apart = any(variable in form.dims() for forms in read for form in forms[:-1])
    beside = all(not forms or forms[-1].terms.get(variable, 1) == 1 for forms in read)
    if not is_open(stage.spatial[dim]) or stage.spatial[dim] % lanes == 0 or not apart and beside:
        return ()
    return [n for n in sorted({lanes, FEWEST_LANES, 1}, reverse=True) if n <= lanes and n < lanes * vectors]


def unroll_reduction(s: Schedule, extents: Sequence[int], loops: Sequence[SSAValue], tile: int, costs: Costs) -> None:
    """Unroll the innermost reduction loops while the body stays within its budget."""
    size, most = tile, costs.body_operations
    for extent, loop in zip(reversed(extents), reversed(loops), strict=True):
        if size * extent > most:
            factor = divisor(extent, max(most // size, 1))
            if factor > 1 and size == tile:
                _, inner = s.split(loop, [-1, factor])
                s.unroll(inner)
            return
        s.unroll(loop)
        size *= extent


def unroll_by(s: Schedule, extent: int, loop: SSAValue, most: int, unrolls: bool = True) -> SSAValue | None:
    """Unroll a loop by its largest divisor up to a limit, or only split it. Returns the loop around, if there is.

    A step of an extent that only a run tells is a body of its own: the last steps of more would be one more copy of it.
    """
    if is_open(extent):
        return loop
    factor, around, inner = divisor(extent, most), loop, loop
    if 1 < factor < extent:
        around, inner = s.split(loop, [-1, factor])
    if factor > 1 and unrolls or factor == extent:
        s.unroll(inner)
    return None if factor == extent else around


def unroll_steps(s: Schedule, extent: int, loop: SSAValue, most: int, costs: Costs) -> SSAValue | None:
    """Unroll the reduction of a product as `unroll_by` does; where registers are for one step, only split it."""
    return unroll_by(s, extent, loop, most, not costs.reserve.one_step)


def vector_dim(extents: Sequence[int]) -> int | None:
    """The last dimension that has elements beside each other in memory; None when it is too short for vectors."""
    for d in reversed(range(len(extents))):
        if extents[d] > 1:
            return d if extents[d] >= FEWEST_LANES else None
    return None


def question(what: str, stage: Stage) -> str:
    """The name of a stage's question, the same for all stages of the same work (`lamina.dialects.choices`)."""
    source = "".join(f" of {spelling((*read_shape(data), data.result.type))}" for data in stage.reads()[:1])
    made = spelling((*stage.spatial, stage.element_type))
    return f"{what} {stage.tag} {made} over {spelling(stage.reduced)}{source}"


def expected(
    stage: Stage, width: int, chunks: int, costs: Costs, load_cycles: float = 0.0, group: int = 1
) -> Callable[[Tile], Estimate]:
    """A function that tells what a tile of a stage is expected to take (`tile_cycles`).

    Its rows are `width` pixels of `chunks` vectors; an instruction sums up `group` terms.
    """
    rows = prod(stage.spatial) // (width * chunks * stage.spatial[-1])
    steps, element = rows * prod(stage.reduced) / group, itemsize(dtype_name(stage.element_type))

    def estimate(tile: Tile) -> Estimate:
        read = -(-width // tile.pixels) * chunks * costs.vector_bytes + width * chunks / tile.vectors * element
        return Estimate(tile_cycles(tile, width, costs, load_cycles) * chunks * steps, read * steps)

    return estimate
