"""From a program in which something goes wrong to the smallest one, the guilty step, and a test of that step alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from lamina.debugging import relay_edits
from lamina.debugging.bisect import Bisection, Guilt, whole_pipeline
from lamina.debugging.judge import Judge, Tell, silent
from lamina.debugging.lit_test import write_test
from lamina.debugging.program import Program
from lamina.debugging.reduce import Reducer
from lamina.debugging.sampled import Sampling
from lamina.debugging.verdict import CANDIDATE, LOAD, RUN, How, Verdict, target_of
from lamina.dialects.target import TARGET
from lamina.errors import InputError, LaminaError, UsageError
from lamina.ir.pipeline import print_pipeline

PLAIN_TARGETS = ("x86-64-v3", "x86-64-v4")
"""Targets of written tests that cannot do without one, the plainest first: rather these than the machine at hand."""
FOR_GRAPH = 0.7
"""The part of the time that is for the program as a whole; the rest is for the guilty step's input."""


class NoFault(InputError):
    """Nothing goes wrong with a program that is to be reduced."""


@dataclass
class Finding:
    """A fault, and the least that shows it."""

    fault: Verdict
    """Of the program as it was given."""
    how: How
    """In which way it showed."""
    graph: Program
    """The reduced program, at its own level."""
    ops: tuple[int, int]
    """Before and after."""
    program: Program
    """The input of the guilty step, made small; the graph itself where no step is guilty alone."""
    verdict: Verdict
    """Of that."""
    guilt: Guilt
    drawn: bool
    """Whether its inputs are those that `lamina debug compare` draws."""
    asked: int
    seconds: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.fault.outcome.kind}: {self.fault.outcome.said} ({self.how})",
                f"{self.ops[0]} ops -> {self.ops[1]} in {self.asked} programs, {self.seconds:.1f} s",
                str(self.guilt),
            ]
        )

    def write(self, path: str | os.PathLike[str] | None) -> Path:
        """Write the lit test; without a path where reproducers go, as one of them."""
        return write_test(self.program, self.verdict, self.guilt, self.run, self.drawn, path)

    @property
    def run(self) -> How:
        """The way in which the smallest program is run."""
        return self.how if self.guilt.index is None else replace(self.how, pipeline=self.guilt.step)


def find(
    program: Program,
    how: How,
    seconds: float = 120.0,
    limit: float = 30.0,
    tell: Tell | None = None,
    others: Sequence[How] = (),
) -> Finding:
    """Make a program small and find the step that is guilty. `others` are tried where it shows no fault that way.

    `seconds` is the time for all of it, `limit` that after which a program counts as hanging.
    Raises NoFault where the program shows none when it is run in that way.
    """
    start = monotonic()
    tell = tell or silent
    with Judge(limit, start + seconds * FOR_GRAPH) as judge:
        how, fault = _shown(judge, program, how)
        for other in others:
            if fault.is_fault or fault.outcome.where == CANDIDATE:
                break
            tell(f"no fault; {other}")
            how, fault = _shown(judge, program, other)
        before = program.ops()
        if not fault.is_fault:
            raise NoFault(f"no fault shows: {fault.outcome.kind} ({how})", hint=fault.outcome.said)
        reduced = Reducer(judge, how, tell).reduced(program)
        judge.deadline = start + seconds
        graph, how = reduced.program, reduced.how
        target = graph.module.attributes.get(TARGET) or target_of(how)
        passes = whole_pipeline(how, target)
        bisection = Bisection(judge, graph.clone().with_target(target), passes, how, tell)
        guilt = bisection.guilt()
        if guilt.index is None and not how.numbers:
            # No pass raises it: what makes machine code of the last one's does.
            run = replace(graph.clone(), bare=False)
            run = run if graph.main is None else relay_edits.with_drawn_inputs(run)
            bisection = Bisection(judge, run.with_target(target), passes, replace(how, numbers=True), tell)
            guilt = bisection.guilt()
        small, drawn, verdict = graph, reduced.drawn, reduced.verdict
        if guilt.index is not None:
            small, drawn, verdict, guilt = _alone(judge, bisection, guilt, bisection.how, tell)
        counts = judge.asked, monotonic() - start
    return Finding(fault, how, graph, (before, graph.ops()), small, verdict, guilt, drawn, *counts)


def _shown(judge: Judge, program: Program, how: How) -> tuple[How, Verdict]:
    """The way in which the fault shows, and its verdict.

    It is without results where they do not matter, so that no oracle has to run.
    """
    alone = replace(how, numbers=False)
    if how.pipeline is not None:
        fault = judge.ask(program, alone)
        if fault.is_fault or not how.numbers:
            return alone, fault
    fault = judge.ask(program, how)
    # What is only compiled is neither loaded nor run.
    return (alone if fault.is_fault and fault.outcome.where not in (LOAD, RUN) else how), fault


def guilty(program: Program, how: How, limit: float = 30.0, tell: Tell | None = None) -> Guilt | None:
    """The step that makes a fault of a program, which stays as it is; None where there is no fault."""
    with Judge(limit) as judge:
        if how.pipeline is None and not judge.ask(program, how).is_fault:
            return None
        target = program.module.attributes.get(TARGET) or target_of(how)
        passes = whole_pipeline(how, target)
        whole = program.clone().with_target(target)
        run = replace(how, pipeline=print_pipeline(passes))
        fault = judge.ask(whole, replace(run, numbers=False))
        if fault.is_fault:
            return Bisection(judge, whole, passes, replace(run, numbers=False), tell).guilt()
        found = Sampling(judge, run, tell or silent).difference(whole, passes)
        if found is None and how.pipeline is None:
            return Guilt(judge.ask(program, how), tuple(p.name for p in passes))
        return found


def _alone(
    judge: Judge, bisection: Bisection, guilt: Guilt, how: How, tell: Tell
) -> tuple[Program, bool, Verdict, Guilt]:
    """Reduce the input of the guilty pass: the program, whether its inputs are drawn, its verdict, the guilt."""
    assert guilt.index is not None
    run = replace(how, pipeline=guilt.step)
    try:
        before = bisection.before(guilt.index)
        tell(f"{guilt.step} alone, at the {before.level} level")
        reduced = Reducer(judge, run, tell).reduced(before)
    except LaminaError as e:
        tell(f"{guilt.step} alone shows no fault: {e}")
        return bisection.program, False, guilt.verdict, guilt
    small = with_plain_target(reduced.program, Reducer(judge, run).known(reduced.verdict).holds)
    again = Bisection(judge, small, [bisection.passes[guilt.index]], run)
    inside = again.within(Guilt(judge.ask(small, run), again.names, 0))
    told = replace(inside, passes=guilt.passes, index=guilt.index)
    return small, reduced.drawn, inside.verdict, told


def with_plain_target(program: Program, holds: Callable[[Program], bool]) -> Program:
    """The program without a target, or with one that names no processor, where the fault stays."""
    targets: list[Any] = [None]
    for name in PLAIN_TARGETS:
        try:
            targets.append(target_of(How(target=name)))
        except UsageError:
            continue
    for target in targets:
        found = program.clone().with_target(target)
        if holds(found):
            return found
    return program
