"""Code of `tir.team`: one phase of a kernel that several threads are in at the same time.

Such a phase is called with the number of the thread and how many there are, in place of a slice of iterations. Of a
parallel loop of n iterations thread k of m takes those from n * k / m to n * (k + 1) / m. At a barrier it calls the
run-time, `lamina_meet` in `backends/cpu/runtime/pool.mlir`, with the number of barriers that it has come to. Where that
function is, and where the threads leave such numbers for each other, stands in the program's status block: `{ptr
numbers, ptr meet}`, behind the code and the entry.

Before:
    tir.team { tir.for %i = 0 to 8 parallel "i" { ... } tir.team_barrier ... }
After:
    llvm.func internal @f.body(%y: !llvm.ptr, %team: !llvm.ptr {llvm.noalias}, %me: i64, %size: i64) {
      %0 = llvm.mul %eight, %me : i64
      %lo = llvm.udiv %0, %size : i64
      ...
      llvm.call %meet(%numbers, %me, %size, %turn) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.memory import StoreOp
from lamina.dialects.tir.ops import CopyOp, ForOp
from lamina.dialects.tir.team import TeamBarrierOp, TeamOp, is_shared_out
from lamina.errors import InputError
from lamina.passes.tir_to_llvm.builder import POINTER, FunctionBuilder
from lamina.passes.tir_to_llvm.cost import cycles
from lamina.passes.tir_to_llvm.loops import least, run_loop
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import OVERFLOW, Properties

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay

_ALIGNED: Properties = {"alignment": IntegerAttr(8, i64)}
POLL_CYCLES = 90
"""The cycles of one poll of a waiting thread: 25 ns."""
SHARE_OF_WAITING = 16
"""A thread waits for others to come at most this part of the time that it would need alone."""
FEWEST_POLLS, MOST_POLLS = 100, 4000
"""The fewest polls, since workers that are awake are there in less than a microsecond, and the most."""
ANY_EXTENT = 1 << 30


class Team:
    """The threads of a phase, as its code sees them."""

    def __init__(self, replay: Replay, place: SSAValue, me: SSAValue, size: SSAValue) -> None:
        b = replay.b
        self.me, self.size = me, size
        self.numbers = b.emit(llvm.LoadOp, [place], POINTER, _ALIGNED)
        self.meet = b.emit(llvm.LoadOp, [b.offset(place, POINTER, 1)], POINTER, _ALIGNED)
        one = b.integer(1, i64)
        slot: Properties = {"elem_type": i64, "alignment": IntegerAttr(8, i64)}
        self.turn = b.emit(llvm.AllocaOp, [one], POINTER, slot)
        b.effect(llvm.StoreOp, [b.integer(0, i64), self.turn], _ALIGNED)
        self.is_sharing = False
        """Whether the code is that of a parallel loop: those inside of it are loops like any other."""
        self._pieces: dict[int, tuple[SSAValue, SSAValue]] = {}

    def piece(self, b: FunctionBuilder, trip: int) -> tuple[SSAValue, SSAValue]:
        """The bounds of this thread's piece of `trip` iterations, computed once in the function's entry."""
        found = self._pieces.get(trip)
        if found is None:
            ends: list[SSAValue] = []
            b.at_level(0, lambda: ends.extend(_piece(b, self, b.integer(trip))) or ends[0])
            found = self._pieces[trip] = ends[0], ends[1]
        return found


@tir_to_llvm.lowers(TeamOp)
def team(op: TeamOp, replay: Replay) -> Step:
    """The statements of a team, in order. Raises InputError on a machine without them."""
    if replay.team is None:
        raise InputError("there are no teams on this target: tir-form-teams is for the processor's threads", op=op)
    steps = replay.compile(op.body.block)

    def step() -> None:
        for s in steps:
            s()

    return step


def compile_shared_loop(replay: Replay, team: Team, op: ForOp) -> Step:
    """The iterations of a parallel loop that are this thread's."""
    b = replay.b
    b.depth[op.var] = -1
    team.is_sharing = True
    steps = replay.compile(op.body.block)
    team.is_sharing = False
    limits = op.limits()
    locals_ = replay.local_dims(limits)

    def step() -> None:
        replay.bind_locals(locals_)
        if op.bounds:
            limit, _ = least(b, [replay.resolve(f) for f in limits])
            lo, hi = _piece(b, team, limit)
        else:
            lo, hi = team.piece(b, op.trip)
        run_loop(replay, op.var, lo, hi, steps, [], True)

    return step


def _piece(b: FunctionBuilder, team: Team, limit: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The beginning and the end of this thread's piece of [0, limit)."""
    following = b.emit(llvm.AddOp, [team.me, b.integer(1, i64)], i64, OVERFLOW)
    wholes = [b.emit(llvm.MulOp, [b.resized(limit, i64), n], i64, OVERFLOW) for n in (team.me, following)]
    lo, hi = (b.resized(b.emit(llvm.UDivOp, [whole, team.size], i64, {}), b.index) for whole in wholes)
    return lo, hi


@tir_to_llvm.lowers(TeamBarrierOp)
def team_barrier(op: TeamBarrierOp, replay: Replay) -> Step:
    """A call of the run-time with the number of the barrier."""
    team = replay.team
    assert team is not None
    b = replay.b

    def step() -> None:
        before = b.emit(llvm.LoadOp, [team.turn], i64, _ALIGNED)
        turn = b.emit(llvm.AddOp, [before, b.integer(1, i64)], i64, OVERFLOW)
        b.effect(llvm.StoreOp, [turn, team.turn], _ALIGNED)
        b.add(llvm.CallOp.build(operands=[[team.meet, team.numbers, team.me, team.size, turn], []], result_types=[[]]))
        replay.loaded, replay.shared = {}, {}

    return step


def team_of(ops: Sequence[Operation]) -> TeamOp | None:
    """The team that a phase consists of."""
    return next((op for op in ops if type(op) is TeamOp), None)


def written_together(team: TeamOp) -> set[SSAValue]:
    """Buffers that some thread writes: what another one reads of them has changed behind its back."""
    return {
        op.buffer if isinstance(op, StoreOp) else op.target for op in all_ops(team) if isinstance(op, (StoreOp, CopyOp))
    }


def most_threads(team: TeamOp) -> int:
    """More have nothing to do."""
    loops = [op for op in all_ops(team) if isinstance(op, ForOp) and is_shared_out(op)]
    return max((ANY_EXTENT if v.is_dynamic else v.trip for v in loops), default=1)


def patience(team: TeamOp, vector_bits: int) -> int:
    """The number of polls that it is worth to wait for workers that sleep."""
    wait = cycles([team], vector_bits) / SHARE_OF_WAITING / POLL_CYCLES
    return max(FEWEST_POLLS, min(MOST_POLLS, round(wait)))
