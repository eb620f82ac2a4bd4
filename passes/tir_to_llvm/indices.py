"""Index forms and conditions of a body as SSA values: loop variables that are unrolled are numbers in them.

What the ranges of the others decide costs nothing. A condition on the variables of outer loops alone is tested in the
head of the innermost of them; one on the lanes of a vector becomes a mask.

Before (%c is 3, %x a loop's variable of 0 to 14):
    %0 = tir.condition [%x + %c - 5 >= 0, %c - 1 >= 0]
After:
    %0 = llvm.icmp "sge" %x, %two : i64
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerType, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.index.accesses import RangeCache, over_values
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.ops import ConditionOp
from lamina.passes.tir_to_llvm.builder import EQ, SGE, FunctionBuilder, fits
from lamina.passes.tir_to_llvm.scalars import OVERFLOW, splat


class Indices:
    """The facts that the code so far knows of index variables, and the values that it has of forms of them."""

    def __init__(self, builder: FunctionBuilder) -> None:
        self.b = builder
        self.values: dict[SSAValue, SSAValue] = {}
        self.unrolled: dict[Atom, int] = {}
        """The current value of each unrolled loop's variable."""
        self.shared: dict[object, SSAValue] = {}
        """Broadcasts of the straight-line code so far, by the value that was broadcast."""
        self._lane_ranges: dict[int, RangeCache] = {}
        """Ranges of values when the lane is one of so many."""

    def conditions_of(self, op: ConditionOp) -> tuple[list[Condition], list[SSAValue]]:
        """The conditions of an op over values of the body, and these values."""
        old = op.set.data.conditions
        forms = over_values([c.form for c in old], op.operands)
        return [Condition(f, c.equal) for f, c in zip(forms, old, strict=True)], self.local_dims(forms)

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
            self.b.variables[d] = self.b.resized(self.values[d], self.b.index)

    def resolve(self, form: Linear) -> Linear:
        """The form with the numbers of unrolled variables in it."""
        mapping: dict[Atom, Linear] = {d: constant(self.unrolled[d]) for d in form.dims() if d in self.unrolled}
        return form.substitute(mapping, self.b.ranges) if mapping else form

    def decide(self, conditions: list[Condition], lanes: int | None = None) -> list[Condition] | bool:
        """The conditions left to test, for any of some lanes; a boolean when the ranges decide all."""
        left: list[Condition] = []
        ranges = self.b.ranges if lanes is None else self.lane_ranges(lanes)
        for c in conditions:
            resolved = Condition(self.resolve(c.form), c.equal)
            holds = resolved.decided(resolved.form.range(ranges))
            if holds is False:
                return False
            if holds is None:
                left.append(resolved)
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
                value = b.value_of(form.substitute({LANE: constant(lane)}, b.ranges), element)
                vector = b.emit(llvm.InsertElementOp, [vector, value, b.lane(lane)], type_, {})
            return vector
        steps = b.constant(
            DenseIntOrFPElementsAttr.from_list(type_, [coefficient * lane for lane in range(lanes)]), type_
        )
        if rest.is_constant and rest.const == 0:
            return steps
        base = self.broadcast(b.value_of(rest, element), type_)
        return b.emit(llvm.AddOp, [base, steps], type_, OVERFLOW)

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
            bounds = form.range(b.ranges)
            element = i32 if bounds is not None and fits(bounds, i32) else i64
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

    def broadcast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The scalar in every lane."""
        b = self.b
        assert type(type_) is VectorType
        lanes = type_.get_shape()[0]
        poison = b.constant_op(llvm.PoisonOp, type_)
        first = b.emit(llvm.InsertElementOp, [poison, value, b.lane(0)], type_, {})
        return b.emit(llvm.ShuffleVectorOp, [first, poison], type_, {"mask": _zeros(lanes)})


def _holds(condition: Condition, lane: int) -> bool:
    """Whether a condition on nothing but the lane holds for one."""
    value = condition.form.terms[LANE] * lane + condition.form.const
    return value == 0 if condition.equal else value >= 0


def _zeros(lanes: int) -> DenseArrayBase:
    found = _ZEROS.get(lanes)
    if found is None:
        found = _ZEROS[lanes] = DenseArrayBase.from_list(i32, [0] * lanes)
    return found


_ZEROS: dict[int, DenseArrayBase] = {}
