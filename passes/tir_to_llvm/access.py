"""Loads and stores of a compiled body: which part of an address is a number, which a pointer, which a lane.

A guard never branches: a scalar load under a condition reads a safe place and drops what it read, a vector access
under a condition is masked, and lanes that are not contiguous are shuffled out of few loads (`windows.py`), or taken
one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, IntegerType, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.dtypes import dtype_name, itemsize, scalar_type, vector_type
from lamina.dialects.fast_ir import name_new, valid_name
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, constant, recombine, row_major_strides
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.memory import AccessOp, extents_of, type_of
from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import InputError
from lamina.passes.tir_to_llvm.builder import NE
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.scalars import FLOAT, Properties, element_of, llvm_type, memory_type, splat
from lamina.passes.tir_to_llvm.windows import load_windows

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay

Step = Callable[[], None]


class Access:
    """A load or store, compiled: strides applied, unrolled variables apart."""

    def __init__(self, replay: Replay, op: AccessOp) -> None:
        self.replay = replay
        self.op = op
        self.buffer = op.buffer_value()
        type_ = type_of(self.buffer)
        extents = extents_of(self.buffer)
        known = all(e.is_constant for e in extents)
        self.numel = prod(type_.get_shape()) if known else 0
        """The number of elements that the buffer has for sure."""
        scalar = scalar_type(type_.element_type)
        self.element = memory_type(llvm_type(scalar))
        self.value_type = llvm_type(op.value_type())
        self.memory_value_type = memory_type(self.value_type)
        self.lanes = op.lanes
        # From the last extent that is no number inward, strides are numbers; `rows` are the dimensions outside of it.
        first = max((d for d, e in enumerate(extents) if not e.is_constant), default=0)
        strides = row_major_strides([1, *(e.const for e in extents[first + 1 :])])
        forms = op.forms()
        flat = Linear()
        for form, stride in zip(forms[first:], strides, strict=False):
            flat = flat + form * stride
        self.flat = flat = recombine(flat)
        self.rows = [(form, extents[d + 1 :]) for d, form in enumerate(forms[:first])]
        self.conditions = op.conditions()
        self.locals = replay.local_dims([flat, *forms[:first], *(c.form for c in self.conditions)])
        alignment = itemsize(dtype_name(type_.element_type))
        self.alignment: Properties = {"alignment": _number(alignment, i64)}
        self.masked: Properties = {"alignment": _number(alignment, i32)}
        self._split()

    def _split(self) -> None:
        """Split an address into a fixed dynamic part plus numbers, unless a division mixes unrolled variables in."""
        unrolled = {
            d
            for d in self.flat.dims()
            if isinstance(d, SSAValue) and isinstance(d.owner, Block) and _is_unrolled(d.owner)
        }
        self.nonlinear = sorted(
            (d for a in self.flat.terms if isinstance(a, tuple) for d in a[1].dims() if d in unrolled),
            key=id,
        )
        self.lane_inside = any(isinstance(a, tuple) and LANE in a[1].dims() for a in self.flat.terms)
        self.lane_in_row = any(LANE in form.dims() for form, _ in self.rows)
        self.numbers = [(a, c) for a, c in self.flat.terms.items() if a in unrolled]
        self.lane_stride = self.flat.terms.get(LANE, 0)
        self.dynamic = Linear({a: c for a, c in self.flat.terms.items() if a not in unrolled and a != LANE})
        self.const = self.flat.const
        self.resolved: dict[tuple[int, ...], tuple[Linear, int, int, bool]] = {}

    def widen(self, type_: VectorType) -> None:
        """Let the load of a scalar be one of its neighbours behind it as well."""
        self.value_type = self.memory_value_type = type_
        self.lanes, self.lane_stride = type_.get_shape()[0], 1
        self.resolved.clear()

    def address(self) -> tuple[Linear, int, int, bool]:
        """(dynamic part, number, stride of the lane, whether the lane stands in a division)."""
        unrolled = self.replay.unrolled
        if not self.nonlinear:
            const = self.const
            for a, c in self.numbers:
                const += unrolled[a] * c
            return self.dynamic, const, self.lane_stride, self.lane_inside or self.lane_in_row
        key = tuple(unrolled[d] for d in self.nonlinear)
        base = self.resolved.get(key)
        if base is None:
            mapping: dict[Atom, Linear] = {d: constant(unrolled[d]) for d in self.nonlinear}
            ranges = self.replay.b.ranges
            kept = Linear({a: c for a, c in self.flat.terms.items() if all(a != n for n, _ in self.numbers)})
            form = kept.substitute(mapping, ranges)
            dynamic = Linear({a: c for a, c in form.terms.items() if a != LANE})
            base = self.resolved[key] = (
                dynamic,
                form.const,
                # That of a scalar's load which is widened stands in no form.
                form.terms.get(LANE, 0) or self.lane_stride,
                self.lane_in_row or any(isinstance(a, tuple) and LANE in a[1].dims() for a in form.terms),
            )
        const = base[1] + self.const
        for a, c in self.numbers:
            const += unrolled[a] * c
        return base[0], const, base[2], base[3]

    # -- registers ---------------------------------------------------------------------------------------------

    def is_strided(self) -> bool:
        """Whether the lanes of an access are not neighbours."""
        _, _, stride, inside = self.address()
        return self.lanes is not None and (inside or stride != 1)

    def register_offset(self) -> int:
        dynamic, const, _, _ = self.address()
        if dynamic.terms:
            raise self.not_a_number(dynamic)
        return const

    def lane_offset(self, lane: int) -> int:
        """The place of one lane of a strided access."""
        flat, _ = self.at_lane(lane)
        if flat.terms:
            raise self.not_a_number(flat)
        return flat.const

    def not_a_number(self, form: Linear) -> InputError:
        axes = [d.owner.parent_op() for d in form.dims() if isinstance(d, SSAValue) and isinstance(d.owner, Block)]
        names = ", ".join(repr(a.axis.data) for a in axes if isinstance(a, ForOp))
        return InputError(
            f"tir-to-llvm: register buffer {self.replay.registers[self.buffer].name!r} is indexed by "
            f"{f'the loop variable of {names}' if names else 'a value'}; unroll that loop or use another scope",
            op=self.op,
        )

    def register_load(self) -> SSAValue:
        register = self.replay.registers[self.buffer]
        if self.is_strided():
            type_ = element_of(self.value_type)
            return self.by_lane(lambda lane: self.present(register, self.lane_offset(lane), type_))
        return self.present(register, self.register_offset(), self.value_type)

    def present(self, register: Register, offset: int, type_: Attribute) -> SSAValue:
        """The value that stands in a register buffer. Raises InputError where nothing does."""
        value = register.read(self.replay.b, offset, type_, partial=bool(self.conditions))
        if value is None:
            raise InputError(
                f"tir-to-llvm: element {offset} of register buffer {register.name!r} is read before it is written",
                op=self.op,
            )
        return value

    def register_lanes(self, register: Register, value: SSAValue) -> None:
        """Store lanes that are not neighbours one by one."""
        r, b = self.replay, self.replay.b
        type_ = element_of(self.value_type)
        for lane in range(self.lanes or 0):
            offset = self.lane_offset(lane)
            _, decided = self.at_lane(lane)
            if decided is False:
                continue
            element = b.emit(llvm.ExtractElementOp, [value, b.integer(lane)], type_, {})
            if decided is not True:
                old = register.read(b, offset, type_, partial=True)
                assert old is not None
                element = b.emit(llvm.SelectOp, [r.scalar_condition(decided), element, old], type_, FLOAT)
            register.write(b, offset, element)

    def is_number(self) -> bool:
        """Whether an access of neighbours goes to a place that unrolled variables alone decide."""
        contiguous = self.lanes is None or self.lane_stride == 1
        return contiguous and not (self.nonlinear or self.dynamic.terms or self.lane_inside or self.rows)

    def number(self) -> Callable[[], int]:
        """The place of such an access."""
        numbers, const, unrolled = self.numbers, self.const, self.replay.unrolled
        if len(numbers) == 1:
            ((only, coefficient),) = numbers
            return lambda: const + unrolled[only] * coefficient

        def offset() -> int:
            total = const
            for a, c in numbers:
                total += unrolled[a] * c
            return total

        return offset

    # -- steps -----------------------------------------------------------------------------------------------------

    def load_step(self) -> Step:
        r = self.replay
        result = self.op.results[0]
        name = valid_name(result.name_hint)
        values = r.values
        if self.buffer in r.registers:
            if self.conditions:

                def guarded() -> None:
                    r.bind_locals(self.locals)
                    decided = r.decide(self.conditions, self.lanes)
                    values[result] = self.zero() if decided is False else self.register_load()
                    if not isinstance(decided, bool):
                        values[result] = self.choose(decided, values[result], self.zero())

                return guarded
            if self.is_number():
                slots = r.registers[self.buffer].slots
                offset, type_ = self.number(), self.value_type

                def from_register() -> None:
                    value = slots.get(offset())
                    values[result] = value if value is not None and value.type == type_ else self.register_load()

                return from_register

            def from_any_register() -> None:
                values[result] = self.register_load()

            return from_any_register

        def step() -> None:
            r.bind_locals(self.locals)
            value = self.load()
            name_new(value, name)
            values[result] = value

        return step

    def zero(self) -> SSAValue:
        return self.replay.b.constant(splat(0, self.value_type), self.value_type)

    def choose(self, conditions: list[Condition], then: SSAValue, otherwise: SSAValue) -> SSAValue:
        r = self.replay
        if self.lanes is not None and any(LANE in c.form.dims() for c in conditions):
            test = r.mask(conditions, self.lanes)
        else:
            test = r.scalar_condition(conditions)
        return r.b.emit(llvm.SelectOp, [test, then, otherwise], then.type, FLOAT)

    def load(self) -> SSAValue:
        r = self.replay
        decided: list[Condition] | bool = True
        if self.conditions:
            decided = r.decide(self.conditions, self.lanes)
            if decided is False:
                return self.zero()
        dynamic, const, stride, inside = self.address()
        if decided is True and not self.locals:
            known = r.loaded.get(self.buffer)
            if known is None:
                known = r.loaded[self.buffer] = {}
            rows = tuple([r.resolve(form) for form, _ in self.rows])
            key = (rows, dynamic, const, stride, self.lanes, inside and tuple(r.unrolled.items()))
            value = known.get(key)
            if value is None:
                value = known[key] = self.load_from(dynamic, const, stride, inside)
            return value
        if decided is True:
            return self.load_from(dynamic, const, stride, inside)
        return self.load_guarded(decided, dynamic, const, stride, inside)

    def pointer(self, dynamic: Linear, const: int, lane: int = 0) -> SSAValue:
        r = self.replay
        base = r.pointers[self.buffer]
        known_from = r.known_from.get(self.buffer, 0)
        for row, inner in self.rows:
            form = r.resolve(row)
            if self.lane_in_row:
                form = form.substitute({LANE: constant(lane)}, r.b.ranges)
            if form.terms or form.const:
                base, known_from = r.b.row_pointer(base, self.element, form, inner, known_from)
        if dynamic.terms:
            base = r.b.pointer(base, self.element, dynamic, known_from)
        return r.b.offset(base, self.element, const, r.marks_growth and const > 0 and self._is_within(dynamic))

    def _is_within(self, dynamic: Linear) -> bool:
        """Whether a buffer's address plus the form is no address before the buffer."""
        bounds = dynamic.range(self.replay.b.ranges)
        return not self.rows and bounds is not None and bounds[0] >= 0

    def load_from(self, dynamic: Linear, const: int, stride: int, inside: bool) -> SSAValue:
        if self.lanes is not None and (inside or stride != 1):
            if stride == 0 and not inside:
                element = self.as_value(self.load_at(self.pointer(dynamic, const), self.element), None)
                return self.replay.broadcast(element, self.value_type)
            found = load_windows(self)
            return self.by_lane(lambda lane: self.load_lane(lane)) if found is None else found
        return self.as_value(self.load_at(self.pointer(dynamic, const), self.memory_value_type), self.lanes)

    def load_at(self, pointer: SSAValue, type_: Attribute) -> SSAValue:
        return self.replay.b.emit(llvm.LoadOp, [pointer], type_, self.alignment)

    def as_value(self, loaded: SSAValue, lanes: int | None) -> SSAValue:
        """A boolean leaves memory as one bit."""
        if self.memory_value_type is self.value_type or self.memory_value_type == self.value_type:
            return loaded
        b = self.replay.b
        type_ = i1 if lanes is None else vector_type(i1, lanes)
        zero = b.constant(splat(0, loaded.type), loaded.type)
        return b.emit(llvm.ICmpOp, [loaded, zero], type_, {"predicate": NE})

    def load_guarded(
        self, conditions: list[Condition], dynamic: Linear, const: int, stride: int, inside: bool
    ) -> SSAValue:
        r, b = self.replay, self.replay.b
        by_lane = self.lanes is not None and any(LANE in c.form.dims() for c in conditions)
        contiguous = self.lanes is None or (stride == 1 and not inside)
        if self.lanes is None and not self.numel:
            return self.load_masked(r.scalar_condition(conditions), self.pointer(dynamic, const))
        if not by_lane and contiguous and (self.lanes or 1) <= self.numel:
            # No branch: where the guard fails, read from the buffer's start and drop what was read.
            test = r.scalar_condition(conditions)
            base = r.pointers[self.buffer]
            pointer = b.emit(llvm.SelectOp, [test, self.pointer(dynamic, const), base], base.type, FLOAT)
            value = self.as_value(self.load_at(pointer, self.memory_value_type), self.lanes)
            return b.emit(llvm.SelectOp, [test, value, self.zero()], self.value_type, FLOAT)
        assert self.lanes is not None
        if contiguous:
            zero = b.constant(splat(0, self.memory_value_type), self.memory_value_type)
            mask = r.mask(conditions, self.lanes)
            pointer = self.pointer(dynamic, const)
            loaded = b.emit(llvm.MaskedLoadOp, [pointer, mask, zero], self.memory_value_type, self.masked)
            return self.as_value(loaded, self.lanes)
        found = load_windows(self, conditions)
        return self.by_lane(lambda lane: self.load_lane(lane)) if found is None else found

    def load_masked(self, test: SSAValue, pointer: SSAValue) -> SSAValue:
        """An element of a buffer that may have none, under a condition: a vector of one lane."""
        b = self.replay.b
        type_ = vector_type(self.element, 1)
        zero = b.constant(splat(0, type_), type_)
        loaded = b.emit(llvm.MaskedLoadOp, [pointer, b.one_lane(test), zero], type_, self.masked)
        element = b.emit(llvm.ExtractElementOp, [loaded, b.integer(0)], self.element, {})
        return self.as_value(element, None)

    # -- lanes one by one: strides other than 1, divisions of the lane ------------------------------------------------

    def at_lane(self, lane: int) -> tuple[Linear, list[Condition] | bool]:
        """The address and what is left of the guard for one lane."""
        r = self.replay
        mapping: dict[Atom, Linear] = {LANE: constant(lane)}
        flat = r.resolve(self.flat).substitute(mapping, r.b.ranges)
        conditions = [Condition(c.form.substitute(mapping, r.b.ranges), c.equal) for c in self.conditions]
        return flat, r.decide(conditions) if conditions else True

    def load_lane(self, lane: int) -> SSAValue:
        b = self.replay.b
        flat, decided = self.at_lane(lane)
        element_type = element_of(self.value_type)
        if decided is False:
            return b.constant(splat(0, element_type), element_type)
        pointer = self.pointer(Linear(flat.terms), flat.const, lane)
        if decided is True:
            return self.as_value(self.load_at(pointer, self.element), None)
        test = self.replay.scalar_condition(decided)
        if not self.numel:
            return self.load_masked(test, pointer)
        safe = b.emit(llvm.SelectOp, [test, pointer, self.replay.pointers[self.buffer]], pointer.type, FLOAT)
        value = self.as_value(self.load_at(safe, self.element), None)
        zero = b.constant(splat(0, element_type), element_type)
        return b.emit(llvm.SelectOp, [test, value, zero], element_type, FLOAT)

    def by_lane(self, element: Callable[[int], SSAValue]) -> SSAValue:
        b = self.replay.b
        vector = b.constant_op(llvm.PoisonOp, self.value_type)
        for lane in range(self.lanes or 0):
            at = b.lane(lane)
            vector = b.emit(llvm.InsertElementOp, [vector, element(lane), at], self.value_type, {})
        return vector

    def prefetch_step(self, op: PrefetchOp) -> Step:
        """Asking for memory never fails, so no guard is tested that the ranges do not decide."""
        r = self.replay
        numbers = {"rw": int(op.write is not None), "hint": op.locality.value.data, "cache": 1}
        properties: Properties = {k: IntegerAttr(n, i32) for k, n in numbers.items()}

        def step() -> None:
            r.bind_locals(self.locals)
            if self.buffer not in r.registers and (not self.conditions or r.decide(self.conditions) is not False):
                dynamic, const, *_ = self.address()
                r.b.effect(llvm.PrefetchOp, [self.pointer(dynamic, const)], properties)

        return step

    # -- stores ----------------------------------------------------------------------------------------------------

    def store_step(self) -> Step:
        r = self.replay
        values = r.values
        source = self.op.operands[0]
        if self.buffer in r.registers:
            register = r.registers[self.buffer]
            if self.is_number() and not self.conditions:
                place = self.number()

                def to_number() -> None:
                    register.write(r.b, place(), values[source])

                return to_number

            def to_register() -> None:
                value = values[source]
                if self.is_strided():
                    r.bind_locals(self.locals)
                    self.register_lanes(register, value)
                    return
                offset = self.register_offset()
                if self.conditions:
                    r.bind_locals(self.locals)
                    decided = r.decide(self.conditions, self.lanes)
                    if decided is False:
                        return
                    if decided is not True:
                        old = register.read(r.b, offset, value.type, partial=True)
                        assert old is not None
                        value = self.choose(decided, value, old)
                register.write(r.b, offset, value)

            return to_register

        def step() -> None:
            r.bind_locals(self.locals)
            decided: list[Condition] | bool = r.decide(self.conditions, self.lanes) if self.conditions else True
            r.loaded.pop(self.buffer, None)
            if decided is not False:
                self.store(values[source], decided)

        return step

    def to_memory(self, value: SSAValue) -> SSAValue:
        if element_of(value.type) == i1:
            return self.replay.b.emit(llvm.ZExtOp, [value], memory_type(value.type), {})
        return value

    def store(self, value: SSAValue, decided: list[Condition] | bool) -> None:
        r, b = self.replay, self.replay.b
        value = self.to_memory(value)
        dynamic, const, stride, inside = self.address()
        if self.lanes is not None and (inside or stride != 1):
            for lane in range(self.lanes):
                self.store_lane(value, lane)
            return
        pointer = self.pointer(dynamic, const)
        if decided is True:
            b.effect(llvm.StoreOp, [value, pointer], self.alignment)
            return
        assert isinstance(decided, list)
        self.store_masked(value, pointer, r.mask(decided, self.lanes) if self.lanes else r.scalar_condition(decided))

    def store_masked(self, value: SSAValue, pointer: SSAValue, test: SSAValue) -> None:
        """A store under a condition, without a branch: a scalar is a vector of one lane."""
        b = self.replay.b
        if type(value.type) is not VectorType:
            value, test = b.one_lane(value), b.one_lane(test)
        b.effect(llvm.MaskedStoreOp, [value, pointer, test], self.masked)

    def store_lane(self, value: SSAValue, lane: int) -> None:
        b = self.replay.b
        flat, decided = self.at_lane(lane)
        if decided is False:
            return
        element = b.emit(llvm.ExtractElementOp, [value, b.integer(lane)], self.element, {})
        pointer = self.pointer(Linear(flat.terms), flat.const, lane)
        if decided is True:
            b.effect(llvm.StoreOp, [element, pointer], self.alignment)
        else:
            self.store_masked(element, pointer, self.replay.scalar_condition(decided))


@cache
def _number(value: int, type_: IntegerType) -> Attribute:
    return IntegerAttr(value, type_)


def _is_unrolled(block: Block) -> bool:
    op = block.parent_op()
    return isinstance(op, ForOp) and op.is_unrolled
