"""Moving stages into each other's loops: the region of a buffer that a loop body touches, and what follows from it.

compute_at, reverse_compute_at, cache_read, cache_write and compute_inline are all the same thought: within the body
of a loop, an index splits into a base (from the loops outside) and an offset in a box (from the loops inside).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.arith import ConstantOp, SelectOp
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lamina.dialects.accesses import RangeCache
from lamina.dialects.index_map import Condition
from lamina.dialects.linear import Atom, Linear, constant
from lamina.dialects.tir.legality import (
    belongs,
    check_unscheduled,
    is_exact,
    is_inside,
    move_before,
    needed_before,
    own_nest,
    spatial_form,
)
from lamina.dialects.tir.nest import (
    ScheduleError,
    accesses,
    alloc_of,
    erase_nest,
    loads_of,
    reduction_loops,
    retarget,
    stage_block,
    stage_buffer,
    stores_of,
    substitute_in,
    unique_axis,
    unique_stage,
    wrap,
)
from lamina.dialects.tir.ops import (
    AccessOp,
    AllocOp,
    BlockOp,
    ConditionOp,
    ForOp,
    FuncOp,
    IndexOp,
    LoadOp,
    StoreOp,
    buffer_type,
    enclosing_loops,
)


class Region(NamedTuple):
    """A box of a buffer: in dimension d the elements base[d] ... base[d] + extent[d] - 1."""

    base: list[Linear]
    extent: list[int]


def region_of(ops: Sequence[AccessOp], loop: ForOp) -> Region:
    """The box that accesses inside a loop touch in one iteration of it."""
    shape = ops[0].buffer_value().type.get_shape()  # type: ignore[attr-defined]
    ranges = RangeCache()
    inside = _variables_inside(loop)
    base: list[Linear] = []
    extent: list[int] = []
    for d, size in enumerate(shape):
        if size == 1:
            base.append(constant(0))
            extent.append(1)
            continue
        box = _dimension_box([op.forms()[d] for op in ops], inside, ranges)
        if box is None or (box[1] >= size and box[0].is_constant):
            base.append(constant(0))
            extent.append(size)
        else:
            base.append(box[0])
            extent.append(box[1])
    return Region(base, extent)


def _local(form: Linear, ranges: RangeCache) -> Linear:
    """An index within a tile; one that the ranges decide is a number."""
    form = form.simplify(ranges)
    bounds = form.range(ranges)
    return constant(bounds[0]) if bounds is not None and bounds[0] == bounds[1] else form


def _variables_inside(loop: ForOp) -> set[Atom]:
    return {op.var for op in loop.body.walk() if type(op) is ForOp}


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


def compute_at(func: FuncOp, stage: str, loop: ForOp) -> list[ForOp]:
    """Compute of a producer just what one iteration of a consumer's loop reads. Returns the stage's new loops."""
    what = f"compute_at of {stage!r}"
    block = stage_block(func, stage)
    buffer = stage_buffer(func, stage)
    alloc = alloc_of(buffer, stage)
    loops = enclosing_loops(block)
    if any(v is loop for v in loops):
        raise ScheduleError(f"{what}: {loop.axis.data!r} is a loop of the stage itself")
    readers = [o for o in loads_of(buffer) if not belongs(o, block)]
    outside = [o for o in readers if not is_inside(o, loop)]
    if not readers:
        raise ScheduleError(f"{what}: nobody reads the stage")
    if outside:
        raise ScheduleError(f"{what}: it is also read outside the loop {loop.axis.data!r}")
    variables = spatial_form(block, buffer, what)
    check_unscheduled(block, loops)
    region = region_of(readers, loop)
    ranges = RangeCache()
    new_loops: list[ForOp] = []
    mapping: dict[Atom, Linear] = {}
    by_variable = {v.var: v for v in loops}
    extents = {v: by_variable[v].trip for v in variables}
    tile = {v: Linear.dim(v) for v in variables}
    conditions: list[Condition] = []
    for d, v in enumerate(variables):
        source = by_variable[v]
        new = ForOp.make(region.extent[d], source.axis.data, hint=v.name_hint)
        new_loops.append(new)
        tile[v] = Linear.dim(new.var)
        mapping[v] = region.base[d] + tile[v]
        bounds = region.base[d].range(ranges)
        if bounds is None or bounds[0] < 0:
            conditions.append(Condition(mapping[v]))
        if bounds is None or bounds[1] + region.extent[d] > extents[v]:
            new.set_min_bounds([extents[v] - region.base[d]])
    rest = [v for v in loops if v.var not in extents]
    _rebuild(block, loops, new_loops, rest, mapping, loop.body.block, None)
    if conditions:
        _add_guard(block, conditions)
    for op in readers:
        forms = [_local(f - b, ranges) for f, b in zip(op.forms(), region.base, strict=True)]
        op.set_access(forms, op.conditions())
    for op in accesses(block, buffer):
        op.set_access([Linear.dim(v.var) for v in new_loops], op.conditions())
    _resize(alloc, region, loop.body.block)
    return [*new_loops, *reduction_loops(block)]


def _rebuild(
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
    block.detach()
    if old_loops:
        outermost.detach()
    ranges = RangeCache({v.var: (0, max(v.trip - 1, 0)) for v in [*spatial, *rest]})
    renewed: list[ForOp] = []
    full: dict[Atom, Linear] = dict(mapping)
    for v in rest:
        new = ForOp.make(v.trip, v.axis.data, reduction=v.is_reduction, hint=v.var.name_hint)
        full[v.var] = Linear.dim(new.var)
        renewed.append(new)
    for op in block.walk():
        if isinstance(op, (AccessOp, IndexOp, ConditionOp)):
            substitute_in(op, full, ranges)
    holder = Block()
    holder.add_op(block)
    nest = [*spatial, *renewed]
    top: Operation = nest[0] if nest else block
    if nest:
        wrap(nest, holder)
    else:
        block.detach()
    if after is not None:
        target.insert_op_after(top, after)
    elif target.first_op is not None:
        target.insert_op_before(top, target.first_op)
    else:
        target.add_op(top)
    if old_loops:
        outermost.erase(safe_erase=False)


def _add_guard(block: BlockOp, conditions: Sequence[Condition]) -> None:
    for op in block.walk():
        if isinstance(op, AccessOp):
            op.set_access(op.forms(), [*op.conditions(), *conditions])


def _resize(alloc: AllocOp, region: Region, target: Block) -> AllocOp:
    """The buffer in the shape of a region, at the start of a block; the accesses are not changed."""
    type_ = alloc.result.type
    assert isinstance(type_, MemRefType)
    new = AllocOp.make(alloc.stage.data, buffer_type(region.extent, type_.element_type), alloc.scope.data)
    hint = alloc.result.name_hint
    alloc.result.replace_all_uses_with(new.result)
    new.result.name_hint = hint
    new.location = alloc.location
    alloc.detach()
    alloc.erase()
    assert target.first_op is not None
    target.insert_op_before(new, target.first_op)
    return new


def reverse_compute_at(func: FuncOp, stage: str, loop: ForOp) -> list[ForOp]:
    """Compute of a consumer just what one iteration of its producer's loop has finished. Returns its new loops."""
    what = f"reverse_compute_at of {stage!r}"
    block = stage_block(func, stage)
    out = stage_buffer(func, stage)
    loops = enclosing_loops(block)
    if any(v.is_reduction for v in loops):
        raise ScheduleError(f"{what}: a reduction cannot follow a tile of its input")
    if any(v.is_reduction for v in [*enclosing_loops(loop), loop]):
        raise ScheduleError(f"{what}: {loop.axis.data!r} is, or stands in, a reduction loop of the producer")
    produced = {s.buffer_value() for s in accesses(loop) if isinstance(s, StoreOp)}
    reads = [o for o in accesses(block.body.block) if isinstance(o, LoadOp) and o.buffer_value() in produced]
    if not reads:
        raise ScheduleError(f"{what}: it reads nothing that is computed in the loop {loop.axis.data!r}")
    buffer = reads[0].buffer_value()
    if any(o.buffer_value() is not buffer for o in reads):
        raise ScheduleError(f"{what}: it reads more than one stage computed in the loop {loop.axis.data!r}")
    stores = [s for s in accesses(loop, buffer) if isinstance(s, StoreOp)]
    region = region_of(stores, loop)
    spatial_form(block, out, what)
    check_unscheduled(block, loops)
    if not is_exact(stores, loop):
        raise ScheduleError(
            f"{what}: an iteration of {loop.axis.data!r} does not finish a whole box of {buffer.name_hint or 'it'}"
        )
    read = dict.fromkeys(o.buffer_value() for o in accesses(block.body.block) if isinstance(o, LoadOp))
    hoisted = needed_before(func, [b for b in read if b is not buffer], loop, what)
    ranges = RangeCache()
    mapping: dict[Atom, Linear] = {}
    by_variable = {v.var: v for v in loops}
    new_loops: dict[SSAValue, ForOp] = {}
    index = reads[0].forms()
    if any(o.forms() != index for o in reads):
        raise ScheduleError(f"{what}: it reads {buffer.name_hint or 'its producer'} at several places")
    for d, form in enumerate(index):
        if form.is_constant and form.const == 0 and region.extent[d] == 1:
            continue
        if form.const or list(form.terms.values()) != [1] or next(iter(form.terms)) not in by_variable:
            raise ScheduleError(f"{what}: it does not read its producer element by element (dimension {d})")
    for d, form in enumerate(index):
        if form.is_constant:
            continue
        (variable,) = form.terms
        source = by_variable[variable]  # type: ignore[index]
        new = ForOp.make(region.extent[d], source.axis.data, hint=source.var.name_hint)
        mapping[variable] = region.base[d] + Linear.dim(new.var)
        bounds = region.base[d].range(ranges)
        if bounds is None or bounds[1] + region.extent[d] > source.trip:
            new.set_min_bounds([source.trip - region.base[d]])
        new_loops[variable] = new  # type: ignore[index]
    ordered: list[ForOp] = []
    for v in loops:
        if v.var in new_loops:
            ordered.append(new_loops[v.var])
        else:
            new = ForOp.make(v.trip, v.axis.data, hint=v.var.name_hint)
            mapping[v.var] = Linear.dim(new.var)
            ordered.append(new)
    last = loop.body.block.last_op
    assert last is not None
    for op in hoisted:
        move_before(op, loop)
    if isinstance(out.owner, AllocOp):
        move_before(out.owner, loop)
    _rebuild(block, loops, ordered, [], mapping, loop.body.block, last)
    others = [o for o in loads_of(buffer) if not is_inside(o, loop)]
    if isinstance(buffer.owner, AllocOp) and not others:
        for use in list(buffer.uses):
            op = use.operation
            if isinstance(op, AccessOp):
                forms = [_local(f - b, ranges) for f, b in zip(op.forms(), region.base, strict=True)]
                op.set_access(forms, op.conditions())
        _resize(buffer.owner, region, loop.body.block)
    return ordered


def cache_read(func: FuncOp, tensor: SSAValue, name: str, stage: str, loop: ForOp, scope: str) -> list[ForOp]:
    """Read what one iteration of a loop needs of a buffer into a buffer of its own. Returns the copy's loops."""
    what = f"cache_read of {name!r}"
    readers = [o for o in accesses(loop, tensor) if isinstance(o, LoadOp)]
    if not readers:
        raise ScheduleError(f"{what}: it is not read in the loop {loop.axis.data!r}")
    if any(isinstance(o, StoreOp) for o in accesses(loop, tensor)):
        raise ScheduleError(f"{what}: it is written in the loop {loop.axis.data!r}")
    if any(o.conditions() for o in readers):
        raise ScheduleError(f"{what}: a guarded read cannot be cached")
    region = region_of(readers, loop)
    kept = [d for d, e in enumerate(region.extent) if e > 1] or [len(region.extent) - 1]
    element = tensor.type.element_type  # type: ignore[attr-defined]
    label = unique_stage(func, f"{name}.{scope}")
    alloc = AllocOp.make(label, buffer_type([region.extent[d] for d in kept], element), scope)
    alloc.result.name_hint = f"{name}_{scope}" if name.isidentifier() else None
    loops = [
        ForOp.make(region.extent[d], unique_axis(func, f"{label}.{d}"), hint=f"{(tensor.name_hint or 'c')}{d}")
        for d in kept
    ]
    shape = tensor.type.get_shape()  # type: ignore[attr-defined]
    guard: list[Condition] = []
    copies = dict(zip(kept, loops, strict=True))
    for d, base in enumerate(region.base):
        # The box may be larger than what is read of it: where the readers have tails, it ends beyond the tensor.
        bounds = base.range(RangeCache())
        index = base + Linear.dim(copies[d].var) if d in copies else base
        if bounds is None or bounds[0] < 0:
            guard.append(Condition(index))
        if bounds is None or bounds[1] + region.extent[d] > shape[d]:
            if d in copies:
                copies[d].set_min_bounds([shape[d] - base])
            else:
                guard.append(Condition(shape[d] - 1 - index))
    offset = {d: Linear.dim(v.var) for d, v in copies.items()}
    body = Block()
    source = [b + offset[d] if d in offset else b for d, b in enumerate(region.base)]
    load = LoadOp.make(tensor, source, guard)
    body.add_op(load)
    body.add_op(StoreOp.make(load.result, alloc.result, [Linear.dim(v.var) for v in loops]))
    holder = Block()
    holder.add_op(BlockOp.make(label, None, body))
    ranges = RangeCache()
    for op in readers:
        forms = [op.forms()[d] - region.base[d] for d in kept]
        operands = list(op.operands)
        operands[op.buffer_position()] = alloc.result
        op.operands = operands
        op.set_access([_local(f, ranges) for f in forms])
    first = loop.body.block.first_op
    assert first is not None
    loop.body.block.insert_op_before(alloc, first)
    loop.body.block.insert_op_before(loops[0], first)
    wrap(loops, holder)
    return loops


def cache_write(func: FuncOp, stage: str, scope: str) -> str:
    """Compute a stage into a buffer of another scope and copy it out by a new stage, whose name is returned."""
    block = stage_block(func, stage)
    buffer = stage_buffer(func, stage)
    type_ = buffer.type
    assert isinstance(type_, MemRefType)
    label = f"{stage}.{scope}"
    what = f"cache_write of {stage!r}"
    spatial = spatial_form(block, buffer, what)
    if any(o.conditions() for o in accesses(block) if isinstance(o, StoreOp)):
        raise ScheduleError(f"{what}: it is stored under a condition")
    loops = own_nest(block, what)
    outermost = loops[0] if loops else block
    alloc = AllocOp.make(label, type_, scope)
    alloc.result.name_hint = f"{stage}_{scope}" if stage.isidentifier() else None
    assert outermost.parent is not None
    outermost.parent.insert_op_before(alloc, outermost)
    retarget([o for o in accesses(block) if o.buffer_value() is buffer], alloc.result)
    trips = {v.var: v for v in loops}
    copy_stage = unique_stage(func, f"{stage}.out")
    copies = [
        ForOp.make(trips[v].trip, unique_axis(func, f"{copy_stage}.{n}"), hint=v.name_hint)
        for n, v in enumerate(spatial)
    ]
    renamed: dict[Atom, Linear] = {v: Linear.dim(c.var) for v, c in zip(spatial, copies, strict=True)}
    for v, copy in zip(spatial, copies, strict=True):
        copy.set_min_bounds([b.substitute(renamed) for b in trips[v].min_bounds()])
    body = Block()
    index = [Linear.dim(v.var) for v in copies]
    load = LoadOp.make(alloc.result, index)
    body.add_ops([load, StoreOp.make(load.result, buffer, index)])
    holder = Block()
    holder.add_op(BlockOp.make(copy_stage, None, body))
    outermost.parent.insert_op_after(copies[0], outermost)
    wrap(copies, holder)
    return copy_stage


def compute_inline(func: FuncOp, stage: str) -> None:
    """Put a stage's equation in the place of every read of it."""
    what = f"compute_inline of {stage!r}"
    block = stage_block(func, stage)
    buffer = stage_buffer(func, stage)
    alloc = alloc_of(buffer, stage)
    if block.init.blocks or any(v.is_reduction for v in enclosing_loops(block)):
        raise ScheduleError(f"{what}: a reduction has no equation to inline")
    stores = stores_of(buffer)
    if len(stores) != 1 or stores[0].conditions():
        raise ScheduleError(f"{what}: it is stored in more than one place or under a condition")
    variables = _inline_variables(stores[0], what)
    own_nest(block, what)
    for read in accesses(block.body.block):
        local = enclosing_loops(read.buffer_value().owner) if isinstance(read.buffer_value().owner, AllocOp) else []
        if any(not is_inside(reader, v) for reader in loads_of(buffer) for v in local):
            raise ScheduleError(f"{what}: it reads {read.buffer_value().name_hint}, which its readers do not see")
    body = [o for o in block.body.block.ops if o is not stores[0]]
    for load in _merge_equal(loads_of(buffer)):
        forms = load.forms()
        mapping: dict[Atom, Linear] = {v: f for v, f in zip(variables, forms, strict=True) if v is not None}
        result = _clone_at(body, stores[0].value, mapping, load)
        load.result.replace_all_uses_with(result)
        if result.name_hint is None:
            result.name_hint = load.result.name_hint
        load.detach()
        load.erase()
    erase_nest(block)
    alloc.detach()
    alloc.erase()


def _merge_equal(loads: Sequence[LoadOp]) -> list[LoadOp]:
    """One load for those of a block that read the same element, so that inlining copies the equation once."""
    groups: dict[tuple[int, tuple[Linear, ...], tuple[Condition, ...]], list[LoadOp]] = {}
    for load in loads:
        key = (id(load.parent), tuple(load.forms()), tuple(load.conditions()))
        groups.setdefault(key, []).append(load)
    kept: list[LoadOp] = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1:
            assert first.parent is not None
            members = set(group)
            first = next(op for op in first.parent.ops if isinstance(op, LoadOp) and op in members)
            for other in members - {first}:
                other.result.replace_all_uses_with(first.result)
                other.detach()
                other.erase()
        kept.append(first)
    return kept


def _inline_variables(store: StoreOp, what: str) -> list[SSAValue | None]:
    variables: list[SSAValue | None] = []
    shape = store.buffer_value().type.get_shape()  # type: ignore[attr-defined]
    for form, extent in zip(store.forms(), shape, strict=True):
        if form.is_constant and extent == 1:
            variables.append(None)
            continue
        if form.const or list(form.terms.values()) != [1]:
            raise ScheduleError(f"{what}: it has been split already")
        (atom,) = form.terms
        if not isinstance(atom, BlockArgument):
            raise ScheduleError(f"{what}: it has been split already")
        variables.append(atom)
    return variables


def _clone_at(body: Sequence[Operation], value: SSAValue, mapping: dict[Atom, Linear], load: LoadOp) -> SSAValue:
    """Copy a stage's body before a load of it; under the load's guard the copies read nothing and give zero."""
    place = load.parent
    assert place is not None
    ranges = RangeCache()
    guard = load.conditions()
    values: dict[SSAValue, SSAValue] = {}
    for op in body:
        clone = op.clone(values)
        place.insert_op_before(clone, load)
        if isinstance(clone, (AccessOp, IndexOp, ConditionOp)):
            substitute_in(clone, mapping, ranges)
        if isinstance(clone, AccessOp) and guard:
            own = clone.conditions()
            clone.set_access(clone.forms(), [*own, *(c for c in guard if c not in own)])
    result = values.get(value, value)
    if guard and not isinstance(result.owner, LoadOp):
        condition = ConditionOp.of(guard)
        zero = ConstantOp.create(properties={"value": zero_of(result.type)}, result_types=[result.type])
        select = SelectOp.create(operands=[condition.result, result, zero.results[0]], result_types=[result.type])
        for op in (condition, zero, select):
            place.insert_op_before(op, load)
        result = select.results[0]
    return result


def zero_of(type_: Attribute) -> Attribute:
    """The zero of a scalar type."""
    if isinstance(type_, IntegerType):
        return IntegerAttr(0, type_)
    return FloatAttr(0.0, type_)  # type: ignore[arg-type]
