"""Lanes that are near each other in memory, though not neighbours: whole vectors are loaded, and shuffled.

    lanes at 0, 2, 4, ... 30       two loads, at 0 and 15, and a shuffle
    lanes at 0, 0, 1, 1, ... 7     one load of eight elements, and a shuffle
    lanes at 15, 14, ... 0         one load, and a shuffle

Loads stay between the first and the last element that is asked for, so that they read nothing beyond a buffer. Where
conditions decide which lanes are read, they become masks of the loads: neither does an element between two lanes lie
beyond those that are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, VectorType, i32
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.scalars import splat

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.access import Access

FEWEST_LANES = 4
"""Shorter vectors are put together lane by lane."""
MOST_LOADS = 3 / 8
"""Loads for each lane: more do not pay for the shuffles that bring lanes to their places."""


def load_windows(access: Access, conditions: Sequence[Condition] = ()) -> SSAValue | None:
    """The lanes of a load from few contiguous ones, zero where conditions do not hold.

    None where lanes lie too far apart, or their conditions are none of a range of lanes.
    """
    lanes = access.lanes or 0
    if lanes < FEWEST_LANES or access.rows:
        return None
    _, first, stride, inside = access.address()
    elements = None if conditions and (inside or stride < 1) else _of_elements(conditions, stride)
    if elements is None:
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
        loaded = _load_at(access, at, type_, [_moved(c, start - first) for c in elements])
        if total is None:
            mask = [min(max(place - start, 0), width - 1) for place in places]
            poison = b.constant_op(llvm.PoisonOp, type_)
            total = b.emit(llvm.ShuffleVectorOp, [loaded, poison], wide, {"mask": shuffle_mask(mask)})
        else:
            inside = [start <= place < start + width for place in places]
            mask = [
                lanes + place - start if here else n for n, (place, here) in enumerate(zip(places, inside, strict=True))
            ]
            total = b.emit(llvm.ShuffleVectorOp, [total, loaded], wide, {"mask": shuffle_mask(mask)})
    assert total is not None
    return access.as_value(total, lanes)


def _of_elements(conditions: Sequence[Condition], stride: int) -> list[Condition] | None:
    """Conditions of lanes `stride` elements apart as conditions of elements, counted from the first lane's."""
    found: list[Condition] = []
    for form, equal in conditions:
        step = gcd(*form.terms.values())
        lane = form.terms.get(LANE, 0) // step if step else 0
        if equal or abs(lane) > 1 or any(isinstance(a, tuple) and LANE in a[1].dims() for a in form.terms):
            return None
        # The least number of lanes: a condition that holds between two of them holds at the one behind.
        whole = Linear({a: c // step for a, c in form.terms.items()}, form.const // step) if step else form
        if lane:
            lanes = Linear({LANE: lane})
            whole = (whole - lanes) * stride + lanes
        found.append(Condition(whole, False))
    return found


def _moved(condition: Condition, by: int) -> Condition:
    """A condition of elements, counted from another one."""
    form = condition.form
    return Condition(form + constant(form.terms.get(LANE, 0) * by), condition.equal)


def _load_at(access: Access, pointer: SSAValue, type_: VectorType[Attribute], conditions: list[Condition]) -> SSAValue:
    """A contiguous load, zero where conditions do not hold."""
    r, width = access.replay, type_.get_shape()[0]
    left = r.decide(conditions, width) if conditions else True
    if left is True:
        return access.load_at(pointer, type_)
    zero = r.b.constant(splat(0, type_), type_)
    if left is False:
        return zero
    return r.b.emit(llvm.MaskedLoadOp, [pointer, r.mask(left, width), zero], type_, access.masked)


def _places(access: Access, lanes: int) -> tuple[Linear, list[int]] | None:
    """The address that all lanes have in common, and each lane's place behind it; None where they have none."""
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
    """Starts of loads that hold all places, and the elements of each; no loads where they would be many.

    All are between the smallest and the largest place.
    """
    first, last = min(places), max(places)
    width = min(lanes, last - first + 1)
    starts: list[int] = []
    for place in sorted(set(places)):
        if not starts or place >= starts[-1] + width:
            starts.append(min(place, last + 1 - width))
    return (starts, width) if len(starts) <= MOST_LOADS * lanes else ([], 0)


def shuffle_mask(places: Sequence[int]) -> DenseArrayBase:
    """The mask of llvm.shufflevector: for each lane of the result the place of its element in both vectors."""
    return DenseArrayBase.from_list(i32, list(places))
