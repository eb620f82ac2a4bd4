"""Fetch ahead of time what a schedule has asked for by `te.prefetch`: for each cache line that an iteration of the loop
will read, `offset` iterations later, or will write, a `tir.prefetch` at the start of its body.

Where a loop within is named by `spread`, each of its iterations fetches some of the lines, in order: a cache takes no
more than a few lines at a time, and whoever asks for more has to wait.

Assumes that blocks have been dissolved (`tir-lower-blocks`) and that nothing is a vector yet. Beyond the last
iterations the lines may lie outside of the buffer, which does no harm.

Before:
    tir.for %i = 0 to 8 "C.i" attributes {prefetch = [{tensor = "A", offset = 1 : i64}]} {
      tir.for %j = 0 to 32 "C.j" { %x = tir.load %A[%i, %j] : memref<8x32xf32> ... } }
After:
    tir.for %i = 0 to 8 "C.i" {
      tir.for %l = 0 to 2 "C.i.prefetch" { tir.prefetch %A[%i + 1, %l * 16] locality 3 : memref<8x32xf32> }
      tir.for %j = 0 to 32 "C.j" { %x = tir.load %A[%i, %j] : memref<8x32xf32> ... } }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant, floordiv, mod
from lamina.dialects.schedule.nest.annotations import PREFETCH
from lamina.dialects.schedule.nest.decompose import in_loops
from lamina.dialects.schedule.nest.edits import accesses, function_of, stands_in, unique_axis
from lamina.dialects.schedule.nest.regions import region_of
from lamina.dialects.target import module_target
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, extents_of, type_of
from lamina.dialects.tir.ops import ForOp, enclosing_loops
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

LINE = 64
"""Bytes that one prefetch brings."""
ROUNDS = 4
"""Iterations of a loop of unknown extent in which all lines are fetched, where there are so many. On a Xeon with AMX
and 2 MB of second-level cache a product of 8 rows by weights in memory took 0.68 of the time that it takes without, one
of 128 rows 0.85."""
MOST_UNROLLED = 16
"""Lines in one iteration of a loop up to which they are fetched without a loop of their own."""


@dataclass(frozen=True)
class InjectPrefetchPass(ModulePass):
    name = "tir-inject-prefetch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        fetches = target is None or target.fetches_ahead()
        for loop in [v for v in all_ops(op) if type(v) is ForOp and PREFETCH in v.attributes]:
            with edit.transaction(loop):
                asked = loop.attributes.pop(PREFETCH)
                if not isinstance(asked, ArrayAttr):
                    raise InputError(f"{self.name}: {PREFETCH} of {loop.axis.data!r} is no list", op=loop)
                # What is asked for first is fetched first; where the target has no such instruction it is dropped.
                for entry in reversed(cast("ArrayAttr[Attribute]", asked).data):
                    wanted = _entry(entry, loop)
                    if fetches:
                        _fetch(loop, wanted)


class Asked(NamedTuple):
    """A prefetch that a loop is asked for."""

    tensor: str
    offset: int
    spread: str | None
    """The axis of a loop within that fetches some lines at a time."""
    locality: int
    write: bool


def _entry(entry: Attribute, loop: ForOp) -> Asked:
    fields: Mapping[str, Attribute] = entry.data if isinstance(entry, DictionaryAttr) else {}
    tensor, offset = fields.get("tensor"), fields.get("offset")
    spread, locality = fields.get("spread"), fields.get("locality", IntegerAttr(3, i64))
    if not isinstance(tensor, StringAttr) or not isinstance(offset, IntegerAttr):
        raise InputError(f"tir-inject-prefetch: {entry} names no tensor and offset", op=loop)
    if not isinstance(spread, StringAttr | None) or not isinstance(locality, IntegerAttr):
        raise InputError(f"tir-inject-prefetch: {entry}: spread names a loop, and locality is a number", op=loop)
    within = spread.data if spread is not None else None
    return Asked(tensor.data, offset.value.data, within, locality.value.data, "write" in fields)


def _is_called(buffer: SSAValue, name: str) -> bool:
    """Whether a buffer is that of an argument or stage of this name."""
    if isinstance(buffer.owner, AllocOp):
        return buffer.owner.stage.data == name
    assert isinstance(buffer, BlockArgument)
    return name in (buffer.name_hint, f"arg{buffer.index}")


def _fetch(loop: ForOp, asked: Asked) -> None:
    """Prefetch what an iteration `offset` later reads, or writes. A tensor that it no longer does needs no fetching."""
    kind = StoreOp if asked.write else LoadOp
    scalar = [o for o in accesses(loop) if isinstance(o, kind) and o.lanes is None]
    used = [o for o in scalar if _is_called(o.buffer_value(), asked.tensor)]
    buffer = used[0].buffer_value() if used else None
    if buffer is None or isinstance(buffer.owner, AllocOp) and stands_in(buffer.owner, loop):
        return
    # Of `(i + j) floordiv 2`, where j is 0, it is known where an iteration of i is.
    once: dict[Atom, Linear] = {
        v.var: constant(0) for v in all_ops(loop.body) if type(v) is ForOp and not v.is_dynamic and v.trip == 1
    }
    region = region_of(used, loop, forms_of=lambda access: [form.substitute(once) for form in access.forms()])
    ahead = {loop.var: Linear.dim(loop.var) + asked.offset}
    index = [b.substitute(ahead) for b in region.base]  # type: ignore[arg-type]
    step = max(LINE // itemsize(dtype_name(type_of(buffer).element_type)), 1)
    lines = Lines(index, [], [])
    if asked.spread is not None and is_contiguous(region.extent, extents_of(buffer)):
        # Beyond the end of the last dimension: in memory, the next elements.
        size = prod(extent.const for extent in region.extent)
        lines.counts.append((len(index) - 1, constant(-(-size // step))))
        lines.strides.append(step)
    for d, extent in enumerate(region.extent if not lines.counts else ()):
        if extent != constant(1):
            stride = step if d == len(index) - 1 else 1
            count = floordiv(extent + (stride - 1), stride, RangeCache())
            if count != constant(1):
                lines.counts.append((d, count))
                lines.strides.append(stride)
    path = _loops_between(loop, asked.spread)
    # What is fetched again and again is not to drive others from the first-level cache.
    is_open = bool(path) and path[0].is_dynamic
    locality = min(asked.locality, 2) if is_open else asked.locality
    known = all(c.is_constant and c.const for _, c in lines.counts)
    if is_open and path[0] is not path[-1] and known:
        placed = _by_rounds(loop, path, lines)
    else:
        placed = [_some_in_each(loop, path, lines) if path and not is_open and known else _all_at_once(loop, lines)]
    fetches: dict[tuple[ForOp, Condition | None], list[Operation]] = {}
    for holder, loops, place, condition in reversed(placed):
        new = in_loops(loops, PrefetchOp.make(buffer, place, locality, asked.write))
        inherit_location(new, loop)
        fetches.setdefault((holder, condition), []).append(new)
    for (holder, condition), found in fetches.items():
        first = holder.body.block.first_op
        assert first is not None
        if condition is not None:
            found = [IfOp.make([condition], Block(found))]
            inherit_location(found[0], loop)
        for new in found:
            edit.insert_before(first, new)


def is_contiguous(region: Sequence[Linear], shape: Sequence[Linear]) -> bool:
    """Whether a box of a buffer of a known shape is one piece of memory: whole in all dimensions behind its first."""
    if not all(extent.is_constant for extent in (*region, *shape)):
        return False
    first = next((d for d, extent in enumerate(region) if extent != constant(1)), len(region))
    return list(region[first + 1 :]) == list(shape[first + 1 :])


class Lines(NamedTuple):
    """The lines to fetch: the index of the first; how many there are along dimensions, and how many elements apart."""

    first: list[Linear]
    counts: list[tuple[int, Linear]]
    strides: list[int]

    def place(self, line: Linear) -> list[Linear]:
        """The index of the line of a number, where their counts are constants."""
        found, ranges = list(self.first), RangeCache()
        for n in reversed(range(len(self.counts))):
            (d, count), stride = self.counts[n], self.strides[n]
            found[d] = found[d] + (mod(line, count.const, ranges) if n else line) * stride
            line = floordiv(line, count.const, ranges)
        return found


class Placed(NamedTuple):
    """A place where lines are fetched: at the start of a loop's body, in loops over some of them, under a condition."""

    holder: ForOp
    loops: list[ForOp]
    place: list[Linear]
    condition: Condition | None = None


def _all_at_once(loop: ForOp, lines: Lines) -> Placed:
    """A loop over the lines along each dimension, which belong at the start of an iteration."""
    loops: list[ForOp] = []
    place = list(lines.first)
    for (d, count), stride in zip(lines.counts, lines.strides, strict=True):
        copy = ForOp.upto([count], unique_axis(function_of(loop), f"{loop.axis.data}.prefetch.{d}"), hint="l")
        loops.append(copy)
        place[d] = place[d] + Linear.dim(copy.var) * stride
    return Placed(loop, loops, place)


def _loops_between(loop: ForOp, spread: str | None) -> list[ForOp]:
    """The loops from the one within `loop`, outermost first, to the one of axis `spread`.

    None of them where that one is no more, as after a split, or where one's extent is nothing, or unknown but for that
    of the outermost.
    """
    found = next((v for v in all_ops(loop.body) if type(v) is ForOp and v.axis.data == spread), None)
    return _path_to(found, loop)


def _path_to(found: ForOp | None, loop: ForOp) -> list[ForOp]:
    path: list[ForOp] = []
    parent: Operation | None = found
    while parent is not None and parent is not loop:
        if type(parent) is ForOp:
            path.insert(0, parent)
        parent = parent.parent_op()
    return [] if any(v.is_dynamic for v in path[1:]) or any(v.trip == 0 for v in path) else path


def _number_of(path: Sequence[ForOp]) -> tuple[Linear, int]:
    """The number of an iteration of nested loops, in order, and how many there are."""
    number, iterations = constant(0), 1
    for v in reversed(path):
        number, iterations = number + Linear.dim(v.var) * iterations, iterations * v.trip
    return number, iterations


def _counted(loop: ForOp, count: int, bounds: Sequence[Linear] = ()) -> ForOp:
    """A loop over some lines."""
    axis = unique_axis(function_of(loop), f"{loop.axis.data}.prefetch")
    kind = "unrolled" if count <= MOST_UNROLLED and not bounds else "serial"
    return ForOp.make(count, axis, kind=kind, hint="l", bounds=bounds)


def _some_in_each(loop: ForOp, path: Sequence[ForOp], lines: Lines) -> Placed:
    """The lines shared out among the iterations of nested loops, in order: one line or some to each, or to some.

    Of N iterations the one of number p fetches line `p * L floordiv N` of L, which another may have fetched as well.
    Where it fetches several, these are lines p, N + p, 2 * N + p, ...: as many streams, each of which the hardware
    follows, in pages and rows of memory of their own.
    """
    number, iterations = _number_of(path)
    wanted = prod(count.const for _, count in lines.counts)
    each = -(-wanted // iterations)
    if each == 1:
        common = gcd(wanted, iterations)
        line = floordiv(number * (wanted // common), iterations // common, RangeCache())
        return Placed(path[-1], [], lines.place(line))
    copy = _counted(loop, each)
    return Placed(path[-1], [copy], lines.place(number + Linear.dim(copy.var) * iterations))


def _by_rounds(loop: ForOp, path: Sequence[ForOp], lines: Lines) -> list[Placed]:
    """The lines shared out among the iterations of nested loops, of which the outermost, over rounds, has as many as
    only a run tells.

    The lines are in streams. Of four rounds or more the first four fetch a quarter each, number r of them streams r,
    r + 4, r + 8, ...; of three, two or one each fetches a third, a half or all, so that none is fetched twice, in loops
    that one condition keeps from those with more. What is left of the rounds, in loops of other sizes, fetches all
    where there is no whole one, unless it just reads each element once.
    """
    (rounds,), (within, iterations) = path[:1], _number_of(path[1:])
    wanted = prod(count.const for _, count in lines.counts)
    most = -(-wanted // iterations)
    each = -(-most // MOST_UNROLLED)
    streams = -(-most // each)
    cycle = max(n for n in (1, 2, ROUNDS) if n <= streams)
    some = -(-streams // cycle)
    number, r = rounds.min_bounds(), Linear.dim(rounds.var)
    few = Condition(ROUNDS - 1 - number[0]) if len(number) == 1 and cycle == ROUNDS else None
    placed: list[Placed] = []

    def fetch(
        inner: ForOp, position: Linear, count: int, bounds: Sequence[Linear], stream: Callable[[Linear], Linear]
    ) -> None:
        """Fetch so many streams, by their numbers, or as many as bounds say."""
        several = _counted(loop, count, [bound * count for bound in bounds]) if count > 1 or bounds else None
        copy = _counted(loop, each) if each > 1 else None
        n = Linear.dim(several.var) if several is not None else constant(0)
        line = (stream(n) * iterations + position) * each
        line = line if copy is None else line + Linear.dim(copy.var)
        loops = [v for v in (several, copy) if v is not None]
        placed.append(Placed(inner, loops, lines.place(line), few if bounds and inner is path[-1] else None))

    turn = mod(r, cycle, RangeCache())
    fetch(path[-1], within, some, [], lambda n: turn + n * cycle)
    if len(number) != 1:
        return placed
    if cycle == ROUNDS:
        third = -(-some // 3)
        fetch(path[-1], within, third, [number[0] - 2, 4 - number[0]], lambda n: (r * third + n) * 4 + 3)
        fetch(path[-1], within, some, [3 - number[0]], lambda n: r + 2 + n * 4)
    if cycle > 1:
        odd = streams // 2
        fetch(path[-1], within, odd, [2 - number[0]], lambda n: n * 2 + 1)
    for left in _rests_of(path[-1], loop):
        position, count = _number_of(left[1:])
        if count == iterations and _is_read_again(left[-1], wanted * lines.strides[-1] // iterations):
            fetch(left[-1], position, streams, [1 - number[0]], lambda n: n)
    return placed


def _is_read_again(loop: ForOp, elements: int) -> bool:
    """Whether an iteration, which reads so many elements, does more with them than look at each once."""

    def times(access: Operation) -> int:
        return prod(v.trip for v in enclosing_loops(access) if v is not loop and stands_in(v, loop))

    return any(times(access) > elements for access in accesses(loop))


def _rests_of(inner: ForOp, loop: ForOp) -> list[list[ForOp]]:
    """The paths from a loop to those for what is left of one within, each with an outermost loop of its own."""
    prefix = f"{inner.axis.data}.tail"
    found = [v for v in all_ops(loop.body) if type(v) is ForOp and v.axis.data.startswith(prefix)]
    return [path for path in (_path_to(v, loop) for v in found) if len(path) > 1]
