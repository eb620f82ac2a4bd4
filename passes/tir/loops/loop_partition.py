"""Cut loops where conditions in them change, so that each piece needs no test.

A condition of a `tir.if`, of an access's guard or of an inner loop's tail that depends on a loop's variable alone among
the variables inside holds from some iteration on, or up to some. The loop is cut there: in the middle piece all of
them hold, and prologue and epilogue have what is left. A piece without iterations does not exist. Cut are loops with
the pragma `loop_partition_hint`, and with `all` every serial loop; at most `max-pieces` pieces are made of one. Where
the pragma says that there may be more, the loop is also cut where a condition changes for some iterations inside.

A loop over tiles whose number only a run tells is cut behind the whole ones: what is left is one more iteration.

Assumes `tir-lower-blocks`; an inner loop's tail that other inner loops decide too stays a tail.

Before:
    tir.for %i = 0 to 8 "y.i" attributes {pragma_loop_partition_hint = 1 : i64} {
      tir.if [%i - 2 >= 0, 6 - %i >= 0] { %x = tir.load %X[%i - 2] ... } }
After:
    tir.for %i = 0 to 5 "y.i.main" { %x = tir.load %X[%i] ... }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.nest.annotations import PRAGMA, pragma_of
from lamina.dialects.schedule.nest.edits import dissolve, function_of, substitute_in, unique_axis
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.remainders import partition_open
from lamina.dialects.schedule.nest.tails import resolve_bounds
from lamina.dialects.tir.memory import AccessOp
from lamina.dialects.tir.ops import ForOp, FuncOp, IfOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass
from lamina.passes.tir.threads.phases import explicit_indices

HINT = "loop_partition_hint"


@dataclass(frozen=True)
class LoopPartitionPass(ModulePass):
    name = "tir-loop-partition"

    all: bool = False
    max_pieces: int = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_pieces < 1:
            raise InputError(f"{self.name}: max-pieces is {self.max_pieces}; a loop is at least one piece")
        for func in [f for f in all_ops(op) if isinstance(f, FuncOp)]:
            explicit_indices(func)
        # Outer loops first: their pieces decide what inner loops still have to.
        waiting: list[Operation] = [op]
        while waiting:
            for region in waiting.pop().regions:
                for block in region.blocks:
                    for inner in list(block.ops):
                        waiting += self.pieces(inner) if isinstance(inner, ForOp) else [inner]

    def pieces(self, loop: ForOp) -> list[ForOp]:
        asked = pragma_of(loop, HINT)
        if asked is not None:
            edit.change(loop)
            del loop.attributes[PRAGMA + HINT]
        wanted = self.all if asked is None else bool(asked)
        if not wanted or loop.kind.data not in ("serial", "unrolled"):
            return [loop]
        if loop.is_dynamic:
            return _whole_tiles(loop)
        if loop.bounds:
            return [loop]
        most = max(self.max_pieces, asked or 0)
        cuts = cut_points(loop, every=most > self.max_pieces)
        # The middle piece is the longest; the cuts that are farthest from it are given up first.
        while len(cuts) >= most:
            ends = [0, *cuts, loop.trip]
            lengths = [b - a for a, b in zip(ends, ends[1:], strict=False)]
            longest = lengths.index(max(lengths))
            cuts.pop(0 if longest > len(cuts) - longest else -1)
        if not cuts:
            return [loop]
        with edit.transaction(loop):
            return partition_at(loop, cuts)


def _whole_tiles(loop: ForOp) -> list[ForOp]:
    """A loop over tiles whose number only a run tells: the whole ones, and what is left of them. Others stay."""
    try:
        with edit.transaction(loop):
            return partition_open(loop, ())
    except ScheduleError:
        return [loop]


def cut_points(loop: ForOp, every: bool = False) -> list[int]:
    """The iterations at which a condition in a loop changes, ascending; with `every`, for some inside too."""
    found: set[int] = set()
    inside: set[SSAValue] = {v for op in all_ops(loop.body) for r in op.regions for b in r.blocks for v in b.args}
    inside.update(v for op in all_ops(loop.body) for v in op.results)
    ranges = RangeCache()
    for op in all_ops(loop.body):
        if isinstance(op, (IfOp, AccessOp)):
            conditions = op.conditions()
        elif isinstance(op, ForOp):
            # Where a bound allows the whole extent, the tail is none; where it allows nothing, neither is the loop.
            bounds = [] if op.is_dynamic else op.min_bounds()
            conditions = [c for b in bounds for c in (Condition(b - op.trip), Condition(b - 1))]
        else:
            continue
        for condition in conditions:
            found.update(_changes(condition, loop, inside, ranges, every))
    return sorted(n for n in found if 0 < n < loop.trip)


def _changes(
    condition: Condition, loop: ForOp, inside: set[SSAValue], ranges: RangeCache, every: bool
) -> Sequence[int]:
    """The iterations before which a condition on a loop's variable changes, where other values do not matter.

    Values from inside the loop count by their range: the condition holds for all of them, for some, or for none.
    """
    form, variable = condition.form, loop.var
    coefficient = form.terms.get(variable, 0)
    rest = Linear({a: c for a, c in form.terms.items() if a != variable}, form.const)
    if not coefficient or variable in rest.dims():
        return []
    if any(d not in inside and not _is_one_value(ranges(d)) for d in rest.dims()):
        return []  # known only outside of the loop
    bounds = rest.range(ranges)
    if bounds is None:
        return []
    low, high = bounds
    if condition.equal:
        if low != high or low % coefficient:
            return []
        return [-low // coefficient, -low // coefficient + 1]
    # coefficient * i + r >= 0: for all r from the first i with coefficient * i + low >= 0 on, for some from `high`.
    if coefficient > 0:
        some, all_ = -(high // coefficient), -(low // coefficient)
    else:
        all_, some = low // -coefficient + 1, high // -coefficient + 1
    first, last = max(min(some, all_), 0), min(max(some, all_), loop.trip)
    return range(first, last + 1) if every else [some, all_]


def _is_one_value(bounds: tuple[int, int] | None) -> bool:
    """Whether a variable is that of a loop with one iteration, such as a piece that was cut before."""
    return bounds is not None and bounds[0] == bounds[1]


def partition_at(loop: ForOp, cuts: Sequence[int]) -> list[ForOp]:
    """A loop as pieces that begin at given iterations; what they decide is left out of them."""
    func = function_of(loop)
    ends = [0, *cuts, loop.trip]
    lengths = [b - a for a, b in zip(ends, ends[1:], strict=False)]
    main = lengths.index(max(lengths))
    pieces: list[ForOp] = []
    for n, (start, length) in enumerate(zip(ends, lengths, strict=False)):
        piece = loop.clone()
        part = "main" if n == main else f"prologue.{n}" if n < main else f"epilogue.{n - main - 1}"
        for inner in [v for v in all_ops(piece) if type(v) is ForOp and v is not piece]:
            inner.properties["axis"] = StringAttr(unique_axis(func, f"{inner.axis.data}.{part}"))
        piece.properties["axis"] = StringAttr(unique_axis(func, f"{loop.axis.data}.{part}"))
        piece.properties["extent"] = ForOp.make(length, "").extent
        edit.insert_before(loop, piece)
        mapping: dict[Atom, Linear] = {piece.var: Linear.dim(piece.var) + start}
        for user in list(dict.fromkeys(u.operation for u in piece.var.uses)):
            substitute_in(user, mapping, RangeCache())
        _decide(piece.body.block)
        pieces.append(piece)
    edit.erase(loop, safe=False)
    return pieces


def _decide(block: Block) -> None:
    """Leave out the conditions that always hold, and what never runs."""
    for op in list(block.ops):
        if isinstance(op, ForOp):
            resolve_bounds(op)
            if op.trip == 0 and not op.is_dynamic:
                edit.erase(op, safe=False)
            else:
                _decide(op.body.block)
        elif isinstance(op, IfOp):
            _decide_if(op)
        elif isinstance(op, AccessOp):
            conditions = op.conditions()
            kept = _left(conditions)
            if kept is not None and len(kept) < len(conditions):
                op.set_access(op.forms(), kept)


def _decide_if(op: IfOp) -> None:
    kept = _left(op.conditions())
    if kept is None:
        edit.erase(op, safe=False)
        return
    _decide(op.body.block)
    if kept:
        op.set_conditions(kept)
    else:
        dissolve(op)


def _left(conditions: Sequence[Condition]) -> list[Condition] | None:
    """The conditions that the ranges do not decide; None where one never holds."""
    ranges = RangeCache()
    left: list[Condition] = []
    for c in conditions:
        holds = c.decided(c.form.range(ranges))
        if holds is False:
            return None
        if holds is None:
            left.append(c)
    return left
