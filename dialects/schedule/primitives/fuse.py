"""fuse: perfectly nested loops as one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.irdl import irdl_op_definition, result_def, var_operand_def

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Linear, floordiv, mod
from lamina.dialects.schedule.families import LoopListBase
from lamina.dialects.schedule.nest.edits import bounds_to_predicate, move_ops, replace_op, substitute
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, ScheduleState
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class FuseOp(LoopListBase):
    """Perfectly nested loops as one.

    Before: `for i in 2: for j in 4`    After `%f = te.fuse %i, %j`: `for f in 8`, with i = f floordiv 4, j = f mod 4
    """

    name = "te.fuse"
    loops = var_operand_def(LOOP)
    fused = result_def(LOOP)

    def apply(self, state: ScheduleState) -> None:
        state.bind(self.results, [fuse([state.loop(v) for v in self.operands])])


def fuse(loops: Sequence[ForOp]) -> ForOp:
    """Perfectly nested loops, from the outside in, as one."""
    if not loops:
        raise ScheduleError("fuse takes at least one loop")
    for outer, inner in zip(loops, loops[1:], strict=False):
        _check_fuse(outer, inner)
    result = loops[0]
    for inner in loops[1:]:
        result = _fuse_two(result, inner)
    return result


def _check_fuse(outer: ForOp, inner: ForOp) -> None:
    if inner.parent_op() is not outer or len(outer.body.block.ops) != 1:
        raise ScheduleError(f"fuse: {inner.axis.data!r} is not all that stands in {outer.axis.data!r}")
    if inner.is_dynamic:
        raise ScheduleError(
            f"fuse of {outer.axis.data!r} and {inner.axis.data!r}: the extent of the inner loop is known only when "
            "the program runs"
        )
    if outer.is_reduction != inner.is_reduction:
        raise ScheduleError(f"fuse of {outer.axis.data!r} and {inner.axis.data!r}: only one of them is a reduction")
    if outer.kind.data != "serial" or inner.kind.data != "serial":
        raise ScheduleError(f"fuse of {outer.axis.data!r} and {inner.axis.data!r}: both must be serial")


def _fuse_two(outer: ForOp, inner: ForOp) -> ForOp:
    hints = [v.var.name_hint for v in (outer, inner)]
    bounds_to_predicate(inner)
    new = ForOp.make(
        None if outer.is_dynamic else outer.trip * inner.trip,
        f"{outer.axis.data}+{inner.axis.data}",
        reduction=outer.is_reduction,
        bounds=[b * inner.trip for b in outer.min_bounds()],
        hint="_".join(h for h in hints if h) or None,
    )
    ranges = RangeCache({new.var: (0, max(new.trip - 1, 0))})
    v = Linear.dim(new.var)
    substitute(outer.var, floordiv(v, max(inner.trip, 1), ranges), ranges)
    substitute(inner.var, mod(v, max(inner.trip, 1), ranges), ranges)
    new.attributes |= inner.attributes | outer.attributes
    replace_op(outer, new)
    move_ops(inner.body.block, new.body.block)
    edit.erase(outer, safe=False)
    return new
