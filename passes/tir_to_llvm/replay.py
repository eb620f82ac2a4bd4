"""Expands a compact tir body into llvm ops: each body is compiled once to steps, and the steps are replayed.

Unrolled loops replay their steps with the loop variable as a number. A register buffer is a table from constant
offsets to SSA values (`registers.py`); at a serial loop the live entries of buffers stored inside become block
arguments (`loops.py`), so accumulators never touch memory. Everything an access does not know as a number becomes a
pointer, built loop by loop (`builder.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.fast_ir import name_new, operands_of, valid_name
from lamina.dialects.index.linear import Atom
from lamina.dialects.target import TargetAttr
from lamina.passes.rules.conversion import Conversion
from lamina.passes.tir_to_llvm import arithmetic as arithmetic
from lamina.passes.tir_to_llvm import buffers as buffers
from lamina.passes.tir_to_llvm import control as control

# The files that hold rules enter them as they are imported.
from lamina.passes.tir_to_llvm import loads_and_stores as loads_and_stores
from lamina.passes.tir_to_llvm import loop_kinds as loop_kinds
from lamina.passes.tir_to_llvm import values as values
from lamina.passes.tir_to_llvm import zero_lanes as zero_lanes
from lamina.passes.tir_to_llvm.alternatives import compile_runs
from lamina.passes.tir_to_llvm.builder import FunctionBuilder
from lamina.passes.tir_to_llvm.checks import Checks
from lamina.passes.tir_to_llvm.indices import Indices
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.rules import Emit, Step, tir_to_llvm
from lamina.passes.tir_to_llvm.spread import spreads_from_memory
from lamina.passes.tir_to_llvm.teams import Team


class Replay(Indices):
    """Lowers the body of one kernel function."""

    conversion: Conversion[Any, Step] = tir_to_llvm

    def __init__(
        self, builder: FunctionBuilder, pointers: dict[SSAValue, SSAValue], target: TargetAttr | None = None
    ) -> None:
        super().__init__(builder)
        self.spreads = spreads_from_memory(target)
        """Whether a lane of a vector in memory is read into all lanes as fast as any element (`spread.py`)."""
        self.rounds_to_bf16 = target is None or target.rounds_to_bf16()
        """Whether the machine makes a bf16 of a float in one instruction."""
        self.marks_growth = target is not None and target.wants_growing_addresses()
        """Whether it is to be said of a constant that is added to an address that the sum does not wrap around."""
        self.memory_of_thread: SSAValue | None = None
        """Memory for buffers that the stack does not hold."""
        self.places_of_thread: Mapping[Operation, int] = {}
        """The offsets of these buffers in it."""
        self.pointers = dict(pointers)
        """Buffers in memory, with their base pointers."""
        self.known_from: dict[SSAValue, int | None] = {}
        """The level from which a base pointer is known, where it is not the function's entry."""
        self.taken: list[SSAValue] = []
        """Memory of the C library that the function has for buffers, given back at its end."""
        self.registers: dict[SSAValue, Register] = {}
        self.loaded: dict[SSAValue, dict[Any, SSAValue]] = {}
        """Values that the straight-line code so far has read, by buffer and address."""
        self.spread: dict[SSAValue, tuple[Atom, int]] = {}
        """Loads that have given a vector, of which an unrolled variable modulo the lanes says which one is meant."""
        self.checks: Checks | None = None
        """The reports of failed checks; None in a function that has none."""
        self.team: Team | None = None
        """The threads that are in the function together; None where each has its own slice of iterations."""

    def compile(self, block: Block) -> list[Step]:
        return compile_runs(self, list(block.ops))

    def compile_step(self, op: Operation) -> Step:
        """Replay an op by its rule. Raises InputError for one that has none."""
        return self.conversion.lower(op, self)

    def plain(self, op: Operation, emit: Emit) -> Step:
        """The step of an op of one value, which a function makes of those of its operands."""
        values = self.values
        operands = operands_of(op)
        result = op.results[0]
        name = valid_name(result.name_hint)
        if len(operands) == 2:
            a, b = operands

            def binary() -> None:
                values[result] = emit([values[a], values[b]])

            return binary

        def step() -> None:
            new = emit([values[o] for o in operands])
            name_new(new, name)
            values[result] = new

        return step
