"""Builds one llvm function: open loops with a place for hoisted values in each, index values, pointers, constants.

An index is a sum of terms, each known from some loop inward. `index_value` and `pointer` add the terms loop by loop,
from the outside in, and keep each partial sum in the head of its loop: what is left inside is a constant offset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Atom, Linear, Range
from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.creation import fill, with_result, without_result
from lamina.passes.tir_to_llvm.scalars import NO_OVERFLOW, OVERFLOW, Properties

POINTER = llvm.LLVMPointerType()
_NO_WRAP = IntegerAttr(4, i32)
"""The flag `nuw` of an address."""
_DYNAMIC = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])

EQ, NE, SLT, SLE, SGT, SGE = (IntegerAttr(n, i64) for n in range(6))
UNORDERED = IntegerAttr(14, i64)
"""Of floats: one of the two is NaN."""

LINE_BYTES = 64
"""Of a cache line, which vectors on the stack do not straddle."""


class Level:
    """An open loop (level 0: the function's entry): its head block and what has been hoisted into it."""

    __slots__ = ("block", "hoisted", "head_code", "cache")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.hoisted: list[Operation] = []
        self.head_code: list[Operation] = []
        self.cache: dict[object, SSAValue] = {}


class FunctionBuilder:
    """Appends ops to the current block; a loop within another opens behind it."""

    def __init__(
        self,
        entry: Block,
        declare: Callable[[str, Sequence[Attribute], Attribute], None],
        index: IntegerType = i64,
        stack_alignment: int = LINE_BYTES,
        stack_space: int = 0,
    ) -> None:
        self.index = index
        """The type in which loops count and places in memory are computed: as wide as a pointer."""
        self.stack_alignment = stack_alignment
        """The bytes of which the address of a buffer on the stack is a multiple."""
        self.stack_space = stack_space
        """The address space of the stack."""
        self.levels = [Level(entry)]
        self.blocks: list[tuple[Block, list[Operation], Level | None]] = [
            (entry, self.levels[0].head_code, self.levels[0])
        ]
        self.code = self.levels[0].head_code
        self.depth: dict[Atom, int] = {}
        """The level at which a dimension has its value; dimensions that are missing are local to the current code."""
        self.variables: dict[Atom, SSAValue] = {}
        self.ranges = RangeCache()
        self._constants: dict[object, OpResult] = {}
        self._integers: dict[tuple[int, IntegerType], SSAValue] = {}
        self._lanes: dict[int, SSAValue] = {}
        self._declare = declare

    # -- ops ------------------------------------------------------------------------------------------

    def add(self, op: Operation) -> None:
        self.code.append(op)

    def emit(
        self, cls: type[Operation], operands: list[SSAValue], type_: Attribute, properties: Properties
    ) -> SSAValue:
        result = with_result(cls, operands, type_, properties)
        self.code.append(result.op)
        return result

    def effect(self, cls: type[Operation], operands: list[SSAValue], properties: Properties) -> None:
        """Append an op that gives nothing."""
        self.code.append(without_result(cls, operands, properties))

    def constant(self, attr: Attribute, type_: Attribute) -> SSAValue:
        """A constant, made once in the function's entry."""
        key = (attr, type_)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = with_result(llvm.ConstantOp, (), type_, {"value": attr})
            self.levels[0].hoisted.append(found.op)
        return found

    def constant_when_used(self, attr: Attribute, type_: Attribute) -> Callable[[], SSAValue]:
        """The constant, looked up at the first call."""
        made: list[SSAValue] = []

        def value() -> SSAValue:
            if not made:
                made.append(self.constant(attr, type_))
            return made[0]

        return value

    def constant_op(self, cls: type[Operation], type_: Attribute) -> SSAValue:
        """A value without operands, such as poison, made once in the function's entry."""
        key = (cls, type_)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = with_result(cls, (), type_, {})
            self.levels[0].hoisted.append(found.op)
        return found

    def integer(self, value: int, type_: IntegerType | None = None) -> SSAValue:
        """An integer, of an index where no type is given."""
        key = (value, type_ or self.index)
        found = self._integers.get(key)
        if found is None:
            found = self._integers[key] = self.constant(IntegerAttr(*key), key[1])
        return found

    def resized(self, value: SSAValue, type_: IntegerType) -> SSAValue:
        """An integer with a sign in another type, which has its value."""
        if value.type == type_:
            return value
        if cast("IntegerType", value.type).width.data > type_.width.data:
            return self.emit(llvm.TruncOp, [value], type_, NO_OVERFLOW)
        return self.emit(llvm.SExtOp, [value], type_, {})

    def lane(self, number: int) -> SSAValue:
        """The place of an element in a vector."""
        found = self._lanes.get(number)
        if found is None:
            found = self._lanes[number] = self.constant(IntegerAttr(number, i32), i32)
        return found

    def one_lane(self, value: SSAValue) -> SSAValue:
        """A scalar as a vector of one lane."""
        type_ = vector_type(value.type, 1)
        poison = self.constant_op(llvm.PoisonOp, type_)
        return self.emit(llvm.InsertElementOp, [poison, value, self.lane(0)], type_, {})

    def call(self, symbol: str, operands: list[SSAValue], type_: Attribute) -> SSAValue:
        """A call of a C library function of one result."""
        self._declare(symbol, [o.type for o in operands], type_)
        from xdsl.dialects.builtin import SymbolRefAttr

        op = llvm.CallOp(SymbolRefAttr(symbol), *operands, return_type=type_)
        self.code.append(op)
        return op.results[0]

    def call_for_effect(self, symbol: str, operands: list[SSAValue]) -> None:
        """A call of a C library function without a result."""
        self._declare(symbol, [o.type for o in operands], llvm.LLVMVoidType())
        from xdsl.dialects.builtin import SymbolRefAttr

        self.code.append(llvm.CallOp(SymbolRefAttr(symbol), *operands))

    # -- blocks -----------------------------------------------------------------------------------------

    def start_block(self, block: Block) -> None:
        """Go on in a new block of the current level."""
        code: list[Operation] = []
        self.blocks.append((block, code, None))
        self.code = code

    def open_level(self, block: Block) -> Level:
        """Go on in the head block of a loop."""
        level = Level(block)
        self.levels.append(level)
        self.blocks.append((block, level.head_code, level))
        self.code = level.head_code
        return level

    def finish(self) -> list[Block]:
        """Fill the blocks, in order."""
        for block, code, level in self.blocks:
            fill(block, code if level is None else [*level.hoisted, *code])
        return [b for b, _, _ in self.blocks]

    # -- index values ---------------------------------------------------------------------------------------

    def atom_depth(self, atom: Atom) -> int | None:
        """The level from which an atom is known; None when only here."""
        if not isinstance(atom, tuple):
            return self.depth.get(atom)
        deepest = 0
        for d in atom[1].dims():
            depth = self.depth.get(d)
            if depth is None:
                return None
            deepest = max(deepest, depth)
        return deepest

    def _by_depth(self, form: Linear, start: int | None = 0) -> list[tuple[int | None, list[tuple[Atom, int]]]]:
        groups: dict[int | None, list[tuple[Atom, int]]] = {}
        for atom, coef in form.terms.items():
            groups.setdefault(_deeper(self.atom_depth(atom), start), []).append((atom, coef))
        return sorted(groups.items(), key=lambda g: len(self.levels) if g[0] is None else g[0])

    def at_level(self, depth: int | None, make: Callable[[], SSAValue]) -> SSAValue:
        """Build a value in the head of a level (None: in the current code)."""
        if depth is None:
            return make()
        saved, self.code = self.code, self.levels[depth].hoisted
        try:
            return make()
        finally:
            self.code = saved

    def _chain(
        self,
        tag: object,
        start: SSAValue | None,
        form: Linear,
        step: Callable[[SSAValue | None, SSAValue], SSAValue],
        known_from: int | None = 0,
    ) -> SSAValue | None:
        deepest = self._deepest(form, known_from)
        whole = ("whole", tag, known_from, form)
        if deepest is not None:
            found = self.levels[deepest].cache.get(whole)
            if found is not None:
                return found
        value = start
        key: tuple[object, ...] = (tag,)
        for depth, terms in self._by_depth(form, known_from):
            if depth is None:
                value = step(value, self._sum(terms))
                continue
            key = (*key, frozenset(terms))
            cache = self.levels[depth].cache
            found = cache.get(key)
            if found is None:
                previous = value
                found = cache[key] = self.at_level(depth, lambda: step(previous, self._sum(terms)))  # noqa: B023
            value = found
        if deepest is not None and value is not None:
            self.levels[deepest].cache[whole] = value
        return value

    def _deepest(self, form: Linear, start: int | None) -> int | None:
        """The level from which all terms of a form are known; None when only here."""
        for atom in form.terms:
            start = _deeper(start, self.atom_depth(atom))
        return start

    def _sum(self, terms: Sequence[tuple[Atom, int]]) -> SSAValue:
        total: SSAValue | None = None
        for atom, coef in terms:
            value = self.atom_value(atom)
            if coef != 1:
                value = self.emit(llvm.MulOp, [value, self.integer(coef)], self.index, OVERFLOW)
            total = value if total is None else self.emit(llvm.AddOp, [total, value], self.index, OVERFLOW)
        assert total is not None
        return total

    def atom_value(self, atom: Atom) -> SSAValue:
        if not isinstance(atom, tuple):
            return self.variables[atom]
        depth = self.atom_depth(atom)
        if depth is None:
            return self._divide(atom)
        cache = self.levels[depth].cache
        found = cache.get(atom)
        if found is None:
            found = cache[atom] = self.at_level(depth, lambda: self._divide(atom))
        return found

    def _divide(self, atom: tuple[str, Linear, int]) -> SSAValue:
        kind, inner, divisor = atom
        x = self.index_value(inner)
        d = self.integer(divisor)
        bounds = inner.range(self.ranges)
        if bounds is not None and bounds[0] >= 0:
            return self.emit(llvm.UDivOp if kind == "floordiv" else llvm.URemOp, [x, d], self.index, {})
        # floor(x / d) = (x - r) / d with r = x mod d in [0, d)
        from xdsl.dialects.builtin import i1

        r = self.emit(llvm.SRemOp, [x, d], self.index, {})
        negative = self.emit(llvm.ICmpOp, [r, self.integer(0)], i1, {"predicate": SLT})
        up = self.emit(llvm.AddOp, [r, d], self.index, OVERFLOW)
        r = self.emit(llvm.SelectOp, [negative, up, r], self.index, {})
        if kind == "mod":
            return r
        return self.emit(llvm.SDivOp, [self.emit(llvm.SubOp, [x, r], self.index, OVERFLOW), d], self.index, {})

    def index_value(self, form: Linear) -> SSAValue:
        """The value of a form, with its constant."""
        if not form.terms:
            return self.integer(form.const)

        def step(partial: SSAValue | None, more: SSAValue) -> SSAValue:
            return more if partial is None else self.emit(llvm.AddOp, [partial, more], self.index, OVERFLOW)

        value = self._chain("index", None, form, step)
        assert value is not None
        if form.const:
            value = self.emit(llvm.AddOp, [value, self.integer(form.const)], self.index, OVERFLOW)
        return value

    def value_of(self, form: Linear, type_: IntegerType) -> SSAValue:
        """The value of a form as a program computes with it, in a type that has it; it need be no place in memory."""
        bounds = form.range(self.ranges)
        if type_ == self.index or self.index == i64 or bounds is not None and fits(bounds, self.index):
            return self.resized(self.index_value(form), type_)
        total = self.integer(form.const, i64)
        for atom, coef in form.terms.items():
            value = self.resized(self.atom_value(atom), i64)
            term = self.emit(llvm.MulOp, [value, self.integer(coef, i64)], i64, OVERFLOW)
            total = self.emit(llvm.AddOp, [total, term], i64, OVERFLOW)
        return self.resized(total, type_)

    def element_pointer(self, base: SSAValue, element: Attribute, index: SSAValue) -> SSAValue:
        """A pointer moved by a number of elements."""
        return self.emit(llvm.GEPOp, [base, index], base.type, {"rawConstantIndices": _DYNAMIC, "elem_type": element})

    def pointer(self, base: SSAValue, element: Attribute, form: Linear, known_from: int | None = 0) -> SSAValue:
        """`base`, known from a level on, plus the form's terms, in elements; its constant is not added."""

        def step(partial: SSAValue | None, more: SSAValue) -> SSAValue:
            return self.element_pointer(base if partial is None else partial, element, more)

        value = self._chain(("pointer", base), base, form, step, known_from)
        assert value is not None
        return value

    def row_pointer(
        self, base: SSAValue, element: Attribute, form: Linear, inner: Sequence[Linear], known_from: int | None
    ) -> tuple[SSAValue, int | None]:
        """`base` plus form * (product of the inner extents) elements, and the level from which it is known."""
        depth = self._deepest(form, known_from)

        def make() -> SSAValue:
            distance = self.emit(llvm.MulOp, [self.index_value(form), self.product(inner)], self.index, OVERFLOW)
            return self.element_pointer(base, element, distance)

        if depth is None:
            return make(), None
        cache = self.levels[depth].cache
        key = ("row", base, form, tuple(inner))
        found = cache.get(key)
        if found is None:
            found = cache[key] = self.at_level(depth, make)
        return found, depth

    def product(self, extents: Sequence[Linear]) -> SSAValue:
        """The product of extents, made once in the function's entry."""
        key = ("product", tuple(extents))
        found = self.levels[0].cache.get(key)
        if found is None:
            saved, self.code = self.code, self.levels[0].hoisted
            found = self.integer(1)
            for n, extent in enumerate(extents):
                value = self.index_value(extent)
                found = value if n == 0 else self.emit(llvm.MulOp, [found, value], self.index, OVERFLOW)
            self.code = saved
            self.levels[0].cache[key] = found
        return found

    def offset(self, pointer: SSAValue, element: Attribute, elements: int, grows: bool = False) -> SSAValue:
        """A pointer moved by a constant number of elements; `grows` says that it is known not to wrap around."""
        if elements == 0:
            return pointer
        if not -(1 << 31) < elements < 1 << 31:
            return self.element_pointer(pointer, element, self.integer(elements))
        properties: Properties = {"rawConstantIndices": _raw_index(elements), "elem_type": element}
        if grows:
            properties["noWrapFlags"] = _NO_WRAP
        return self.emit(llvm.GEPOp, [pointer], pointer.type, properties)


def fits(bounds: Range, type_: IntegerType) -> bool:
    """Whether all numbers within bounds are integers with a sign of that type."""
    half = 1 << type_.width.data - 1
    return bounds[0] >= -half and bounds[1] < half


def _deeper(a: int | None, b: int | None) -> int | None:
    """The inner one of two levels; None, the current code, is the innermost."""
    return None if a is None or b is None else max(a, b)


_RAW: dict[int, DenseArrayBase] = {}


def _raw_index(value: int) -> DenseArrayBase:
    found = _RAW.get(value)
    if found is None:
        found = _RAW[value] = DenseArrayBase.from_list(i32, [value])
    return found
