"""The values of a traced array that is written to piece by piece."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.builder import Value

if TYPE_CHECKING:
    from lamina.frontends.numpy.builder import NumpyBuilder


class ArrayStorage:
    """A tensor, and what has been written to parts of it since.

    A program that fills an array in a loop writes few elements at a time. What is written is kept, with the places of
    its elements; when somebody reads the tensor, all of it is put together at once.
    """

    MOST = 1 << 16
    """Elements of a tensor whose places are counted one by one: in larger ones a part is written at once."""
    BOX = 256
    """Elements of a part by slices beyond which it is written at once: slices are copied by vectors, places are not."""

    def __init__(self, value: Value) -> None:
        self._value = value
        self._pieces: list[Value] = []
        self._origin: Any = None
        """For each element its place in the tensor and the pieces one behind the other; None where nothing is kept."""
        self._end = 0
        self.version = 0
        """The number of writes."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self._value.shape

    @property
    def dtype(self) -> str:
        return self._value.dtype

    @property
    def is_open(self) -> bool:
        """Whether there are pieces that have not been put together."""
        return self._origin is not None

    def replace(self, value: Value) -> None:
        """Write to the whole tensor."""
        self._value = value
        self._pieces, self._origin = [], None
        self.version += 1

    def write(self, places: Any, piece: Value) -> None:
        """Write to elements, whose places in the flat tensor have the shape of what is written."""
        self.version += 1
        if self._origin is None:
            size = prod(self.shape)
            self._origin = np.arange(size).reshape(self.shape)
            self._end = size
        flat = self._origin.reshape(-1)
        flat[places.reshape(-1)] = np.arange(self._end, self._end + places.size)
        self._origin = flat.reshape(self.shape)
        self._pieces.append(piece)
        self._end += places.size

    def read(self, b: NumpyBuilder) -> Value:
        """The tensor as it is now."""
        if self._origin is not None:
            self._value = self._gathered(b, self._origin)
            self._pieces, self._origin = [], None
        return self._value

    def part(self, b: NumpyBuilder, places: Any) -> Value | None:
        """The elements at places of the flat tensor, None where they stand in the tensor as it was before writes."""
        origin = self._origin.reshape(-1)[places]
        if (origin < prod(self.shape)).all():
            return None
        return self._gathered(b, origin)

    @property
    def before(self) -> Value:
        """The tensor as it was before the writes that are kept."""
        return self._value

    def _gathered(self, b: NumpyBuilder, origin: Any) -> Value:
        """Elements of the tensor and the pieces by their places there, of the pieces that have some of them."""
        pieces = [self._value, *self._pieces]
        ends = np.cumsum([prod(p.shape) for p in pieces])
        flat: Any = origin.reshape(-1)
        owners: Any = np.searchsorted(ends, flat, side="right")  # pyright: ignore[reportUnknownVariableType]
        used: list[int] = [int(k) for k in np.unique(owners)]  # pyright: ignore[reportUnknownArgumentType]
        # Where the pieces that are used stand, one behind the other.
        starts = np.zeros(len(pieces), np.int64)
        begin = 0
        for k in used:
            starts[k] = begin - (ends[k - 1] if k else 0)
            begin += prod(pieces[k].shape)
        order = flat + starts[owners]
        parts = [b.reshape(pieces[k], (prod(pieces[k].shape),)) for k in used]
        joined = b.aten("cat", parts, 0) if len(parts) > 1 else parts[0] if parts else b.zeros((0,), self.dtype)
        if not np.array_equal(order, np.arange(prod(joined.shape))):
            joined = b.op("take", joined, b.constant(order.astype(np.int64)), axis=0, mode="clip")
        return b.reshape(joined, origin.shape)
