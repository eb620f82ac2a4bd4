"""The comparison of a program that interpreters would take minutes for: compiled between the steps, which are halved.

Relay is run by the oracles, te by its interpreter or as naive loops, tir as machine code of the shortest way down. Each
state is made and run in a process of its own, since what is wrong may write anywhere. Where the loops of a program of
several kernels differ, the kernel is found first, and the steps are those of this one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lamina.debugging.bisect import Bisection, Guilt
from lamina.debugging.difference import Comparison, Difference, Source, is_step
from lamina.debugging.judge import Judge, Tell
from lamina.debugging.program import Program
from lamina.debugging.reduce import Reducer
from lamina.debugging.verdict import CANDIDATE, How, Verdict
from lamina.dialects.te import ops as te
from lamina.errors import UsageError, did_you_mean
from lamina.ir.pipeline import print_pipeline, run_pipeline

LOOPS = "te-to-tir"


def compare_sampled(
    program: Program,
    passes: Sequence[ModulePass],
    source: Source,
    start: str,
    load: Sequence[str],
    tell: Tell,
) -> Comparison:
    """The first step after which a program computes something else. The program has its target and its `@main`.

    `start` is a pass before which nothing is looked at. Raises UsageError for one that is not among the passes, and
    where the program cannot be run as it is.
    """
    names = [print_pipeline([p]) for p in passes]
    first = next((n for n, name in enumerate(names) if is_step(name, start)), None) if start else 0
    if first is None:
        hint = did_you_mean(start, names) or "give a pass; primitives are halved anyway"
        raise UsageError(f"there is no step {start!r}", hint=hint)
    if first:
        program = program.clone()
        run_pipeline(program.module, program.context(), passes[:first])
    with Judge() as judge:
        sampling = Sampling(judge, How("", load=tuple(load), plain=True), tell)
        found = sampling.difference(program, passes[first:])
    steps = [*sampling.steps, *([names[-1]] if found is None else [])]
    if found is None:
        return Comparison(steps, sampled=True)
    return Comparison(steps, difference_of(found, source), sampled=True)


class Sampling:
    """The search for the step that makes a program compute something else."""

    def __init__(self, judge: Judge, how: How, tell: Tell) -> None:
        self.judge = judge
        self.how = how
        self.tell = tell
        self.steps: list[str] = []

    def difference(self, program: Program, passes: Sequence[ModulePass]) -> Guilt | None:
        """The step that makes one; None where the program is the same after the last."""
        names = [p.name for p in passes]
        end = self.verdict(program, passes)
        if end.outcome.where == CANDIDATE:
            raise UsageError(
                f"the program cannot be compared: {end.outcome.said}", hint="opt-tool runs the passes alone"
            )
        if not end.is_fault:
            return None
        self.tell(f"differs  {names[-1]}: {end.outcome.said}")
        at = names.index(LOOPS) if LOOPS in names else 0
        if at and self.verdict(program, passes[:at]).is_fault:
            return self.guilt(program, passes[:at])
        if at:
            self.steps.append(names[at - 1])
            self.tell(f"same     {names[at - 1]}")
            program = program.clone()
            run_pipeline(program.module, program.context(), passes[:at])
        return self.guilt(self.guilty_kernel(program, passes[at:]), passes[at:])

    def verdict(self, program: Program, passes: Sequence[ModulePass]) -> Verdict:
        return self.judge.ask(program, replace(self.how, pipeline=print_pipeline(passes)))

    def guilt(self, program: Program, passes: Sequence[ModulePass]) -> Guilt:
        return Bisection(self.judge, program, passes, self.how, self.tell).guilt()

    def guilty_kernel(self, program: Program, passes: Sequence[ModulePass]) -> Program:
        """The program with as few of the calls in `@main` as show the difference; whole where there is one, or none."""
        if calls_of(program.module) < 2:
            return program
        reducer = Reducer(self.judge, replace(self.how, pipeline=print_pipeline(passes)), self.tell)
        reducer.fault = self.verdict(program, passes)
        if not reducer.fault.is_fault:
            return program
        return reducer.fewest_ops(program)


def difference_of(found: Guilt, source: Source) -> Difference:
    """The step that makes a difference, as a comparison tells it."""
    step, where = found.step, ""
    if found.primitive is not None:
        step, where = source.told(found.primitive)
    elif found.index is not None and step.partition("{")[0] == "tir-to-llvm":
        step = f"{step}, machine code"
    rule = f"{found.firing} ({found.number[0]} of {found.number[1]})" if found.firing else ""
    return Difference(step, where, failure=found.verdict.outcome.said, rule=rule, changed=found.changed)


def calls_of(module: ModuleOp) -> int:
    """The number of kernel calls in `@main`."""
    return sum(1 for op in module.walk() if isinstance(op, te.CallOp))
