"""Expands a compact tir body into llvm ops: each body is compiled once to steps, and the steps are replayed.

Unrolled loops replay their steps with the loop variable as a number. A register buffer is a table from constant
offsets to SSA values (`registers.py`); at a serial loop the live entries of buffers stored inside become block
arguments (`loops.py`), so accumulators never touch memory. Everything an access does not know as a number becomes a
pointer, built loop by loop (`builder.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.arith import DivfOp
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.fast_ir import name_new, operands_of, valid_name
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Atom
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.target import TargetAttr
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.ops import (
    AllocOp,
    BroadcastOp,
    ConditionOp,
    ForOp,
    IfOp,
    IndexOp,
    LoadOp,
    SelectOp,
    StoreOp,
)
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.dialects.tir.shuffle import ShuffleOp
from lamina.dialects.tir.team import TeamBarrierOp, TeamOp, is_shared_out
from lamina.errors import InputError
from lamina.passes.tir_to_llvm.access import Access
from lamina.passes.tir_to_llvm.alternatives import compile_runs
from lamina.passes.tir_to_llvm.buffers import compile_alloc, is_on_heap, release
from lamina.passes.tir_to_llvm.builder import FunctionBuilder
from lamina.passes.tir_to_llvm.checks import Checks
from lamina.passes.tir_to_llvm.control import compile_if, compile_unrolled
from lamina.passes.tir_to_llvm.indices import Indices
from lamina.passes.tir_to_llvm.loops import compile_serial
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.scalars import FLOAT, compile_op, llvm_type, splat
from lamina.passes.tir_to_llvm.spread import broadcast_lane, compile_spread_load, spreads_from_memory
from lamina.passes.tir_to_llvm.teams import Team, compile_barrier, compile_shared_loop, compile_team
from lamina.passes.tir_to_llvm.zero_lanes import quotient

Step = Callable[[], None]


class Replay(Indices):
    """Lowers the body of one kernel function."""

    def __init__(
        self, builder: FunctionBuilder, pointers: dict[SSAValue, SSAValue], target: TargetAttr | None = None
    ) -> None:
        super().__init__(builder)
        self.spreads = spreads_from_memory(target)
        """Whether a lane of a vector in memory is read into all lanes as fast as any element (`spread.py`)."""
        self.pointers = dict(pointers)
        """Buffers in memory, with their base pointers."""
        self.known_from: dict[SSAValue, int | None] = {}
        """The level from which a base pointer is known, where it is not the function's entry."""
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
        steps = compile_runs(self, list(block.ops))
        return [*steps, *(release(self, op) for op in block.ops if type(op) is AllocOp and is_on_heap(op))]

    def compile_step(self, op: Operation) -> Step:
        compile_ = _COMPILE.get(type(op))
        if compile_ is not None:
            return compile_(self, op)
        emit = compile_op(op, self.b)
        if emit is None:
            raise InputError(f"tir-to-llvm has no llvm op for {op.name}", op=op)
        return self.compile_plain(op, emit)

    def compile_plain(self, op: Operation, emit: Callable[[list[SSAValue]], SSAValue]) -> Step:
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

    def compile_load(self, op: LoadOp) -> Step:
        access = Access(self, op)
        spread = compile_spread_load(self, op, access) if self.spreads else None
        return access.load_step() if spread is None else spread

    def compile_shuffle(self, op: ShuffleOp) -> Step:
        type_ = llvm_type(op.result.type)
        mask: dict[str, Attribute] = {"mask": op.picks}
        return self.compile_plain(op, lambda operands: self.b.emit(llvm.ShuffleVectorOp, operands, type_, mask))

    def compile_quotient(self, op: DivfOp) -> Step:
        emit = compile_op(op, self.b)
        assert emit is not None
        if type(op.result.type) is VectorType:
            return self.compile_plain(op, lambda operands: quotient(self.b, *operands))
        return self.compile_plain(op, emit)

    def compile_select(self, op: SelectOp) -> Step:
        type_ = llvm_type(op.result.type)
        return self.compile_plain(op, lambda operands: self.b.emit(llvm.SelectOp, operands, type_, FLOAT))

    def compile_check(self, op: CheckOp) -> Step:
        checks = self.checks
        assert checks is not None
        code = checks.code(op.message.data)

        def step() -> None:
            checks.emit(self.b, self.values[op.condition], code)
            self.values[op.result] = self.values[op.value]

        return step

    def compile_alloc(self, op: AllocOp) -> Step:
        """A buffer of the body; a device has scopes of its own."""
        return compile_alloc(self, op)

    def compile_broadcast(self, op: BroadcastOp) -> Step:
        source, result = op.value, op.result
        type_ = llvm_type(result.type)
        spread = self.spread.get(source)
        if spread is not None:
            variable, lanes = spread

            def one_lane() -> None:
                self.values[result] = broadcast_lane(self, self.values[source], self.unrolled[variable] % lanes, type_)

            return one_lane

        def step() -> None:
            value = self.values[source]
            found = self.shared.get(value)
            if found is None or found.type != type_:
                found = self.shared[value] = self.broadcast(value, type_)
            self.values[result] = found

        return step

    def compile_index(self, op: IndexOp) -> Step:
        (form,) = over_values(op.map.data.results, op.operands)
        locals_ = self.local_dims([form])
        lanes = _lanes(op.result.type)

        def step() -> None:
            self.bind_locals(locals_)
            if lanes is not None:
                self.values[op.result] = self.lane_vector(self.resolve(form), lanes)
            else:
                self.values[op.result] = self.b.index_value(self.resolve(form))

        return step

    def compile_condition(self, op: ConditionOp) -> Step:
        conditions, locals_ = self.conditions_of(op)
        lanes = _lanes(op.result.type)

        def step() -> None:
            self.bind_locals(locals_)
            decided = self.decide(conditions)
            if isinstance(decided, bool):
                type_ = llvm_type(op.result.type)
                self.values[op.result] = self.b.constant(splat(int(decided), type_), type_)
            elif lanes is None:
                self.values[op.result] = self.scalar_condition(decided)
            else:
                self.values[op.result] = self.mask(decided, lanes)

        return step

    def compile_loop(self, op: ForOp) -> Step:
        if op.kind.data == "vectorized":
            raise InputError(f"tir-to-llvm: {op.axis.data!r} is still vectorized; run tir-vectorize-loop", op=op)
        if op.is_unrolled:
            return compile_unrolled(self, op)
        if self.team is not None and not self.team.is_sharing and is_shared_out(op):
            return compile_shared_loop(self, self.team, op)
        return compile_serial(self, op)


_COMPILE: dict[type[Operation], Callable[[Replay, Any], Step]] = {
    ForOp: lambda replay, op: replay.compile_loop(op),
    IfOp: compile_if,
    LoadOp: lambda replay, op: replay.compile_load(op),
    StoreOp: lambda replay, op: Access(replay, op).store_step(),
    PrefetchOp: lambda replay, op: Access(replay, op).prefetch_step(op),
    AllocOp: lambda replay, op: replay.compile_alloc(op),
    BroadcastOp: lambda replay, op: replay.compile_broadcast(op),
    ShuffleOp: lambda replay, op: replay.compile_shuffle(op),
    IndexOp: lambda replay, op: replay.compile_index(op),
    ConditionOp: lambda replay, op: replay.compile_condition(op),
    SelectOp: lambda replay, op: replay.compile_select(op),
    DivfOp: lambda replay, op: replay.compile_quotient(op),
    CheckOp: lambda replay, op: replay.compile_check(op),
    TeamOp: compile_team,
    TeamBarrierOp: compile_barrier,
}
"""Steps of ops; those of arithmetic are rows of `scalars.py`."""


def _lanes(type_: Attribute) -> int | None:
    return type_.get_shape()[0] if type(type_) is VectorType else None
