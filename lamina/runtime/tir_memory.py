"""Buffers as the tir interpreter sees them: elements, which of them hold a value, and who touched them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute

from lamina.dialects.linear import row_major_strides
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.runtime.scalar_ops import element_dtype, signless


class UninitialisedError(InputError):
    """An element is read that nothing has written."""


class RaceError(InputError):
    """Iterations that run at once touch the same element, and one of them writes it."""


class Memory:
    """A dense buffer: a flat array (unsigned integers held signed) and one byte an element that says `written`."""

    __slots__ = ("name", "shape", "strides", "array", "flat", "written")

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

    @staticmethod
    def fresh(name: str, type_: Attribute) -> Memory:
        """A buffer whose elements hold nothing yet."""
        return Memory(name, np.empty(shape_of(type_), element_dtype(type_)), False)

    def place(self, flat: int) -> list[int]:
        """The indices of a flat position."""
        return [int(i) for i in np.unravel_index(flat, self.shape)] if self.shape else []


def shape_of(type_: Attribute) -> tuple[int, ...]:
    assert isinstance(type_, MemRefType)
    return type_.get_shape()


def output_range(func: FuncOp) -> tuple[int, int]:
    """Which arguments are outputs: [start, end). Behind them stand the scratch buffers that memory planning adds."""
    extra = func.attributes.get("workspaces")
    end = len(func.body.block.args) - (int(extra.value.data) if isinstance(extra, IntegerAttr) else 0)
    return end - func.outputs.value.data, end


_MANY = -1


class Tracker:
    """Who read and wrote the elements that the iterations of one loop share."""

    __slots__ = ("loop", "variable", "iteration", "_writers", "_readers")

    def __init__(self, loop: str, variable: str) -> None:
        self.loop = loop
        self.variable = variable
        self.iteration = 0
        self._writers: dict[tuple[int, int], int] = {}
        self._readers: dict[tuple[int, int], int] = {}

    def read(self, memory: Memory, flat: int) -> None:
        key = (id(memory), flat)
        writer = self._writers.get(key, self.iteration)
        if writer != self.iteration:
            raise self._race(memory, flat, f"written by iteration {writer} and read by iteration {self.iteration}")
        if self._readers.setdefault(key, self.iteration) != self.iteration:
            self._readers[key] = _MANY

    def write(self, memory: Memory, flat: int) -> None:
        key = (id(memory), flat)
        writer = self._writers.setdefault(key, self.iteration)
        if writer != self.iteration:
            raise self._race(memory, flat, f"written by iterations {writer} and {self.iteration}")
        reader = self._readers.get(key, self.iteration)
        if reader != self.iteration:
            by = "several iterations" if reader == _MANY else f"iteration {reader}"
            raise self._race(memory, flat, f"read by {by} and written by iteration {self.iteration}")

    def _race(self, memory: Memory, flat: int, how: str) -> RaceError:
        return RaceError(
            f'the iterations of loop "{self.loop}" ({self.variable}) race: %{memory.name}{memory.place(flat)} is {how}'
        )
