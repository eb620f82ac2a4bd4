"""Loops whose iterations need what earlier ones have computed: the time of a te.scan.

It is seen in the accesses, so that it outlives splits and fusions: inside the loop a buffer from outside is stored at
one place and loaded at another (`s[t + 1, i]` and `s[t, i]`), which an earlier iteration stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Atom, Linear, linear_text
from lamina.dialects.schedule.nest.refusals import refuse
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, enclosing_loops

ROLLING = "rolling"
"""Attribute of an alloc: what an iteration of the loop that its stores depend on leaves in it, the next one reads."""


class Recurrence(NamedTuple):
    """A load of what an earlier iteration of a loop stores."""

    store: StoreOp
    load: LoadOp

    def text(self) -> str:
        return f"{_text(self.store)} needs {_text(self.load)} of an earlier iteration"


def _text(access: AccessOp) -> str:
    def name(atom: Atom) -> str:
        return f"%{atom.name_hint}" if isinstance(atom, SSAValue) and atom.name_hint else str(atom)

    buffer = access.buffer_value().name_hint or "buffer"
    return f"%{buffer}[{', '.join(linear_text(f, name) for f in access.forms())}]"


def _shifts(store: AccessOp, load: AccessOp, ranges: RangeCache) -> list[Linear]:
    """The differences of the indices, dimension for dimension, that are never zero."""
    found: list[Linear] = []
    for a, b in zip(store.forms(), load.forms(), strict=True):
        if a != b:
            bounds = (a - b).range(ranges)
            if bounds is not None and (bounds[0] > 0 or bounds[1] < 0):
                found.append(a - b)
    return found


def recurrence(loop: ForOp) -> Recurrence | None:
    """The values of earlier iterations that an iteration of a loop needs; None where each stands for itself."""
    ranges = RangeCache()
    limits = [f.range(ranges) for f in loop.limits()]
    if min((high for found in limits if found is not None for high in found[1:]), default=2) <= 1:
        return None  # there is no earlier iteration
    outer = {v.var for v in enclosing_loops(loop)}
    stores: dict[SSAValue, list[StoreOp]] = {}
    loads: dict[SSAValue, list[LoadOp]] = {}
    for op in all_ops(loop.body):
        if isinstance(op, StoreOp):
            stores.setdefault(op.buffer_value(), []).append(op)
        elif isinstance(op, LoadOp):
            loads.setdefault(op.buffer_value(), []).append(op)
    for buffer, written in stores.items():
        if buffer not in loads or _is_within(buffer.owner, loop):
            continue
        rolls = isinstance(buffer.owner, AllocOp) and ROLLING in buffer.owner.attributes
        for store in written:
            for load in loads[buffer]:
                if rolls and any(loop.var in f.dims() for f in store.forms()) and load.parent is not store.parent:
                    return Recurrence(store, load)
                if _carried(store, load, loop, outer, ranges):
                    return Recurrence(store, load)
    return None


def _carried(store: StoreOp, load: LoadOp, loop: ForOp, outer: set[SSAValue], ranges: RangeCache) -> bool:
    if not _shifts(store, load, ranges):
        # In a layout with gaps or digits no dimension tells the two apart, so a stage that reads what it stores
        # elsewhere itself is taken to need every loop that the difference depends on.
        sides = zip(store.forms(), load.forms(), strict=True)
        return load.parent is store.parent and any(a != b and loop.var in {*a.dims(), *b.dims()} for a, b in sides)
    carried = False
    for a, b in zip(store.forms(), load.forms(), strict=True):
        if a == b:
            continue
        used = {*a.dims(), *b.dims()}
        bounds = (a - b).range(ranges)
        apart = bounds is not None and (bounds[0] > 0 or bounds[1] < 0)
        if apart and used <= outer:
            return False  # the loops around keep the two apart
        carried = carried or (apart and loop.var in used)
    return carried


def _is_within(owner: Operation | object, loop: ForOp) -> bool:
    return isinstance(owner, AllocOp) and any(v is loop for v in enclosing_loops(owner))


def check_at_once(loop: ForOp, what: str) -> None:
    """Refuse to run the iterations of a loop at once where they need each other."""
    found = recurrence(loop)
    if found is not None:
        refuse(f"{what} of {loop.axis.data!r}: {found.text()}, so they cannot run at once")


def check_order(before: Sequence[ForOp], after: Sequence[ForOp], what: str) -> None:
    """Refuse an order of a perfect nest that runs an iteration before one that it needs.

    A loop may come out of a recurrence only if the dimensions that it runs along have the same index on both sides.
    """
    place = {v: n for n, v in enumerate(after)}
    for n, again in enumerate(before):
        terms = [v for v in before[n + 1 :] if v.is_reduction and place[v] < place[again]]
        if terms and _repeats(again):
            refuse(
                f"{what} of {again.axis.data!r} inside {terms[0].axis.data!r}: its iterations do the same work over "
                "again, and would add each term to the reduction once more"
            )
    for n, time in enumerate(before):
        leaving = [v for v in before[n + 1 :] if place[v] < place[time]]
        found = recurrence(time) if leaving else None
        if found is None:
            continue
        for v in leaving:
            sides = list(zip(found.store.forms(), found.load.forms(), strict=True))
            if any(a != b and v.var in {*a.dims(), *b.dims()} for a, b in sides) or not any(
                v.var in a.dims() for a, _ in sides
            ):
                refuse(f"{what} of {v.axis.data!r} outside of {time.axis.data!r}: {found.text()}")


def _repeats(loop: ForOp) -> bool:
    """Whether the iterations of a loop store the same elements: each does the whole work of the nest within."""
    if loop.is_reduction or loop.trip <= 1:
        return False
    stores = [op for op in all_ops(loop.body) if isinstance(op, StoreOp) and not _is_within(op.buffer.owner, loop)]
    return not any(loop.var in form.dims() for op in stores for form in op.forms())
