"""Shrinks a program in which a fault shows, for as long as it is the same fault.

Any set of ops of `@main` is a program: what they read from others becomes an input, with the value that it has in the
run of the whole. So the ops are halved until no single one can be left out; then what is left gets fewer results,
shorter shapes, inputs for constants and defaults for attributes. Every candidate runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.debugging import kernel_edits, relay_edits
from lamina.debugging.judge import Judge, Tell, silent
from lamina.debugging.minimise import minimised
from lamina.debugging.program import Program
from lamina.debugging.subgraph import leaving
from lamina.debugging.verdict import How, Verdict
from lamina.errors import LaminaError, UsageError


@dataclass
class Reduced:
    """A program that was made smaller, and the fault that it still shows."""

    program: Program
    how: How
    verdict: Verdict
    """Of the small program."""
    ops: tuple[int, int]
    """Before and after."""
    drawn: bool
    """Whether its inputs are those that `lamina debug compare` draws."""


class Reducer:
    """One reduction: the fault, how it is asked for, and the smallest program so far."""

    def __init__(self, judge: Judge, how: How, tell: Tell | None = None) -> None:
        self.judge = judge
        self.how = how
        self.tell = tell or silent
        self.fault: Verdict | None = None
        self.drawn = False

    def reduced(self, program: Program) -> Reduced:
        """The smallest program found that shows the fault of the given one. Raises UsageError where it shows none."""
        program = replace(program, bare=not self.how.numbers, arrays=program.arrays if self.how.numbers else {})
        self.fault = self.judge.ask(program, self.how)
        if not self.fault.is_fault:
            raise UsageError(f"there is no fault: {self.fault.outcome.kind}", hint=self.fault.outcome.said)
        before = program.ops()
        self.tell(f"{self.fault.outcome.kind}: {self.fault.outcome.said}")
        small = self.smaller(program)
        return Reduced(small, self.how, self.judge.ask(small, self.how), (before, small.ops()), self.drawn)

    def known(self, fault: Verdict) -> Reducer:
        """This one, for a fault that was seen before."""
        self.fault = fault
        return self

    def holds(self, program: Program) -> bool:
        """Whether a program shows the fault."""
        assert self.fault is not None
        verdict = self.judge.ask(program, self.how)
        return self.fault.same_fault(verdict)

    def smaller(self, program: Program) -> Program:
        """A program at which no change makes anything smaller, or what is reached when the time is up."""
        if program.main is not None and program.level in ("relay", "te"):
            program = self.fewest_ops(program)
        return self.smaller_graph(program) if program.level == "relay" else self.smaller_kernels(program)

    def smaller_graph(self, program: Program) -> Program:
        """The same for a program of the relay level, after its ops."""
        while not self.judge.over:
            before = program.text()
            program = self.first(program, relay_edits.without_results)
            program = self.each(program, relay_edits.with_inputs)
            program = self.each(program, relay_edits.without_ops)
            program = relay_edits.shortened(program, self.holds)
            program = self.each(program, relay_edits.without_attributes)
            program = self.each(program, relay_edits.with_one_input)
            program = self.fewest_ops(program)
            self.said(program)
            if program.text() == before:
                break
        program = self.each(program, relay_edits.with_constants_in_text)
        return self.with_drawn_inputs(program, relay_edits.with_drawn_inputs)

    def smaller_kernels(self, program: Program) -> Program:
        """The same for a program of the te or tir level."""
        program = self.first(program, kernel_edits.one_kernel)
        while not self.judge.over:
            before = program.text()
            program = kernel_edits.fewest_statements(program, self.holds, lambda: self.judge.over)
            program = kernel_edits.shortened(program, self.holds)
            program = self.each(program, kernel_edits.without_nesting)
            program = self.each(program, kernel_edits.without_values)
            program = self.each(program, kernel_edits.without_attributes)
            program = self.first(program, kernel_edits.without_arguments)
            program = self.first(program, kernel_edits.one_kernel)
            self.said(program)
            if program.text() == before:
                break
        return self.with_drawn_inputs(program, kernel_edits.with_drawn_inputs)

    def with_drawn_inputs(self, program: Program, draw: Callable[[Program], Program]) -> Program:
        """The program with inputs that need not be kept, if it shows the fault with them."""
        self.drawn = True
        if not self.how.numbers:
            return program
        drawn = draw(program)
        self.drawn = self.holds(drawn)
        return drawn if self.drawn else program

    def fewest_ops(self, program: Program) -> Program:
        """As few ops of `@main` as show the fault, no single one of which can be left out."""
        ops = program.body()
        if len(ops) < 2:
            return program
        try:
            values = program.values() if self.how.numbers else {}
        except LaminaError:
            return program  # what only the machine runs has no values to cut at
        found = program

        def holds(kept: list[Operation]) -> bool:
            nonlocal found
            smaller = self.cut(program, kept, values)
            if smaller is not None:
                found = smaller
                self.said(found)
            return smaller is not None

        minimised(ops, holds, lambda: self.judge.over)
        return found

    def cut(self, program: Program, kept: list[Operation], values: dict[SSAValue, Any]) -> Program | None:
        """The program of some ops, if it shows the fault: with the results that none of them reads, else all."""
        main = relay_edits.main_of(program)
        ways: list[list[SSAValue] | None] = [None, leaving(main, kept)]
        for results in ways:
            try:
                part = program.part(kept, values, results)
            except LaminaError:
                continue
            if self.holds(part):
                return part
        return None

    def first(self, program: Program, candidates: Callable[[Program], Iterable[Program]]) -> Program:
        """The first candidate that shows the fault, else the program."""
        return next((c for c in candidates(program) if self.holds(c)), program)

    def each(self, program: Program, candidates: Callable[[Program], Iterable[Program]]) -> Program:
        """The program after changes of a kind, until none of them keeps the fault."""
        while not self.judge.over:
            smaller = self.first(program, candidates)
            if smaller is program:
                break
            program = smaller
        return program

    def said(self, program: Program) -> None:
        self.tell(f"{program.ops()} ops after {self.judge.asked} programs")
