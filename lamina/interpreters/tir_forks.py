"""Kernels as schedules leave them, before barriers are put into them: loops of threads are loops, run in step.

A function without any barrier is taken so: each iteration of a loop of kind `thread` runs what stands inside the loop,
and the iterations of threadIdx and vthread loops meet between any two statements that all of them come to, as
`tir-thread-sync` could make them. Statements under conditions that differ by thread are one statement. Blocks do not
meet. A buffer is made once for each iteration of the loops of threads that its `alloc` stands in.

Two iterations race where they touch the same element between two meetings and one of them changes it; to write what
is there already is no change (threads that fetch together what each of them reads). The threads of a loop that is a
reduction add to its result one after the other, as `tir-lower-thread-allreduce` makes them.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.edits import reduction_loops
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.ops import AccessOp, AllocOp, BlockOp, CopyOp, ForOp, StoreOp, enclosing_loops
from lamina.interpreters.tir_accesses import Env, Step, buffer_name
from lamina.interpreters.tir_memory import Tracker
from lamina.interpreters.tir_statements import AT_ONCE, Statements, thread_tag
from lamina.interpreters.tir_threads import Arrival, Body, Waiting, in_one_thread


class Forks(Statements):
    """Compiles statements, with loops of threads as loops."""

    def fork(self, op: ForOp) -> Step:
        """An outermost loop of threads."""
        if not _must_meet(op):
            return self.plain_fork(op)
        body = self._in_step(op)

        def run(env: Env) -> None:
            for _ in body(env):
                pass

        return run

    def plain_fork(self, op: ForOp) -> Step:
        """A loop of threads that do not see what others do."""
        variable, extent, tracker = self.slot(op.var), self.iterations(op), self.at_once[op]
        steps = self.steps(op.body.block)
        axis, name = op.axis.data, f"%{buffer_name(op.var)}"

        def run(env: Env) -> None:
            tracked = env[tracker] = Tracker(axis, name, True)
            for i in range(extent(env)):
                env[variable] = tracked.iteration = i
                for step in steps:
                    step(env)

        return run

    def trackers(self, op: Operation, buffer: SSAValue) -> list[int]:
        found = super().trackers(op, buffer)
        block = op.parent_op()
        if not self.implied or not isinstance(block, BlockOp):
            return found
        if any(isinstance(o, StoreOp) and o.buffer is buffer for o in block.body.walk()):
            own = {self.at_once[v] for v in reduction_loops(block) if v.kind.data == "thread"}
            return [t for t in found if t not in own]
        return found

    def _in_step(self, op: Operation) -> Body:
        """A statement that stops at each meeting."""
        if isinstance(op, IfOp):
            guard, then = self.guard(op.conditions()), self._ops_in_step(op.body.block)
            assert guard is not None

            def run_if(env: Env) -> Waiting:
                if guard(env):
                    yield from then(env)

            return run_if
        assert isinstance(op, ForOp)
        variable, extent = self.slot(op.var), self.iterations(op)
        body = self._ops_in_step(op.body.block)
        axis, name = op.axis.data, f"%{buffer_name(op.var)}"
        if op.kind.data != "thread":

            def run(env: Env) -> Waiting:
                for i in range(extent(env)):
                    env[variable] = i
                    yield from body(env)

            return run
        tracker = self.at_once[op]
        if thread_tag(op).startswith("blockIdx"):

            def run_blocks(env: Env) -> Waiting:
                tracked = env[tracker] = Tracker(axis, name, True)
                for i in range(extent(env)):
                    env[variable] = tracked.iteration = i
                    for place in body(env):
                        yield place
                        env[variable] = tracked.iteration = i

            return run_blocks
        return in_one_thread(body, variable, extent, tracker, lambda: Tracker(axis, name, lenient=True))

    def _ops_in_step(self, block: Block) -> Body:
        parts: list[tuple[Arrival | None, Step | None, Body | None]] = []
        for op in block.ops:
            if _is_uniform(op):
                parts.append((None, None, self._in_step(op)))
            elif isinstance(op, (ForOp, IfOp)) and _has_threads(op):
                parts.append((Arrival(op, ()), _to_the_end(self._in_step(op)), None))
            else:
                step = self.step(op)
                if step is not None:
                    meets = isinstance(op, (AccessOp, CopyOp)) or bool(op.regions)
                    parts.append((Arrival(op, ()) if meets else None, step, None))

        def run(env: Env) -> Waiting:
            for place, step, body in parts:
                if place is not None:
                    yield place
                if step is not None:
                    step(env)
                elif body is not None:
                    yield from body(env)

        return run


def _to_the_end(body: Body) -> Step:
    """A statement whose meetings are its own."""

    def run(env: Env) -> None:
        for _ in body(env):
            pass

    return run


def _is_uniform(op: Operation) -> bool:
    """Whether an op is a loop or condition that all threads take alike, so that they can meet inside."""
    if isinstance(op, ForOp):
        return op.kind.data not in AT_ONCE and all(map(_is_known, op.min_bounds()))
    return isinstance(op, IfOp) and all(_is_known(c.form) for c in op.conditions())


def _is_known(form: Linear) -> bool:
    """Whether a form has one value for all threads of a block."""
    for atom in form.dims():
        assert isinstance(atom, SSAValue)
        if isinstance(atom.owner, Operation):
            return False
        home = atom.owner.parent_op()
        if isinstance(home, ForOp) and home.kind.data == "thread" and not thread_tag(home).startswith("blockIdx"):
            return False
    return True


def _has_threads(op: Operation) -> bool:
    return any(isinstance(o, ForOp) and o.kind.data == "thread" for o in op.walk())


def _must_meet(root: ForOp) -> bool:
    """Whether an iteration of a loop of threads may see what another one wrote in another statement."""
    stores: dict[tuple[ForOp, SSAValue], set[Operation]] = {}
    loads: dict[tuple[ForOp, SSAValue], set[Operation]] = {}
    for op in root.walk():
        if not isinstance(op, AccessOp):
            continue
        buffer = op.buffer_value()
        around = enclosing_loops(buffer.owner) if isinstance(buffer.owner, AllocOp) else []
        parent = op.parent_op()
        statement = parent if isinstance(parent, BlockOp) else op
        for loop in enclosing_loops(op):
            if loop.kind.data == "thread" and loop not in around:
                kind = stores if isinstance(op, StoreOp) else loads
                kind.setdefault((loop, buffer), set()).add(statement)
    return any(len(found | loads.get(key, set())) > 1 and key in loads for key, found in stores.items())
