"""Loops over tiles whose elements only a run tells: whole tiles, and what is left of them apart.

A loop of `(n + T - 1) floordiv T` iterations runs over tiles of T, and loops in it stop at `n - io * T`. For the
`n floordiv T` whole tiles nothing stops. What is left, `n mod T`, is one more iteration under its bounds, or goes in
pieces of constant sizes, each as often as it fits:

    for io in (n + 7) floordiv 8:             for io in n floordiv 8: for ii in 8
      for ii in 8 min [n - io * 8]    =>      for t in (n mod 8) floordiv 4: for ii in 4
                                              for t in (n mod 4) floordiv 1: for ii in 1

Tiles may be part of a larger one, of which only the last is not whole: then their number is a constant, some of them
are empty there, and pieces of them are only where they are not all whole:

    for i in 6                                for i in 6 min [n floordiv 8]: for ii in 8
      for ii in 8 min [n - i * 8]       =>    for t in 1 min [(n mod 8) floordiv 4, 384 - n * 8]: for ii in 4
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.linear import Atom, Linear, floordiv, mod
from lamina.dialects.schedule.nest.annotations import PREFETCH
from lamina.dialects.schedule.nest.decompose import decompose_init
from lamina.dialects.schedule.nest.edits import (
    ceildiv,
    change_forms,
    function_of,
    name_tails,
    own_forms,
    reduction_loops,
)
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.tails import resolve_bounds, shorten
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.facts import facts_at, facts_inside, walk_with_facts
from lamina.dialects.tir.ops import AccessOp, AllocOp, BlockOp, ConditionOp, ForOp, LoadOp, StoreOp, enclosing_loops


class OpenTiles(NamedTuple):
    """Elements that a loop over tiles runs through."""

    whole: Linear
    """Elements, in all tiles together."""
    step: int
    """Elements of a tile."""
    tails: list[ForOp]
    """The loops within that stop where the elements end."""
    askers: list[Operation]
    """Ops within that are done only where there are elements."""
    most: int = 0
    """The most tiles, where their number is a constant."""

    @property
    def left(self) -> Linear:
        """Elements beyond the whole tiles."""
        return mod(self.whole, self.step, RangeCache())


def partition_open(loop: ForOp, sizes: Sequence[int]) -> list[ForOp]:
    """Let a loop of unknown extent run over whole tiles, and what is left of them apart, in pieces of some sizes.

    Without sizes what is left is one iteration that keeps its bounds. Returns the loops that take the place of the one.
    Raises ScheduleError where tails are not those of its tiles.
    """
    what = f"partition of {loop.axis.data!r}"
    tiles = _tiles_of(loop, what)
    if tiles.whole.is_constant:
        raise ScheduleError(f"{what}: its extent is a number, so its tail needs no pieces")
    if sizes:
        _check_sizes(tiles, loop, sizes, what)
        _check_rebase(loop, tiles, what)
    for block in [b for b in all_ops(loop) if type(b) is BlockOp and b.init.blocks]:
        if loop in reduction_loops(block):
            decompose_init(block)
    left, done, ranges = tiles.left, [loop], RangeCache()
    tails = {*tiles.tails}
    most = tiles.step
    # At least as many as there may be pieces where a tile is not whole, none where all are.
    wanted = [(tiles.most * tiles.step - tiles.whole) * tiles.step] if tiles.most else []

    def add(counted: ForOp, size: int | None) -> None:
        rest, own = _rest(loop, tiles, tiles.whole - left, counted, size)
        tails.update(own)
        edit.insert_after(done[-1], rest)
        done.append(rest)

    if not sizes:
        add(ForOp.make(1, "", bounds=[ceildiv(left, tiles.step, ranges)]), None)
    for size in sizes:
        add(ForOp.make((most - 1) // size, "", bounds=[floordiv(left, size, ranges), *wanted]), size)
        left, most = mod(left, size, ranges), size
    loop.set_min_bounds([floordiv(tiles.whole, tiles.step, ranges)])
    for each in done:
        _resolve(each, tails)
        for v in [v for v in all_ops(each.body) if type(v) is ForOp]:
            shorten(v)
    return done


def _tiles_of(loop: ForOp, what: str) -> OpenTiles:
    """The tiles that a loop runs over, by the tails and conditions in it. Raises ScheduleError where there are none."""
    users = list(dict.fromkeys(use.operation for use in loop.var.uses))
    tails = [v for v in users if isinstance(v, ForOp)]
    ends = [bound for v in tails for bound in v.min_bounds()]
    askers = [v for v in users if any(loop.var in form.dims() for form in _asked_by(v))]
    ends += [form + 1 for v in askers for form in _asked_by(v)]
    if not any(loop.var in form.dims() for form in ends):
        raise ScheduleError(f"{what}: no tail depends on it")
    for form in ends:
        step = -form.terms.get(loop.var, 0)
        whole = Linear({a: c for a, c in form.terms.items() if a != loop.var and not _is_inside(a, loop)}, form.const)
        if step > 1 and loop.min_bounds() == [ceildiv(whole, step, RangeCache())]:
            return OpenTiles(whole, step, tails, askers)
        if step > 1 and not loop.is_dynamic and not loop.bounds and facts_at(loop).at_least(whole):
            return OpenTiles(whole, step, tails, askers, loop.trip)
    raise ScheduleError(f"{what}: it does not run over tiles of the elements that its tails stop at")


def _asked_by(op: Operation) -> list[Linear]:
    """The forms that have to be at least 0 for an op to do what it does."""
    if isinstance(op, AccessOp | ConditionalBase):
        return [c.form for c in op.conditions()]
    return own_forms(op) if isinstance(op, ConditionOp) else []


def _is_inside(value: Atom, loop: ForOp) -> bool:
    """Whether a value is the variable of a loop within another, or made of such."""
    if isinstance(value, tuple):
        return all(_is_inside(d, loop) for d in value[1].dims())
    around = value.block.parent_op() if isinstance(value, BlockArgument) else None
    return isinstance(around, ForOp) and around is not loop and loop.is_ancestor(around)


def _check_sizes(tiles: OpenTiles, loop: ForOp, sizes: Sequence[int], what: str) -> None:
    """Raise ScheduleError for pieces that are not smaller and smaller down to 1, or tails that they do not fit."""
    if list(sizes) != sorted(set(sizes), reverse=True) or sizes[-1] != 1 or sizes[0] >= tiles.step:
        raise ScheduleError(
            f"{what}: the pieces {list(sizes)} of what is left of a tile of {tiles.step} become smaller, down to 1"
        )
    for part, digits in _parts_of(loop, tiles):
        if digits is None:
            raise ScheduleError(f"{what}: {part} is not a whole tile's, which has no pieces")
        for size in sizes:
            if any(size > stride and size % stride for _, stride in digits):
                raise ScheduleError(f"{what}: a piece of {size} is no number of iterations around {part}")


def _parts_of(loop: ForOp, tiles: OpenTiles) -> list[tuple[str, list[tuple[ForOp, int]] | None]]:
    """The loops that count through a tile for each tail in a loop, and for each condition on the elements of a sum.

    None where they are not the parts of one of the tiles, or where something is done beyond the end as well.
    """
    found: list[tuple[str, list[tuple[ForOp, int]] | None]] = []
    for tail in tiles.tails:
        bounds = tail.min_bounds()
        known = len(bounds) == 1 and not tail.is_dynamic and loop.var in bounds[0].dims()
        digits = _digits(bounds[0], tail, loop, tiles, tail) if known else None
        found.append((f"the tail {tail.axis.data!r}", digits))
    for asker in tiles.askers:
        for form in _asked_by(asker):
            if _is_asked_around(asker, form, tiles.tails):
                continue
            digits = _digits(form + 1, asker, loop, tiles) if loop.var in form.dims() else []
            if digits and not _adds_nothing(asker, form, [part for part, _ in digits]):
                digits = None
            found.append((f"a condition of {asker.name}", digits))
    return found


def _is_asked_around(asker: Operation, form: Linear, tails: Sequence[ForOp]) -> bool:
    """Whether a form is never negative because a tail around an op stops before."""
    return any(
        form + 1 + Linear.dim(tail.var) == bound
        for tail in tails
        if tail.is_ancestor(asker)
        for bound in tail.min_bounds()
    )


def _adds_nothing(asker: Operation, form: Linear, digits: Sequence[ForOp]) -> bool:
    """Whether iterations in which a form is negative may be left out: they add nothing to a sum, or what they write is
    read in them only."""
    block: Operation | None = asker
    while block is not None and type(block) is not BlockOp:
        block = block.parent_op()
    stores = [op for op in all_ops(block.body) if type(op) is StoreOp] if isinstance(block, BlockOp) else []
    return bool(stores) and all(
        _is_within(s, digits[-1]) or all(d.is_reduction for d in digits) and _is_sum_under(s, form) for s in stores
    )


def _is_within(store: StoreOp, loop: ForOp) -> bool:
    """Whether a store is to a buffer that each iteration of a loop has for itself."""
    alloc = store.buffer.owner
    return isinstance(alloc, AllocOp) and loop.is_ancestor(alloc)


def _is_sum_under(store: StoreOp, form: Linear) -> bool:
    """Whether a store adds to what is there, and zero where a form is negative."""
    add = store.value.owner
    if not isinstance(add, (arith.AddfOp, arith.AddiOp)):
        return False
    for kept, term in ((add.lhs.owner, add.rhs.owner), (add.rhs.owner, add.lhs.owner)):
        there = isinstance(kept, LoadOp) and kept.buffer is store.buffer and kept.forms() == store.forms()
        if there and isinstance(term, arith.SelectOp) and isinstance(term.cond.owner, ConditionOp):
            zero = term.rhs.owner
            number = zero.value if isinstance(zero, arith.ConstantOp) else None
            is_zero = isinstance(number, (FloatAttr, IntegerAttr)) and number.value.data == 0
            return is_zero and form in own_forms(term.cond.owner)
    return False


def _digits(
    end: Linear, op: Operation, loop: ForOp, tiles: OpenTiles, tail: ForOp | None = None
) -> list[tuple[ForOp, int]] | None:
    """The loops around an op that count through a tile, from the outside in, each with the elements of its iteration;
    a tail comes last.

    None where they are not the parts of one of the tiles.
    """
    around: dict[Atom, ForOp] = {v.var: v for v in enclosing_loops(op) if _is_inside(v.var, loop)}
    rest = end + Linear({loop.var: tiles.step}) - tiles.whole
    if any(d not in around for d in rest.terms) or rest.const:
        return None
    found = sorted(((around[d], -c) for d, c in end.terms.items() if d in around), key=lambda part: -part[1])
    found = [*found, (tail, 1)] if tail is not None else found
    elements = tiles.step
    for part, stride in found:
        if part.is_dynamic or part is not tail and part.bounds or part.trip * stride != elements:
            return None
        elements = stride
    return found if elements == 1 else None


def _shorten(digits: Sequence[tuple[ForOp, int]], size: int) -> None:
    """Let the loops that count through a tile count through a part of it."""
    for part, stride in digits:
        part.set_min_bounds([])
        part.properties["extent"] = ForOp.make(max(min(size // stride, part.trip), 1), "").extent


def _check_rebase(loop: ForOp, tiles: OpenTiles, what: str) -> None:
    """Raise ScheduleError where the loop's variable stands for something else than the start of a tile, or what is
    reckoned from it is not as far from it as the element is."""
    strides = {part: stride for _, digits in _parts_of(loop, tiles) for part, stride in digits or ()}
    ends = {id(op) for op in (*tiles.tails, *tiles.askers)}
    for user in dict.fromkeys(use.operation for use in loop.var.uses):
        forms = own_forms(user)
        if not loop.is_ancestor(user):
            continue  # left over from an earlier edit, it stands nowhere
        if not any(loop.var in form.dims() for form in forms):
            raise ScheduleError(f"{what}: {user.name} uses its variable outside index arithmetic")
        around = [v for v in enclosing_loops(user) if v in strides]
        for form in forms:
            rebased(form, loop.var, tiles.step, Linear(), what)
            is_end = id(user) in ends and form.terms.get(loop.var, 0) == -tiles.step
            if not is_end and not _is_position(form, loop, tiles.step, {v.var: strides[v] for v in around}):
                raise ScheduleError(f"{what}: what {user.name} is about lies otherwise in a piece than in a tile")


def _is_position(form: Linear, loop: ForOp, step: int, strides: Mapping[SSAValue, int]) -> bool:
    """Whether a form, where it has the variable of a loop over tiles, is a multiple of the element's position."""
    times, rest = divmod(form.terms.get(loop.var, 0), step)
    inner = [a[1] for a in form.terms if isinstance(a, tuple) and loop.var in a[1].dims()]
    if not all(_is_position(f, loop, step, strides) for f in inner) or rest:
        return False
    return not times or all(form.terms.get(v, 0) == times * stride for v, stride in strides.items()) and bool(strides)


def rebased(form: Linear, variable: Atom, step: int, base: Linear, what: str | None = None) -> Linear:
    """A form in which the variable, times `step`, is another form, which it is a part of.

    Where it stands otherwise `what` is refused with a ScheduleError; of nothing to refuse the form is a multiple of
    the step, and the variable is divided.
    """
    if variable not in form.dims():
        return form
    found, ranges = Linear(const=form.const), RangeCache()
    for atom, coefficient in form.terms.items():
        if atom == variable:
            if coefficient % step == 0:
                found = found + base * (coefficient // step)
            elif what is None:
                found = found + floordiv(base, step, ranges) * coefficient
            else:
                raise ScheduleError(f"{what}: what is left of its tiles begins at no multiple of it")
        elif isinstance(atom, tuple):
            kind, inner, divisor = atom
            inner = rebased(inner, variable, step, base, what)
            divided = floordiv(inner, divisor, ranges) if kind == "floordiv" else mod(inner, divisor, ranges)
            found = found + divided * coefficient
        else:
            found = found + Linear({atom: coefficient})
    return found


def _rest(
    loop: ForOp, tiles: OpenTiles, start: Linear, counted: ForOp, size: int | None
) -> tuple[ForOp, Sequence[ForOp]]:
    """A copy of a loop over tiles for pieces that begin at `start`, and its tails; `counted` has its extent."""
    rest = loop.clone()
    rest.attributes.pop(PREFETCH, None)
    rest.properties["kind"] = StringAttr("serial")
    found = [v for v in all_ops(rest.body) if rest.var in v.operands]
    own = tiles._replace(tails=[v for v in found if type(v) is ForOp], askers=[v for v in found if _asked_by(v)])
    name_tails(function_of(loop), [rest, *(v for v in all_ops(rest.body) if type(v) is ForOp)])
    if size is not None:
        for digits in [digits for _, digits in _parts_of(rest, own)]:
            _shorten(digits or (), size)
    base = start if counted.trip == 1 else start + Linear.dim(rest.var) * (size or tiles.step)
    for op in list(dict.fromkeys(use.operation for use in rest.var.uses)):
        change_forms(op, lambda form: rebased(form, rest.var, tiles.step, base))
    rest.properties["extent"] = counted.extent
    rest.set_min_bounds(counted.min_bounds())
    return rest, own.tails


def _resolve(loop: ForOp, tails: Container[Operation]) -> None:
    """Drop the bounds of tails within a loop that never bind."""
    for op, facts in walk_with_facts(loop.body.block, Facts(RangeCache(), facts_inside(loop))):
        if type(op) is ForOp and op in tails:
            resolve_bounds(op, facts)
