"""partition: the last iteration of a loop apart, so that the tails within have constant extents."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.schedule.families import LoopKindBase
from lamina.dialects.schedule.nest.edits import function_of, reduction_loops, substitute, unique_axis
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.tails import resolve_bounds
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.tir.ops import BlockOp, ForOp


@irdl_op_definition
class PartitionOp(LoopKindBase):
    """The last iteration of a loop apart, so that the tails within have constant extents.

    Before: `for io in 3: for ii in 4 min [10 - io * 4]`    After `te.partition %io`:
    `for io in 2: for ii in 4`, then `for ii in 2` with io = 2

    Iterations of loops in it whose tails would be empty are left out.
    """

    name = "te.partition"

    def apply(self, state: ScheduleState) -> None:
        partition(state.loop(self.loop))


def partition(loop: ForOp) -> list[ForOp]:
    """Peel the last iteration of a loop off, clone and all, and drop the bounds that have become constant.

    Raises ScheduleError for a loop that no tail depends on.
    """
    if loop.trip < 1 or loop.bounds:
        raise ScheduleError(f"partition of {loop.axis.data!r}: its own extent is not a constant")
    tails = [v for v in all_ops(loop.body) if type(v) is ForOp and loop.var in v.operands]
    if not tails:
        raise ScheduleError(f"partition of {loop.axis.data!r}: no tail depends on it")
    func = function_of(loop)
    peeled = loop.trip - 1
    values: dict[SSAValue, SSAValue] = {}
    last = loop.clone(values)
    if peeled:
        for block in [b for b in all_ops(last) if type(b) is BlockOp and b.init.blocks]:
            # The iterations before have begun the reduction already.
            if last in reduction_loops(block):
                block.init.erase_block(block.init.blocks[0])
    for v in last.body.walk():
        if type(v) is ForOp:
            v.properties["axis"] = StringAttr(unique_axis(func, f"{v.axis.data}.tail"))
    edit.insert_after(loop, last)
    loop.properties["extent"] = ForOp.make(peeled, "").extent
    substitute(last.var, constant(peeled))
    for v in [*loop.body.walk(), *last.body.walk()]:
        if type(v) is ForOp:
            resolve_bounds(v)
    for v in last.body.walk():
        if type(v) is ForOp:
            shorten(v)
    # The peeled iteration is no loop any more.
    edit.move_before(last, *last.body.block.ops)
    edit.erase(last, safe=False)
    if not peeled:
        edit.erase(loop, safe=False)
    return [loop]


def shorten(loop: ForOp) -> None:
    """Leave the last iterations of a loop out that have nothing to do: a tail inside runs empty in them.

    Before: `for i in 3: for j in 16 min [5 - i * 16]: ...`    After: `for i in 1: for j in 16 min [5 - i * 16]: ...`
    """
    if loop.bounds or loop.kind.data not in ("serial", "unrolled"):
        return
    needed, facts = 0, Facts(RangeCache())
    for op in loop.body.block.ops:
        if type(op) is not ForOp:
            return
        iterations = [loop.trip]
        for bound in op.min_bounds():
            step = -bound.terms.get(loop.var, 0)
            if step <= 0:
                continue
            limits = facts.bounds(bound + Linear.dim(loop.var) * step)
            if limits is not None:
                # What the bound is in the first iteration, less step * i, is at least 1.
                iterations.append(max((limits[1] - 1) // step + 1, 0))
        needed = max(needed, min(iterations))
    if 0 < needed < loop.trip:
        loop.properties["extent"] = ForOp.make(needed, "").extent
