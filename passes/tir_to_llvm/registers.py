"""Register buffers while a kernel is replayed: which SSA value holds which elements.

A slot is a scalar or a vector at a constant offset; slots never overlap. Code that agrees on one layout finds each
value where it left it; another layout (a scalar out of a vector, a vector over scalars) costs extracts and inserts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.builder import FunctionBuilder
from lamina.passes.tir_to_llvm.scalars import element_of


def width(type_: Attribute) -> int:
    """The number of elements that a value of this type holds."""
    return type_.get_shape()[0] if type(type_) is VectorType else 1


def _width_of(value: SSAValue) -> int:
    return width(value.type)


class Register:
    """A register buffer: its slots by offset."""

    __slots__ = ("slots", "name", "widest")

    def __init__(self, name: str, slots: Mapping[int, SSAValue] | None = None) -> None:
        self.slots: dict[int, SSAValue] = dict(slots or {})
        self.name = name
        self.widest = max(map(_width_of, self.slots.values()), default=1)
        """No slot is wider: what reaches an element starts at most so far before it."""

    def read(self, b: FunctionBuilder, offset: int, type_: Attribute, *, partial: bool = False) -> SSAValue | None:
        """The elements from an offset on; None where one was never written, or poison for it where `partial`."""
        found = self.slots.get(offset)
        if found is not None and found.type == type_:
            return found
        if type(type_) is not VectorType:
            return self._element(b, offset) or (b.constant_op(llvm.PoisonOp, type_) if partial else None)
        elements = [self._element(b, offset + n) for n in range(width(type_))]
        if not partial and None in elements:
            return None
        vector = b.constant_op(llvm.PoisonOp, type_)
        for n, element in enumerate(elements):
            if element is not None:
                vector = b.emit(llvm.InsertElementOp, [vector, element, b.lane(n)], type_, {})
        return vector

    def write(self, b: FunctionBuilder, offset: int, value: SSAValue) -> None:
        """Replace the elements from an offset on; what another slot holds beyond them stays."""
        found = self.slots.get(offset)
        if found is not None and found.type == value.type:
            self.slots[offset] = value
            return
        type_ = value.type
        if type(type_) is not VectorType:
            start = self._covering(offset)
            if start is None:
                self.slots[offset] = value
                return
            vector = self.slots[start]
            at = b.lane(offset - start)
            self.slots[start] = (
                b.emit(llvm.InsertElementOp, [vector, value, at], vector.type, {})
                if type(vector.type) is VectorType
                else value
            )
            return
        end = offset + width(type_)
        for start in self._reaching(offset, end):
            rest = [n for n in range(start, start + _width_of(self.slots[start])) if not offset <= n < end]
            kept = {n: self._element(b, n) for n in rest}
            del self.slots[start]
            self.slots.update((n, v) for n, v in kept.items() if v is not None)
        self.slots[offset] = value
        self.widest = max(self.widest, end - offset)

    def seed(self, b: FunctionBuilder, offset: int, type_: Attribute) -> None:
        """Poison for elements that nothing has written, so that what branches leave there can be joined."""
        end = offset + width(type_)
        found = self.slots.get(offset)
        if found is not None and offset + _width_of(found) >= end:
            return
        if not self._reaching(offset, end):
            self.slots[offset] = b.constant_op(llvm.PoisonOp, type_)
            self.widest = max(self.widest, end - offset)
            return
        for n in [n for n in range(offset, end) if self._covering(n) is None]:
            self.slots[n] = b.constant_op(llvm.PoisonOp, element_of(type_))

    def conform(self, b: FunctionBuilder, layout: Iterable[tuple[int, Attribute]]) -> None:
        """Hold elements in slots of these types."""
        for offset, type_ in layout:
            found = self.slots.get(offset)
            if found is not None and found.type == type_:
                continue
            if type(type_) is VectorType:
                value = self.read(b, offset, type_, partial=True)
                assert value is not None
                self.write(b, offset, value)
            else:
                self._scatter(b, offset)

    def _covering(self, offset: int) -> int | None:
        """The slot that holds an element."""
        return next(iter(self._reaching(offset, offset + 1)), None)

    def _reaching(self, offset: int, end: int) -> list[int]:
        """The slots that hold elements of a range, in the order in which they were made."""
        first = offset - self.widest + 1
        slots = self.slots
        if end - first < len(slots):
            found = [n for n in range(first, end) if n in slots and offset < n + _width_of(slots[n])]
            return found if len(found) < 2 else [n for n in slots if n in found]
        return [n for n in slots if first <= n < end and offset < n + _width_of(slots[n])]

    def _element(self, b: FunctionBuilder, offset: int) -> SSAValue | None:
        start = self._covering(offset)
        if start is None:
            return None
        value = self.slots[start]
        if type(value.type) is not VectorType:
            return value
        at = b.integer(offset - start)
        return b.emit(llvm.ExtractElementOp, [value, at], element_of(value.type), {})

    def _scatter(self, b: FunctionBuilder, offset: int) -> None:
        start = self._covering(offset)
        assert start is not None
        elements = {n: self._element(b, n) for n in range(start, start + width(self.slots[start].type))}
        del self.slots[start]
        self.slots.update((n, v) for n, v in elements.items() if v is not None)
