"""Moving stages into each other's loops: the region of a buffer that a loop body touches, and what follows from it.

compute_at, reverse_compute_at and cache_read are one thought: within the body of a loop, an index splits into a base
(from the loops outside) and an offset in a box (from the loops inside).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.ir import Block, BlockArgument, Operation

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, constant
from lamina.dialects.schedule.nest.edits import (
    erase_empty,
    scalar_only,
    substitute_in,
    wrap,
)
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import (
    AccessOp,
    AllocOp,
    buffer_type,
    extents_of,
    shape_with,
)
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, IndexOp, enclosing_loops

UNBOUNDED = MAX_EXTENT >> 16
"""An extent that comes from a loop of unknown extent, of whose variable a quotient was taken perhaps."""


class Region(NamedTuple):
    """A box of a buffer: in dimension d the elements base[d] ... base[d] + extent[d] - 1."""

    base: list[Linear]
    extent: list[Linear]


def region_of(
    ops: Sequence[AccessOp],
    loop: ForOp,
    threads: Sequence[ForOp] = (),
    forms_of: Callable[[AccessOp], Sequence[Linear]] = AccessOp.forms,
) -> Region:
    """The box that accesses inside a loop touch in one iteration of it and of all `threads` around it.

    In a dimension that a loop of unknown extent runs along, and where the box would be larger than it, it is whole.
    `forms_of` gives the index of an access, where that is known better than the access says.
    """
    scalar_only(ops)
    ranges = RangeCache()
    inside = _variables_inside(loop) | {v.var for v in threads}
    base: list[Linear] = []
    extent: list[Linear] = []
    for d, size in enumerate(extents_of(ops[0].buffer_value())):
        box = None if size == constant(1) else _dimension_box([forms_of(op)[d] for op in ops], inside, ranges)
        if box is None or box[1] >= UNBOUNDED or (size.is_constant and box[1] >= size.const and box[0].is_constant):
            base.append(constant(0))
            extent.append(size)
        else:
            base.append(box[0])
            extent.append(constant(box[1]))
    return Region(base, extent)


def limits_within(limits: Sequence[Linear], extent: Linear, base: Linear, ranges: RangeCache) -> list[Linear]:
    """The limits of a loop over a box: the box, and what is left of each limit that the box may end beyond."""
    found = [extent]
    for limit in limits:
        beyond = (limit - base - extent).range(ranges)
        if beyond is None or beyond[0] < 0:
            found.append(limit - base)
    return found


def local_index(form: Linear, ranges: RangeCache) -> Linear:
    """An index within a tile; one that the ranges decide is a number."""
    form = form.simplify(ranges)
    bounds = form.range(ranges)
    return constant(bounds[0]) if bounds is not None and bounds[0] == bounds[1] else form


def index_within(ops: Sequence[AccessOp], region: Region) -> None:
    """Let accesses to a buffer count from the start of a region of it."""
    ranges = RangeCache()
    for op in ops:
        forms = [local_index(f - b, ranges) for f, b in zip(op.forms(), region.base, strict=True)]
        op.set_access(forms, op.conditions())


def _variables_inside(loop: ForOp) -> set[Atom]:
    return {op.var for op in all_ops(loop.body) if type(op) is ForOp}


def _dimension_box(forms: Sequence[Linear], inside: set[Atom], ranges: RangeCache) -> tuple[Linear, int] | None:
    low: Linear | None = None
    start = end = 0
    for form in forms:
        outer = Linear(const=form.const)
        lo = hi = 0
        for atom, coef in form.terms.items():
            dims = Linear({atom: 1}).dims()
            if not any(d in inside for d in dims):
                outer = outer + Linear({atom: coef})
                continue
            if not all(d in inside for d in dims):
                return None
            bounds = Linear({atom: coef}).range(ranges)
            if bounds is None:
                return None
            lo, hi = lo + bounds[0], hi + bounds[1]
        if low is None:
            low, start, end = outer, lo, hi
        else:
            difference = outer - low
            if not difference.is_constant:
                return None
            start, end = min(start, lo + difference.const), max(end, hi + difference.const)
    assert low is not None
    return low + start, end - start + 1


def rebuild(
    block: BlockOp,
    old_loops: Sequence[ForOp],
    spatial: Sequence[ForOp],
    rest: Sequence[ForOp],
    mapping: dict[Atom, Linear],
    target: Block,
    after: Operation | None,
) -> None:
    """Take a stage out of its loops and put it, under new spatial loops and its other loops, into a block."""
    outermost = old_loops[0] if old_loops else block
    left = outermost.parent_op()
    edit.take(block)
    if old_loops:
        edit.take(outermost)
    ranges = RangeCache({v.var: (0, max(v.trip - 1, 0)) for v in [*spatial, *rest]})
    renewed: list[ForOp] = []
    full: dict[Atom, Linear] = dict(mapping)
    for v in rest:
        new = ForOp.upto(v.limits(), v.axis.data, reduction=v.is_reduction, hint=v.var.name_hint)
        full[v.var] = Linear.dim(new.var)
        renewed.append(new)
    for op in all_ops(block):
        if isinstance(op, (AccessOp, IndexOp, ConditionOp, ConditionalBase)):
            substitute_in(op, full, ranges)
    for new in renewed:
        new.set_min_bounds([b.substitute(full, ranges) for b in new.min_bounds()])
    holder = Block()
    holder.add_op(block)
    nest = [*spatial, *renewed]
    top: Operation = nest[0] if nest else block
    if nest:
        wrap(nest, holder)
    else:
        edit.take(block)
    if after is not None:
        edit.insert_after(after, top)
    elif target.first_op is not None:
        edit.insert_before(target.first_op, top)
    else:
        target.add_op(top)
    if old_loops:
        edit.erase(outermost, safe=False)
    erase_empty(left)
    # A store predicate on loops that repeated the stage is void where it has left them.
    around = {v.var for v in enclosing_loops(block)}
    conditions = block.conditions()
    kept = [c for c in conditions if all(d in around or not _is_loop(d) for d in c.form.dims())]
    if len(kept) < len(conditions):
        block.set_conditions(kept)


def _is_loop(value: Atom) -> bool:
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), (ForOp, type(None)))


def resize(alloc: AllocOp, region: Region, before: Operation | None) -> AllocOp:
    """The buffer in the shape of a region, before another statement; the accesses are not changed."""
    type_ = buffer_type(shape_with(region.extent), alloc.result.type.element_type)
    new = AllocOp.make(alloc.stage.data, type_, alloc.scope.data, region.extent)
    new.attributes |= alloc.attributes
    hint = alloc.result.name_hint
    alloc.result.replace_all_uses_with(new.result)
    new.result.name_hint = hint
    new.location = alloc.location
    left = alloc.parent_op()
    edit.erase(alloc)
    assert before is not None and before.parent is not None
    edit.insert_before(before, new)
    erase_empty(left)
    return new
