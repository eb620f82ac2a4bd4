"""Tails: loops bounded by what an outer iteration leaves over."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.linear import Linear, Range, constant
from lamina.dialects.schedule.nest.edits import ScheduleError, function_of, reduction_loops, substitute, unique_axis
from lamina.dialects.tir.ops import BlockOp, ForOp


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
    if loop.is_dynamic or loop.bounds or loop.kind.data not in ("serial", "unrolled"):
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


def resolve_bounds(loop: ForOp, facts: Facts | None = None) -> None:
    """Drop bounds that never bind, and turn constant ones into the extent.

    The facts are those at the loop; without them, bounds are judged by the ranges of loops alone.
    """
    if loop.bound_map is None:
        return
    facts = facts or Facts(RangeCache())
    extent = None if loop.is_dynamic else loop.trip
    bounds: list[tuple[Linear, Range | None]] = []
    for bound in loop.min_bounds():
        bound = facts.simplify(bound)
        limits = facts.bounds(bound)
        if limits is not None and limits[0] == limits[1]:
            extent = max(limits[0] if extent is None else min(extent, limits[0]), 0)
        else:
            bounds.append((bound, limits))
    if extent is not None:
        bounds = [(b, r) for b, r in bounds if not facts.at_least(b - extent)]
        if loop.kind.data in ("serial", "unrolled"):  # the others keep their number of lanes or threads
            extent = min([extent, *(max(r[1], 0) for _, r in bounds if r is not None)])
        if loop.is_dynamic or extent != loop.trip:
            edit.change(loop)
            loop.properties["extent"] = ForOp.make(extent, "").extent
    kept = [b for b, _ in bounds]
    if len(kept) > 1:
        kept = facts.minimum(kept)
    if kept != loop.min_bounds():
        edit.change(loop)
        loop.set_min_bounds(kept)
