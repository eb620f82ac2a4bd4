"""Tails: loops bounded by what an outer iteration leaves over."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from lamina.dialects.accesses import RangeCache
from lamina.dialects.linear import Linear, constant
from lamina.dialects.tir.nest import ScheduleError, function_of, reduction_loops, substitute, unique_axis
from lamina.dialects.tir.ops import BlockOp, ForOp


def partition(loop: ForOp) -> list[ForOp]:
    """Peel the last iteration of a loop off, clone and all, and drop the bounds that have become constant.

    Raises ScheduleError for a loop that no tail depends on.
    """
    if loop.trip < 1 or loop.bounds:
        raise ScheduleError(f"partition of {loop.axis.data!r}: its own extent is not a constant")
    tails = [v for v in loop.body.walk() if type(v) is ForOp and loop.var in v.operands]
    if not tails:
        raise ScheduleError(f"partition of {loop.axis.data!r}: no tail depends on it")
    place = loop.parent
    assert place is not None
    func = function_of(loop)
    peeled = loop.trip - 1
    values: dict[SSAValue, SSAValue] = {}
    last = loop.clone(values)
    if peeled:
        for block in [b for b in last.walk() if type(b) is BlockOp and b.init.blocks]:
            # The iterations before have begun the reduction already.
            if last in reduction_loops(block):
                block.init.erase_block(block.init.blocks[0])
    for v in last.body.walk():
        if type(v) is ForOp:
            v.properties["axis"] = StringAttr(unique_axis(func, f"{v.axis.data}.tail"))
    place.insert_op_after(last, loop)
    loop.properties["extent"] = ForOp.make(peeled, "").extent
    substitute(last.var, constant(peeled))
    for v in [*loop.body.walk(), *last.body.walk()]:
        if type(v) is ForOp:
            resolve_bounds(v)
    # The peeled iteration is no loop any more.
    for op in list(last.body.block.ops):
        op.detach()
        place.insert_op_before(op, last)
    last.detach()
    last.erase(safe_erase=False)
    if not peeled:
        loop.detach()
        loop.erase(safe_erase=False)
    return [loop]


def resolve_bounds(loop: ForOp) -> None:
    """Drop bounds that never bind, and turn constant ones into the extent."""
    ranges = RangeCache()
    kept: list[Linear] = []
    extent = loop.trip
    for bound in loop.min_bounds():
        limits = bound.range(ranges)
        if limits is not None and limits[0] == limits[1]:
            extent = min(extent, max(limits[0], 0))
        elif limits is None or limits[0] < extent:
            kept.append(bound)
    if extent != loop.trip:
        loop.properties["extent"] = ForOp.make(extent, "").extent
    loop.set_min_bounds(kept)
