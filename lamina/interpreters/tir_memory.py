"""Buffers as the tir interpreter sees them: elements, which of them hold a value, and who touched them at once."""

from __future__ import annotations

import copy
import itertools
from typing import Any, Self

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute

from lamina.dialects.index.linear import row_major_strides
from lamina.dialects.scalar.oracles import element_dtype, signless
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError


class UninitialisedError(InputError):
    """An element is read that nothing has written."""


class RaceError(InputError):
    """Iterations that run at once touch the same element, and one of them writes it."""


_keys = itertools.count()


class Memory:
    """A dense buffer: flat elements (unsigned integers held signed) and one byte an element that says `written`.

    `key` is the place itself: views of one memory have the same.
    """

    __slots__ = ("name", "shape", "strides", "array", "flat", "written", "key")

    flat: Any

    def __init__(self, name: str, array: np.ndarray[Any, Any], written: bool) -> None:
        self.name = name
        self.shape: tuple[int, ...] = array.shape
        self.strides = row_major_strides(array.shape)
        self.array = array
        flat = array.reshape(-1)
        if array.size and not np.shares_memory(flat, array):
            raise ValueError("a buffer is contiguous")
        self.flat = signless(flat)
        self.written = bytearray(b"\1" if written else b"\0") * array.size
        self.key = next(_keys)

    @staticmethod
    def fresh(name: str, type_: Attribute, shape: tuple[int, ...] | None = None) -> Memory:
        """A buffer whose elements hold nothing yet; the shape is needed where the type has an unknown extent."""
        return Memory(name, np.empty(shape_of(type_) if shape is None else shape, element_dtype(type_)), False)

    def reborn(self) -> Self:
        """The same place for another life: what stands there is not to be read before it is written again."""
        again = copy.copy(self)
        again.written = bytearray(len(self.written))
        return again

    def reshaped(self, shape: tuple[int, ...]) -> Self:
        """The same memory, and what is known of it, as a buffer of another shape."""
        again = copy.copy(self)
        again.shape = shape
        again.strides = row_major_strides(shape)
        again.array = self.array.reshape(shape)
        return again

    def place(self, flat: int) -> list[int]:
        """The indices of a flat position."""
        found: list[int] = []
        for stride, extent in zip(self.strides, self.shape, strict=True):
            found.append(flat // stride % extent if extent else 0)
        return found


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a memref type; any other type is an assertion error."""
    assert isinstance(type_, MemRefType)
    return type_.get_shape()


def output_range(func: FuncOp) -> tuple[int, int]:
    """The range of output arguments: [start, end). Behind them stand the scratch buffers that memory planning adds."""
    extra = func.attributes.get("workspaces")
    end = len(func.body.block.args) - (int(extra.value.data) if isinstance(extra, IntegerAttr) else 0)
    return end - func.outputs.value.data, end


_MANY = -1


class Tracker:
    """Readers and writers of the elements that the iterations of one loop share: a race is an error."""

    __slots__ = ("loop", "variable", "iteration", "_lenient", "_writers", "_readers")

    def __init__(self, loop: str, variable: str, lenient: bool = False) -> None:
        """`lenient` allows to write what stands there already."""
        self._lenient = lenient
        self.loop = loop
        self.variable = variable
        self.iteration = 0
        self._writers: dict[tuple[int, int], int] = {}
        self._readers: dict[tuple[int, int], int] = {}

    def read(self, memory: Memory, flat: int) -> None:
        key = (memory.key, flat)
        writer = self._writers.get(key, self.iteration)
        if writer != self.iteration:
            raise self._race(memory, flat, f"written by iteration {writer} and read by iteration {self.iteration}")
        if self._readers.setdefault(key, self.iteration) != self.iteration:
            self._readers[key] = _MANY

    def write(self, memory: Memory, flat: int, new: Any) -> None:
        key = (memory.key, flat)
        if self._lenient and memory.written[flat] and _same(memory.flat[flat], new):
            return
        writer = self._writers.setdefault(key, self.iteration)
        if writer != self.iteration:
            raise self._race(memory, flat, f"written by iterations {writer} and {self.iteration}")
        reader = self._readers.get(key, self.iteration)
        if reader != self.iteration:
            by = "several iterations" if reader == _MANY else f"iteration {reader}"
            raise self._race(memory, flat, f"read by {by} and written by iteration {self.iteration}")

    def meet(self) -> None:
        """All iterations have met at a barrier: what they did until then is over."""
        self._writers.clear()
        self._readers.clear()

    def _race(self, memory: Memory, flat: int, how: str) -> RaceError:
        return RaceError(
            f'the iterations of loop "{self.loop}" ({self.variable}) race: %{memory.name}{memory.place(flat)} is {how}'
        )


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or (a != a and b != b)
