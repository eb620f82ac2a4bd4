"""reorder: the loops of one perfect nest in another order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.irdl import irdl_op_definition, var_operand_def

from lamina.dialects import edit
from lamina.dialects.schedule.families import LoopListBase
from lamina.dialects.schedule.nest.edits import bounds_to_predicate, perfect_nest
from lamina.dialects.schedule.nest.recurrence import check_order
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, ScheduleState
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class ReorderOp(LoopListBase):
    """The order of loops in one perfect nest.

    Before: `for i: for j: for k`    After `te.reorder %k, %i`: `for k: for j: for i`
    """

    name = "te.reorder"
    loops = var_operand_def(LOOP)

    def apply(self, state: ScheduleState) -> None:
        reorder([state.loop(v) for v in self.operands])


def reorder(order: Sequence[ForOp]) -> None:
    """Put loops of one perfect nest into a new order; loops of the nest that are not named keep their places."""
    if len({id(v) for v in order}) != len(order):
        raise ScheduleError("reorder names a loop twice")
    if not order:
        raise ScheduleError("reorder takes at least one loop")
    chain = perfect_nest(order, "reorder")
    wanted = {id(v) for v in order}
    sequence = iter(order)
    new = [next(sequence) if id(v) in wanted else v for v in chain]
    position = {v.var: n for n, v in enumerate(new)}
    freed: list[ForOp] = []
    for n, v in enumerate(new):
        for used in v.bounds:
            if position.get(used, -1) >= n and v not in freed:
                if v.is_dynamic:
                    raise ScheduleError(
                        f"reorder: the extent of {v.axis.data!r} depends on a loop that would stand inside it"
                    )
                freed.append(v)
    if new == chain:
        return
    check_order(chain, new, "reorder")
    for v in freed:
        bounds_to_predicate(v)
    body = chain[-1].body.block
    inner_ops = list(body.ops)
    place = chain[0].parent
    assert place is not None
    anchor = chain[0].next_op
    for op in inner_ops:
        edit.take(op)
    for v in chain:
        edit.take(v)
    if anchor is None:
        place.add_op(new[0])
    else:
        edit.insert_before(anchor, new[0])
    for a, b in zip(new, new[1:], strict=False):
        a.body.block.add_op(b)
    new[-1].body.block.add_ops(inner_ops)
