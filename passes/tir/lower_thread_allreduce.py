"""Reductions across the threads of a block: each thread adds up its own part, then they fold the parts in a tree.

A reduction loop bound to an axis of a block (`te.bind`) becomes loops whose iterations are independent: the thread's
part in a buffer of its own, the parts in shared memory, and for each level of the tree a loop in which half of the
threads add the other half's parts to theirs. What the loop did before, the first part now does. Barriers are put
between the levels by `tir-thread-sync`, once `tir-unify-thread-binding` has made one thread of all the loops.

Assumes blocks with their init (before `tir-lower-blocks`).

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

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index_map import Condition
from lamina.dialects.linear import Linear, constant
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, type_of
from lamina.dialects.tir.nest import function_of, reduction_loops, unique_axis, unique_stage
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, LoopKind, enclosing_loops
from lamina.dialects.tir.threads import is_thread, sharing_loops, tag_of
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

NAME = "tir-lower-thread-allreduce"
THREAD: LoopKind = "thread"


@dataclass(frozen=True)
class LowerThreadAllreducePass(ModulePass):
    name = "tir-lower-thread-allreduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                while (found := _next_reduction(func)) is not None:
                    _lower(*found)


def _next_reduction(func: FuncOp) -> tuple[BlockOp, ForOp] | None:
    """A block with the innermost of its reduction loops that threads run."""
    for block in func.walk():
        if type(block) is BlockOp:
            for loop in reversed(reduction_loops(block)):
                if is_thread(loop):
                    return block, loop
    return None


class Update:
    """A block's update taken apart: accumulators, what is added to each, and the ops that add."""

    def __init__(self, block: BlockOp) -> None:
        body = block.body.block
        self.stores = [op for op in body.ops if isinstance(op, StoreOp)]
        self.loads: list[LoadOp] = []
        for store in self.stores:
            same = [o for o in body.ops if isinstance(o, LoadOp) and o.buffer is store.buffer]
            if len(same) != 1 or same[0].forms() != store.forms() or store.conditions() or same[0].conditions():
                raise _error(block, "its body does not accumulate by one load and one store of each result")
            self.loads.append(same[0])
        accumulators = [load.result for load in self.loads]
        known: set[SSAValue] = set(accumulators)
        self.ops: list[Operation] = []
        for op in body.ops:
            if op not in self.stores and any(o in known for o in op.operands):
                self.ops.append(op)
                known.update(op.results)
        constants: dict[SSAValue, None] = {}
        terms: dict[SSAValue, None] = {}
        for op in self.ops:
            for o in op.operands:
                if o not in known:
                    (constants if isinstance(o.owner, arith.ConstantOp) else terms)[o] = None
        self.terms = [self._term(a, [*terms, *constants], block) for a in accumulators]
        self.constants = [c for c in constants if c not in self.terms]
        if not set(terms) <= set(self.terms) or len(set(self.terms)) != len(self.terms):
            raise _error(block, "what it adds to each of its results cannot be told apart")

    def _term(self, accumulator: SSAValue, candidates: Sequence[SSAValue], block: BlockOp) -> SSAValue:
        """The value that meets an accumulator in some op of the combination."""
        for op in self.ops:
            if accumulator in op.operands:
                for o in op.operands:
                    if o in candidates and o.type == accumulator.type:
                        return o
        raise _error(block, "what it adds to each of its results cannot be told apart")

    def combine(self, ours: Sequence[SSAValue], theirs: Sequence[SSAValue], target: Block) -> list[SSAValue]:
        """Copy the combination of two parts."""
        values: dict[SSAValue, SSAValue] = dict(zip((load.result for load in self.loads), ours, strict=True))
        values |= zip(self.terms, theirs, strict=True)
        for op in [*(c.owner for c in self.constants), *self.ops]:
            assert isinstance(op, Operation)
            target.add_op(op.clone(values))
        return [values.get(store.value, store.value) for store in self.stores]


def _error(block: BlockOp, what: str) -> InputError:
    return InputError(f"{NAME}: the reduction {block.stage.data!r} cannot run across threads: {what}", op=block)


def _lower(block: BlockOp, loop: ForOp) -> None:
    if loop.is_dynamic or loop.bounds:
        raise _error(block, f"the extent of {loop.axis.data!r} is not a constant; split it")
    if not block.init.blocks:
        raise _error(block, "it has no init")
    inside = {v.var for v in enclosing_loops(block)[len(enclosing_loops(loop)) + 1 :]}
    update = Update(block)
    begun = {op.buffer for op in block.init.block.ops if isinstance(op, StoreOp)}
    if not begun or begun != {s.buffer for s in update.stores}:
        raise _error(block, "its init and its update write different buffers")
    for store in update.stores:
        if inside.intersection(d for f in store.forms() for d in f.dims()):
            raise _error(
                block, f"its results differ between the loops within {loop.axis.data!r}; reorder that loop inwards"
            )
    tag = tag_of(loop)
    _enter_grid(loop)
    lowering = _Lowering(block, loop, update, tag)
    lowering.run()


def _enter_grid(loop: ForOp) -> None:
    """Shared memory belongs to a block of threads: a kernel without a grid gets one of a single block."""
    chain = [*enclosing_loops(loop), loop]
    if any(is_thread(v, "blockIdx") for v in chain):
        return
    root = next(v for v in chain if is_thread(v))
    place = root.parent
    assert place is not None
    grid = ForOp.make(1, unique_axis(function_of(root), f"{root.axis.data}.grid"), kind=THREAD)
    grid.properties["thread"] = StringAttr("blockIdx.x")
    inherit_location(grid, root)
    place.insert_op_before(grid, root)
    root.detach()
    grid.body.block.add_op(root)


class _Lowering:
    def __init__(self, block: BlockOp, loop: ForOp, update: Update, tag: str) -> None:
        self.block = block
        self.loop = loop
        self.update = update
        self.tag = tag
        self.func = function_of(loop)
        self.stage = block.stage.data
        self.types = [type_of(s.buffer).element_type for s in update.stores]
        self.targets = [(s.buffer, s.forms()) for s in update.stores]
        reductions = reduction_loops(block)
        self.serial_outside = [v for v in reductions if v in enclosing_loops(loop)]
        # Where the others fail, nothing was added to the part: it is neutral.
        reduced = {v.var for v in reductions}
        self.spatial_conditions = [c for c in block.conditions() if not reduced.intersection(c.form.dims())]
        around = [v for v in sharing_loops(loop, "shared") if v is not loop]
        for v in around:
            if v.is_dynamic:
                raise _error(block, f"the extent of {v.axis.data!r} is not a constant")
        self.lanes = [v.trip for v in around]
        self.index = [Linear.dim(v.var) for v in around]
        outermost = around[0] if around else loop
        assert outermost.parent is not None
        self.parts: list[SSAValue] = []
        for type_, name in zip(self.types, self._names("parts"), strict=True):
            alloc = AllocOp.make(name, buffer_type([*self.lanes, loop.trip], type_), "shared")
            inherit_location(alloc, block)
            outermost.parent.insert_op_before(alloc, outermost)
            self.parts.append(alloc.result)

    def _names(self, what: str) -> list[str]:
        count = len(self.types)
        return [f"{self.stage}.{what}" if count == 1 else f"{self.stage}.{what}{n}" for n in range(count)]

    def add(self, stage: str, body: Block, where: Sequence[Condition] = (), init: Block | None = None) -> BlockOp:
        new = BlockOp.make(unique_stage(self.func, stage), init, body, where)
        inherit_location(new, self.block)
        return new

    def run(self) -> None:
        place = self.loop.parent
        assert place is not None
        final = self.final()
        self.part()
        previous: Operation = self.loop
        for step, active in fold_steps(self.loop.trip):
            level = self.level(step, active)
            place.insert_op_after(level, previous)
            previous = level
        place.insert_op_after(final, previous)
        self.loop.properties.pop("reduction")

    def part(self) -> None:
        """The thread's own part: the block as it was, on a buffer that only this thread has."""
        body = self.loop.body.block
        allocs = [
            AllocOp.make(name, buffer_type([], type_), "local")
            for name, type_ in zip(self._names("part"), self.types, strict=True)
        ]
        parts = [a.result for a in allocs]
        for load, store, part in zip(self.update.loads, self.update.stores, parts, strict=True):
            load.operands = [part]
            load.set_access([])
            store.operands = [store.value, part]
            store.set_access([])
        init = self.block.init.blocks[0]
        start = Block()
        _move(init, start)
        self.block.init.erase_block(init)
        for op in start.ops:
            if isinstance(op, StoreOp):
                buffers = [b for b, _ in self.targets]
                op.operands = [op.value, parts[buffers.index(op.buffer)]]
                op.set_access([])
        put = Block()
        for part, shared in zip(parts, self.parts, strict=True):
            load = LoadOp.make(part, [])
            put.add_ops([load, StoreOp.make(load.result, shared, [*self.index, Linear.dim(self.loop.var)])])
        first = body.first_op
        assert first is not None
        for a in allocs:
            inherit_location(a, self.block)
        self.block.properties["stage"] = StringAttr(unique_stage(self.func, f"{self.stage}.part"))
        body.insert_ops_before([*allocs, self.add(f"{self.stage}.part.init", start)], first)
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
        values = self.update.combine([o.result for o in ours], [o.result for o in theirs], body)
        body.add_ops([StoreOp.make(v, p, own) for v, p in zip(values, self.parts, strict=True)])
        where = [Condition(Linear.dim(level.var) * -1 + (active - 1))]
        level.body.block.add_op(self.add(f"{self.stage}.fold{step}", body, where))
        inherit_location(level, self.loop)
        return level

    def final(self) -> BlockOp:
        """What is left in place of the loop: the first part is the result, or added to it."""
        body = Block()
        folded = [LoadOp.make(p, [*self.index, constant(0)]) for p in self.parts]
        values: list[SSAValue] = [load.result for load in folded]
        init = None
        if self.serial_outside:
            olds = [LoadOp.make(b, f) for b, f in self.targets]
            body.add_ops([*olds, *folded])
            values = self.update.combine([o.result for o in olds], values, body)
            init = _copy(self.block.init.blocks[0])
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


def _move(source: Block, target: Block) -> None:
    for op in list(source.ops):
        op.detach()
        target.add_op(op)


def _copy(source: Block) -> Block:
    target, values = Block(), dict[SSAValue, SSAValue]()
    for op in source.ops:
        target.add_op(op.clone(values))
    return target
