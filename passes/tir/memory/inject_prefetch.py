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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Atom, Linear, constant, floordiv, mod
from lamina.dialects.schedule.nest.annotations import PREFETCH
from lamina.dialects.schedule.nest.decompose import in_loops
from lamina.dialects.schedule.nest.edits import accesses, function_of, stands_in, unique_axis
from lamina.dialects.schedule.nest.regions import region_of
from lamina.dialects.target import module_target
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, extents_of, type_of
from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

LINE = 64
"""Bytes that one prefetch brings."""
MOST_ROUNDS = 8
"""Iterations of a loop of unknown extent in which all lines are fetched."""
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
    holder, loops = _some_in_each(loop, path, lines) if path else _all_at_once(loop, lines)
    # What is fetched again and again is not to drive others from the first-level cache.
    locality = min(asked.locality, 2) if path and path[0].is_dynamic else asked.locality
    new = in_loops(loops, PrefetchOp.make(buffer, lines.place, locality, asked.write))
    inherit_location(new, loop)
    first = holder.body.block.first_op
    assert first is not None
    edit.insert_before(first, new)


def is_contiguous(region: Sequence[Linear], shape: Sequence[Linear]) -> bool:
    """Whether a box of a buffer of a known shape is one piece of memory: whole in all dimensions behind its first."""
    if not all(extent.is_constant for extent in (*region, *shape)):
        return False
    first = next((d for d, extent in enumerate(region) if extent != constant(1)), len(region))
    return list(region[first + 1 :]) == list(shape[first + 1 :])


class Lines(NamedTuple):
    """The lines to fetch: the index of the first; how many there are along dimensions, and how many elements apart."""

    place: list[Linear]
    counts: list[tuple[int, Linear]]
    strides: list[int]


def _all_at_once(loop: ForOp, lines: Lines) -> tuple[ForOp, list[ForOp]]:
    """A loop over the lines along each dimension, which belong at the start of an iteration."""
    loops: list[ForOp] = []
    for (d, count), stride in zip(lines.counts, lines.strides, strict=True):
        copy = ForOp.upto([count], unique_axis(function_of(loop), f"{loop.axis.data}.prefetch.{d}"), hint="l")
        loops.append(copy)
        lines.place[d] = lines.place[d] + Linear.dim(copy.var) * stride
    return loop, loops


def _loops_between(loop: ForOp, spread: str | None) -> list[ForOp]:
    """The loops from the one within `loop`, outermost first, to the one of axis `spread`.

    None of them where that one is no more, as after a split, or where one's extent is nothing, or unknown but for that
    of the outermost.
    """
    found = next((v for v in all_ops(loop.body) if type(v) is ForOp and v.axis.data == spread), None)
    path: list[ForOp] = []
    parent: Operation | None = found
    while parent is not None and parent is not loop:
        if type(parent) is ForOp:
            path.insert(0, parent)
        parent = parent.parent_op()
    return [] if any(v.is_dynamic for v in path[1:]) or any(v.trip == 0 for v in path) else path


def _some_in_each(loop: ForOp, path: Sequence[ForOp], lines: Lines) -> tuple[ForOp, list[ForOp]]:
    """The lines shared out among the iterations of nested loops, in order: one line or some to each, or to some.

    Of N iterations the one of number p fetches line `p * L floordiv N` of L, which another may have fetched as well.
    Where an outer loop has an unknown number of iterations, all lines are fetched in the first few, and once more in
    those that follow.
    """
    inner = path[-1]
    if path[0] is inner and inner.is_dynamic or not all(c.is_constant and c.const for _, c in lines.counts):
        return _all_at_once(loop, lines)
    number, iterations = constant(0), 1
    for v in reversed(path):
        number, iterations = number + Linear.dim(v.var) * iterations, iterations * (1 if v.is_dynamic else v.trip)
    wanted = prod(count.const for _, count in lines.counts)
    is_open = path[0].is_dynamic
    each = -(-wanted // (iterations * MOST_ROUNDS if is_open else iterations))
    ranges = RangeCache()
    loops: list[ForOp] = []
    if each == 1:
        # Of unknown iterations a line in each, unless there are fewer lines than iterations of the loops within.
        times, parts = (1, 1) if is_open and wanted >= iterations else (wanted, iterations)
        common = gcd(times, parts)
        line = floordiv(number * (times // common), parts // common, ranges)
    else:
        axis = unique_axis(function_of(loop), f"{loop.axis.data}.prefetch")
        copy = ForOp.make(each, axis, kind="unrolled" if each <= MOST_UNROLLED else "serial", hint="l")
        loops.append(copy)
        line = number * each + Linear.dim(copy.var)
    if is_open:
        line = mod(line, wanted, ranges)
    for n in reversed(range(len(lines.counts))):
        (d, count), stride = lines.counts[n], lines.strides[n]
        lines.place[d] = lines.place[d] + (mod(line, count.const, ranges) if n else line) * stride
        line = floordiv(line, count.const, ranges)
    return inner, loops
