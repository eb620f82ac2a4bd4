"""Omission of what a select does not choose, where the variables of unrolled loops decide the choice.

A table of equations, one for each row of a small matrix, is a chain of selects on the row. Written out for a row, it is
that row's equation: of the ops before a store, only those are replayed that it needs.

Before:
    tir.for %e = 0 to 2 unrolled {
      %0 = tir.load %x[0] : memref<2xf32>
      %1 = tir.load %x[1] : memref<2xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = arith.subf %0, %1 : f32
      %4 = tir.condition [%e == 0] : i1
      %5 = arith.select %4, %2, %3 : f32
      tir.store %5, %y[%e] : memref<2xf32> }
After:
    %0 = llvm.load ...    %1 = llvm.load ...
    %2 = llvm.fadd %0, %1     llvm.store %2, ...      // %e = 0
    %3 = llvm.fsub %0, %1     llvm.store %3, ...      // %e = 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from lamina.dialects.fast_ir import operands_of
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.ops import AllocOp, ConditionOp, SelectOp

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay

_EFFECTS = frozenset({AllocOp, CheckOp})
"""Ops that give a value and do something besides."""
Step = Callable[[], None]
Decisions = tuple[bool | None, ...]
"""The outcome of each of some conditions; None where that is known only when the kernel runs."""


def compile_runs(replay: Replay, ops: Sequence[Operation]) -> list[Step]:
    """The steps of a block's ops: those of a run of values with decided selects in it are one step."""
    steps: list[Step] = []
    run: list[Operation] = []
    for op in [*ops, None]:
        if op is not None and op.results and type(op) not in _EFFECTS:
            run.append(op)
            continue
        if any(_condition_of(o) is not None for o in run):
            steps.append(Alternatives(replay, run).step)
        else:
            steps += [replay.compile_step(o) for o in run]
        run = []
        if op is not None:
            steps.append(replay.compile_step(op))
    return steps


def _condition_of(op: Operation) -> ConditionOp | None:
    """The condition on loops' variables on which a select depends, wherever it stands."""
    if type(op) is not arith.SelectOp and type(op) is not SelectOp:
        return None
    owner = operands_of(op)[0].owner
    return owner if type(owner) is ConditionOp else None


class Alternatives:
    """A run of ops that only give values, some of them selects on conditions."""

    def __init__(self, replay: Replay, run: Sequence[Operation]) -> None:
        self.replay = replay
        self.ops = list(run)
        self.steps = [replay.compile_step(op) for op in run]
        inside = set(run)
        self.outside = [any(u.operation not in inside for r in op.results for u in r.uses) for op in run]
        """Whether what an op gives is used behind the run."""
        found = [_condition_of(op) for op in run]
        asked = list(dict.fromkeys(c for c in found if c is not None))
        self.conditions = [replay.conditions_of(c) for c in asked]
        self.selects = {op: asked.index(c) for op, c in zip(run, found, strict=True) if c is not None}
        """By select which of the conditions it depends on."""
        self.plans: dict[Decisions, list[Step]] = {}

    def step(self) -> None:
        replay = self.replay
        decisions: list[bool | None] = []
        for conditions, locals_ in self.conditions:
            # A value that is computed decides nothing before the kernel runs.
            decided = replay.decide(conditions) if not locals_ else None
            decisions.append(decided if isinstance(decided, bool) else None)
        key = tuple(decisions)
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = self.plan(key)
        for step in plan:
            step()

    def plan(self, decisions: Decisions) -> list[Step]:
        """The steps that are needed, in the order of the ops."""
        needed: set[SSAValue] = set()
        plan: list[Step] = []
        for op, step, outside in zip(reversed(self.ops), reversed(self.steps), reversed(self.outside), strict=True):
            if not outside and needed.isdisjoint(op.results):
                continue
            which = self.selects.get(op)
            decided = None if which is None else decisions[which]
            if decided is None:
                needed.update(operands_of(op))
                plan.append(step)
            else:
                chosen = operands_of(op)[1 if decided else 2]
                needed.add(chosen)
                plan.append(self.forward(op.results[0], chosen))
        return plan[::-1]

    def forward(self, result: SSAValue, chosen: SSAValue) -> Step:
        """The step of a select whose choice is known."""
        values = self.replay.values

        def step() -> None:
            values[result] = values[chosen]

        return step
