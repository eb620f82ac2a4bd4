"""Whether two parallel loops may follow each other without a barrier: what an iteration touches, only its like does.

The threads of a team take the same iterations of all loops of one extent. So two loops need no barrier between them if
each element that iteration i of the one and iteration j of the other touch, and one of them writes, has i = j. That is
seen in the indices: along some dimension both are `i * n + r` with r between 0 and n, seen from one place.

    for i in 4 parallel: for l in 16: a[i * 16 + l] = ...       for i in 4 parallel: for l in 8: ... a[i * 16 + 2 * l]
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.memory import AccessOp, AllocOp, StoreOp, type_of
from lamina.dialects.tir.ops import CopyOp, ForOp
from lamina.dialects.tir.prefetch import PrefetchOp

Along = tuple[int, int, int]
Place = list["Along | None"]
"""Of an access, for each dimension: (n, low, high) where it lies between i * n + low and i * n + high."""


@dataclass
class Touched:
    """The accesses of the iterations of a parallel loop to the memory that they share."""

    extent: int | None
    """The number of iterations; None where it is not known."""
    loads: dict[SSAValue, list[Place]] = field(default_factory=lambda: {})
    stores: dict[SSAValue, list[Place]] = field(default_factory=lambda: {})

    def needs_barrier_behind(self, other: Touched) -> bool:
        """Whether threads have to wait until all have done another loop before they begin this one."""
        same = self.extent is not None and self.extent == other.extent
        if same and self.extent == 1:
            return False
        for mine, theirs in ((self.stores, other.stores), (self.stores, other.loads), (self.loads, other.stores)):
            for buffer in mine.keys() & theirs.keys():
                if not same or not all(_is_apart(a, b) for a in mine[buffer] for b in theirs[buffer]):
                    return True
        return False

    def with_(self, other: Touched) -> Touched:
        """The accesses of the iterations of both loops."""
        found = Touched(self.extent)
        for mine, *given in ((found.loads, self.loads, other.loads), (found.stores, self.stores, other.stores)):
            for places in given:
                for buffer, more in places.items():
                    mine.setdefault(buffer, []).extend(more)
        return found


def touched_by(loop: ForOp) -> Touched:
    """The accesses of a parallel loop to buffers from outside of it."""
    found = Touched(None if loop.bounds else loop.trip)
    inside = {op.result for op in all_ops(loop) if isinstance(op, AllocOp)}
    ranges: dict[int | None, RangeCache] = {}
    for op in all_ops(loop):
        if isinstance(op, CopyOp):
            anywhere: Place = [None] * len(type_of(op.source).get_shape())
            found.loads.setdefault(op.source, []).append(anywhere)
            found.stores.setdefault(op.target, []).append(anywhere)
        elif isinstance(op, AccessOp) and not isinstance(op, PrefetchOp):
            buffer = op.buffer_value()
            if buffer not in inside:
                kind = found.stores if isinstance(op, StoreOp) else found.loads
                places = kind.setdefault(buffer, [])
                place = _place(op, loop, ranges)
                if place not in places:
                    places.append(place)
    return found


def _place(op: AccessOp, loop: ForOp, ranges: dict[int | None, RangeCache]) -> Place:
    lanes = op.lanes
    known = ranges.get(lanes)
    if known is None:
        known = ranges[lanes] = RangeCache() if lanes is None else RangeCache({LANE: (0, lanes - 1)})
    return [_along(form, loop.var, known) for form in op.forms()]


def _along(form: Linear, variable: SSAValue, ranges: RangeCache) -> Along | None:
    step = form.terms.get(variable, 0)
    rest = Linear({a: c for a, c in form.terms.items() if a is not variable}, form.const)
    bounds = rest.range(ranges)
    if step < 1 or variable in rest.dims() or bounds is None:
        return None
    return step, *bounds


def _is_apart(a: Place, b: Place) -> bool:
    """Whether different iterations never touch the same element: along one dimension each has a stretch of its own."""
    for x, y in zip(a, b, strict=True):
        if x is not None and y is not None and x[0] == y[0] > max(x[2], y[2]) - min(x[1], y[1]):
            return True
    return False
