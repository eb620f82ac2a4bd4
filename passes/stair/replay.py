"""Expands a compact tir body into llvm ops: each body is compiled once to steps, and the steps are replayed.

Unrolled loops replay their steps with the loop variable as a number. A register buffer is a table from constant
offsets to SSA values; at a serial loop the live entries of buffers stored inside become block arguments, so
accumulators never touch memory. Everything an access does not know as a number becomes a pointer, built loop by
loop (`builder.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.accesses import RangeCache, over_values
from lamina.dialects.dtypes import dtype_name, itemsize, scalar_type, vector_type
from lamina.dialects.fast_ir import name_new, operands_of, valid_name
from lamina.dialects.index_map import LANE, Condition
from lamina.dialects.linear import Atom, Linear, Range, constant
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
from lamina.passes.stair.access import Access
from lamina.passes.stair.alternatives import compile_runs
from lamina.passes.stair.builder import EQ, POINTER, SGE, SLT, FunctionBuilder
from lamina.passes.stair.checks import Checks
from lamina.passes.stair.control import Seeds, br, compile_if, compile_unrolled, cond_br, stored_registers
from lamina.passes.stair.registers import Register
from lamina.passes.stair.scalars import (
    FLOAT,
    NO_OVERFLOW,
    OVERFLOW,
    Properties,
    compile_op,
    llvm_type,
    memory_type,
    splat,
)
from lamina.passes.stair.spread import broadcast_lane, compile_spread_load, spreads_from_memory
from lamina.passes.stair.teams import Team, compile_barrier, compile_shared_loop, compile_team

Step = Callable[[], None]

LANE_DIM = Linear.dim(LANE)


class Replay:
    """Lowers the body of one kernel function."""

    def __init__(
        self, builder: FunctionBuilder, pointers: dict[SSAValue, SSAValue], target: TargetAttr | None = None
    ) -> None:
        self.b = builder
        self.spreads = spreads_from_memory(target)
        """Whether a lane of a vector in memory is read into all lanes as fast as any element (`spread.py`)."""
        self.pointers = dict(pointers)
        """Buffers in memory, with their base pointers."""
        self.known_from: dict[SSAValue, int | None] = {}
        """The level from which a base pointer is known, where it is not the function's entry."""
        self.registers: dict[SSAValue, Register] = {}
        self.values: dict[SSAValue, SSAValue] = {}
        self.unrolled: dict[Atom, int] = {}
        """The current value of each unrolled loop's variable."""
        self.loaded: dict[SSAValue, dict[Any, SSAValue]] = {}
        """Values that the straight-line code so far has read, by buffer and address."""
        self.shared: dict[Any, SSAValue] = {}
        """Broadcasts of the straight-line code so far, by the value that was broadcast."""
        self.spread: dict[SSAValue, tuple[Atom, int]] = {}
        """Loads that have given a vector, of which an unrolled variable modulo the lanes says which one is meant."""
        self._lane_ranges: dict[int, RangeCache] = {}
        """Ranges of values when the lane is one of so many."""
        self.checks: Checks | None = None
        """Where failed checks are reported; None in a function that has none."""
        self.team: Team | None = None
        """The threads that are in the function together; None where each has its own slice of iterations."""

    # -- compiling bodies to steps -----------------------------------------------------------------------

    def compile(self, block: Block) -> list[Step]:
        steps = compile_runs(self, list(block.ops))
        return [*steps, *(self.release(op) for op in block.ops if type(op) is AllocOp and is_on_heap(op))]

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
        buffer = op.result
        if op.scope.data == "register":
            # A new execution starts empty: what an earlier iteration left is dead.
            name = op.stage.data
            self.registers[buffer] = Register(name)

            def reset() -> None:
                self.registers[buffer].slots.clear()

            return reset
        if is_on_heap(op):
            return self.compile_heap_alloc(op)
        pointer = stack_buffer(self.b, buffer.type)
        self.pointers[buffer] = pointer

        def forget() -> None:
            self.loaded.pop(buffer, None)

        return forget

    def compile_heap_alloc(self, op: AllocOp) -> Step:
        """A buffer in a loop that the stack does not hold: memory of the C library, until the block ends."""
        buffer, b, extents = op.result, self.b, op.extents()
        size = itemsize(dtype_name(buffer.type.element_type))
        self.known_from[buffer] = None

        def step() -> None:
            self.loaded.pop(buffer, None)
            count = b.emit(llvm.MulOp, [b.product(extents), b.integer(size)], i64, OVERFLOW)
            self.pointers[buffer] = b.call("malloc", [count], POINTER)

        return step

    def release(self, op: AllocOp) -> Step:
        """Give the memory of a buffer back."""
        return lambda: self.b.call_for_effect("free", [self.pointers[op.result]])

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

    def broadcast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The scalar in every lane."""
        b = self.b
        assert type(type_) is VectorType
        lanes = type_.get_shape()[0]
        poison = b.constant_op(llvm.PoisonOp, type_)
        first = b.emit(llvm.InsertElementOp, [poison, value, b.lane(0)], type_, {})
        return b.emit(llvm.ShuffleVectorOp, [first, poison], type_, {"mask": _zeros(lanes)})

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

    def conditions_of(self, op: ConditionOp) -> tuple[list[Condition], list[SSAValue]]:
        """What a condition asks, and the values of the body that it asks about."""
        old = op.set.data.conditions
        forms = over_values([c.form for c in old], op.operands)
        return [Condition(f, c.equal) for f, c in zip(forms, old, strict=True)], self.local_dims(forms)

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

    # -- index arithmetic with unrolled variables as numbers -----------------------------------------------

    def local_dims(self, forms: list[Linear]) -> list[SSAValue]:
        """Dimensions of forms that are values computed in the body, not loop variables."""
        found: list[SSAValue] = []
        for f in forms:
            for d in f.dims():
                if isinstance(d, SSAValue) and not isinstance(d.owner, Block) and d not in found:
                    found.append(d)
        return found

    def bind_locals(self, dims: list[SSAValue]) -> None:
        for d in dims:
            self.b.variables[d] = self.values[d]

    def resolve(self, form: Linear) -> Linear:
        """The form with the numbers of unrolled variables in it."""
        mapping: dict[Atom, Linear] = {d: constant(self.unrolled[d]) for d in form.dims() if d in self.unrolled}
        return form.substitute(mapping, self.b.ranges) if mapping else form

    def decide(self, conditions: list[Condition], lanes: int | None = None) -> list[Condition] | bool:
        """What is left to test, for any of some lanes; a boolean when the ranges decide all."""
        left: list[Condition] = []
        ranges = self.b.ranges if lanes is None else self.lane_ranges(lanes)
        for c in conditions:
            form = self.resolve(c.form)
            bounds = form.range(ranges)
            if bounds is not None:
                low, high = bounds
                if (low == high == 0) if c.equal else low >= 0:
                    continue
                if (low > 0 or high < 0) if c.equal else high < 0:
                    return False
            left.append(Condition(form, c.equal))
        return left or True

    def lane_ranges(self, lanes: int) -> RangeCache:
        found = self._lane_ranges.get(lanes)
        if found is None:
            found = self._lane_ranges[lanes] = RangeCache({LANE: (0, lanes - 1)})
        return found

    def hoisted(self, tag: str, conditions: list[Condition], make: Callable[[], SSAValue]) -> SSAValue:
        """A value that depends on conditions only, built once in the head of the innermost loop that they mention."""
        b = self.b
        deepest = 0
        for form, _ in conditions:
            for atom in form.terms:
                depth = 0 if atom == LANE else b.atom_depth(atom)
                if depth is None:
                    return make()
                deepest = max(deepest, depth)
        cache = b.levels[deepest].cache
        key = (tag, tuple(conditions))
        found = cache.get(key)
        if found is None:
            shared, self.shared = self.shared, {}
            found = cache[key] = b.at_level(deepest, make)
            self.shared = shared
        return found

    def scalar_condition(self, conditions: list[Condition]) -> SSAValue:
        """One bit: all conditions hold."""
        return self.hoisted("condition", conditions, lambda: self._scalar_condition(conditions))

    def _scalar_condition(self, conditions: list[Condition]) -> SSAValue:
        b = self.b
        total: SSAValue | None = None
        for form, equal in conditions:
            value = b.index_value(Linear(form.terms))
            test = b.emit(llvm.ICmpOp, [value, b.integer(-form.const)], i1, {"predicate": EQ if equal else SGE})
            total = test if total is None else b.emit(llvm.AndOp, [total, test], i1, {})
        assert total is not None
        return total

    def lane_vector(self, form: Linear, lanes: int, element: IntegerType = i64) -> SSAValue:
        """The values of a form for lane 0, 1, ...: a vector of i64, or of a narrower type that has them all."""
        b = self.b
        type_ = vector_type(element, lanes)
        coefficient = form.terms.get(LANE, 0)
        rest = Linear({a: c for a, c in form.terms.items() if a != LANE}, form.const)
        if LANE in rest.dims():  # the lane stands inside a division: lane by lane
            vector = b.constant_op(llvm.PoisonOp, type_)
            for lane in range(lanes):
                value = self.narrow(b.index_value(form.substitute({LANE: constant(lane)}, b.ranges)), element)
                vector = b.emit(llvm.InsertElementOp, [vector, value, b.lane(lane)], type_, {})
            return vector
        steps = b.constant(
            DenseIntOrFPElementsAttr.from_list(type_, [coefficient * lane for lane in range(lanes)]), type_
        )
        if rest.is_constant and rest.const == 0:
            return steps
        base = self.broadcast(self.narrow(b.index_value(rest), element), type_)
        return b.emit(llvm.AddOp, [base, steps], type_, OVERFLOW)

    def narrow(self, value: SSAValue, element: IntegerType) -> SSAValue:
        """An index in a narrower type."""
        return value if element is i64 else self.b.emit(llvm.TruncOp, [value], element, NO_OVERFLOW)

    def mask(self, conditions: list[Condition], lanes: int) -> SSAValue:
        """One bit for each lane: all conditions hold for it."""
        if all(form.terms.keys() == {LANE} for form, _ in conditions):
            type_ = vector_type(i1, lanes)
            bits = [int(all(_holds(c, n) for c in conditions)) for n in range(lanes)]
            return self.b.constant(DenseIntOrFPElementsAttr.from_list(type_, bits), type_)
        return self.hoisted(f"mask{lanes}", conditions, lambda: self._mask(conditions, lanes))

    def _mask(self, conditions: list[Condition], lanes: int) -> SSAValue:
        b = self.b
        type_ = vector_type(i1, lanes)
        scalars = [c for c in conditions if LANE not in c.form.dims()]
        total: SSAValue | None = None
        for form, equal in conditions:
            if LANE not in form.dims():
                continue
            # Sixteen numbers of 32 bits are one vector, of 64 bits two.
            element = i32 if _is_short(form.range(b.ranges)) else i64
            value = self.lane_vector(form, lanes, element)
            wide = vector_type(element, lanes)
            zero = b.constant(splat(0, wide), wide)
            test = b.emit(llvm.ICmpOp, [value, zero], type_, {"predicate": EQ if equal else SGE})
            total = test if total is None else b.emit(llvm.AndOp, [total, test], type_, {})
        if scalars:
            test = self.broadcast(self.scalar_condition(scalars), type_)
            total = test if total is None else b.emit(llvm.AndOp, [total, test], type_, {})
        assert total is not None
        return total

    # -- loops -----------------------------------------------------------------------------------------------

    def compile_loop(self, op: ForOp) -> Step:
        if op.kind.data == "vectorized":
            raise InputError(f"tir-to-llvm: {op.axis.data!r} is still vectorized; run tir-vectorize-loop", op=op)
        if op.is_unrolled:
            return compile_unrolled(self, op)
        if self.team is not None and not self.team.is_sharing and is_shared_out(op):
            return compile_shared_loop(self, self.team, op)
        variable = op.var
        bounds = op.min_bounds()
        self.b.depth[variable] = -1
        steps = self.compile(op.body.block)
        stored = stored_registers(op)
        seeds = Seeds(self, op)
        locals_ = self.local_dims(bounds)

        def step() -> None:
            self.bind_locals(locals_)
            seeds.plant()
            self.serial_loop(op, variable, op.trip, [self.resolve(f) for f in bounds], steps, stored)

        return step

    def serial_loop(
        self,
        op: ForOp,
        variable: SSAValue,
        trip: int,
        bounds: list[Linear],
        steps: list[Step],
        stored: list[SSAValue],
    ) -> None:
        b = self.b
        limit, may_be_empty = self.limit([constant(trip), *bounds] if not op.is_dynamic else bounds)
        self.loop(variable, b.integer(0), limit, steps, stored, may_be_empty, op.var.name_hint)

    def limit(self, limits: list[Linear]) -> tuple[SSAValue, bool]:
        """How far a loop goes, and whether it may have no iteration at all."""
        b = self.b
        least: SSAValue | None = None
        may_be_empty = False
        for form in limits:
            bounds = form.range(b.ranges)
            may_be_empty = may_be_empty or bounds is None or bounds[0] < 1
            value = b.index_value(form)
            least = value if least is None else b.emit(llvm.SMinOp, [least, value], i64, {})
        assert least is not None
        return least, may_be_empty

    def loop(
        self,
        variable: SSAValue,
        start: SSAValue,
        limit: SSAValue,
        steps: list[Step],
        stored: list[SSAValue],
        may_be_empty: bool,
        hint: str | None,
    ) -> None:
        """A bottom-tested loop; the live registers that it stores are carried as block arguments."""
        b = self.b
        live = [
            (register, slot)
            for register in (self.registers[r] for r in stored if r in self.registers)
            for slot in register.slots
        ]
        initial = [register.slots[slot] for register, slot in live]
        types = [v.type for v in initial]
        header = Block(arg_types=[i64, *types])
        exit_block = Block(arg_types=types if may_be_empty else [])
        header.args[0].name_hint = hint
        if may_be_empty:
            some = b.emit(llvm.ICmpOp, [start, limit], i1, {"predicate": SLT})
            b.add(cond_br(some, header, [start, *initial], exit_block, initial))
        else:
            b.add(br(header, [start, *initial]))
        for (register, slot), argument in zip(live, header.args[1:], strict=True):
            register.slots[slot] = argument
        b.open_level(header)
        b.depth[variable] = len(b.levels) - 1
        b.variables[variable] = header.args[0]
        self.loaded, self.shared = {}, {}
        for s in steps:
            s()
        after = b.emit(llvm.AddOp, [header.args[0], b.integer(1)], i64, OVERFLOW)
        again = b.emit(llvm.ICmpOp, [after, limit], i1, {"predicate": SLT})
        self.conform(live, types)
        final = [register.slots[slot] for register, slot in live]
        b.add(cond_br(again, header, [after, *final], exit_block, final if may_be_empty else []))
        b.close_level()
        b.start_block(exit_block)
        if may_be_empty:
            for (register, slot), argument in zip(live, exit_block.args, strict=True):
                register.slots[slot] = argument
        self.loaded, self.shared = {}, {}

    def conform(self, live: list[tuple[Register, int]], types: list[Attribute]) -> None:
        """At the end of a loop's body: the registers that it carries in the slots that they had at its start."""
        for (register, slot), type_ in zip(live, types, strict=True):
            found = register.slots.get(slot)
            if found is None or found.type != type_:
                layout = [(at, t) for (r, at), t in zip(live, types, strict=True) if r is register]
                register.conform(self.b, layout)


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
    CheckOp: lambda replay, op: replay.compile_check(op),
    TeamOp: compile_team,
    TeamBarrierOp: compile_barrier,
}
"""Steps of ops; those of arithmetic are rows of `scalars.py`."""


def _holds(condition: Condition, lane: int) -> bool:
    """Whether a condition on nothing but the lane holds for one."""
    value = condition.form.terms[LANE] * lane + condition.form.const
    return value == 0 if condition.equal else value >= 0


def _lanes(type_: Attribute) -> int | None:
    return type_.get_shape()[0] if type(type_) is VectorType else None


def _zeros(lanes: int) -> DenseArrayBase:
    found = _ZEROS.get(lanes)
    if found is None:
        found = _ZEROS[lanes] = DenseArrayBase.from_list(i32, [0] * lanes)
    return found


_ZEROS: dict[int, DenseArrayBase] = {}


LARGEST_ON_STACK = 1 << 20
"""Bytes of a buffer in a loop."""


def is_on_heap(op: AllocOp) -> bool:
    """Whether a buffer in a loop is one whose size only the caller knows, or too large for the stack."""
    type_ = op.result.type
    if op.scope.data == "register":
        return False
    return bool(op.sizes) or prod(type_.get_shape()) * itemsize(dtype_name(type_.element_type)) > LARGEST_ON_STACK


def stack_buffer(b: FunctionBuilder, type_: Attribute) -> SSAValue:
    """Memory of the calling thread for a buffer."""
    assert type(type_) is MemRefType
    size = prod(type_.get_shape())
    properties: Properties = {
        "elem_type": memory_type(scalar_type(type_.element_type)),
        "alignment": IntegerAttr(64, i64),
    }
    return b.at_level(0, lambda: b.emit(llvm.AllocaOp, [b.integer(max(size, 1))], POINTER, properties))


def _is_short(bounds: Range | None) -> bool:
    """Whether all numbers within bounds have 32 bits."""
    return bounds is not None and bounds[0] >= -(1 << 31) and bounds[1] < 1 << 31
