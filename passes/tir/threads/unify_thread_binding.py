"""One loop for each thread axis of a kernel, all of them around its whole body.

As schedules leave it, a kernel may have several loops along one axis: one after the other, or one within another where
threads fetch together what each of them reads. Here they become one, in the order grid, shared buffers, threads:

- a loop's tail becomes the condition of its statements; work that threads share is done where any of them has work;
- what is written by no loop of an axis is written by the first thread along it (or first block, in global memory);
- a buffer that a loop of threads fills and that stands outside of it is shared by them; one of scope `global` that
  stands inside of the kernel is shared by the threads of a block where it stands outside of their loops, and is a
  thread's own where it stands inside; one whose size is not known lies in global memory, a part of it for each block;
- an axis is as long as the longest of its loops;
- a thread runs the iterations of a parallel loop one after the other, and those of a loop of threads that they cannot
  share out (`thread_turns.py`).

Barriers are the matter of `tir-thread-sync`. Assumes that blocks have been dissolved (`tir-lower-blocks`).

Before:
    tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
      %s = tir.alloc "s" scope "shared" : memref<4xf32>
      tir.for %i = 0 to 4 thread "threadIdx.x" "s.i" { ... tir.store %x, %s[%i] }
      tir.for %j = 0 to 4 min [%b * -4 + 7] thread "threadIdx.x" "y.1" { ... tir.store %v, %y[%b * 4 + %j] } }
After:
    tir.for %b = 0 to 2 thread "blockIdx.x" "y.0" {
      %s = tir.alloc "s" scope "shared" : memref<4xf32>
      tir.for %i = 0 to 4 thread "threadIdx.x" "s.i" {
        ... tir.store %x, %s[%i]
        tir.if [%b * -4 + %i * -1 + 6 >= 0] { ... tir.store %v, %y[%b * 4 + %i] } } }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.schedule.nest.edits import (
    accesses,
    dissolve,
    erase_nest,
    function_of,
    replace_op,
    stands_in,
    substitute,
    unique_axis,
)
from lamina.dialects.schedule.nest.threads import (
    is_real,
    is_thread,
    kernels_of,
    tag_of,
    thread_extent,
)
from lamina.dialects.tir.calls import CallOp, CopyOp
from lamina.dialects.tir.control import BarrierOp, ConditionalBase, IfOp
from lamina.dialects.tir.launch import LaunchOp
from lamina.dialects.tir.memory import AccessOp, AllocOp, StoreOp, buffer_type
from lamina.dialects.tir.ops import ForOp, FuncOp, enclosing_loops
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.thread_turns import for_any, settle_turns

NAME = "tir-unify-thread-binding"


@dataclass(frozen=True)
class UnifyThreadBindingPass(ModulePass):
    name = "tir-unify-thread-binding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                for root in list(kernels_of(func)):
                    with edit.transaction(root):
                        if any(isinstance(inner, StoreOp) for inner in root.walk()):
                            _Kernel(root).run()
                        else:  # a kernel that does nothing
                            erase_nest(root)


class _Kernel:
    """One kernel on its way to one loop for each axis."""

    def __init__(self, root: ForOp) -> None:
        self.root = root
        self.func = function_of(root)
        for op in root.walk():
            if isinstance(op, (CallOp, CopyOp, LaunchOp)):
                raise InputError(f"{NAME}: {op.name} cannot stand in a kernel", op=op)
        settle_turns(root, NAME)
        self.axes = self._axes()
        self.variables: dict[SSAValue, str] = {v.var: tag for tag, v in self.axes.items()}
        self.shared: list[AllocOp] = []
        self.private: set[SSAValue] = set()

    def _axes(self) -> dict[str, ForOp]:
        """A new loop for each axis, those of the grid first."""
        found: dict[str, ForOp] = {}
        for loop in self.root.walk():
            if not isinstance(loop, ForOp) or not is_real(loop):
                continue
            first = found.setdefault(tag_of(loop), loop)
            ours, theirs = thread_extent(first), thread_extent(loop)
            if ours != theirs:
                if not ours.is_constant or not theirs.is_constant:
                    raise InputError(
                        f'{NAME}: {first.axis.data!r} and {loop.axis.data!r} are bound to "{tag_of(loop)}" in one '
                        "kernel, but nobody knows which of them is the longer",
                        op=loop,
                    )
                if theirs.const > ours.const:
                    found[tag_of(loop)] = loop
        axes: dict[str, ForOp] = {}
        for tag in sorted(found, key=lambda t: not t.startswith("blockIdx")):
            old = found[tag]
            extent = thread_extent(old)
            for d in extent.dims():
                if isinstance(d, SSAValue) and _inside(d, self.root):
                    raise InputError(
                        f"{NAME}: the extent of {old.axis.data!r} is not known when its kernel starts", op=old
                    )
            new = ForOp.upto([extent], old.axis.data, hint=old.var.name_hint)
            new.properties["kind"] = StringAttr("thread")
            new.properties["thread"] = StringAttr(tag)
            new.location = old.location
            axes[tag] = new
        return axes

    def run(self) -> None:
        root = self.root
        for loop in root.walk():
            if isinstance(loop, ForOp) and loop.kind.data == "parallel":
                loop.properties["kind"] = StringAttr("serial")
        self.place_buffers()
        if self.shared and not any(t.startswith("blockIdx") for t in self.axes):
            grid = ForOp.make(1, unique_axis(self.func, f"{root.axis.data}.grid"), kind="thread")
            grid.properties["thread"] = StringAttr("blockIdx.x")
            inherit_location(grid, root)
            self.axes = {"blockIdx.x": grid, **self.axes}
        outer = [v for tag, v in self.axes.items() if tag.startswith("blockIdx")]
        inner = [v for tag, v in self.axes.items() if tag.startswith("threadIdx")]
        loops = [*outer, *inner]
        replace_op(root, loops[0])
        for a, b in zip(loops, loops[1:], strict=False):
            a.body.block.add_op(b)
        body = Block()
        self.lift([root], body, [])
        for op in list(body.ops):
            edit.take(op)
            loops[-1].body.block.add_op(op)
        if outer:
            block = outer[-1].body.block
            for alloc in reversed(self.shared):
                assert block.first_op is not None
                edit.insert_before(block.first_op, alloc)

    # -- buffers -----------------------------------------------------------------------------------------------

    def place_buffers(self) -> None:
        """Decide for each buffer whether threads share it; those that they share are taken out of the body."""
        place = self.root.parent
        assert place is not None
        outside = [
            op for op in place.ops if isinstance(op, AllocOp) and op.scope.data == "shared" and self._used_here_only(op)
        ]
        for alloc in [*outside, *(op for op in self.root.walk() if isinstance(op, AllocOp))]:
            threads = [v for v in enclosing_loops(alloc) if is_thread(v, "threadIdx")]
            scope = alloc.scope.data
            filled = [v for v in self._filled_by(alloc) if v not in threads]
            if scope == "shared" or filled or (scope == "global" and not threads):
                if scope == "register":
                    raise InputError(
                        f'{NAME}: the buffer {alloc.stage.data!r} of scope "register" stands outside of the loop '
                        f"{filled[0].axis.data!r}, whose threads fill it",
                        op=alloc,
                    )
                self._share(alloc, threads)
            else:
                self.private.add(alloc.result)
                if scope == "global":
                    alloc.properties["scope"] = StringAttr("local")

    def _used_here_only(self, alloc: AllocOp) -> bool:
        return all(stands_in(u.operation, self.root) for u in alloc.result.uses)

    def _filled_by(self, alloc: AllocOp) -> list[ForOp]:
        """The loops of threads around what stores to a buffer."""
        stores = [s for s in accesses(self.root, alloc.result) if isinstance(s, StoreOp)]
        return [v for s in stores for v in enclosing_loops(s) if is_thread(v, "threadIdx")]

    def _share(self, alloc: AllocOp, threads: Sequence[ForOp]) -> None:
        """One buffer for the block; where each of some threads had one, an array of them.

        Of the lanes of a loop each had one, too; they take turns.
        """
        for v in enclosing_loops(alloc):
            if v.kind.data == "vectorized":
                v.properties["kind"] = StringAttr("serial")
        type_ = alloc.result.type
        shape = type_.get_shape()
        grid = [v for tag, v in self.axes.items() if tag.startswith("blockIdx")]
        unknown = DYNAMIC_INDEX in shape or any(v.is_dynamic for v in threads)
        outer = [*grid, *threads] if unknown else threads
        extents = [*(thread_extent(v) for v in outer), *alloc.extents()]
        if not all(isinstance(d, BlockArgument) and d.block is self.func.body.block for e in extents for d in e.dims()):
            raise InputError(f"{NAME}: the size of the shared buffer {alloc.stage.data!r} is not known", op=alloc)
        if outer:
            prefix = [Linear.dim(v.var) for v in outer]
            sizes = [e.const if e.is_constant else DYNAMIC_INDEX for e in extents]
            # Shared memory has a size that is known; of a buffer in global memory, each block has its part.
            scope = "global" if unknown else "shared"
            new = AllocOp.make(alloc.stage.data, buffer_type(sizes, type_.element_type), scope, extents)
            new.result.name_hint = alloc.result.name_hint
            new.location = alloc.location
            new.attributes |= alloc.attributes
            for use in list(alloc.result.uses):
                op = use.operation
                if not isinstance(op, AccessOp):
                    raise InputError(f"{NAME}: {op.name} of the shared buffer {alloc.stage.data!r}", op=op)
                operands = list(op.operands)
                operands[op.buffer_position()] = new.result
                forms, conditions = op.forms(), op.conditions()
                op.operands = operands
                op.set_access([*prefix, *forms], conditions)
            edit.erase(alloc)
            alloc = new
        else:
            edit.take(alloc)
            alloc.properties["scope"] = StringAttr("global" if unknown else "shared")
        if unknown:
            edit.insert_before(self.root, alloc)
        else:
            self.shared.append(alloc)

    # -- statements ----------------------------------------------------------------------------------------------

    def lift(self, ops: Iterable[Operation], target: Block, guards: list[Condition]) -> None:
        """Put statements into a block of a thread, the loops of axes among them taken away."""
        waiting: list[Operation] = []
        for op in list(ops):
            if op.parent is not None:
                edit.take(op)
            if isinstance(op, ForOp) and is_real(op):
                self.flush(waiting, target, guards)
                self.enter(op, target, guards)
            elif isinstance(op, BarrierOp):
                self.flush(waiting, target, guards)
                target.add_op(op)
            elif isinstance(op, IfOp) and (_has_axes(op) or self._mixed(op)):
                self.flush(waiting, target, guards)
                if any(d in self.variables for d in op.operands):
                    self.lift(op.body.block.ops, target, [*guards, *op.conditions()])
                    edit.erase(op)
                else:
                    self._lift_inside(op, target, guards)
            elif isinstance(op, ForOp) and (_has_axes(op) or self._mixed(op)):
                self.flush(waiting, target, guards)
                self._lift_inside(op, target, guards)
            elif isinstance(op, (AllocOp, arith.ConstantOp)):
                target.add_op(op)
            else:
                waiting.append(op)
        self.flush(waiting, target, guards)

    def _lift_inside(self, op: ForOp | IfOp, target: Block, guards: list[Condition]) -> None:
        body = Block()
        self.lift(op.body.block.ops, body, guards)
        edit.move_into(op.body.block, body.ops)
        target.add_op(op)

    def enter(self, loop: ForOp, target: Block, guards: list[Condition]) -> None:
        """The body of a loop along an axis, for the thread that runs the iteration of its number."""
        axis = self.axes[tag_of(loop)].var
        # Inside of a loop of the same axis, the thread is no longer the one of the outer iteration.
        for use in list(axis.uses):
            op = use.operation
            if stands_in(op, loop) and isinstance(op, IfOp):
                conditions = self.for_any(op.conditions(), loop)
                if conditions:
                    op.set_conditions(conditions)
                else:
                    dissolve(op)
        inner = self.for_any(guards, loop)
        if not loop.is_dynamic and loop.trip < self.axes[tag_of(loop)].trip:
            inner.append(Condition(constant(loop.trip - 1) - Linear.dim(axis)))
        ranges = RangeCache()
        inner += [Condition(b - Linear.dim(axis) - 1) for b in loop.limits()[1:]]
        substitute(loop.var, Linear.dim(axis), ranges)
        self.lift(loop.body.block.ops, target, inner)
        edit.erase(loop, safe=False)

    def for_any(self, conditions: Sequence[Condition], loop: ForOp) -> list[Condition]:
        """Conditions that hold where the given ones do for any thread along the axis of a loop."""
        axis = self.axes[tag_of(loop)]
        found = for_any(conditions, axis.var, thread_extent(axis))
        if found is None:
            raise InputError(
                f"{NAME}: which threads have work for {loop.axis.data!r} cannot be told from the conditions around it",
                op=loop,
            )
        return found

    def flush(self, waiting: list[Operation], target: Block, guards: list[Condition]) -> None:
        """Statements without loops of axes, under the conditions that they need."""
        groups: list[tuple[list[Operation], list[str]]] = []
        current: list[Operation] = []
        for op in waiting:
            current.append(op)
            if isinstance(op, StoreOp) or op.regions:
                needs = self.first_only(op, guards)
                if groups and groups[-1][1] == needs:
                    groups[-1][0].extend(current)
                else:
                    groups.append((current, needs))
                current = []
        if current:  # values that nothing stores
            groups.append((current, []))
        if any(_leaves(ops, [op for op in waiting if op not in ops]) for ops, _ in groups):
            # Statements of different threads share a value: all compute it, each stores what is its own.
            groups = [([self.alone(op, needs) for ops, needs in groups for op in ops], [])]
        waiting.clear()
        for ops, needs in groups:
            firsts = [Condition(Linear.dim(self.axes[tag].var), True) for tag in needs]
            conditions = [*guards, *firsts]
            if not conditions:
                target.add_ops(ops)
                continue
            body = Block()
            body.add_ops(ops)
            for op in ops:
                if any(not _stands_in_block(u.operation, body) for r in op.results for u in r.uses):
                    raise InputError(f"{NAME}: a value is used by statements under different conditions", op=op)
            new = IfOp.make(conditions, body)
            inherit_location(new, ops[-1])
            target.add_op(new)

    def alone(self, op: Operation, needs: Sequence[str]) -> Operation:
        """A statement for the first threads along some axes."""
        if not needs or not (isinstance(op, StoreOp) or op.regions):
            return op
        new = IfOp.make([Condition(Linear.dim(self.axes[tag].var), True) for tag in needs], Block([op]))
        inherit_location(new, op)
        return new

    def first_only(self, op: Operation, guards: Sequence[Condition]) -> list[str]:
        """The axes along which only the first thread is to run a statement: no store in it differs along them."""
        needs: dict[str, None] = {}
        for store in op.walk():
            if isinstance(store, StoreOp):
                needs |= dict.fromkeys(self._missing(store, op, guards))
        return list(needs)

    def _missing(self, store: StoreOp, top: Operation, guards: Sequence[Condition]) -> list[str]:
        """The axes that a store does not depend on though others see what it writes."""
        if store.buffer in self.private:
            return []
        of_block = any(store.buffer is a.result for a in self.shared)
        used = {d for f in store.forms() for d in f.dims()} | {d for c in store.conditions() for d in c.form.dims()}
        used |= {d for c in guards for d in c.form.dims()}
        around: Operation | None = store
        while around is not None and around is not top.parent_op():
            if isinstance(around, (ConditionalBase, ForOp)):
                used.update(around.operands)
            around = around.parent_op()
        return [
            tag
            for tag, axis in self.axes.items()
            if axis.var not in used
            and not (of_block and tag.startswith("blockIdx"))
            and not (axis.trip == 1 and not axis.is_dynamic)
        ]

    def _mixed(self, op: Operation) -> bool:
        """Whether some stores in a statement are for the first thread only, and others for all."""
        stores = [s for s in op.walk() if isinstance(s, StoreOp)]
        return len({tuple(self._missing(s, op, [])) for s in stores}) > 1


def _leaves(ops: Sequence[Operation], others: Sequence[Operation]) -> bool:
    """Whether others use a value that some statements compute."""
    users = [u.operation for op in ops for r in op.results for u in r.uses]
    return any(stands_in(user, other) for user in users for other in others)


def _has_axes(op: Operation) -> bool:
    """Whether a statement holds loops of axes or barriers."""
    return any(is_real(inner) or isinstance(inner, BarrierOp) for inner in op.walk())


def _inside(value: SSAValue, op: Operation) -> bool:
    owner = value.owner
    holder = owner.parent_op() if isinstance(owner, Block) else owner
    return holder is not None and stands_in(holder, op)


def _stands_in_block(op: Operation, block: Block) -> bool:
    parent: Block | None = op.parent
    while parent is not None and parent is not block:
        above = parent.parent_op()
        parent = above.parent if above is not None else None
    return parent is not None
