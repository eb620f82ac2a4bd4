"""Barriers between what one thread of a block writes and another reads or writes.

Wherever two threads of a block may touch the same element of shared or global memory, one of them writing, with no
barrier between, a `tir.barrier "shared"` is put before the second statement, or a `tir.barrier "warp"` if the two are
always of one warp; around a loop this holds for one iteration and the next. It stands as far out as it can: before the
loop in whose body the second access is, if the first is not in that loop. Which elements a thread touches is computed
(`conflicts.py`). Barriers stand where all threads come. Conditions and loops that differ by thread are one statement;
where threads exchange elements within one, it is taken apart (`uniform_control.py`).

Assumes `tir-unify-thread-binding` and, where there are virtual threads, `tir-inject-virtual-thread`.

Before:
    tir.for %t = 0 to 64 thread "threadIdx.x" "y.i" {
      tir.for %k = 0 to 4 "y.k" {
        tir.store %x, %s[%t] : memref<64xf32>
        %v = tir.load %s[%t * -1 + 63] : memref<64xf32> ... } }
After:
    tir.for %t = 0 to 64 thread "threadIdx.x" "y.i" {
      tir.for %k = 0 to 4 "y.k" {
        tir.barrier "shared"
        tir.store %x, %s[%t] : memref<64xf32>
        tir.barrier "shared"
        %v = tir.load %s[%t * -1 + 63] : memref<64xf32> ... } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.schedule.nest.threads import is_real, kernels_of, thread_loops
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.memory import AllocOp, LoadOp
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.conflicts import Conflict, Conflicts, Touch
from lamina.passes.tir.threads.uniform_control import Opener, is_uniform

NAME = "tir-thread-sync"


@dataclass(frozen=True)
class ThreadSyncPass(ModulePass):
    name = "tir-thread-sync"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                for root in list(kernels_of(func)):
                    with edit.transaction():
                        _Planner(root).run()


class Passage(NamedTuple):
    """The accesses on the way through a statement: before any barrier, after the last, and whether one is
    passed for sure."""

    entry: list[Touch]
    exit: list[Touch]
    waits: bool


class _Planner:
    """Goes through a kernel from the inside out and decides before which statements threads wait."""

    def __init__(self, root: ForOp) -> None:
        self.root = root
        self.threads = thread_loops(root, "threadIdx")
        self.conflicts = Conflicts(self.threads)
        self.differing: set[SSAValue] = {v.var for v in self.threads}
        """Values that may differ from thread to thread."""
        self.planned: dict[Operation, Conflict] = {}
        """The statements before which a barrier is wanted, and who waits there."""

    def run(self) -> None:
        if not self.threads:
            return
        body = self.body()
        for op in body.walk():
            if isinstance(op, LoadOp) or any(o in self.differing for o in op.operands):
                self.differing.update(op.results)
        if Opener(self.threads, self.differing, self.waits_within).open(body):
            self.conflicts = Conflicts(self.threads)
        self.sequence(body, [])
        for op, conflict in self.planned.items():
            barrier = BarrierOp.make("shared" if conflict is Conflict.BLOCK else "warp")
            inherit_location(barrier, op)
            edit.insert_before(op, barrier)

    def body(self) -> Block:
        """The block that each thread runs: the statements within the loops of all axes."""
        inner = self.root
        while True:
            ops = [op for op in inner.body.block.ops if not isinstance(op, AllocOp)]
            if len(ops) != 1 or not isinstance(ops[0], ForOp) or not is_real(ops[0]):
                break
            inner = ops[0]
        for op in inner.body.walk():
            if is_real(op):
                raise InputError(
                    f"{NAME}: the loops of threads of a kernel are not one nest; run tir-unify-thread-binding", op=op
                )
        return inner.body.block

    def passage(self, op: Operation) -> Passage:
        if isinstance(op, BarrierOp):
            return Passage([], [], op.scope.data != "warp")
        if isinstance(op, (ForOp, IfOp)) and is_uniform(op, self.differing):
            return self.loop(op) if isinstance(op, ForOp) else self.branch(op)
        touches = self.conflicts.touches(op)
        if op.regions:
            self.check_whole(op)
        return Passage(touches, touches, False)

    def exchange(self, op: Operation) -> Touch | None:
        """An access of a statement by which threads exchange values, None where they do not."""
        touches = self.conflicts.touches(op)
        return next((a for a in touches for b in touches if self.conflicts.between(a, b)), None)

    def waits_within(self, op: Operation) -> bool:
        """Whether threads have to wait for each other in a statement."""
        return any(isinstance(inner, BarrierOp) for inner in op.walk()) or self.exchange(op) is not None

    def check_whole(self, op: Operation) -> None:
        """Raises InputError where threads would have to wait for each other inside of a statement."""
        if any(isinstance(inner, BarrierOp) for inner in op.walk()):
            raise InputError(f"{NAME}: a barrier stands where not all threads come", op=op)
        exchanged = self.exchange(op)
        if exchanged is not None:
            raise InputError(
                f"{NAME}: threads exchange elements of {exchanged.name!r} in a statement that not all of them run",
                op=exchanged.op,
            )

    def sequence(self, block: Block, pending: Sequence[Touch]) -> Passage:
        """The statements of a block, entered with accesses that no barrier has ended."""
        open_ = list(pending)
        entry: list[Touch] = []
        waits = False
        for op in block.ops:
            inner = self.passage(op)
            wanted = max((self.conflicts.between(a, b) for a in open_ for b in inner.entry), default=Conflict.NONE)
            planned = self.planned.get(op, Conflict.NONE)
            if wanted > planned:
                planned = self.planned[op] = wanted
            if planned is Conflict.BLOCK:
                open_, waits = [], True
            elif planned is Conflict.WARP:
                open_ = [t.past_warp() for t in open_]
            if not waits:
                entry += inner.entry
            open_ = inner.exit if inner.waits else [*open_, *inner.exit]
            waits = waits or inner.waits
        return Passage(entry, list(dict.fromkeys(open_)), waits)

    def branch(self, op: IfOp) -> Passage:
        inner = self.sequence(op.body.block, [])
        return Passage(inner.entry, inner.exit, False)

    def loop(self, op: ForOp) -> Passage:
        """The body, then the body again after itself, until nothing more is planned."""
        while True:
            inner = self.sequence(op.body.block, [])
            before = dict(self.planned)
            self.sequence(op.body.block, [t.carried(op, inner.waits) for t in inner.exit])
            if self.planned == before:
                runs = not op.is_dynamic and not op.bounds and op.trip > 0
                return Passage(inner.entry, inner.exit, inner.waits and runs)
