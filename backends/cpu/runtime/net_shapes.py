"""The function of an exported net that tells what follows from the shapes of its inputs: `lamina.shapes`.

It is computed by the code that computes it with integers when a program runs in Python: a `ShapeNumber` stands in the
place of an integer there, and each operation appends an op of the llvm level to the function.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Atom, Linear, Range
from lamina.dialects.index.symbol_range import SymbolRange
from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.builder import EQ, NE, SGE, SLE, FunctionBuilder
from lamina.passes.tir_to_llvm.control import br, cond_br
from lamina.passes.tir_to_llvm.scalars import OVERFLOW, Properties

POINTER = llvm.LLVMPointerType()
SHAPES = "lamina.shapes"
"""The symbol of the function."""
_MOST = 1 << 62
"""Of a number that a function computes: the sum of two has no overflow."""
_ALIGNED: Properties = {"alignment": IntegerAttr(8, i64)}


class ShapeNumber:
    """An integer that is known when a function runs, in place of one that is known now; `bounds` hold it."""

    __slots__ = ("_of", "bounds", "value")

    def __init__(self, of: ShapesFunction, value: SSAValue, bounds: Range) -> None:
        self._of, self.value, self.bounds = of, value, bounds

    def __add__(self, other: ShapeNumber | int) -> ShapeNumber:
        low, high = (a + b for a, b in zip(self.bounds, _bounds(other), strict=True))
        return self._of.number(llvm.AddOp, self, other, (low, high))

    __radd__ = __add__

    def __mul__(self, other: ShapeNumber | int) -> ShapeNumber:
        ends = [a * b for a in self.bounds for b in _bounds(other)]
        if max(ends) > _MOST:
            return self._of.product(self, other)
        return self._of.number(llvm.MulOp, self, other, (min(ends), max(ends)))

    __rmul__ = __mul__

    def __neg__(self) -> ShapeNumber:
        return self * -1

    def __floordiv__(self, divisor: int) -> ShapeNumber:
        return self._of.division("floordiv", self, divisor)

    def __mod__(self, divisor: int) -> ShapeNumber:
        return self._of.division("mod", self, divisor)


def _no_calls(symbol: str, _: Sequence[Attribute], __: Attribute) -> None:
    raise AssertionError(f"shapes need no {symbol}")


def _bounds(value: ShapeNumber | int) -> Range:
    return (value, value) if isinstance(value, int) else value.bounds


class ShapesFunction:
    """Builds `lamina.shapes`: (shapes of inputs, sizes and offsets of places, shapes of outputs or null) -> bytes."""

    def __init__(self) -> None:
        self._entry = Block(arg_types=[POINTER, POINTER, POINTER])
        self._b = FunctionBuilder(self._entry, _no_calls)
        self._known: dict[Atom, Range] = {}
        self._shapes: dict[int, SSAValue] = {}
        self._fits: SSAValue | None = None

    # -- what is given ---------------------------------------------------------------------------------------------

    def extent(self, tensor: int, dimension: int) -> ShapeNumber:
        """An extent of an input."""
        shape = self._shapes.get(tensor)
        if shape is None:
            shape = self._shapes[tensor] = self._pointer(self._entry.args[0], tensor)
        return self._numbered(self._load(shape, dimension), (-_MOST, _MOST))

    def check(self, number: ShapeNumber | int, known: SymbolRange) -> ShapeNumber:
        """A number of which the function's result is -1 where it is none of a range; from here on it is one."""
        value = self._value(number)
        self._holds(self._compared(SGE, value, self._b.integer(known.min)))
        self._holds(self._compared(SLE, value, self._b.integer(known.max)))
        if known.divisor != 1:
            self.check_equal(ShapeNumber(self, value, (known.min, known.max)) % known.divisor, 0)
        # What follows may rely on it only where it holds: a value that does not is replaced by one that does.
        safe = self._b.emit(llvm.SelectOp, [self._fitting(), value, self._b.integer(known.min)], i64, {})
        return self._numbered(safe, (known.min, known.max))

    def check_equal(self, number: ShapeNumber | int, wanted: ShapeNumber | int) -> None:
        """Let the result be -1 where two numbers differ."""
        self._holds(self._compared(EQ, self._value(number), self._value(wanted)))

    def check_positive(self, number: ShapeNumber | int) -> None:
        """Let the result be -1 where a number is negative."""
        self._holds(self._compared(SGE, self._value(number), self._b.integer(0)))

    # -- arithmetic ------------------------------------------------------------------------------------------------

    def number(self, op: type[Operation], a: ShapeNumber, b: ShapeNumber | int, bounds: Range) -> ShapeNumber:
        """The result of an operation that stays within bounds, or at most twice as far."""
        found = self._numbered(self._b.emit(op, [a.value, self._value(b)], i64, OVERFLOW), bounds)
        return self._limited(found) if bounds[1] > _MOST else found

    def product(self, a: ShapeNumber, b: ShapeNumber | int) -> ShapeNumber:
        """A product of numbers from 0 on that may be too large, for which the result is -1."""
        x, y = self._value(a), self._value(b)
        none = self._compared(EQ, x, self._b.integer(0))
        divisor = self._b.emit(llvm.SelectOp, [none, self._b.integer(1), x], i64, {})
        most = self._b.emit(llvm.UDivOp, [self._b.integer(_MOST), divisor], i64, {})
        self._holds(self._compared(SLE, y, most))
        return self._limited(self._numbered(self._b.emit(llvm.MulOp, [x, y], i64, OVERFLOW), (0, _MOST)))

    def division(self, kind: str, number: ShapeNumber, divisor: int) -> ShapeNumber:
        """The quotient, rounded down, or the remainder by a constant."""
        self._b.variables[number.value] = number.value
        self._b.ranges = RangeCache({number.value: number.bounds})
        form = Linear({(kind, Linear.dim(number.value), divisor): 1})
        low, high = (bound // divisor for bound in number.bounds)
        return self._numbered(self._b.index_value(form), (low, high) if kind == "floordiv" else (0, divisor - 1))

    # -- the function ----------------------------------------------------------------------------------------------

    def finish(
        self,
        found: Sequence[ShapeNumber | int],
        outputs: Sequence[Sequence[ShapeNumber | int]],
        size: ShapeNumber | int,
    ) -> llvm.FuncOp:
        """The function of sizes and offsets, of the shapes of the outputs and the bytes of all places."""
        b = self._b
        shapes, put, outside = Block(), Block(), Block()
        for n, number in enumerate(found):
            b.effect(llvm.StoreOp, [self._value(number), self._at(self._entry.args[1], n)], _ALIGNED)
        result = b.emit(llvm.SelectOp, [self._fitting(), self._value(size), b.integer(-1)], i64, {})
        b.add(cond_br(self._fitting(), shapes, (), outside, ()))
        b.start_block(shapes)
        null = b.emit(llvm.ZeroOp, [], POINTER, {})
        given = b.emit(llvm.ICmpOp, [self._entry.args[2], null], i1, {"predicate": NE})
        b.add(cond_br(given, put, (), outside, ()))
        b.start_block(put)
        for n, shape in enumerate(outputs):
            place = self._pointer(self._entry.args[2], n) if shape else None
            for d, extent in enumerate(shape):
                assert place is not None
                b.effect(llvm.StoreOp, [self._value(extent), self._at(place, d)], _ALIGNED)
        b.add(br(outside, ()))
        b.start_block(outside)
        b.add(llvm.ReturnOp(result))
        type_ = llvm.LLVMFunctionType([POINTER] * 3, i64)
        return llvm.FuncOp(SHAPES, type_, llvm.LinkageAttr("external"), body=Region(b.finish()))

    def _limited(self, number: ShapeNumber) -> ShapeNumber:
        low, high = number.bounds
        self._holds(self._compared(SLE, number.value, self._b.integer(_MOST)))
        safe = self._b.emit(llvm.SelectOp, [self._fitting(), number.value, self._b.integer(0)], i64, {})
        return self._numbered(safe, (min(low, 0), min(high, _MOST)))

    def _numbered(self, value: SSAValue, bounds: Range) -> ShapeNumber:
        return ShapeNumber(self, value, bounds)

    def _value(self, number: ShapeNumber | int) -> SSAValue:
        return self._b.integer(number) if isinstance(number, int) else number.value

    def _compared(self, predicate: IntegerAttr, a: SSAValue, b: SSAValue) -> SSAValue:
        return self._b.emit(llvm.ICmpOp, [a, b], i1, {"predicate": predicate})

    def _holds(self, condition: SSAValue) -> None:
        before = self._fits
        self._fits = condition if before is None else self._b.emit(llvm.AndOp, [before, condition], i1, {})

    def _fitting(self) -> SSAValue:
        return self._b.integer(1, i1) if self._fits is None else self._fits

    def _at(self, base: SSAValue, n: int) -> SSAValue:
        return self._b.element_pointer(base, i64, self._b.integer(n))

    def _pointer(self, base: SSAValue, n: int) -> SSAValue:
        return self._b.emit(llvm.LoadOp, [self._b.element_pointer(base, POINTER, self._b.integer(n))], POINTER, {})

    def _load(self, base: SSAValue, n: int) -> SSAValue:
        return self._b.emit(llvm.LoadOp, [self._at(base, n)], i64, _ALIGNED)
