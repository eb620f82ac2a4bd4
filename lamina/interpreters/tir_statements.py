"""Statements of tir as closures: loops, conditions, blocks and buffers."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, Literal

from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.schedule.nest.edits import reduction_loops
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.ops import (
    AllocOp,
    BlockOp,
    BroadcastOp,
    ConditionOp,
    CopyOp,
    ForOp,
    FuncOp,
    IndexOp,
    LoadOp,
    StoreOp,
    enclosing_loops,
)
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.dialects.tir.shuffle import ShuffleOp
from lamina.dialects.tir.team import TeamBarrierOp, TeamOp
from lamina.errors import InputError
from lamina.interpreters.tir_accesses import Accesses, Env, Form, Step, buffer_name, stored_in
from lamina.interpreters.tir_memory import Memory, Tracker
from lamina.interpreters.tir_teams import SharedIterations, barrier_step, shared_loop, team_around, team_step
from lamina.interpreters.tir_values import Domain

AT_ONCE = ("parallel", "vectorized")
"""The loop kinds whose iterations run at the same time."""


Barriers = Literal["auto", "written", "implied"]
"""The places where threads wait: the barriers that are there, or each statement (`auto`: where there is no barrier)."""


class Launch:
    """The state of a launch while its body is compiled."""

    def __init__(self, root: ForOp, shared: int, tracker: int) -> None:
        self.root = root
        self.shared = shared
        """The slot of the block's shared buffers."""
        self.tracker = tracker
        self.axes: dict[str, int] = {}
        """The slot of the thread's number along each axis."""


class Statements(Accesses):
    """Turns statements into closures; slot 0 of the environment is the lane."""

    def __init__(self, func: FuncOp, domain: Domain, barriers: Barriers = "auto") -> None:
        super().__init__(domain)
        self.func = func
        written = barriers == "written" or any(isinstance(op, BarrierOp) for op in func.walk())
        self.implied = barriers == "implied" or not written
        """Whether loops of threads are loops whose iterations meet between statements (`tir_forks.py`)."""
        self.current: Launch | None = None
        self.at_once: dict[ForOp, int] = {}
        """The slots of the trackers of loops that run their iterations at once, and of launches by their roots."""
        self._stored: dict[ForOp, set[SSAValue]] = {}
        self.teams: dict[Operation, int] = {}
        """The slots of the trackers of teams."""
        self.waits: set[Operation] = set()
        """The statements of launches that contain a barrier."""
        for op in func.walk():
            if isinstance(op, ForOp) and (
                op.kind.data in AT_ONCE or is_virtual(op) or is_root(op) or (self.implied and op.thread is not None)
            ):
                self.at_once[op] = self.new_slot()
                self._stored.setdefault(op, stored_in(op))
            elif isinstance(op, BarrierOp) and not self.implied:
                self._note_barrier(op)
            elif isinstance(op, TeamOp):
                self._note_team(op)

    def _note_team(self, op: TeamOp) -> None:
        self.teams[op] = self.new_slot()
        for loop in op.walk():
            if isinstance(loop, ForOp) and shared_loop(loop) is loop:
                # One loop may read what another one stores, and be too early.
                self._stored[loop] = stored_in(op)

    def _note_barrier(self, op: BarrierOp) -> None:
        around: list[Operation] = [op]
        parent = op.parent_op()
        while parent is not None and not (isinstance(parent, ForOp) and is_root(parent)):
            around.append(parent)
            parent = parent.parent_op()
        if parent is None:
            raise InputError(f'tir.barrier "{op.scope.data}" stands outside of any loop of threads', op=op)
        self.waits.update(around)
        self.waits.add(parent)

    def unknown(self, op: Operation) -> Exception:
        return InputError(f"{op.name} has no meaning to the tir interpreter", op=op)

    # -- statements --

    def steps(self, block: Block) -> tuple[Step, ...]:
        found: list[Step] = []
        for op in block.ops:
            step = self.step(op)
            if step is not None:
                found.append(step)
        return tuple(found)

    def step(self, op: Operation) -> Step | None:
        if isinstance(op, LoadOp):
            return self.load(op)
        if isinstance(op, StoreOp):
            return self.store(op)
        if isinstance(op, ForOp):
            return self.loop(op)
        if isinstance(op, BlockOp):
            return self.block(op)
        if isinstance(op, AllocOp):
            return self.alloc(op)
        if isinstance(op, IfOp):
            return self.conditional(op)
        if isinstance(op, CopyOp):
            return self.copy(op)
        if isinstance(op, IndexOp):
            return self.index(op)
        if isinstance(op, ConditionOp):
            return self.condition(op)
        if isinstance(op, BroadcastOp):
            return self.broadcast(op)
        if isinstance(op, ShuffleOp):
            return self.shuffle(op)
        if isinstance(op, PrefetchOp):
            return None
        if isinstance(op, TeamOp):
            return team_step(self.teams[op], _sequence(self.steps(op.body.block)))
        if isinstance(op, TeamBarrierOp):
            return barrier_step(self.teams[team_around(op)])
        return self.value(op)

    def broadcast(self, op: BroadcastOp) -> Step:
        source, out = self.slot(op.value), self.slot(op.result)
        assert isinstance(op.result.type, VectorType)
        (lanes,) = op.result.type.get_shape()
        broadcast = self.domain.broadcast

        def run(env: Env) -> None:
            env[out] = broadcast(env[source], lanes)

        return run

    def shuffle(self, op: ShuffleOp) -> Step:
        first, second, out = self.slot(op.first), self.slot(op.second), self.slot(op.result)
        assert isinstance(op.result.type, VectorType)
        picks, element, vector = op.numbers(), op.result.type.element_type, self.domain.vector

        def run(env: Env) -> None:
            lanes = [*env[first], *env[second]]
            env[out] = vector([lanes[n] for n in picks], element)

        return run

    def iterations(self, op: ForOp) -> Form:
        """The number of iterations of a loop: the least of its limits."""
        limits = [self.form(f) for f in op.limits()]
        if len(limits) == 1:
            return limits[0]
        return lambda env: min([f(env) for f in limits])

    @abc.abstractmethod
    def threads(self, op: ForOp) -> Step:
        """A loop over a thread axis."""

    def loop(self, op: ForOp) -> Step:
        if op.kind.data == "thread" and (self.implied or not is_virtual(op)):
            return self.threads(op)
        variable = self.slot(op.var)
        extent = self.iterations(op)
        steps = self.steps(op.body.block)
        tracker = self.at_once.get(op)
        axis, name = op.axis.data, buffer_name(op.var)

        starts = self.empty_reduction(op) if op.is_reduction and (op.bounds or op.trip == 0) else []

        def run(env: Env) -> None:
            for i in range(extent(env)):
                env[variable] = i
                for step in steps:
                    step(env)

        def run_reduction(env: Env) -> None:
            if extent(env) <= 0:
                env[variable] = 0
                for start in starts:
                    start(env)
            run(env)

        team = self.teams[team_around(op)] if shared_loop(op) is op else None

        def run_at_once(env: Env) -> None:
            assert tracker is not None
            tracked: Tracker = Tracker(axis, f"%{name}")
            trip = extent(env)
            if team is not None:
                tracked = SharedIterations(axis, f"%{name}", env[team], trip)
            env[tracker] = tracked
            for i in range(trip):
                env[variable] = tracked.iteration = i
                for step in steps:
                    step(env)

        if tracker is not None:
            return run_at_once
        return run_reduction if starts else run

    def empty_reduction(self, op: ForOp) -> list[Step]:
        """Steps for a reduction loop without an iteration: the inits of the blocks that reduce along it."""
        found: list[Step] = []
        for block in op.walk():
            if isinstance(block, BlockOp) and block.init.blocks and op in reduction_loops(block):
                step = self.block_init(block)
                assert step is not None
                parent = block.parent_op()
                while parent is not op:
                    assert parent is not None
                    step = self._start_in(parent, step)
                    parent = parent.parent_op()
                found.append(step)
        return found

    def _start_in(self, op: Operation, step: Step) -> Step:
        """An init within a statement around its block: reduction loops stand at their first iteration."""
        if isinstance(op, ForOp):
            variable, tracker, axis = self.slot(op.var), self.at_once.get(op), op.axis.data
            extent, name = None if op.is_reduction else self.iterations(op), f"%{buffer_name(op.var)}"

            def run(env: Env) -> None:
                tracked = Tracker(axis, name)
                if tracker is not None:
                    env[tracker] = tracked
                for i in range(1 if extent is None else extent(env)):
                    env[variable] = tracked.iteration = i
                    step(env)

            return run
        guard = self.guard(op.conditions()) if isinstance(op, IfOp) else None
        return step if guard is None else _guarded(guard, step)

    def conditional(self, op: IfOp) -> Step:
        guard = self.guard(op.conditions())
        assert guard is not None
        return _guarded(guard, _sequence(self.steps(op.body.block)))

    def block(self, op: BlockOp) -> Step:
        init, guard = self.init(op), self.guard(op.conditions())
        body = _sequence(self.steps(op.body.block))
        step = body if init is None else _sequence((init, body))
        return step if guard is None else _guarded(guard, step)

    def init(self, op: BlockOp) -> Step | None:
        """The init of a block, which runs in the first iteration of its reduction loops."""
        if not op.init.blocks:
            return None
        init = _sequence(self.steps(op.init.blocks[0]))
        variables = [self.slot(v.var) for v in reduction_loops(op)]

        def run(env: Env) -> None:
            for v in variables:
                if env[v]:
                    return
            init(env)

        return run

    def block_init(self, op: BlockOp) -> Step | None:
        """The init of a block under its predicate."""
        init, guard = self.init(op), self.guard(op.conditions())
        return init if guard is None or init is None else _guarded(guard, init)

    def alloc(self, op: AllocOp) -> Step:
        out, name, type_ = self.slot(op.result), buffer_name(op.result), op.result.type
        fresh = self.domain.fresh
        extents = [self.form(e) for e in op.extents()]
        static = None if DYNAMIC_INDEX in op.result.type.get_shape() else op.result.type.get_shape()

        def shape(env: Env) -> tuple[int, ...]:
            found = tuple(int(e(env)) for e in extents)
            if any(e < 0 for e in found):
                raise InputError(f"the buffer %{name} would have the shape {list(found)}", op=op)
            return found

        def run(env: Env) -> None:
            env[out] = fresh(name, type_, static or shape(env))

        launch = self.current
        if launch is None or not is_of_block(op):
            return run
        slot = launch.shared
        around = loops_between(op, launch.root)
        serial = [self.slot(v.var) for v in around if v.kind.data != "thread"]
        virtual = [self.slot(v.var) for v in around if is_virtual(v)]

        def run_shared(env: Env) -> None:
            # The first thread makes the block's buffer. In each iteration of the loops around it is a new life of the
            # same place: its elements hold nothing yet, but what threads do to them can race across iterations.
            owned: dict[Any, Memory] = env[slot]
            wanted = static or shape(env)
            place = (op, *(env[v] for v in virtual), wanted)
            life = (*place, *(env[v] for v in serial))
            found = owned.get((life, True))
            if found is None:
                base = owned.get((place, False))
                if base is None:
                    found = owned[place, False] = fresh(name, type_, wanted)
                else:
                    found = base.reborn()
                owned[life, True] = found
            env[out] = found

        return run_shared

    def trackers(self, op: Operation, buffer: SSAValue) -> list[int]:
        """Those of the loops and of the launch around an access whose iterations or threads share the buffer.

        Only where something stores into it.
        """
        owner = buffer.owner
        inner = enclosing_loops(owner) if isinstance(owner, AllocOp) else []
        found: list[int] = []
        for loop in enclosing_loops(op):
            tracker = self.at_once.get(loop)
            if tracker is None or buffer not in self._stored[loop]:
                continue
            shared = isinstance(owner, AllocOp) and self.current is not None and is_of_block(owner)
            if loop not in inner or (shared and is_root(loop)):
                found.append(tracker)
        return found


def _sequence(steps: Sequence[Step]) -> Step:
    if len(steps) == 1:
        return steps[0]
    if len(steps) == 2:
        first, second = steps

        def run_both(env: Env) -> None:
            first(env)
            second(env)

        return run_both

    def run(env: Env) -> None:
        for step in steps:
            step(env)

    return run


def _guarded(guard: Callable[[Env], bool], step: Step) -> Step:
    def run(env: Env) -> None:
        if guard(env):
            step(env)

    return run


def is_virtual(op: ForOp) -> bool:
    """Whether a loop is bound to a virtual thread axis, whose tag begins with `vthread`."""
    return op.thread is not None and op.thread.data.startswith("vthread")


def is_root(op: ForOp) -> bool:
    """Whether a loop is the outermost one of a launch."""
    if op.kind.data != "thread" or is_virtual(op):
        return False
    return not any(v.kind.data == "thread" and not is_virtual(v) for v in enclosing_loops(op))


def is_of_block(op: AllocOp) -> bool:
    """Whether a buffer made inside of a launch is one for all threads of a block."""
    if op.scope.data == "shared":
        return True
    loops = enclosing_loops(op)
    return op.scope.data == "global" and not any(v.thread and v.thread.data.startswith("threadIdx") for v in loops)


def loops_between(op: Operation, root: ForOp) -> list[ForOp]:
    """The loops around an op, within a launch."""
    loops = enclosing_loops(op)
    return loops[loops.index(root) :]


def thread_tag(op: ForOp) -> str:
    """The thread axis that a loop is bound to, as `threadIdx.x`. The loop must be bound."""
    assert op.thread is not None
    return op.thread.data
