"""Whether threads of a block may touch the same element: decided by computing all elements that each touches.

Two accesses are compared with the loops around both at the same iteration, the loop that one of them is carried
around at different ones, and all other loops at any. What all threads have in common (sizes, blocks, loops around
both) cancels where it is added alike on both sides. Where the number of threads is not known, each axis has to be told
from one dimension. Where an index cannot be computed it may be anything, so that the answer errs towards a conflict.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, Range
from lamina.dialects.schedule.nest.threads import is_real, tag_of
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, FuncOp, enclosing_loops

MOST_POINTS = 1 << 20
"""Beyond so many combinations of threads and iterations, nothing is computed."""
MOST_COMMON = 256
"""Beyond so many iterations of loops around both, nothing is computed."""

WARP = 32
"""Threads that are started together, counted along x, then y, then z; they can wait for each other alone."""

Array = np.ndarray[Any, Any]


class Conflict(IntEnum):
    """Between which threads of a block."""

    NONE = 0
    WARP = 1
    BLOCK = 2


@dataclass(frozen=True)
class Touch:
    """An access that others may see.

    `around`: the loop that it was carried around, and whether only once; `warped`: whether the threads of each warp
    have waited for each other since.
    """

    op: AccessOp
    around: ForOp | None = None
    once: bool = False
    warped: bool = False

    @property
    def name(self) -> str:
        buffer = self.op.buffer_value()
        if isinstance(buffer.owner, AllocOp):
            return buffer.owner.stage.data
        return buffer.name_hint or "an argument"

    def carried(self, loop: ForOp, once: bool) -> Touch:
        """The access seen from the next iteration of a loop, or from any later one."""
        return replace(self, around=loop, once=once)

    def past_warp(self) -> Touch:
        """The access after a barrier of each warp."""
        return self if self.warped else replace(self, warped=True)


@dataclass
class _Side:
    """One access of a comparison: its index, the conditions on it, and what it is enumerated over."""

    forms: list[Linear]
    conditions: list[Condition]
    own: dict[Atom, int] = field(default_factory=dict[Atom, int])

    def reach(self, form: Linear) -> Range | None:
        """The least and the greatest value of a form, with what conditions say of the variables in it."""
        dims: dict[Atom, int] = {d: self.own.get(d, 0) for d in form.dims()}
        if not dims or not 0 < prod(dims.values()) <= MOST_COMMON:
            return form.range(RangeCache({LANE: (0, self.own.get(LANE, 1) - 1)}))
        inside = [c for c in self.conditions if all(d in dims for d in c.form.dims())]
        found: list[int] = []
        for point in itertools.product(*(range(n) for n in dims.values())):
            values = dict(zip(dims, point, strict=True))
            at = [(c.form.evaluate(values), c.equal) for c in inside]
            if all(v == 0 if equal else v >= 0 for v, equal in at):
                found.append(form.evaluate(values))
        return (min(found), max(found)) if found else None


class Conflicts:
    """Compares the accesses of one kernel."""

    def __init__(self, threads: Sequence[ForOp]) -> None:
        # Along x the numbers of threads run fastest.
        ordered = sorted(threads, key=tag_of, reverse=True)
        self.threads = {v.var: v.trip for v in ordered}
        self.known = not any(v.is_dynamic for v in threads)
        self._answers: dict[tuple[Touch, Touch], Conflict] = {}

    def touches(self, root: Operation) -> list[Touch]:
        """The accesses at and below an op to memory that other threads see."""
        return [Touch(op) for op in root.walk() if isinstance(op, (LoadOp, StoreOp)) and _is_seen(op.buffer)]

    def between(self, a: Touch, b: Touch) -> Conflict:
        """The threads that may touch one element by two accesses, the first of them earlier, one of them writing."""
        if a.op.buffer_value() is not b.op.buffer_value():
            return Conflict.NONE
        if not isinstance(a.op, StoreOp) and not isinstance(b.op, StoreOp):
            return Conflict.NONE
        key = (replace(a, warped=False), replace(b, warped=False))
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._compute(a, b)
        return Conflict.NONE if a.warped and found is Conflict.WARP else found

    def _compute(self, a: Touch, b: Touch) -> Conflict:
        common = [v for v in enclosing_loops(a.op) if v in enclosing_loops(b.op) and not is_real(v)]
        if a.around is not None:
            common = common[: common.index(a.around)] if a.around in common else common
        same: set[Atom] = {v.var for v in common}
        if not self.known:
            return Conflict.NONE if self._each_its_own(a.op, b.op, same) else Conflict.BLOCK
        first, second = self._side(a.op, same), self._side(b.op, same)
        joint: dict[Atom, int] = {}
        if a.around is not None and a.once and not a.around.is_dynamic:
            variable: Atom = a.around.var
            joint[variable] = max(a.around.trip - 1, 0)
            for side in (first, second):
                side.own.pop(variable, None)
            later: dict[Atom, Linear] = {variable: Linear.dim(variable) + 1}
            second.forms = [f.substitute(later) for f in second.forms]
            second.conditions = [Condition(c.form.substitute(later), c.equal) for c in second.conditions]
        pairs = self._align(first, second, same, joint)
        if np.prod([*joint.values(), 1]) > MOST_COMMON:
            return Conflict.BLOCK
        worst = Conflict.NONE
        for values in itertools.product(*(range(n) for n in joint.values())):
            fixed = dict(zip(joint, values, strict=True))
            found = _meet(
                self._points(first, [p[0] for p in pairs], fixed), self._points(second, [p[1] for p in pairs], fixed)
            )
            worst = max(worst, found)
            if worst is Conflict.BLOCK:
                break
        return worst

    def _each_its_own(self, a: AccessOp, b: AccessOp, same: set[Atom]) -> bool:
        """Whether only one thread touches the elements that two accesses have in common, however many there are.

        So it is if along each axis only one thread comes there, or some dimension is the thread's number in steps that
        what else is in it cannot make.
        """
        varying: set[Atom] = {LANE, *self.threads}
        for op in (a, b):
            varying.update(v.var for v in enclosing_loops(op) if not is_real(v) and v.var not in same)
        first, second = self._side(a, same), self._side(b, same)
        pairs = [_without_common(f, g, [varying]) for f, g in zip(a.forms(), b.forms(), strict=True)]
        return all(
            _only_one_comes(first, second, axis) or any(self._tells(first, second, f, g, axis) for f, g in pairs)
            for axis in self.threads
        )

    def _tells(self, first: _Side, second: _Side, f: Linear, g: Linear, axis: Atom) -> bool:
        """Whether two indices are the same only for the same thread along an axis."""
        step = f.terms.get(axis, 0)
        if not step or g.terms.get(axis) != step:
            return False
        f, g = f - Linear.dim(axis) * step, g - Linear.dim(axis) * step
        if any(d in form.dims() for form in (f, g) for d in self.threads):
            return False
        of_f, of_g = first.reach(f), second.reach(g)
        return of_f is not None and of_g is not None and max(of_f[1] - of_g[0], of_g[1] - of_f[0]) < abs(step)

    def _side(self, op: AccessOp, same: set[Atom]) -> _Side:
        side = _Side(op.forms(), op.conditions())
        for v in enclosing_loops(op):
            if v.var in same or is_real(v):
                continue
            if not v.is_dynamic:
                side.own[v.var] = v.trip
            side.conditions += [Condition(b - Linear.dim(v.var) - 1) for b in v.min_bounds()]
        if op.lanes is not None:
            side.own[LANE] = op.lanes
        parent = op.parent_op()
        while parent is not None and not isinstance(parent, FuncOp):
            if isinstance(parent, ConditionalBase):
                side.conditions += parent.conditions()
            parent = parent.parent_op()
        return side

    def _align(
        self, first: _Side, second: _Side, same: set[Atom], joint: dict[Atom, int]
    ) -> list[tuple[Linear, Linear]]:
        """The dimensions that can be computed, without what is the same in both."""
        pairs: list[tuple[Linear, Linear]] = []
        for f, g in zip(first.forms, second.forms, strict=True):
            varying = [{**self.threads, **side.own, **joint} for side in (first, second)]
            f, g = _without_common(f, g, [set(v) for v in varying])
            wanted: dict[Atom, int] = {}
            for form, known in zip((f, g), varying, strict=True):
                for d in form.dims():
                    if d not in known:
                        wanted[d] = _trip(d) if d in same else 0
            if any(n <= 0 for n in wanted.values()):
                continue
            joint.update(wanted)
            pairs.append((f, g))
        return pairs

    def _points(self, side: _Side, forms: Sequence[Linear], fixed: dict[Atom, int]) -> tuple[Array, Array] | None:
        """(element, thread) of everything that a side touches; None where it is too much to compute."""
        used: set[Atom] = {d for f in forms for d in f.dims()}
        known = self.threads.keys() | side.own.keys() | fixed.keys()
        conditions = [c for c in side.conditions if all(d in known for d in c.form.dims())]
        used.update(d for c in conditions for d in c.form.dims())
        axes: dict[Atom, int] = {**self.threads, **{d: n for d, n in side.own.items() if d in used}}
        points = int(np.prod([*axes.values(), 1], dtype=np.int64))
        if points > MOST_POINTS:
            return None
        values: dict[Atom, Any] = dict(fixed)
        thread: Any = np.zeros((), np.int64)
        for n, (d, extent) in enumerate(axes.items()):
            shape = [1] * len(axes)
            shape[n] = extent
            values[d] = np.arange(extent, dtype=np.int64).reshape(shape)
            if d in self.threads:
                thread = thread * extent + values[d]
        full = tuple(axes.values())
        holds = np.ones(full, bool)
        for form, equal in conditions:
            value = form.evaluate(values)
            holds &= np.broadcast_to(value == 0 if equal else value >= 0, full)
        columns = [np.broadcast_to(np.asarray(f.evaluate(values)), full)[holds] for f in forms]
        owner = np.broadcast_to(thread, full)[holds]
        return np.stack(columns, 1) if columns else np.zeros((owner.size, 0), np.int64), owner


def _without_common(f: Linear, g: Linear, varying: Sequence[set[Atom]]) -> tuple[Linear, Linear]:
    """Two forms less the terms that both have and that do not vary."""
    shared = {
        atom: c
        for atom, c in f.terms.items()
        if g.terms.get(atom) == c and not any(d in v for v in varying for d in Linear.dim(atom).dims())
    }
    common = Linear(shared)
    return f - common, g - common


def _only_one_comes(first: _Side, second: _Side, axis: Atom) -> bool:
    """Whether conditions let one thread along an axis come to two accesses, the same to both."""
    found = [
        next((n for c in side.conditions if (n := _the_one(c, axis)) is not None), None) for side in (first, second)
    ]
    return found[0] is not None and found[0] == found[1]


def _the_one(condition: Condition, axis: Atom) -> int | None:
    """The number of the thread along an axis for which alone a condition holds, if there is only one."""
    form, equal = condition
    step = form.terms.get(axis, 0)
    if not step or len(form.terms) > 1:
        return None
    if equal:
        return -form.const // step if form.const % step == 0 else None
    return 0 if step < 0 and 0 <= form.const < -step else None


def _trip(variable: Atom) -> int:
    """The extent of a loop with a constant one; 0 for any other value."""
    if isinstance(variable, BlockArgument):
        loop = variable.block.parent_op()
        if isinstance(loop, ForOp) and not loop.is_dynamic and not is_real(loop):
            return loop.trip
    return 0


def _meet(a: tuple[Array, Array] | None, b: tuple[Array, Array] | None) -> Conflict:
    """The conflict of two sets of accesses: which threads touch an element that both touch."""
    if a is None or b is None:
        return Conflict.BLOCK
    if not a[1].size or not b[1].size:
        return Conflict.NONE
    elements = np.concatenate([a[0], b[0]])
    if elements.shape[1] == 0:
        place = np.zeros(elements.shape[0], np.int64)
    else:
        _, place = np.unique(elements, axis=0, return_inverse=True)
        place = place.reshape(-1)
    count = int(place.max()) + 1
    ends: list[tuple[Array, Array]] = []
    for where, owner in ((place[: a[1].size], a[1]), (place[a[1].size :], b[1])):
        low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1, np.int64)
        np.minimum.at(low, where, owner)
        np.maximum.at(high, where, owner)
        ends.append((low, high))
    (low_a, high_a), (low_b, high_b) = ends
    met = (high_a >= 0) & (high_b >= 0) & ((low_a != high_b) | (high_a != low_b))
    if not met.any():
        return Conflict.NONE
    first, last = np.minimum(low_a, low_b)[met], np.maximum(high_a, high_b)[met]
    return Conflict.WARP if (first // WARP == last // WARP).all() else Conflict.BLOCK


def _is_seen(buffer: SSAValue) -> bool:
    """Whether other threads of the block see a buffer."""
    owner = buffer.owner
    if isinstance(owner, Block):
        return not isinstance(buffer.type, IndexType)
    return isinstance(owner, AllocOp) and owner.scope.data in ("shared", "global")
