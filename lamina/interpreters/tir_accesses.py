"""Loads, stores and index arithmetic of tir as closures over an environment, with every access checked.

The environment is a list: slot 0 is the lane, each SSA value has a slot of its own. Compiling an op gives a function
of the environment; no text is evaluated.
"""

from __future__ import annotations

import abc
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType, i1
from xdsl.ir import Operation, SSAValue

from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index.accesses import INDEX, over_values
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, linear_text
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import (
    AccessOp,
    BlockOp,
    ConditionOp,
    CopyOp,
    IndexOp,
    LoadOp,
    StoreOp,
    enclosing_loops,
)
from lamina.interpreters.accesses import OutOfBoundsError, value_name
from lamina.interpreters.tir_memory import Memory, UninitialisedError
from lamina.interpreters.tir_values import Domain

Env: TypeAlias = list[Any]
Step: TypeAlias = Callable[[Env], None]
Form: TypeAlias = Callable[[Env], int]


class AccessTracker(Protocol):
    """Hears of every access to memory that is shared by what runs at once. Raises RaceError."""

    def read(self, memory: Memory, flat: int) -> None: ...

    def write(self, memory: Memory, flat: int, new: Any) -> None: ...


def buffer_name(value: SSAValue) -> str:
    """The name of a buffer for messages, without the sign %."""
    return value_name(value).removeprefix("%")


class Accesses(abc.ABC):
    """Compiles what stands in a body: accesses and values."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.env: Env = [0]
        """The environment that a run starts with: constants stand in it already."""
        self._slots: dict[Atom, int] = {LANE: 0}

    def new_slot(self) -> int:
        self.env.append(None)
        return len(self.env) - 1

    def slot(self, value: Atom) -> int:
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = self.new_slot()
        return found

    @abc.abstractmethod
    def trackers(self, op: Operation, buffer: SSAValue) -> list[int]:
        """The slots of the trackers that are to hear of an access."""

    # -- index arithmetic --

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

    def place(self, op: AccessOp) -> Callable[[Env, Memory], int]:
        """The flat position of an access. Raises OutOfBoundsError."""
        forms = [self.form(f) for f in op.forms()]
        shape = type_of(op.buffer_value()).get_shape()
        if DYNAMIC_INDEX in shape:

            def run_dynamic(env: Env, memory: Memory) -> int:
                flat = 0
                for form, size in zip(forms, memory.shape, strict=True):
                    index = form(env)
                    if not 0 <= index < size:
                        raise self.out_of_bounds(op, env, memory)
                    flat = flat * size + index
                return flat

            return run_dynamic
        if len(forms) == 1:
            (only,), (extent,) = forms, shape

            def run_one(env: Env, memory: Memory) -> int:
                index = only(env)
                if not 0 <= index < extent:
                    raise self.out_of_bounds(op, env, memory)
                return index

            return run_one
        dims = list(zip(forms, shape, strict=True))

        def run(env: Env, memory: Memory) -> int:
            flat = 0
            for form, size in dims:
                index = form(env)
                if not 0 <= index < size:
                    raise self.out_of_bounds(op, env, memory)
                flat = flat * size + index
            return flat

        return run

    def span(self, op: AccessOp) -> Callable[[Env, Memory], slice | None]:
        """The places of all lanes at once, None where they must be taken one by one.

        Where indices and conditions go with the lane by steps of one size, what holds for the first and the last lane
        holds for those between.
        """
        lanes, forms, conditions = op.lanes, op.forms(), op.conditions()
        assert lanes is not None
        bent = [a for f in (*forms, *(c.form for c in conditions)) for a in f.terms if isinstance(a, tuple)]
        if any(LANE in a[1].dims() for a in bent) or any(c.equal for c in conditions) or lanes < 2:
            return lambda env, memory: None
        guard, closures = self.guard(conditions), [self.form(f) for f in forms]
        steps = [f.terms.get(LANE, 0) for f in forms]

        def run(env: Env, memory: Memory) -> slice | None:
            if guard is not None:
                env[0] = lanes - 1
                if not guard(env):
                    return None
            env[0] = 0
            if guard is not None and not guard(env):
                return None
            first = step = 0
            for form, each, extent in zip(closures, steps, memory.shape, strict=True):
                index = form(env)
                if not (0 <= index < extent and 0 <= index + each * (lanes - 1) < extent):
                    return None
                first, step = first * extent + index, step * extent + each
            return slice(first, first + step * lanes, step) if step > 0 else None

        return run

    # -- loads and stores --

    def load(self, op: LoadOp) -> Step:
        buffer, out = self.slot(op.buffer), self.slot(op.result)
        place, guard, trackers = self.place(op), self.guard(op.conditions()), self.trackers(op, op.buffer)
        element_type = scalar_type(type_of(op.buffer).element_type)
        zero = self.domain.zero(element_type)
        lanes = op.lanes
        # The idle lanes of a tail may load what nothing has written, as long as they store nothing.
        poison = None if lanes is None else self.domain.poison(element_type)

        def element(env: Env) -> Any:
            if guard is not None and not guard(env):
                return zero
            memory: Memory = env[buffer]
            flat = place(env, memory)
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
        vector, taken, span = self.domain.vector, self.domain.taken, self.span(op)

        def run_lanes(env: Env) -> None:
            if not trackers:
                memory: Memory = env[buffer]
                places = span(env, memory)
                if places is not None and 0 not in memory.written[places]:
                    env[out] = taken(memory.flat[places])
                    return
            values: list[Any] = []
            for lane in range(lanes):
                env[0] = lane
                values.append(element(env))
            env[out] = vector(values, element_type)

        return run_lanes

    def store(self, op: StoreOp) -> Step:
        value, buffer = self.slot(op.value), self.slot(op.buffer)
        place, guard, trackers = self.place(op), self.guard(op.conditions()), self.trackers(op, op.buffer)

        def element(env: Env, new: Any) -> None:
            if guard is not None and not guard(env):
                return
            memory: Memory = env[buffer]
            flat = place(env, memory)
            for t in trackers:
                env[t].write(memory, flat, new)
            memory.flat[flat] = new
            memory.written[flat] = 1

        lanes = op.lanes
        if lanes is None:
            return lambda env: element(env, env[value])

        span, all_written = self.span(op), b"\1" * lanes

        def run_lanes(env: Env) -> None:
            values = env[value]
            if not trackers:
                memory: Memory = env[buffer]
                places = span(env, memory)
                if places is not None:
                    memory.flat[places] = values
                    memory.written[places] = all_written
                    return
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
                    env[t].write(b, flat, a.flat[flat])
            b.flat[:] = a.flat
            b.written[:] = a.written

        return run

    # -- values --

    def index(self, op: IndexOp) -> Step:
        (form,) = over_values(op.map.data.results, op.operands)
        return self._per_lane(op.result, self.form(form), self.domain.integer)

    def condition(self, op: ConditionOp) -> Step:
        forms = over_values([c.form for c in op.set.data.conditions], op.operands)
        guard = self.guard([Condition(f, c.equal) for f, c in zip(forms, op.set.data.conditions, strict=True)])
        return self._per_lane(op.result, guard or (lambda env: True), self.domain.truth)

    def _per_lane(self, result: SSAValue, value: Callable[[Env], Any], held: Callable[[Any], Any]) -> Step:
        out, type_ = self.slot(result), result.type
        if not isinstance(type_, VectorType):

            def run(env: Env) -> None:
                env[out] = held(value(env))

            return run
        (lanes,) = type_.get_shape()
        vector, element = self.domain.vector, i1 if held == self.domain.truth else INDEX

        def run_lanes(env: Env) -> None:
            values: list[Any] = []
            for lane in range(lanes):
                env[0] = lane
                values.append(held(value(env)))
            env[out] = vector(values, element)

        return run_lanes

    def value(self, op: Operation) -> Step | None:
        """An op without effects: its function is the domain's."""
        if len(op.results) != 1 or op.regions:
            raise self.unknown(op)
        out = self.slot(op.results[0])
        if not op.operands:
            self.env[out] = self.domain.constant(op)
            return None
        operands = [self.slot(v) for v in op.operands]
        function = self.domain.function(op)
        if len(operands) == 1:
            (a,) = operands

            def run_unary(env: Env) -> None:
                env[out] = function(env[a])

            return run_unary
        if len(operands) == 2:
            a, b = operands

            def run_binary(env: Env) -> None:
                env[out] = function(env[a], env[b])

            return run_binary

        def run(env: Env) -> None:
            env[out] = function(*[env[v] for v in operands])

        return run

    # -- messages --

    @abc.abstractmethod
    def unknown(self, op: Operation) -> Exception:
        """The mistake of a program that has an op without a meaning here."""

    def out_of_bounds(self, op: AccessOp, env: Env, memory: Memory) -> OutOfBoundsError:
        values = [self.form(f)(env) for f in op.forms()]
        axis = next(d for d, (v, s) in enumerate(zip(values, memory.shape, strict=True)) if not 0 <= v < s)
        text = ", ".join(linear_text(f, _atom_name) for f in op.forms())
        verb = "writes" if isinstance(op, StoreOp) else "reads"
        return OutOfBoundsError(
            f"{stage_of(op)}{verb} {value_name(op.buffer_value())}[{text}] at {[int(v) for v in values]}, outside "
            f"dimension {axis} of extent {memory.shape[axis]}{self.where(op, env)}",
            op=op,
        )

    def uninitialised(self, op: Operation, env: Env, memory: Memory, flat: int) -> UninitialisedError:
        place = f"%{memory.name}{memory.place(flat)}"
        return UninitialisedError(f"{stage_of(op)}reads {place} before it is written{self.where(op, env)}", op=op)

    def where(self, op: Operation, env: Env) -> str:
        """The loops around an op and where they stand."""
        parts = [f'{value_name(v.var)} = {env[self.slot(v.var)]} of loop "{v.axis.data}"' for v in enclosing_loops(op)]
        if isinstance(op, AccessOp) and op.lanes is not None:
            parts.append(f"lane = {env[0]}")
        return f", where {', '.join(parts)}" if parts else ""


def _atom_name(atom: Atom) -> str:
    return value_name(atom) if isinstance(atom, SSAValue) else str(atom)


def stage_of(op: Operation) -> str:
    """The beginning of a message about an op: the stage that it belongs to, else its name."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, BlockOp):
        parent = parent.parent_op()
    return f'stage "{parent.stage.data}" ' if parent is not None else f"{op.name} "


def stored_in(op: Operation) -> set[SSAValue]:
    """The buffers that something in an op stores into."""
    ops = [o for o in op.walk() if isinstance(o, (StoreOp, CopyOp))]
    return {o.buffer_value() if isinstance(o, StoreOp) else o.target for o in ops}
