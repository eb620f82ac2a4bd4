"""The short way into a program of fixed shapes: what is the same in every call is made once.

A call of a small model is as long as its way in, and that of a larger one has pushed Python out of the caches: each
function and attribute on the way is fetched from memory again (25 us in all where it takes 6 in a loop of its own). So
here it is one function, which looks at each input once, takes fresh arrays for the results and fills in their
addresses; whatever is not as declared goes the long way, which says what is wrong.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from lamina.backends.cpu.runtime.layout import STATUS_WORDS
from lamina.dialects.aligned_arrays import ALIGNMENT, aligned_bytes
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.runtime.ports import SIZE
from lamina.runtime.program import ThreadPool

if TYPE_CHECKING:
    from lamina.runtime.fork_lock import ForkLock
    from lamina.runtime.ports import Port
    from lamina.runtime.program import Failure, Program
    from lamina.runtime.program_info import ProgramInfo, WorkingMemory

    Array = np.ndarray[Any, np.dtype[Any]]


def _address_reader() -> Callable[[Array], int]:
    """Return a function that gives the address of an array's first element.

    `ctypes.data` and `__array_interface__` make objects that hold all else there is to say of an array. NumPy's C API
    fixes where the pointer is: `PyArrayObject` is an object's head, then `char *data`.
    """
    head, word = object.__basicsize__, ctypes.c_size_t.from_address

    def read(array: Array) -> int:
        return word(id(array) + head).value

    def ask(array: Array) -> int:
        return int(array.ctypes.data)

    probe = np.empty(3)[1:]
    return read if read(probe) == ask(probe) else ask


address_of = _address_reader()


def _is_compact(array: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> TypeGuard[Array]:
    """Whether it is an array of this type and shape, its elements one behind the other."""
    return type(array) is np.ndarray and array.dtype == dtype and array.shape == shape and array.flags.c_contiguous


class _Lane:
    """The memory and the threads of one call at a time."""

    def __init__(
        self,
        arena: int,
        pool: ThreadPool,
        ports: int,
        params: Sequence[int],
        memory: Array | None,
        places: int = 0,
    ) -> None:
        """`memory` is what `arena` is the address of, where nobody else holds it; there are so many places in working
        memory."""
        self.pool = pool
        self.status = (ctypes.c_int64 * STATUS_WORDS)()
        self.bases = (ctypes.c_void_p * (2 + ports + len(params) + places))(
            ctypes.addressof(self.status), arena, *[None] * ports, *params, *[None] * places
        )
        self._memory = memory
        self._working: Array | None = None
        self._laid: WorkingMemory | None = None

    def hold(self, working: WorkingMemory) -> None:
        """Have so much working memory; it grows by a quarter at least, and stays as large as it was once."""
        if working is self._laid:
            return
        self._laid = None
        if self._working is None or self._working.nbytes < working.size:
            had = 0 if self._working is None else self._working.nbytes
            self._working = None  # goes before there is more
            self._working = aligned_bytes(max(working.size, had + had // 4, ALIGNMENT))
        start = address_of(self._working)
        self.bases[len(self.bases) - len(working.offsets) :] = [start + offset for offset in working.offsets]
        self._laid = working


class DirectCall:
    """The calls of one program. Those at the same time have memory and threads of their own: a lane each."""

    def __init__(
        self,
        info: ProgramInfo,
        program: Program,
        pool: ThreadPool,
        lock: ForkLock,
        arena: int,
        params: Sequence[int],
    ) -> None:
        """`lock` is held while the program runs on `arena` and `pool`; `arena` and `params` are addresses."""
        self._inputs = [(p.name, numpy_dtype(p.dtype), p.shape) for p in info.inputs if p.dtype != SIZE]
        self._outputs = [(p.name, numpy_dtype(p.dtype), p.shape) for p in info.outputs]
        self._params, self._ports = params, len(info.inputs) + len(info.outputs)
        self._places = len(info.places)
        self._lane = _Lane(arena, pool, self._ports, params, None, self._places)
        self._others: list[_Lane] = []
        """Lanes that no call is in, beside that of the program's own memory."""
        self._info, self._program, self._lock = info, program, lock

    @staticmethod
    def fits(ports: Sequence[Port]) -> bool:
        """Whether all are tensors of known shape."""
        return all(p.extents is None and p.dtype not in ("", SIZE) for p in ports)

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Array] | None:
        """The results by name where `inputs` is a dict of arrays just as declared; else None, and nothing has run."""
        if not isinstance(inputs, dict) or len(inputs) != len(self._inputs):
            return None
        arrays: list[Array] = []
        for name, dtype, shape in self._inputs:
            array = inputs.get(name)
            if not _is_compact(array, dtype, shape):
                return None
            arrays.append(array)
        results: dict[str, Array] = {}
        for name, dtype, shape in self._outputs:
            array = results[name] = np.empty(shape, dtype)
            arrays.append(array)
        self._run(arrays)
        return results

    def into(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
        """Run and write into the outputs, where all are arrays just as declared, and none of those that are written
        has memory of another; else False, and nothing has run."""
        arrays = [*inputs, *outputs]
        declared = [*self._inputs, *self._outputs]
        if len(inputs) != len(self._inputs) or len(arrays) != len(declared):
            return False
        spans: list[tuple[int, int]] = []
        for (_, dtype, shape), array in zip(declared, arrays, strict=True):
            if not _is_compact(array, dtype, shape):
                return False
            start = address_of(array)
            end = start + array.nbytes
            if len(spans) >= len(inputs):
                if not array.flags.writeable or any(start < e and s < end for s, e in spans):
                    return False
            spans.append((start, end))
        self._run(arrays)
        return True

    def _run(self, arrays: Sequence[Array]) -> None:
        """All entries of the program on its inputs and outputs, in this order. Raises InputError as kernels do."""
        self.on_addresses([address_of(a) for a in arrays], ())

    def on_addresses(self, inputs: Sequence[int], outputs: Sequence[int], working: WorkingMemory | None = None) -> None:
        """The same on the addresses of their first elements, with the memory to work in, where there are workspaces.

        Nothing is checked. Raises InputError as kernels do.
        """
        lock = self._lock.lock
        if lock.acquire(False):
            try:
                failure = self._run_in(self._lane, inputs, outputs, working)
            finally:
                if lock.locked():  # not in the child of a fork
                    lock.release()
        else:
            try:
                lane = self._others.pop()
            except IndexError:
                lane = self._new_lane()
            try:
                failure = self._run_in(lane, inputs, outputs, working)
            finally:
                self._others.append(lane)
        self._info.check(failure)

    def drop_lanes(self) -> None:
        """Let the memory and the threads go of calls at the same time as others."""
        self._others.clear()

    def _run_in(
        self, lane: _Lane, inputs: Sequence[int], outputs: Sequence[int], working: WorkingMemory | None
    ) -> Failure | None:
        program, bases = self._program, lane.bases
        if working is not None:
            lane.hold(working)
        bases[2 : 2 + len(inputs) + len(outputs)] = [*inputs, *outputs]
        failure = program.run_on(bases, lane.status, lane.pool, 0, program.entries)
        if failure is not None:
            lane.status[:2] = 0, 0
        return failure

    def _new_lane(self) -> _Lane:
        """A lane for a call that finds all others taken."""
        first = self._lane.pool
        memory = aligned_bytes(max(self._info.fixed_memory(first.threads), ALIGNMENT))
        pool = ThreadPool(first.threads, first.spins)
        return _Lane(int(memory.ctypes.data), pool, self._ports, self._params, memory, self._places)
