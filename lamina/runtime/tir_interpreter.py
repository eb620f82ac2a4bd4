"""Runs tir one element at a time, with every access checked.

A function is compiled once into closures over a list of values (the environment); no text is evaluated. Checked
are: indices in bounds, no element read before it is written (a vector's lane is then NaN or the smallest integer,
since the idle lanes of a tail may do so), no element touched by two iterations of a loop that
runs them at once (parallel or vectorized) where one writes it, and every element of the outputs written. An error
names the buffer, the index and the loops around it with the values of their variables.

The init of a block runs when all its reduction loops are at their first iteration. These are the reduction loops
around it within which its buffer lives: an `alloc` inside a consumer's reduction loop makes a new buffer each time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.accesses import over_values
from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index_map import LANE, Condition
from lamina.dialects.linear import Atom, Linear, linear_text
from lamina.dialects.tir.nest import reduction_loops
from lamina.dialects.tir.ops import (
    AccessOp,
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
from lamina.errors import InputError
from lamina.runtime.scalar_ops import element_dtype, evaluate
from lamina.runtime.te_interpreter import OutOfBoundsError, value_name
from lamina.runtime.tir_memory import Memory, Tracker, UninitialisedError, output_range, shape_of
from lamina.runtime.tir_values import HANDLERS, fast_handler

Env: TypeAlias = list[Any]
Step: TypeAlias = Callable[[Env], None]
Form: TypeAlias = Callable[[Env], int]

AT_ONCE = ("parallel", "vectorized")
"""The loop kinds whose iterations run at the same time."""


def run_tir_func(func: FuncOp, inputs: Sequence[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """The outputs of a kernel on input arrays. Raises InputError (see the errors above) where it does wrong."""
    args = func.body.block.args
    count, end = output_range(func)
    if len(inputs) != count:
        raise InputError(f"@{func.sym_name.data} takes {count} arrays, got {len(inputs)}")
    buffers: list[Memory] = []
    for n, (argument, array) in enumerate(zip(args[:count], inputs, strict=True)):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        if array.shape != shape_of(argument.type) or array.dtype != element_dtype(argument.type):
            raise InputError(
                f"argument {n} of @{func.sym_name.data} is {argument.type}, got {array.dtype} of shape {array.shape}"
            )
        buffers.append(Memory(buffer_name(argument), array, True))
    buffers += [Memory.fresh(buffer_name(a), a.type) for a in args[count:]]
    Kernel(func).run(buffers)
    return [m.array for m in buffers[count:end]]


def buffer_name(value: SSAValue) -> str:
    return value_name(value).removeprefix("%")


class Kernel:
    """A tir.func, compiled."""

    def __init__(self, func: FuncOp) -> None:
        compiler = _Compiler(func)
        block = func.body.block
        self.func = func
        self._arguments = [compiler.slot(a) for a in block.args]
        self._steps = compiler.steps(block)
        self._env = compiler.env

    def run(self, buffers: Sequence[Memory]) -> None:
        """Execute on the buffers of all arguments; the outputs among them must be written entirely."""
        env = list(self._env)
        for slot, memory in zip(self._arguments, buffers, strict=True):
            env[slot] = memory
        with np.errstate(all="ignore"):
            for step in self._steps:
                step(env)
        for memory in buffers[slice(*output_range(self.func))]:
            missing = memory.written.find(0)
            if missing >= 0:
                raise UninitialisedError(
                    f"@{self.func.sym_name.data} never writes %{memory.name}{memory.place(missing)}", op=self.func
                )


class _Compiler:
    """Turns ops into closures; slot 0 of the environment is the lane."""

    def __init__(self, func: FuncOp) -> None:
        self.func = func
        self.env: Env = [0]
        self._slots: dict[Atom, int] = {LANE: 0}
        self._trackers: dict[ForOp, int] = {}
        self._stored: dict[ForOp, set[SSAValue]] = {}
        for op in func.walk():
            if isinstance(op, ForOp) and op.kind.data in AT_ONCE:
                self._trackers[op] = self._new_slot()
                self._stored[op] = {
                    o.buffer_value() if isinstance(o, StoreOp) else o.operands[1]
                    for o in op.body.walk()
                    if isinstance(o, (StoreOp, CopyOp))
                }

    def _new_slot(self) -> int:
        self.env.append(None)
        return len(self.env) - 1

    def slot(self, value: Atom) -> int:
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = self._new_slot()
        return found

    # -- statements --

    def steps(self, block: Block) -> tuple[Step, ...]:
        found: list[Step] = []
        for op in block.ops:
            step = self.step(op)
            if step is not None:
                found.append(step)
        return tuple(found)

    def step(self, op: Operation) -> Step | None:
        if isinstance(op, ForOp):
            return self.loop(op)
        if isinstance(op, BlockOp):
            return self.block(op)
        if isinstance(op, AllocOp):
            return self.alloc(op)
        if isinstance(op, LoadOp):
            return self.load(op)
        if isinstance(op, StoreOp):
            return self.store(op)
        if isinstance(op, CopyOp):
            return self.copy(op)
        if isinstance(op, IndexOp):
            return self.index(op)
        if isinstance(op, ConditionOp):
            return self.condition(op)
        if isinstance(op, BroadcastOp):
            return self.broadcast(op)
        return self.scalar(op)

    def loop(self, op: ForOp) -> Step:
        variable = self.slot(op.var)
        trip = op.trip
        bounds = [self.form(b) for b in op.min_bounds()]
        steps = self.steps(op.body.block)
        tracker = self._trackers.get(op)
        axis, name = op.axis.data, value_name(op.var)

        def run(env: Env) -> None:
            extent = trip
            for bound in bounds:
                extent = min(extent, bound(env))
            for i in range(extent):
                env[variable] = i
                for step in steps:
                    step(env)

        def run_at_once(env: Env) -> None:
            extent = trip
            for bound in bounds:
                extent = min(extent, bound(env))
            assert tracker is not None
            tracked = env[tracker] = Tracker(axis, name)
            for i in range(extent):
                env[variable] = tracked.iteration = i
                for step in steps:
                    step(env)

        return run if tracker is None else run_at_once

    def block(self, op: BlockOp) -> Step:
        steps = self.steps(op.body.block)
        if not op.init.blocks:
            if len(steps) == 1:
                return steps[0]

            def run(env: Env) -> None:
                for step in steps:
                    step(env)

            return run
        init = self.steps(op.init.blocks[0])
        variables = [self.slot(v.var) for v in reduction_loops(op)]

        def run_with_init(env: Env) -> None:
            if not any(env[v] for v in variables):
                for step in init:
                    step(env)
            for step in steps:
                step(env)

        return run_with_init

    def alloc(self, op: AllocOp) -> Step:
        out, name, type_ = self.slot(op.result), buffer_name(op.result), op.result.type

        def run(env: Env) -> None:
            env[out] = Memory.fresh(name, type_)

        return run

    # -- accesses --

    def form(self, form: Linear) -> Form:
        """A closure that evaluates an index expression."""
        const = form.const
        terms: list[tuple[Form, int]] = [(self._atom(a), c) for a, c in form.terms.items()]
        if not terms:
            return lambda env: const
        if len(terms) == 1:
            first, coef = terms[0]
            if coef == 1 and const == 0:
                return first
            return lambda env: first(env) * coef + const

        def run(env: Env) -> int:
            total = const
            for atom, factor in terms:
                total += atom(env) * factor
            return total

        return run

    def _atom(self, atom: Atom) -> Form:
        if isinstance(atom, tuple):
            kind, inner, divisor = atom
            value = self.form(inner)
            if kind == "floordiv":
                return lambda env: value(env) // divisor
            return lambda env: value(env) % divisor
        return operator.itemgetter(self.slot(atom))

    def guard(self, conditions: Sequence[Condition]) -> Callable[[Env], bool] | None:
        """Whether all conditions hold; None where there are none."""
        if not conditions:
            return None
        forms = [(self.form(c.form), c.equal) for c in conditions]

        def run(env: Env) -> bool:
            for form, equal in forms:
                value = form(env)
                if value != 0 if equal else value < 0:
                    return False
            return True

        return run

    def place(self, op: AccessOp) -> Form:
        """The flat position of an access. Raises OutOfBoundsError."""
        forms = [self.form(f) for f in op.forms()]
        shape = shape_of(op.buffer_value().type)
        dims = list(zip(forms, shape, strict=True))

        def run(env: Env) -> int:
            flat = 0
            for form, size in dims:
                index = form(env)
                if not 0 <= index < size:
                    raise self.out_of_bounds(op, env)
                flat = flat * size + index
            return flat

        return run

    def trackers(self, op: Operation, buffer: SSAValue) -> list[int]:
        """The loops around an access whose iterations share the buffer, and store into it."""
        inner = enclosing_loops(buffer.owner) if isinstance(buffer.owner, AllocOp) else []
        return [
            self._trackers[v]
            for v in enclosing_loops(op)
            if v in self._trackers and v not in inner and buffer in self._stored[v]
        ]

    def load(self, op: LoadOp) -> Step:
        buffer, out = self.slot(op.buffer), self.slot(op.result)
        place, guard, trackers = self.place(op), self.guard(op.conditions()), self.trackers(op, op.buffer)
        zero = np.zeros((), element_dtype(scalar_type(op.buffer.type.element_type)))[()]  # type: ignore[attr-defined]

        lanes = op.lanes
        # The idle lanes of a tail may load what nothing has written, as long as they store nothing.
        poison = None if lanes is None else _poison(zero.dtype)

        def element(env: Env) -> Any:
            if guard is not None and not guard(env):
                return zero
            memory: Memory = env[buffer]
            flat = place(env)
            if not memory.written[flat]:
                if poison is None:
                    raise self.uninitialised(op, env, memory, flat)
                return poison
            for t in trackers:
                env[t].read(memory, flat)
            return memory.flat[flat]

        if lanes is None:

            def run(env: Env) -> None:
                env[out] = element(env)

            return run

        def run_lanes(env: Env) -> None:
            values = np.empty(lanes, zero.dtype)
            for lane in range(lanes):
                env[0] = lane
                values[lane] = element(env)
            env[out] = values

        return run_lanes

    def store(self, op: StoreOp) -> Step:
        value, buffer = self.slot(op.value), self.slot(op.buffer)
        place, guard, trackers = self.place(op), self.guard(op.conditions()), self.trackers(op, op.buffer)

        def element(env: Env, new: Any) -> None:
            if guard is not None and not guard(env):
                return
            memory: Memory = env[buffer]
            flat = place(env)
            for t in trackers:
                env[t].write(memory, flat)
            memory.flat[flat] = new
            memory.written[flat] = 1

        lanes = op.lanes
        if lanes is None:
            return lambda env: element(env, env[value])

        def run_lanes(env: Env) -> None:
            values = env[value]
            for lane in range(lanes):
                env[0] = lane
                element(env, values[lane])

        return run_lanes

    def copy(self, op: CopyOp) -> Step:
        source, target = self.slot(op.source), self.slot(op.target)
        reads, writes = self.trackers(op, op.source), self.trackers(op, op.target)

        def run(env: Env) -> None:
            a: Memory = env[source]
            b: Memory = env[target]
            missing = a.written.find(0)
            if missing >= 0:
                raise self.uninitialised(op, env, a, missing)
            for flat in range(len(a.written) if reads or writes else 0):
                for t in reads:
                    env[t].read(a, flat)
                for t in writes:
                    env[t].write(b, flat)
            b.flat[:] = a.flat
            b.written[:] = a.written

        return run

    # -- values --

    def index(self, op: IndexOp) -> Step:
        (form,) = over_values(op.map.data.results, op.operands)
        return self._per_lane(op.result, self.form(form), np.int64)

    def condition(self, op: ConditionOp) -> Step:
        forms = over_values([c.form for c in op.set.data.conditions], op.operands)
        guard = self.guard([Condition(f, c.equal) for f, c in zip(forms, op.set.data.conditions, strict=True)])
        return self._per_lane(op.result, guard or (lambda env: True), np.bool_)

    def _per_lane(self, result: SSAValue, value: Callable[[Env], Any], dtype: Any) -> Step:
        out, type_ = self.slot(result), result.type
        if not isinstance(type_, VectorType):

            def run(env: Env) -> None:
                env[out] = dtype(value(env))

            return run
        (lanes,) = type_.get_shape()

        def run_lanes(env: Env) -> None:
            values = np.empty(lanes, dtype)
            for lane in range(lanes):
                env[0] = lane
                values[lane] = value(env)
            env[out] = values

        return run_lanes

    def broadcast(self, op: BroadcastOp) -> Step:
        source, out, shape = self.slot(op.value), self.slot(op.result), op.result.type.get_shape()  # type: ignore[attr-defined]

        def run(env: Env) -> None:
            env[out] = np.full(shape, env[source])

        return run

    def scalar(self, op: Operation) -> Step | None:
        """An arith or math op, through the table that all interpreters use."""
        handler = HANDLERS.get(op.name)
        if handler is None or len(op.results) != 1:
            raise InputError(f"{op.name} has no meaning to the tir interpreter", op=op)
        out = self.slot(op.results[0])
        is_scalar = not isinstance(op.results[0].type, VectorType)
        if not op.operands:
            constant = evaluate(op, ())
            self.env[out] = constant[()] if is_scalar else constant
            return None
        operands = [self.slot(v) for v in op.operands]
        fast = fast_handler(op)
        if fast is not None and len(operands) == 2:
            a, b = operands

            def run_fast(env: Env) -> None:
                env[out] = fast(env[a], env[b])

            return run_fast
        if fast is not None:
            (a,) = operands

            def run_unary(env: Env) -> None:
                env[out] = fast(env[a])

            return run_unary
        if is_scalar:

            def run_scalar(env: Env) -> None:
                env[out] = np.asarray(handler(op, *[env[v] for v in operands]))[()]

            return run_scalar

        def run(env: Env) -> None:
            env[out] = handler(op, *[env[v] for v in operands])

        return run

    # -- messages --

    def out_of_bounds(self, op: AccessOp, env: Env) -> OutOfBoundsError:
        shape = shape_of(op.buffer_value().type)
        values = [self.form(f)(env) for f in op.forms()]
        axis = next(d for d, (v, s) in enumerate(zip(values, shape, strict=True)) if not 0 <= v < s)
        text = ", ".join(linear_text(f, self._name) for f in op.forms())
        verb = "writes" if isinstance(op, StoreOp) else "reads"
        return OutOfBoundsError(
            f"{_stage_of(op)}{verb} {value_name(op.buffer_value())}[{text}] at {[int(v) for v in values]}, outside "
            f"dimension {axis} of extent {shape[axis]}{self._where(op, env)}",
            op=op,
        )

    def uninitialised(self, op: Operation, env: Env, memory: Memory, flat: int) -> UninitialisedError:
        place = f"%{memory.name}{memory.place(flat)}"
        return UninitialisedError(f"{_stage_of(op)}reads {place} before it is written{self._where(op, env)}", op=op)

    def _name(self, atom: Atom) -> str:
        return value_name(atom) if isinstance(atom, SSAValue) else str(atom)

    def _where(self, op: Operation, env: Env) -> str:
        """The loops around an op and where they stand."""
        parts = [f'{value_name(v.var)} = {env[self.slot(v.var)]} of loop "{v.axis.data}"' for v in enclosing_loops(op)]
        if isinstance(op, AccessOp) and op.lanes is not None:
            parts.append(f"lane = {env[0]}")
        return f", where {', '.join(parts)}" if parts else ""


def _poison(dtype: np.dtype[Any]) -> Any:
    """A value that shows in results."""
    if dtype.kind == "b":
        return dtype.type(True)
    return np.iinfo(dtype).min if dtype.kind == "i" else dtype.type(np.nan)


def _stage_of(op: Operation) -> str:
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, BlockOp):
        parent = parent.parent_op()
    return f'stage "{parent.stage.data}" ' if parent is not None else f"{op.name} "
