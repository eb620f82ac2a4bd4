"""State that grows where it lies: a run is handed one memory for the past and for the state behind it.

The memory has room for more rows than there are. A program that `relay-state-append` has changed takes two sizes for
that: how many rows of the past are in the memory already (all of them here), and how many rows are free behind those
that it adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.runtime.direct_call import address_of
from lamina.runtime.ports import SIZE, Port, ShapeTable, check_input, infer_sizes

if TYPE_CHECKING:
    from lamina.dialects.state_growth import Growth
    from lamina.runtime.program_info import ProgramInfo

    Array = np.ndarray[Any, np.dtype[Any]]

FIRST_ROOM = 64
"""Rows for which there is room at least where nobody says how many; the room is doubled as often as needed."""


def first_rows(array: Array, axis: int, count: int) -> Array:
    """A view of the first rows of an array, along an axis."""
    return array[(slice(None),) * axis + (slice(count),)]


class InPlace(Protocol):
    """A program that can write results into memory of its inputs."""

    @property
    def info(self) -> ProgramInfo: ...

    def into(self, sizes: Sequence[int], inputs: Mapping[str, int], lent: Mapping[str, Array]) -> dict[str, Array]:
        """Run for sizes in order on the addresses of inputs by name: the results, those lent in their arrays."""
        ...


@dataclass
class _Rows:
    """The memory of a state, and how many rows are in it."""

    growth: Growth
    past: Port
    present: Port
    past_size: str
    """The name of the size that is the number of rows of the past."""
    memory: Array | None = None
    shown: Array | None = field(default=None, repr=False)
    """The rows as the last run has given them."""

    @property
    def filled(self) -> int:
        return self.shown.shape[self.growth.axis] if self.shown is not None else 0

    def first(self, count: int) -> Array:
        """The first rows of the memory."""
        assert self.memory is not None
        return first_rows(self.memory, self.growth.axis, count)

    def holds(self, array: Array) -> bool:
        """Whether an array is so many first rows of the memory."""
        held, axis = self.memory, self.growth.axis
        if held is None or address_of(array) != address_of(held) or array.strides != held.strides:
            return False
        return array.shape[axis] <= self.filled and array.shape == self.first(array.shape[axis]).shape

    def have_room(self, shape: tuple[int, ...], room: int) -> Array:
        """The memory, with room for so many rows of a state of this shape, and with those that are in it.

        Raises InputError where the state has other extents.
        """
        axis, held = self.growth.axis, self.memory
        wanted = (*shape[:axis], room, *shape[axis + 1 :])
        if held is not None and held.shape == wanted:
            return held
        filled = self.filled
        others = [e for a, e in enumerate(self.shown.shape) if a != axis] if self.shown is not None else None
        if filled and others != [e for a, e in enumerate(shape) if a != axis]:
            assert self.shown is not None
            what = f"the state {self.past.name!r} is {list(self.shown.shape)}, these inputs are for {list(shape)}"
            raise InputError(what, hint="reset the session")
        try:
            self.memory = np.empty(wanted, numpy_dtype(self.present.dtype))
        except (MemoryError, ValueError):
            raise InputError(f"there is no memory for {room} rows", where=f"state {self.past.name!r}") from None
        if filled:
            assert self.shown is not None
            np.copyto(self.first(filled), self.shown)
            self.shown = self.first(filled)
        return self.memory


class GrownRows:
    """The growing state of a session, and the runs that add to it."""

    def __init__(
        self,
        program: InPlace,
        growing: Mapping[str, tuple[str, Growth]],
        capacity: int | None = None,
        grow: bool | None = None,
    ) -> None:
        """`growing` has the output and the growth by the name of the input. There is room for `capacity` rows, and with
        `grow` (by default where no capacity is given) for more.

        Raises UsageError for a capacity that is no positive number.
        """
        given: Any = capacity
        if given is not None and (type(given) is bool or not isinstance(given, SupportsIndex) or index(given) < 1):
            raise UsageError(f"the capacity is a positive integer, not {capacity!r}")
        if grow is False and capacity is None:
            raise UsageError("grow=False is for state with a capacity", hint="give `capacity`")
        info = program.info
        self._ports = [p for p in info.inputs if p.dtype != SIZE and p.name not in growing]
        self._inputs, sizes = info.inputs, [p for p in info.inputs if p.dtype == SIZE]
        self._places = {p.name: n for n, p in enumerate(sizes)}
        self._program, self._capacity = program, None if capacity is None else index(capacity)
        self._grows = capacity is None if grow is None else grow
        self._rows: dict[str, _Rows] = {}
        inputs, outputs = ({p.name: p for p in side} for side in (info.inputs, info.outputs))
        for name, (output, growth) in growing.items():
            extents = inputs[name].extents
            axis = extents.results[growth.axis : growth.axis + 1] if extents is not None and growth.axis >= 0 else ()
            position = axis[0].dims()[0] if axis and axis[0].dims() else None
            if not isinstance(position, int) or not {growth.kept, growth.spare} <= self._places.keys():
                what = f"it does not grow along axis {growth.axis} by {growth.kept!r} and {growth.spare!r}"
                raise InputError(what, where=f"state {name!r}")
            self._rows[name] = _Rows(growth, inputs[name], outputs[output], sizes[position].name)
        self._shapes = ShapeTable([r.present for r in self._rows.values()])

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """One run on inputs and state by name: the results by name.

        The state in them is what the program has given, or an array that somebody has put there. Raises InputError for
        what does not fit, and for more rows than there is room for.
        """
        given = dict(inputs)
        numbers: dict[str, int] = {}
        for name, rows in self._rows.items():
            self._take(rows, given.pop(name))
            if numbers.setdefault(rows.past_size, rows.filled) != rows.filled:
                what = f"{rows.filled} rows where other state has {numbers[rows.past_size]}"
                raise InputError(what, where=f"state {name!r}")
            numbers[rows.growth.kept] = rows.filled
        sizes = infer_sizes(self._inputs, {**given, **numbers})
        addresses: dict[str, int] = {}
        arrays = [check_input(p, given.pop(p.name, None), sizes) for p in self._ports]
        for name in given.keys() - sizes.keys() | given.keys() & numbers.keys():
            hint = did_you_mean(name, [p.name for p in self._ports])
            raise InputError("the model has no such input", where=f"input {name!r}", hint=hint)
        addresses.update((p.name, address_of(a)) for p, a in zip(self._ports, arrays, strict=True))
        values = list(sizes.values())
        shapes = self._shapes.for_sizes(values)
        ends = [shape[rows.growth.axis] for shape, rows in zip(shapes, self._rows.values(), strict=True)]
        room = self._room(ends)
        lent: dict[str, Array] = {}
        for shape, end, rows in zip(shapes, ends, self._rows.values(), strict=True):
            lent[rows.present.name] = memory = rows.have_room(shape, room)
            values[self._places[rows.growth.spare]] = room - end
            addresses[rows.past.name] = address_of(memory)  # where nothing is read
        found: dict[str, Any] = self._program.into(values, addresses, lent)
        for end, rows in zip(ends, self._rows.values(), strict=True):
            rows.shown = found[rows.present.name] = rows.first(end)
        return found

    def _take(self, rows: _Rows, state: Any) -> None:
        """Have the rows of a state that somebody has put there in the memory. Raises InputError where it is none."""
        if rows.shown is not None and state is rows.shown:
            return
        array = np.asarray(state)
        if array.dtype != numpy_dtype(rows.past.dtype) or array.ndim != len(rows.past.shape):
            what = f"{array.dtype}{list(array.shape)} given, expected {rows.past.describe()}"
            raise InputError(what, where=f"state {rows.past.name!r}")
        if not rows.holds(array):
            rows.memory = None
        rows.shown = array

    def _room(self, wanted: Sequence[int]) -> int:
        """The rows for which there is to be room. Raises InputError where they are more than may be."""
        most = max(wanted)
        if self._capacity is not None and (most <= self._capacity or not self._grows):
            if most > self._capacity:
                what = f"{most} rows of state do not fit a capacity of {self._capacity}"
                raise InputError(what, hint="reset the session, or make one with grow=True")
            return self._capacity
        held = [r.memory.shape[r.growth.axis] for r in self._rows.values() if r.memory is not None]
        room = max([self._capacity or FIRST_ROOM, *held])
        while room < most:
            room *= 2
        return room
