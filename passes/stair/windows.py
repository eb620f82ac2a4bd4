"""Lanes that are near each other in memory, though not neighbours: whole vectors are loaded, and shuffled.

    lanes at 0, 2, 4, ... 30       two loads, at 0 and 15, and a shuffle
    lanes at 0, 0, 1, 1, ... 7     one load of eight elements, and a shuffle
    lanes at 15, 14, ... 0         one load, and a shuffle

Loads stay between the first and the last element that is asked for, so that they read nothing beyond a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.index_map import LANE
from lamina.dialects.linear import Atom, Linear, constant
from lamina.dialects.llvm_target import ops as llvm

if TYPE_CHECKING:
    from lamina.passes.stair.access import Access

FEWEST_LANES = 4
"""Shorter vectors are put together lane by lane."""
LANES_PER_LOAD = 4
"""Fewer lanes in a load do not pay for the shuffle that brings them to their place."""


def load_windows(access: Access) -> SSAValue | None:
    """The lanes of an unconditional load from few contiguous ones; None where they lie too far apart."""
    lanes = access.lanes or 0
    if lanes < FEWEST_LANES or access.rows:
        return None
    found = _places(access, lanes)
    if found is None:
        return None
    dynamic, places = found
    starts, width = windows(places, lanes)
    if not starts:
        return None
    b = access.replay.b
    type_, wide = vector_type(access.element, width), vector_type(access.element, lanes)
    pointer = access.pointer(dynamic, starts[0])
    total: SSAValue | None = None
    for start in starts:
        at = pointer if start == starts[0] else b.offset(pointer, access.element, start - starts[0])
        loaded = access.load_at(at, type_)
        if total is None:
            mask = [min(max(place - start, 0), width - 1) for place in places]
            poison = b.constant_op(llvm.PoisonOp, type_)
            total = b.emit(llvm.ShuffleVectorOp, [loaded, poison], wide, {"mask": _mask(mask)})
        else:
            inside = [start <= place < start + width for place in places]
            mask = [
                lanes + place - start if here else n for n, (place, here) in enumerate(zip(places, inside, strict=True))
            ]
            total = b.emit(llvm.ShuffleVectorOp, [total, loaded], wide, {"mask": _mask(mask)})
    assert total is not None
    return access.as_value(total, lanes)


def _places(access: Access, lanes: int) -> tuple[Linear, list[int]] | None:
    """What all lanes have in common, and the place of each behind it; None where there is more between them."""
    dynamic, const, stride, inside = access.address()
    if not inside:
        return dynamic, [const + stride * lane for lane in range(lanes)]
    r = access.replay
    form = r.resolve(access.flat)
    places: list[int] = []
    shared: dict[Atom, int] | None = None
    for lane in range(lanes):
        mapping: dict[Atom, Linear] = {LANE: constant(lane)}
        at = form.substitute(mapping, r.b.ranges)
        if shared is None:
            shared, dynamic = dict(at.terms), Linear(at.terms)
        elif dict(at.terms) != shared:
            return None
        places.append(at.const)
    return dynamic, places


def windows(places: Sequence[int], lanes: int) -> tuple[list[int], int]:
    """Where loads begin that hold all places, and how many elements each has; no loads where they would be many.

    All are between the smallest and the largest place.
    """
    first, last = min(places), max(places)
    width = min(lanes, last - first + 1)
    starts: list[int] = []
    for place in sorted(set(places)):
        if not starts or place >= starts[-1] + width:
            starts.append(min(place, last + 1 - width))
    return (starts, width) if len(starts) * LANES_PER_LOAD <= lanes else ([], 0)


def _mask(places: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, list(places))
