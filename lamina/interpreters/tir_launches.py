"""Launches of threads as closures: who runs what, and how statements with barriers in them stop and go on."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index.linear import Atom
from lamina.dialects.schedule.nest.threads import thread_extent, thread_loops
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.launch import LaunchOp
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, enclosing_loops
from lamina.errors import InputError
from lamina.interpreters.tir_accesses import Env, Form, Step, buffer_name
from lamina.interpreters.tir_forks import Forks
from lamina.interpreters.tir_memory import Tracker
from lamina.interpreters.tir_statements import Launch, is_virtual, loops_between, thread_tag
from lamina.interpreters.tir_threads import (
    BLOCK_TAGS,
    THREAD_TAGS,
    Arrival,
    Body,
    Scheduler,
    ThreadTracker,
    Waiting,
    in_one_thread,
)


class Launches(Forks):
    """Compiles a function: statements, and the launches among them."""

    def step(self, op: Operation) -> Step | None:
        return self.start(op) if isinstance(op, LaunchOp) else super().step(op)

    def start(self, op: LaunchOp) -> Step:
        """Run a kernel of the module. Raises InputError where the launch gives another grid than the kernel's loops."""
        name = op.callee.root_reference.data
        module = self.func.parent_op()
        found = [o for r in module.regions for o in r.walk()] if module is not None else []
        callee = next((o for o in found if isinstance(o, FuncOp) and o.sym_name.data == name), None)
        arguments = callee.body.block.args if callee is not None else ()
        if callee is None or [a.type for a in arguments] != [a.type for a in op.arguments]:
            raise InputError(f"tir.launch: there is no kernel @{name} that takes these arguments", op=op)
        device = Launches(callee, self.domain, "written")
        taken = [(device.slot(inner), self.slot(outer)) for inner, outer in zip(arguments, op.arguments, strict=True)]
        steps = device.steps(callee.body.block)
        launched = {f"blockIdx.{axis}": self.form(e) for axis, e in zip("xyz", op.grid_extents(), strict=False)}
        launched |= {f"threadIdx.{axis}": self.form(e) for axis, e in zip("xyz", op.block_extents(), strict=False)}
        wanted = [(v, device.form(thread_extent(v))) for v in thread_loops(callee) if not is_virtual(v)]

        def run(env: Env) -> None:
            own = list(device.env)
            for inner, outer in taken:
                own[inner] = env[outer]
            for loop, extent in wanted:
                there = launched[thread_tag(loop)](env) if thread_tag(loop) in launched else 1
                if there != extent(own):
                    raise InputError(
                        f'tir.launch: {there} along {thread_tag(loop)}, the loop "{loop.axis.data}" has {extent(own)}',
                        op=op,
                    )
            for step in steps:
                step(own)

        return run

    def threads(self, op: ForOp) -> Step:
        if self.implied:
            # Below an outermost loop either all threads do without meeting or `fork` has compiled what meets.
            return self.plain_fork(op) if any(v.kind.data == "thread" for v in enclosing_loops(op)) else self.fork(op)
        return self.launch(op) if self.current is None else self.thread_axis(op)

    def launch(self, op: ForOp) -> Step:
        """All threads of a launch."""
        launch = self.current = Launch(op, self.new_slot(), self.at_once[op])
        loops = [v for v in op.walk() if isinstance(v, ForOp) and v.kind.data == "thread" and not is_virtual(v)]
        axes: dict[str, list[Form]] = {}
        for v in loops:
            axes.setdefault(thread_tag(v), []).append(self.launched(v, op))
        launch.axes = {tag: self.new_slot() for tag in axes}
        waits = op in self.waits
        body = self._phased(op) if waits else None
        step = self.thread_axis(op) if not waits else None
        self.current = None
        blocks, threads = ([t for t in tags if t in axes] for tags in (BLOCK_TAGS, THREAD_TAGS))
        slots = [launch.axes[t] for t in [*blocks, *threads]]
        warps = any(isinstance(o, BarrierOp) and o.scope.data == "warp" for o in op.walk())

        def run(env: Env) -> None:
            extents = {tag: max(form(env) for form in forms) for tag, forms in axes.items()}
            grid, shape = ([range(extents[t]) for t in tags] for tags in (blocks, threads))
            numbers = list(itertools.product(*shape))

            def names(block: int, thread: int) -> str:
                numbering: list[tuple[str, int]] = list(zip(threads, numbers[thread], strict=True))
                at = next(itertools.islice(itertools.product(*grid), block, None))
                told = [*zip(reversed(blocks), reversed(at), strict=True), *reversed(numbering)]
                return f"({', '.join(f'{tag} = {n}' for tag, n in told)})"

            tracker = env[launch.tracker] = ThreadTracker(names, warps)
            scheduler = Scheduler(tracker, names)
            for n, block in enumerate(itertools.product(*grid)):
                env[launch.shared] = {}
                started: list[Waiting] = []
                for m, thread in enumerate(numbers):
                    own = list(env) if body is not None else env
                    for slot, value in zip(slots, (*block, *thread), strict=True):
                        own[slot] = value
                    if body is not None:
                        started.append(body(own))
                    else:
                        assert step is not None
                        tracker.enter(n, n, m)
                        step(own)
                if started:
                    scheduler.run(started)

        return run

    def launched(self, op: ForOp, root: ForOp) -> Form:
        """The extent of a thread axis as far as it is known when the launch begins."""
        known = [f for f in op.limits() if not any(root.is_ancestor(_home(d)) for d in f.dims())]
        if not known:
            raise InputError(
                f'the extent of loop "{op.axis.data}" ({thread_tag(op)}) is not known when its threads start', op=op
            )
        forms = [self.form(f) for f in known]
        return lambda env: max(min([f(env) for f in forms]), 0)

    def thread_axis(self, op: ForOp) -> Step:
        """A loop that the threads of the launch have already been started for."""
        assert self.current is not None
        number, variable = self.current.axes[thread_tag(op)], self.slot(op.var)
        extent = self.iterations(op)
        steps = self.steps(op.body.block)

        def run(env: Env) -> None:
            at = env[number]
            if at < extent(env):
                env[variable] = at
                for step in steps:
                    step(env)

        return run

    # -- what stops at barriers --

    def _phased(self, op: Operation) -> Body:
        """A statement with a barrier in it, as something that stops there."""
        if isinstance(op, BarrierOp):
            assert self.current is not None
            around = [self.slot(v.var) for v in loops_between(op, self.current.root) if v.kind.data != "thread"]

            def wait(env: Env) -> Waiting:
                yield Arrival(op, tuple(env[v] for v in around))

            return wait
        if isinstance(op, ForOp):
            return self._phased_loop(op)
        if isinstance(op, IfOp):
            return self._phased_if(self.guard(op.conditions()), self._phased_ops(op.body.block))
        if isinstance(op, BlockOp):
            starts = self.init(op)
            return self._phased_if(self.guard(op.conditions()), self._phased_ops(op.body.block, starts))
        raise self.unknown(op)

    def _phased_ops(self, block: Block, first: Step | None = None) -> Body:
        parts: list[tuple[Body | None, Step]] = []
        if first is not None:
            parts.append((None, first))
        for op in block.ops:
            if op in self.waits:
                parts.append((self._phased(op), _nothing))
            else:
                step = self.step(op)
                if step is not None:
                    parts.append((None, step))

        def run(env: Env) -> Waiting:
            for waits, step in parts:
                if waits is None:
                    step(env)
                else:
                    yield from waits(env)

        return run

    def _phased_if(self, guard: Callable[[Env], bool] | None, body: Body) -> Body:
        def run(env: Env) -> Waiting:
            if guard is None or guard(env):
                yield from body(env)

        return run

    def _phased_loop(self, op: ForOp) -> Body:
        variable, extent = self.slot(op.var), self.iterations(op)
        body = self._phased_ops(op.body.block)
        tracker = self.at_once.get(op)
        axis, name = op.axis.data, f"%{buffer_name(op.var)}"
        if op.kind.data == "thread" and not is_virtual(op):
            assert self.current is not None
            number = self.current.axes[thread_tag(op)]

            def run_axis(env: Env) -> Waiting:
                at = env[number]
                if at < extent(env):
                    env[variable] = at
                    yield from body(env)

            return run_axis
        if tracker is not None:
            return in_one_thread(body, variable, extent, tracker, lambda: Tracker(axis, name))

        def run(env: Env) -> Waiting:
            for i in range(extent(env)):
                env[variable] = i
                yield from body(env)

        return run


def _nothing(env: Env) -> None:
    """No step."""


def _home(atom: Atom) -> Operation:
    """The op that a value of an index expression belongs to."""
    assert isinstance(atom, SSAValue)
    owner = atom.owner
    if isinstance(owner, Block):
        parent = owner.parent_op()
        assert parent is not None
        return parent
    return owner
