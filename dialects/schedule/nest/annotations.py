"""Annotations of loops, stages and buffers by schedules for passes to act upon, and the threads that may run a stage.

Loops and blocks carry annotations as attributes; a pragma's name begins with `pragma_`. What concerns a buffer is an
attribute of its allocation:

    tir.for %i = 0 to 8 "C.i" attributes {pragma_unroll_explicit = 1 : i64, prefetch = [{offset = 1, tensor = "A"}]}
    %B = tir.alloc "B" scope "global" {storage_align = array<i64: 0, 32, 1>, double_buffer} : memref<8x32xf32>
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear
from lamina.dialects.schedule.nest.edits import (
    ScheduleError,
    accesses,
    alloc_of,
    blocks_of,
    reduction_loops,
    stage_block,
    stage_buffer,
    stage_buffers,
    stores_beyond,
    unique_axis,
)
from lamina.dialects.schedule.nest.recurrence import ROLLING
from lamina.dialects.schedule.nest.refusals import refuse
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.schedule.nest.threads import check_blocks_apart, thread_loops
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, type_of
from lamina.dialects.tir.ops import THREAD_TAGS, BlockOp, ForOp, FuncOp, enclosing_loops

PRAGMA = "pragma_"
STORAGE_ALIGN = "storage_align"
DOUBLE_BUFFER = "double_buffer"
PREFETCH = "prefetch"
ALTERNATE = "alternate"

PRAGMAS = {
    "unroll_explicit": "whether tir-unroll-loop writes unrolled loops inside out",
    "auto_unroll_max_step": "up to how many statements tir-unroll-loop writes serial loops inside out",
    "auto_unroll_max_depth": "how deep the loops may nest that tir-unroll-loop writes out",
    "loop_partition_hint": "that tir-loop-partition cuts the loop where conditions change, and in how many pieces",
    "unswitch": "that tir-unswitch-loop takes it apart by what its iterations choose alike, however much stands in it",
    "masked_lanes": "that tir-vectorize-loop makes a number of lanes that is no power of two one, under a mask",
}
"""The pragmas that have an effect, and which."""

_REFUSED = {
    "import_llvm": "code is not taken from elsewhere; write the computation as a stage",
    "import_c": "code is not taken from elsewhere; write the computation as a stage",
    "debug_skip_region": "leaving statements out changes what is computed",
    "tensor_core": "use te.tensorize",
    "hand_threaded": "bind loops by te.bind",
    "parallel_launch_point": "use te.parallel, whose threads are the pool's",
    "parallel_stride_pattern": "use te.parallel, whose slices are contiguous",
    "parallel_barrier_when_finish": "a parallel loop ends when all its iterations have",
    "prefetch_scope": "use te.prefetch",
}


def annotate(op: Operation, key: str, value: Attribute) -> None:
    """Attach an attribute to a loop or block. Raises ScheduleError for a name that is none, or is a pragma's."""
    if not key:
        raise ScheduleError("annotate: an annotation has a name")
    if key.startswith(PRAGMA):
        raise ScheduleError(f"annotate: {key!r} is a pragma; use te.pragma with {key.removeprefix(PRAGMA)!r}")
    op.attributes[key] = value


def annotate_stage(func: FuncOp, stage: str, key: str, value: Attribute) -> None:
    """Attach an attribute to every block of a stage."""
    blocks = blocks_of(func).get(stage)
    if blocks is None:
        stage_block(func, stage)  # says which stages there are
        return
    for block in blocks:
        annotate(block, key, value)


def pragma(loop: ForOp, key: str, value: Attribute) -> None:
    """Attach a pragma to a loop. Raises ScheduleError for one without effect, or with a value that it does not take."""
    what = f"pragma {key!r} of {loop.axis.data!r}"
    if key in _REFUSED:
        raise ScheduleError(f"{what}: {_REFUSED[key]}")
    if key not in PRAGMAS:
        raise ScheduleError(f"{what}: there is no such pragma; it is one of {', '.join(PRAGMAS)}")
    if not isinstance(value, IntegerAttr) or value.value.data < 0:
        raise ScheduleError(f"{what}: it takes a number that is not negative, not {value}")
    loop.attributes[PRAGMA + key] = IntegerAttr(value.value.data, i64)


def pragma_of(loop: ForOp, key: str) -> int | None:
    """The value of a loop's pragma."""
    value = loop.attributes.get(PRAGMA + key)
    return value.value.data if isinstance(value, IntegerAttr) else None


def set_scope(func: FuncOp, stage: str, scope: str) -> None:
    """Let a stage's buffers live in memory of a scope. Raises ScheduleError where they cannot."""
    what = f"set_scope of {stage!r} to {scope!r}"
    check_scope(scope, (), what)
    allocs = [alloc_of(b, stage) for b in stage_buffers(func, stage)]
    for alloc in allocs if scope == "register" else ():
        check_scope(scope, alloc.extents(), what)
        if DOUBLE_BUFFER in alloc.attributes or STORAGE_ALIGN in alloc.attributes:
            raise ScheduleError(f"{what}: it is to be aligned, or to have two halves, which registers have not")
    for alloc in allocs:
        alloc.properties["scope"] = StringAttr(scope)


def storage_align(func: FuncOp, stage: str, axis: int, factor: int, offset: int) -> None:
    """Let the stride of a dimension of a stage's buffer be `offset` modulo `factor`."""
    what = f"storage_align of {stage!r}"
    buffer = stage_buffer(func, stage)
    alloc = alloc_of(buffer, stage)
    rank = type_of(buffer).get_num_dims()
    if not 0 <= axis < rank:
        raise ScheduleError(f"{what}: there is no axis {axis}; its buffer has rank {rank}")
    if factor < 1 or not 0 <= offset < factor:
        raise ScheduleError(f"{what}: the factor {factor} is positive, and the offset {offset} is less than it")
    if axis == rank - 1 and offset != 1 % factor:
        raise ScheduleError(f"{what}: the stride of its last axis is 1, which is not {offset} modulo {factor}")
    if alloc.scope.data == "register":
        raise ScheduleError(f"{what}: registers have no strides")
    alloc.attributes[STORAGE_ALIGN] = DenseArrayBase.from_list(i64, [axis, factor, offset])


def double_buffer(func: FuncOp, stage: str) -> None:
    """Let a stage's buffer be filled for the next iteration while this one is used."""
    alloc = alloc_of(stage_buffer(func, stage), stage)
    if alloc.scope.data == "register":
        raise ScheduleError(f"double_buffer of {stage!r}: registers are not indexed by the iteration")
    alloc.attributes[DOUBLE_BUFFER] = UnitAttr()


def prefetch(
    loop: ForOp,
    tensor: str,
    buffer: SSAValue,
    offset: int,
    spread: ForOp | None = None,
    locality: int = 3,
    write: bool = False,
) -> None:
    """Let an iteration of a loop fetch what a later one reads of a tensor, or writes, little by little in the loop
    `spread`."""
    what = f"prefetch of {tensor!r} at {loop.axis.data!r}"
    if offset < 0:
        raise ScheduleError(f"{what}: the offset {offset} is negative")
    if not 0 <= locality <= 3:
        raise ScheduleError(f"{what}: the locality is 0, 1, 2 or 3, not {locality}")
    if spread is not None and (spread is loop or not _stands_in(spread, loop)):
        raise ScheduleError(f"{what}: the loop {spread.axis.data!r} is not within it")
    if not any(isinstance(o, StoreOp if write else LoadOp) for o in accesses(loop, buffer)):
        raise ScheduleError(f"{what}: nothing in that loop {'writes' if write else 'reads'} it")
    if isinstance(buffer.owner, AllocOp) and buffer.owner.scope.data == "register":
        raise ScheduleError(f"{what}: registers are not fetched")
    # A stage may have its place in a buffer of another name: a state of a scan, a result.
    if isinstance(buffer.owner, AllocOp):
        tensor = buffer.owner.stage.data
    elif write and isinstance(buffer, BlockArgument):
        tensor = f"arg{buffer.index}"
    old = loop.attributes.get(PREFETCH)
    known: list[Attribute] = [*cast("ArrayAttr[Attribute]", old).data] if isinstance(old, ArrayAttr) else []
    asked: dict[str, Attribute] = {"tensor": StringAttr(tensor), "offset": IntegerAttr(offset, i64)}
    if spread is not None:
        asked["spread"] = StringAttr(spread.axis.data)
    if locality != 3:
        asked["locality"] = IntegerAttr(locality, i64)
    if write:
        asked["write"] = UnitAttr()
    loop.attributes[PREFETCH] = ArrayAttr([*known, DictionaryAttr(asked)])


def env_threads(func: FuncOp, stage: str, tags: Sequence[str], extents: Sequence[int]) -> list[ForOp]:
    """Launch threads around a stage's nest, each of which runs all of it, save what loops along their axes share out.

    Raises ScheduleError where the nest stands in a loop, or an axis is not one of threads.
    """
    what = f"env_threads of {stage!r}"
    block = stage_block(func, stage)
    nest: Operation = block
    while nest.parent_op() is not func:
        parent = nest.parent_op()
        assert parent is not None
        nest = parent
    if len(tags) != len(extents):
        raise ScheduleError(f"{what}: {len(tags)} axes, {len(extents)} extents")
    for tag, extent in zip(tags, extents, strict=True):
        if tag not in THREAD_TAGS or tag.startswith("vthread"):
            known = ", ".join(t for t in THREAD_TAGS if not t.startswith("vthread"))
            raise ScheduleError(f"{what}: {tag!r} is no axis of threads; it is one of {known}")
        if not 1 <= extent <= MAX_EXTENT or tags.count(tag) > 1:
            raise ScheduleError(f"{what}: {tag!r} is launched once, with 1 to {MAX_EXTENT} threads")
    for v in (v for v in all_ops(nest) if isinstance(v, ForOp) and v.thread is not None):
        if v.thread is not None and v.thread.data in tags:
            extent = extents[tags.index(v.thread.data)]
            if v.is_dynamic or v.trip != extent:
                raise ScheduleError(
                    f"{what}: {v.axis.data!r} is bound to {v.thread.data!r}, but not with {extent} threads"
                )
    if prod(extents) > 1 and _reads_itself(nest):
        refuse(f"{what}: it reads what an earlier thread has computed: running it again changes its result")
    check_blocks_apart(nest, thread_loops(nest, "blockIdx"), what)
    loops: list[ForOp] = []
    for tag, extent in zip(tags, extents, strict=True):
        loop = ForOp.make(extent, unique_axis(func, f"{stage}.{tag}"), kind="thread", hint=tag.rpartition(".")[2])
        loop.properties["thread"] = StringAttr(tag)
        loop.location = block.location
        loops.append(loop)
    if not loops:
        return []
    edit.insert_before(nest, loops[0])
    edit.take(nest)
    for outer, inner in zip(loops, loops[1:], strict=False):
        outer.body.block.add_op(inner)
    loops[-1].body.block.add_op(nest)
    return loops


def _reads_itself(nest: Operation) -> bool:
    """Whether a nest writes elements that it has read before, other than to add up what it has begun itself.

    What one stage reads of another has been computed before, so it is a stage's own buffer that matters, and one whose
    elements are used again.
    """
    for op in accesses(nest):
        owner = op.buffer_value().owner
        if isinstance(op, StoreOp) and isinstance(owner, AllocOp) and ROLLING in owner.attributes:
            if not any(v is nest for v in enclosing_loops(owner)):
                return True
    blocks = [b for b in all_ops(nest) if isinstance(b, BlockOp)]
    begun = {s.buffer for b in blocks for s in stores_beyond(b) if not any(_loads(b, s.buffer))}
    for block in (b for b in blocks if not b.init.blocks):
        for store in stores_beyond(block):
            for load in _loads(block, store.buffer):
                if _filled_inside(load, nest) or _stored_earlier(store, load):
                    continue
                if any(op.regions for op in block.body.block.ops) or store.buffer not in begun:
                    return True
                if store.forms() != load.forms():
                    return True
    return False


def _loads(block: BlockOp, buffer: SSAValue) -> list[LoadOp]:
    return [o for o in accesses(block, buffer) if isinstance(o, LoadOp)]


def _stored_earlier(store: StoreOp, load: LoadOp) -> bool:
    """Whether an element that a load reads has been stored by an earlier iteration, or is never stored.

    So it is in a recurrence: along one dimension the stores go forward, always some elements ahead of the loads.
    """
    pairs = zip(store.forms(), load.forms(), strict=True)
    return any((a - b).is_constant and (a - b).const > 0 and all(c > 0 for c in a.terms.values()) for a, b in pairs)


def _filled_inside(load: LoadOp, nest: Operation) -> bool:
    """Whether another stage of the nest computes anew what a load reads."""
    owner = load.buffer.owner
    return isinstance(owner, AllocOp) and owner is not nest and any(v is nest for v in enclosing_loops(owner))


def store_predicate(func: FuncOp, stage: str, conditions: Sequence[Condition]) -> None:
    """Let a stage run only where conditions on loops hold.

    Raises IllegalError unless the iterations left out repeat what others do: their loops change neither what is
    computed nor where it is stored, and the conditions single out iterations of them.
    """
    what = f"store_predicate of {stage!r}"
    block = stage_block(func, stage)
    loops = {v.var: v for v in enclosing_loops(block)}
    known: set[Atom] = set(loops)
    for condition in conditions:
        for d in condition.form.dims():
            if d not in known:
                raise ScheduleError(f"{what}: a condition mentions a loop that the stage does not stand in")
    used = {v for op in all_ops(block) for v in op.operands}
    for loop in loops.values():
        mentioned = [c for c in conditions if loop.var in c.form.dims()]
        if not mentioned or not loop.is_dynamic and loop.trip <= 1 and all(_holds(c, loop, 0) for c in mentioned):
            continue  # it leaves no iteration out
        if loop.var in used or any(loop.var in v.bounds for v in loops.values()):
            refuse(f"{what}: iterations of {loop.axis.data!r} that it leaves out are the only ones that do their part")
        for buffer in dict.fromkeys(s.buffer for s in accesses(block) if isinstance(s, StoreOp)):
            own = isinstance(buffer.owner, AllocOp) and loop in enclosing_loops(buffer.owner)
            others = [o for o in accesses(loop, buffer) if not _stands_in(o, block)]
            if own or any(isinstance(o, LoadOp) for o in others):
                refuse(f"{what}: every iteration of {loop.axis.data!r} reads what it computes")
            if others:
                refuse(f"{what}: every iteration of {loop.axis.data!r} starts it anew")
        if loop in reduction_loops(block):
            refuse(f"{what}: {loop.axis.data!r} is a reduction, each iteration of which adds to the result")
        if not any(all(_holds(c, loop, n) for c in mentioned) for n in range(min(loop.trip, 1 << 12))):
            refuse(f"{what}: no single iteration of {loop.axis.data!r} fulfils it whatever the other loops do")
    block.set_conditions([*block.conditions(), *conditions])


def _stands_in(op: Operation, block: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and parent is not block:
        parent = parent.parent_op()
    return parent is block


def _holds(condition: Condition, loop: ForOp, iteration: int) -> bool:
    """Whether an iteration of a loop fulfils a condition on that loop alone."""
    form = condition.form.substitute({loop.var: Linear(const=iteration)})
    if not form.is_constant or (iteration and (loop.is_dynamic or loop.bounds)):
        return False
    return form.const == 0 if condition.equal else form.const >= 0


__all__ = [
    "annotate",
    "annotate_stage",
    "double_buffer",
    "env_threads",
    "pragma",
    "pragma_of",
    "prefetch",
    "set_scope",
    "storage_align",
    "store_predicate",
]
