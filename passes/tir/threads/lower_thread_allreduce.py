"""Reductions across the threads of a block: each thread adds up its own part, then they fold the parts in a tree.

A reduction loop bound to an axis of a block (`te.bind`) becomes loops whose iterations are independent: the thread's
part in a buffer of its own, the parts in shared memory, and for each level of the tree a loop in which half of the
threads add the other half's parts to theirs. What the loop did before, the first part now does; a block without an
init adds it to what is there. Barriers are put between the levels by `tir-thread-sync`, once
`tir-unify-thread-binding` has made one thread of all the loops.

- A loop whose extent is not known is run by 32 threads, each of which takes every 32nd iteration.
- A loop around others that index the result goes into these, if nothing else stands between them.
- Parts of an unknown number of threads along another axis lie in global memory.
- Where the block does not add up one term after the other, or the loops cannot be exchanged, one thread runs them all.

Assumes blocks (before `tir-lower-blocks`).

Before:
    tir.for %t = 0 to 4 thread "threadIdx.x" reduction "y.k" {
      tir.block "y" init { tir.store %zero, %y[] } do { %s = tir.load %y[] ... tir.store %u, %y[] } }
After:
    %parts = tir.alloc "y.parts" scope "shared" : memref<4xf32>
    tir.for %t = 0 to 4 thread "threadIdx.x" "y.k" {
      %part = tir.alloc "y.part" scope "local" : memref<f32>
      tir.block "y.part.init" { tir.store %zero, %part[] }
      tir.block "y.part" { %s = tir.load %part[] ... tir.store %u, %part[] }
      tir.block "y.parts" { ... tir.store %p, %parts[%t] } }
    tir.for %t2 = 0 to 4 thread "threadIdx.x" "y.k.fold2" {
      tir.block "y.fold2" where [%t2 * -1 + 1 >= 0] { ... %parts[%t2] + %parts[%t2 + 2] ... } }
    tir.for %t1 = 0 to 4 thread "threadIdx.x" "y.k.fold1" { ... }
    tir.block "y" { %p = tir.load %parts[0] ... tir.store %p, %y[] }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.schedule.nest.edits import (
    bounds_to_predicate,
    ceildiv,
    function_of,
    move_ops,
    reduction_loops,
    replace_op,
    substitute,
    unique_axis,
    unique_stage,
)
from lamina.dialects.schedule.nest.threads import (
    is_real,
    is_thread,
    run_in_turn,
    sharing_loops,
    tag_of,
    thread_extent,
    thread_loops,
)
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, LoopKind, enclosing_loops
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.loops.reduction_terms import Terms, TermsError

NAME = "tir-lower-thread-allreduce"
THREAD: LoopKind = "thread"
WARP = 32
"""The number of threads of a loop whose extent is not known: those that are started together."""


@dataclass(frozen=True)
class LowerThreadAllreducePass(ModulePass):
    name = "tir-lower-thread-allreduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                while (found := _next_reduction(func)) is not None:
                    with edit.transaction(found[0]):
                        _lower(*found)


def _is_leaf(block: Operation) -> bool:
    """Whether an op is a block that holds no others."""
    return type(block) is BlockOp and not any(type(o) is BlockOp for o in block.walk() if o is not block)


def _next_reduction(func: FuncOp) -> tuple[BlockOp, ForOp] | None:
    """A block with the innermost of its reduction loops that threads run."""
    for block in func.walk():
        if isinstance(block, BlockOp) and _is_leaf(block):
            for loop in reversed(reduction_loops(block)):
                if is_thread(loop):
                    return block, loop
    return None


def _lower(block: BlockOp, loop: ForOp) -> None:
    if is_thread(loop, "blockIdx"):
        raise InputError(
            f"{NAME}: {loop.axis.data!r} is bound to {tag_of(loop)!r}, but adds into the same element, which only the "
            "threads of one block can",
            op=loop,
        )
    if not is_real(loop):
        run_in_turn(loop)  # a thread takes its virtual ones together, but they do not share what they add up
        return
    _enter_grid(loop)
    try:
        terms = Terms(block)
        _alone(block, loop)
        _dissolve_between(block, loop)
        if loop.is_dynamic:
            _share_out(loop)
        bounds_to_predicate(loop)
        _move_inwards(block, loop, terms)
        lowering = _Lowering(block, loop, terms)
    except TermsError:
        # A right sum, if not a fast one.
        run_in_turn(loop)
        return
    lowering.run()


def _enter_grid(loop: ForOp) -> None:
    """Shared memory belongs to a block of threads: a kernel without a grid gets one of a single block."""
    chain = [*enclosing_loops(loop), loop]
    if any(is_thread(v, "blockIdx") for v in chain):
        return
    root = next(v for v in chain if is_thread(v))
    taken = {tag_of(v) for v in thread_loops(root, "blockIdx")}
    axis = next((f"blockIdx.{n}" for n in "xyz" if f"blockIdx.{n}" not in taken), None)
    place = root.parent
    if axis is None or place is None:
        return
    grid = ForOp.make(1, unique_axis(function_of(root), f"{root.axis.data}.grid"), kind=THREAD)
    grid.properties["thread"] = StringAttr(axis)
    inherit_location(grid, root)
    edit.insert_before(root, grid)
    edit.move_into(grid.body.block, [root])


# -- a loop that only one block reduces over, whose results do not differ within it ---------------------


def _alone(block: BlockOp, loop: ForOp) -> None:
    """Raises TermsError where a loop adds up what several blocks compute."""
    for other in loop.walk():
        if other is not block and isinstance(other, BlockOp) and _is_leaf(other) and loop in reduction_loops(other):
            raise TermsError(f"{other.stage.data!r} is added up by the same threads")


def _dissolve_between(block: BlockOp, loop: ForOp) -> None:
    """Blocks of blocks within a loop: their predicates become those of what stands in them."""
    holder = block.parent_op()
    while holder is not loop:
        assert holder is not None
        above = holder.parent_op()
        if isinstance(holder, BlockOp):
            if holder.init.blocks:
                raise TermsError(f"the block {holder.stage.data!r} begins a reduction of its own")
            conditions = holder.conditions()
            for inner in holder.body.walk():
                if isinstance(inner, BlockOp):
                    inner.set_conditions([*inner.conditions(), *conditions])
            edit.dissolve(holder, holder.body.block)
        elif not isinstance(holder, ForOp):
            raise TermsError("statements stand around it")
        holder = above


def _share_out(loop: ForOp) -> None:
    """The iterations of a loop of unknown extent on the threads of a warp: each takes every 32nd of them."""
    root = next(v for v in [*enclosing_loops(loop), loop] if is_thread(v))
    others = [v for v in thread_loops(root) if v is not loop]
    if any(tag_of(v) == tag_of(loop) for v in others):
        raise TermsError("other loops have as many threads")
    if prod(v.trip for v in others if is_thread(v, "threadIdx") and not v.is_dynamic) * WARP > 1024:
        raise TermsError("the block of threads has no more")
    func = function_of(loop)
    limits = loop.min_bounds()
    bounds = [ceildiv(b, WARP, lambda _: None) for b in limits]
    turns = ForOp.make(
        None, unique_axis(func, f"{loop.axis.data}.turn"), reduction=True, bounds=bounds, hint=loop.var.name_hint
    )
    inherit_location(turns, loop)
    first = Block()
    move_ops(loop.body.block, first)
    move_ops(first, turns.body.block)
    iteration = Linear.dim(turns.var) * WARP + Linear.dim(loop.var)
    loop.set_min_bounds([constant(WARP)])
    conditions = [Condition(b - iteration - 1) for b in limits]
    substitute(loop.var, iteration)
    for op in turns.body.walk():
        if type(op) is BlockOp:
            op.set_conditions([*op.conditions(), *conditions])
    loop.body.block.add_op(turns)


def _move_inwards(block: BlockOp, loop: ForOp, terms: Terms) -> None:
    """Put a loop into those within it that index the results. Raises TermsError where that cannot be done."""
    inside = enclosing_loops(block)[len(enclosing_loops(loop)) + 1 :]
    index = {d for store in terms.stores for f in store.forms() for d in f.dims()}
    needed = [v for v in inside if v.var in index]
    if not needed:
        return
    chain: list[Operation] = [*inside, block]
    for outer, inner in zip([loop, *inside], chain, strict=True):
        if list(outer.body.block.ops) != [inner]:
            raise TermsError(f"other statements stand in {outer.axis.data!r}")
    others = [v for v in inside if v not in needed]
    if any(d in {loop.var, *(v.var for v in others)} for v in needed for d in v.operands):
        raise TermsError("the bounds of loops that index its results depend on it")
    nest = [*needed, loop, *others]
    for v in needed:
        if v.kind.data == "vectorized":
            v.properties["kind"] = StringAttr("serial")
    edit.take(block)
    for v in inside:
        edit.take(v)
    replace_op(loop, nest[0])
    for outer, inner in zip(nest, [*nest[1:], block], strict=True):
        outer.body.block.add_op(inner)


def _known_at_start(loop: ForOp) -> bool:
    """Whether the number of threads that run a loop is known when the function starts."""
    sizes = function_of(loop).body.block
    return all(isinstance(d, BlockArgument) and d.block is sizes for d in thread_extent(loop).dims())


def _once_each(loops: Sequence[ForOp]) -> list[ForOp]:
    """The innermost of some loops along each axis of threads: within it, a thread is the one of its number."""
    return [v for n, v in enumerate(loops) if not is_real(v) or tag_of(v) not in map(tag_of, loops[n + 1 :])]


# -- parts ------------------------------------------------------------------------------------------------------


class _Lowering:
    """A reduction loop on its way to parts and the levels of the tree that folds them.

    Raises TermsError, before it has changed anything, where nobody knows how many parts there are.
    """

    def __init__(self, block: BlockOp, loop: ForOp, terms: Terms) -> None:
        self.block = block
        self.loop = loop
        self.terms = terms
        self.tag = tag_of(loop)
        self.func = function_of(loop)
        self.stage = block.stage.data
        self.targets = [(s.buffer, s.forms()) for s in terms.stores]
        self.begins = bool(block.init.blocks)
        reductions = reduction_loops(block)
        self.serial_outside = [v for v in reductions if v in enclosing_loops(loop)]
        # Where the others fail, nothing was added to the part: it is neutral.
        reduced = {v.var for v in reductions}
        self.spatial_conditions = [c for c in block.conditions() if not reduced.intersection(c.form.dims())]
        self.parts: list[SSAValue] = []
        sharing = sharing_loops(loop, "shared")
        outermost = sharing[0]
        around = _once_each([v for v in sharing if v is not loop])
        scope = "shared"
        if any(v.is_dynamic for v in around):
            # Shared memory has a size that is known; each block has its part of a buffer in global memory.
            scope = "global"
            around = [*_once_each([v for v in enclosing_loops(loop) if is_thread(v, "blockIdx")]), *around]
            if not all(_known_at_start(v) for v in around):
                raise TermsError("the number of threads around it is not known when the function starts")
            outermost = next(v for v in enclosing_loops(loop) if is_thread(v))
        self.index = [Linear.dim(v.var) for v in around]
        extents = [*(thread_extent(v) for v in around), constant(loop.trip)]
        shape = [e.const if e.is_constant else DYNAMIC_INDEX for e in extents]
        for type_, name in zip(terms.part_types(), self._names("parts"), strict=True):
            alloc = AllocOp.make(name, buffer_type(shape, type_), scope, extents)
            inherit_location(alloc, block)
            edit.insert_before(outermost, alloc)
            self.parts.append(alloc.result)

    def _names(self, what: str) -> list[str]:
        count = len(self.targets)
        names = [f"{self.stage}.{what}" if count == 1 else f"{self.stage}.{what}{n}" for n in range(count)]
        return [*names, f"{self.stage}.{what}.any"] if self.terms.counted else names

    def add(self, stage: str, body: Block, where: Sequence[Condition] = (), init: Block | None = None) -> BlockOp:
        new = BlockOp.make(unique_stage(self.func, stage), init, body, where)
        inherit_location(new, self.block)
        return new

    def run(self) -> None:
        final = self.final()
        self.part()
        previous: Operation = self.loop
        for step, active in fold_steps(self.loop.trip):
            level = self.level(step, active)
            edit.insert_after(previous, level)
            previous = level
        edit.insert_after(previous, final)
        self.loop.properties.pop("reduction")

    def part(self) -> None:
        """The thread's own part: the block as it was, on a buffer that only this thread has."""
        body = self.loop.body.block
        allocs = [
            AllocOp.make(name, buffer_type([], type_), "local")
            for name, type_ in zip(self._names("part"), self.terms.part_types(), strict=True)
        ]
        parts = [a.result for a in allocs]
        start = self.terms.begin(parts)
        self.terms.redirect(parts)
        put = Block()
        for part, shared in zip(parts, self.parts, strict=True):
            load = LoadOp.make(part, [])
            put.add_ops([load, StoreOp.make(load.result, shared, [*self.index, Linear.dim(self.loop.var)])])
        first = body.first_op
        assert first is not None
        for a in allocs:
            inherit_location(a, self.block)
        self.block.properties["stage"] = StringAttr(unique_stage(self.func, f"{self.stage}.part"))
        edit.insert_before(first, *allocs, self.add(f"{self.stage}.part.init", start))
        body.add_op(self.add(f"{self.stage}.parts", put))

    def level(self, step: int, active: int) -> ForOp:
        """Thread t < active adds the part of thread t + step to its own."""
        axis = unique_axis(self.func, f"{self.loop.axis.data}.fold{step}")
        level = ForOp.make(self.loop.trip, axis, kind=THREAD, hint=self.loop.var.name_hint)
        level.properties["thread"] = StringAttr(self.tag)
        body = Block()
        own = [*self.index, Linear.dim(level.var)]
        other = [*self.index, Linear.dim(level.var) + step]
        ours = [LoadOp.make(p, own) for p in self.parts]
        theirs = [LoadOp.make(p, other) for p in self.parts]
        body.add_ops([*ours, *theirs])
        values = self.terms.combine([o.result for o in ours], [o.result for o in theirs], body)
        body.add_ops([StoreOp.make(v, p, own) for v, p in zip(values, self.parts, strict=True)])
        where = [Condition(Linear.dim(level.var) * -1 + (active - 1))]
        level.body.block.add_op(self.add(f"{self.stage}.fold{step}", body, where))
        inherit_location(level, self.loop)
        return level

    def final(self) -> BlockOp:
        """The block that is left in place of the loop: the first part is the result, or added to it."""
        body = Block()
        folded = [LoadOp.make(p, [*self.index, constant(0)]) for p in self.parts]
        values: list[SSAValue] = [load.result for load in folded]
        init = None
        if self.serial_outside or not self.begins:
            olds = [LoadOp.make(b, f) for b, f in self.targets]
            body.add_ops([*olds, *folded])
            values = self.terms.add([o.result for o in olds], values, body)
            init = _copy(self.block.init.blocks[0]) if self.begins else None
        else:
            body.add_ops(folded)
        body.add_ops([StoreOp.make(v, b, f) for v, (b, f) in zip(values, self.targets, strict=True)])
        new = BlockOp.make(self.stage, init, body, self.spatial_conditions)
        inherit_location(new, self.block)
        return new


def fold_steps(count: int) -> list[tuple[int, int]]:
    """(distance, how many threads add) of each level of the tree over `count` parts."""
    steps: list[tuple[int, int]] = []
    while count > 1:
        step = 1 << (count - 1).bit_length() - 1
        steps.append((step, count - step))
        count = step
    return steps


def _copy(source: Block) -> Block:
    target, values = Block(), dict[SSAValue, SSAValue]()
    for op in source.ops:
        target.add_op(op.clone(values))
    return target
