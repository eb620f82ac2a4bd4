"""Tails: loops bounded by what an outer iteration leaves over."""

from __future__ import annotations

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.linear import Linear, Range
from lamina.dialects.tir.ops import ForOp


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
            bounds = bounds if extent else []
        if loop.is_dynamic or extent != loop.trip:
            edit.change(loop)
            loop.properties["extent"] = ForOp.make(extent, "").extent
    kept = [b for b, _ in bounds]
    if len(kept) > 1:
        kept = facts.minimum(kept)
    if kept != loop.min_bounds():
        edit.change(loop)
        loop.set_min_bounds(kept)


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
