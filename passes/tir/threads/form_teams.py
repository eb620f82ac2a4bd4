"""Let threads stay together over a serial loop with parallel loops inside: they wait for each other at barriers.

Before:
    tir.for %t = 0 to 64 "t" {
      tir.for %j = 0 to 8 parallel "j" { ... %h[%t, %k] ... tir.store %v, %h[%t + 1, %j] } }
After:
    tir.team {
      tir.for %t = 0 to 64 "t" {
        tir.team_barrier
        tir.for %j = 0 to 8 parallel "j" { ... } } }

To hand a parallel loop to the threads and to wait for them costs more than a barrier among threads that are there
already, and each of them keeps the part of the data that it works on in its own cache. What stands between the parallel
loops becomes a parallel loop of one iteration. Buffers in the serial loop become buffers of the kernel.

A barrier stands only where it is needed (`passes/tir/loops/same_iteration.py`): not between two loops of one extent if
what iteration i of the one touches, no other iteration of the other does. Taken are loops at the top of a kernel that
threads finish sooner, barriers counted; with one thread in the target, none.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops, operands_of
from lamina.dialects.schedule.nest.edits import unique_axis
from lamina.dialects.target import module_target
from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.launch import LaunchOp
from lamina.dialects.tir.memory import AllocOp, LoadOp
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.dialects.tir.team import TeamBarrierOp, TeamOp, is_shared_out
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.loops.same_iteration import Touched, touched_by
from lamina.passes.tir_to_llvm.cost import cycles

BARRIER_CYCLES = 2_200.0
"""The cycles of a barrier. To leave a number and see the other's takes 53 ns; but all that was computed has to be
done, one thread is late, and what the others wrote comes line by line from their cores: 0.6 to 1 us a step of a
recurrent layer, of which the least is taken."""


@dataclass(frozen=True)
class FormTeamsPass(ModulePass):
    name = "tir-form-teams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        threads = 1 if target is None else target.threads.data
        if target is None or threads < 2:
            return
        for func in [f for f in op.ops if isinstance(f, FuncOp)]:
            for loop in [v for v in func.body.block.ops if isinstance(v, ForOp) and v.kind.data == "serial"]:
                if _has_parallel(loop) and _is_worthwhile(loop, threads, target.vector_bits.data):
                    if _can_be_shared(loop.body.block):
                        with edit.transaction(loop):
                            form_team(func, loop)


def form_team(func: FuncOp, loop: ForOp) -> TeamOp:
    """The team that runs a serial loop, in its place."""
    team = TeamOp.make()
    inherit_location(team, loop)
    edit.insert_before(loop, team)
    for alloc in [a for a in all_ops(loop) if isinstance(a, AllocOp) and _is_shared(a, loop)]:
        edit.move_before(team, alloc)
    edit.move_into(team.body.block, [loop])
    _share(func, loop.body.block)
    _place_barriers(team.body.block, [])
    return team


# -- which loops ----------------------------------------------------------------------------------------------------


def _is_worthwhile(loop: ForOp, threads: int, vector_bits: int) -> bool:
    """Whether several threads finish an iteration sooner, with a barrier behind each statement."""
    alone, together = _costs(loop.body.block, threads, vector_bits)
    return together < 0.9 * alone


def _costs(block: Block, threads: int, vector_bits: int) -> tuple[float, float]:
    alone = together = 0.0
    for op in block.ops:
        if is_shared_out(op):
            assert isinstance(op, ForOp)
            cost = cycles([op], vector_bits)
            pieces = threads if op.is_dynamic else max(min(threads, op.trip), 1)
            alone, together = alone + cost, together + cost / pieces + BARRIER_CYCLES
        elif isinstance(op, (ForOp, IfOp)) and _has_parallel(op):
            inner = _costs(op.body.block, threads, vector_bits)
            trip = op.trip if isinstance(op, ForOp) and not op.is_dynamic else 1
            alone, together = alone + trip * inner[0], together + trip * inner[1]
        else:
            cost = cycles([op], vector_bits)
            alone, together = alone + cost, together + cost
            if _touches(op):
                together += BARRIER_CYCLES
    return alone, together


def _has_parallel(op: Operation) -> bool:
    return any(is_shared_out(o) for o in all_ops(op))


def _touches(op: Operation) -> bool:
    """Whether a statement has to be done by one thread alone."""
    return not isinstance(op, AllocOp) and (bool(op.regions) or not is_side_effect_free(op) or isinstance(op, LoadOp))


def _can_be_shared(block: Block) -> bool:
    """Whether the statements of a serial loop are such that a team can run them."""
    for op in block.ops:
        if isinstance(op, AllocOp):
            if op.sizes:  # it would stand before what its size is computed from
                return False
        elif isinstance(op, (ForOp, IfOp)) and _has_parallel(op) and not is_shared_out(op):
            if isinstance(op, ForOp) and op.kind.data not in ("serial", "unrolled"):
                return False
            if not _can_be_shared(op.body.block):
                return False
        elif _touches(op) and not _stays_inside(op):
            return False
    for run in _runs(block):
        alone = set(_one_thread(run))
        inside = {inner for op in alone for inner in all_ops(op)}
        if any(use.operation not in inside for op in alone for r in op.results for use in r.uses):
            return False
    return True


def _runs(block: Block) -> list[list[Operation]]:
    """The statements between those that threads share, run by run."""
    runs: list[list[Operation]] = [[]]
    for op in block.ops:
        if _has_parallel(op):
            runs.append([])
        else:
            runs[-1].append(op)
    return [run for run in runs if run]


def _one_thread(run: list[Operation]) -> list[Operation]:
    """The statements of a run that only one thread may do: those that touch memory, and all that follow from a load."""
    found: list[Operation] = []
    values: set[SSAValue] = set()
    for op in run:
        if _touches(op) or any(v in values for v in operands_of(op)):
            found.append(op)
            values.update(op.results)
    return found


def _stays_inside(op: Operation) -> bool:
    """Whether an op and what stands inside leave registers and threads alone, and check nothing.

    The shadows of a sanitised kernel (`tir-sanitize`) are no thread's own.
    """
    for inner in all_ops(op):
        if isinstance(inner, (BarrierOp, TeamBarrierOp, TeamOp, CallOp, LaunchOp, CheckOp)):
            return False
        if isinstance(inner, ForOp) and inner.thread is not None:
            return False
        for value in operands_of(inner):
            owner = value.owner
            if isinstance(owner, AllocOp) and owner.scope.data == "register" and not op.is_ancestor(owner):
                return False
    return True


def _is_shared(alloc: AllocOp, loop: ForOp) -> bool:
    """Whether several statements of the loops that a team runs use a buffer."""
    parent = alloc.parent_op()
    while parent is not None and _has_parallel(parent) and not is_shared_out(parent):
        if parent is loop:
            return True
        parent = parent.parent_op()
    return False


# -- making it one ----------------------------------------------------------------------------------------------------


def _share(func: FuncOp, block: Block) -> None:
    """Put what one thread has to do into parallel loops of one iteration."""
    for run in _runs(block):
        alone = _one_thread(run)
        if alone:
            axis = unique_axis(func, "alone")
            loop = ForOp.make(1, axis, kind="parallel", hint="alone")
            inherit_location(loop, alone[0])
            # What all threads compute stays, and stands before it.
            edit.insert_after(run[-1], loop)
            edit.move_into(loop.body.block, alone)
    for op in block.ops:
        if isinstance(op, (ForOp, IfOp)) and not is_shared_out(op):
            _share(func, op.body.block)


def _place_barriers(block: Block, pending: list[Touched]) -> list[Touched]:
    """Barriers where they are needed; what threads may still be at where the block ends, of what is given and done."""
    for op in list(block.ops):
        if isinstance(op, TeamBarrierOp):
            pending = []
        elif is_shared_out(op):
            assert isinstance(op, ForOp)
            touched = touched_by(op)
            if any(touched.needs_barrier_behind(other) for other in pending):
                barrier = TeamBarrierOp()
                inherit_location(barrier, op)
                edit.insert_before(op, barrier)
                pending = []
            pending = [*pending, touched]
        elif isinstance(op, IfOp):
            pending = [*pending, *_place_barriers(op.body.block, pending)]
        elif isinstance(op, ForOp):
            # The second time with what an iteration leaves to the next one.
            left = _place_barriers(op.body.block, pending)
            pending = [*pending, *_place_barriers(op.body.block, [*pending, *left])]
    return pending
