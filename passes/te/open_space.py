"""Open schedules into spaces: what they say of factors, unrolling, tails and prefetching becomes a knob.

Before:
    te.schedule @f {
      %i, %j = te.loops "C" [2]
      %jo, %ji = te.split %j [-1, 14]
      te.unroll %ji
      te.partition %jo }
After:
    te.schedule @f {
      %i, %j = te.loops "C" [2]
      %v = te.sample_categorical [4, 6, 7, 8, 12, 14, 16, 24, 28, 32, 48, 56] knob "j_1" decision 5
      %jo, %ji = te.split %j [-1, %v]
      te.sample_annotation %ji ["none", "unroll"] knob "ji" decision 1
      te.choose knob "jo_partition" decision 0 {
        te.partition %jo
      } {
      } }

The decisions that there are become the defaults: applied as it stands, a space is the schedule that it was. So every
schedule can be searched around, the defaults of a target as well as one that a person has written. Numbers that are
drawn already, and vectors' lanes but for half and twice as many, stay as they are; and so do unrolled loops over what
is in registers, which would be memory where a loop runs over it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects import edit
from lamina.dialects.schedule.factors import SAMPLED
from lamina.dialects.schedule.nest.edits import accesses
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.primitives.choose import ChooseOp
from lamina.dialects.schedule.primitives.partition import PartitionOp
from lamina.dialects.schedule.primitives.prefetch import PrefetchOp
from lamina.dialects.schedule.primitives.sample_annotation import SampleAnnotationOp
from lamina.dialects.schedule.primitives.sample_categorical import SampleCategoricalOp
from lamina.dialects.schedule.primitives.split import SplitOp
from lamina.dialects.schedule.primitives.unroll import UnrollOp
from lamina.dialects.schedule.primitives.vectorize import VectorizeOp
from lamina.dialects.schedule.sampling import SamplingBase
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.tir.memory import AllocOp
from lamina.dialects.tir.ops import ForOp
from lamina.errors import LaminaError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.te_to_tir.te_to_tir import apply_schedules

FACTORS = tuple(sorted({m * 2**k for m in (1, 3, 5, 7) for k in range(13)}))
"""Factors that are tried: small odd ones and their doubles, which divide most extents and fill most register files."""
AROUND = 4
"""A factor is tried up to so many times larger or smaller."""


@dataclass(frozen=True)
class OpenSpacePass(ModulePass):
    """Opens schedules into spaces."""

    name = "te-open-space"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fixed = _over_registers(op, ctx)
        for schedule in [s for s in op.ops if isinstance(s, ScheduleOp)]:
            taken = {p.knob.data for p in schedule.body.walk() if isinstance(p, SamplingBase) and p.knob is not None}
            for primitive in list(schedule.body.block.ops):
                if isinstance(primitive, SplitOp):
                    _open_split(primitive, taken)
                elif isinstance(primitive, UnrollOp) and primitive not in fixed:
                    knob = _knob(primitive.loop, "", taken)
                    _replaced(primitive, SampleAnnotationOp.make(primitive.loop, ["none", "unroll"], 1, knob))
                elif isinstance(primitive, (PartitionOp, PrefetchOp)):
                    _open_choice(primitive, taken)


def _over_registers(module: ModuleOp, ctx: Context) -> set[UnrollOp]:
    """The te.unroll of a module whose loops index what is in registers, as far as its schedules can be applied."""
    functions = {f.sym_name.data for f in module.ops if isinstance(f, FuncOp)}
    mine = [s for s in module.ops if isinstance(s, ScheduleOp) and s.func.root_reference.data in functions]
    copy = module.clone()
    for schedule in [s for s in copy.ops if isinstance(s, ScheduleOp)]:
        if schedule.func.root_reference.data not in functions:
            edit.erase(schedule)
    copies = [s for s in copy.ops if isinstance(s, ScheduleOp)]
    try:
        with edit.counted_elsewhere():
            _, states = apply_schedules(copy, ctx)
    except LaminaError:
        return set()
    found: set[UnrollOp] = set()
    for one, other in zip(mine, copies, strict=True):
        loops = states[one.func.root_reference.data].loops
        for a, b in zip(one.body.walk(), other.body.walk(), strict=True):
            loop = loops.get(b.loop) if isinstance(b, UnrollOp) else None
            if isinstance(a, UnrollOp) and loop is not None and _indexes_registers(loop):
                found.add(a)
    return found


def _indexes_registers(loop: ForOp) -> bool:
    buffers = ((a, a.buffer_value().owner) for a in accesses(loop))
    return any(
        isinstance(home, AllocOp) and home.scope.data == "register" and any(loop.var in f.dims() for f in a.forms())
        for a, home in buffers
    )


def _knob(value: SSAValue, ending: str, taken: set[str]) -> str:
    """A name for a knob that no other has, after a handle."""
    stem = found = f"{value.name_hint or 'loop'}{ending}"
    count = 1
    while found in taken:
        count += 1
        found = f"{stem}.{count}"
    taken.add(found)
    return found


def _replaced(old: Operation, new: Operation) -> None:
    """Put an op in the place of another one with the same results."""
    inherit_location(new, old)
    for a, b in zip(old.results, new.results, strict=True):
        b.name_hint = a.name_hint
    edit.replace(old, new)


def _open_split(split: SplitOp, taken: set[str]) -> None:
    """Let the factors of a split that are numbers be drawn; the one that is inferred follows from them."""
    numbers = [int(f) for f in split.factors.get_values()]
    if -1 not in numbers:
        return  # their product is the extent: none can change alone
    drawn = iter(split.sampled)
    factors: list[int | SSAValue] = []
    for n, number in enumerate(numbers):
        if number == SAMPLED:
            factors.append(next(drawn))
            continue
        candidates = _lanes(number) if _is_vectorized(split.parts[n]) else _factors(number)
        if number == -1 or len(candidates) < 2:
            factors.append(number)
            continue
        sample = SampleCategoricalOp.make(candidates, (), candidates.index(number), _knob(split.loop, f"_{n}", taken))
        inherit_location(sample, split)
        sample.result.name_hint = "v"
        edit.insert_before(split, sample)
        factors.append(sample.result)
    if list(split.sampled) != [f for f in factors if isinstance(f, SSAValue)]:
        _replaced(split, SplitOp.make(split.loop, factors))


def _is_vectorized(part: SSAValue) -> bool:
    return any(isinstance(use.operation, VectorizeOp) for use in part.uses)


def _lanes(number: int) -> list[int]:
    return sorted({max(number // 2, 1), number, 2 * number})


def _factors(number: int) -> list[int]:
    """A factor and those around it."""
    return (
        sorted({number, *(f for f in FACTORS if number <= f * AROUND and f <= number * AROUND)}) if number > 0 else []
    )


def _open_choice(primitive: Operation, taken: set[str]) -> None:
    """Let a primitive be left out."""
    knob = _knob(primitive.operands[0], f"_{primitive.name.removeprefix('te.')}", taken)
    choice = ChooseOp.make([Region(Block()), Region(Block())], 0, knob)
    inherit_location(choice, primitive)
    edit.insert_before(primitive, choice)
    edit.move_into(choice.pieces[0].block, [primitive])
