"""Times and threads of the kernels of a program: records that the machine code writes itself.

A program is a table of rows (`passes/tir_to_llvm/program.py`). A traced one is another table for the same code: every
row calls `lamina_traced` (`backends/cpu/trace.mlir`), which calls the kernel and notes the times around it. The pool
and the runner are the same, and a program that nobody traces pays nothing; a traced one some 1.5 us a slice.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.passes.tir_to_llvm.program import ROW
from lamina.runtime.machine_code import runtime_library
from lamina.runtime.program import Failure, Program, ThreadPool

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.runtime.compiled import CompiledProgram

    Array = np.ndarray[Any, np.dtype[Any]]

HEAD = 8
"""Words before the records, which have as many."""
KERNEL, EXTENT, GRAIN, FIRST, COUNT, LIMIT = range(6)
"""The columns of a row."""
COLUMNS = len(ROW.types.data)


class Slice(NamedTuple):
    """A kernel, or a part of its parallel loop, that one thread ran. Times are nanoseconds."""

    row: int
    thread: int
    """0 is the thread that runs the program, others count in the order in which they first appear."""
    first: int
    last: int
    """The iterations [first, last) of the parallel loop."""
    start: int
    end: int
    """By the monotonic clock, which `time.perf_counter_ns` reads too."""
    busy: int
    """By the thread's own clock: what the system ran in between does not count."""


class TracedProgram(Program):
    """A program whose rows note when they run."""

    def __init__(self, program: Program, bases: int, cache: ObjectCache | None = None) -> None:
        """`bases` is the number of base pointers that `run` is given."""
        self._library = program._library  # type: ignore[reportPrivateUsage]
        self._run = program._run  # type: ignore[reportPrivateUsage]
        self.entries = program.entries
        count = program.entries
        self._rows = _words(program._table, count * COLUMNS).reshape(count, COLUMNS)  # type: ignore[reportPrivateUsage]
        bindings = int((self._rows[:, FIRST] + self._rows[:, COUNT]).max(initial=0))
        given = _words(program._arguments, 2 * bindings).reshape(bindings, 2)  # type: ignore[reportPrivateUsage]
        self._descriptors = np.zeros((max(count, 1), 4), np.int64)
        self._descriptors[:count, 0] = self._rows[:, KERNEL]
        self._descriptors[:count, 2] = range(count)
        self._descriptors[:count, 3] = self._rows[:, LIMIT]
        # Behind the status block and the given bases comes that of the descriptors.
        own, made, behind = 1 + bases, list[Any](), 0
        for row, fields in enumerate(self._rows):
            first, last = int(fields[FIRST]), int(fields[FIRST] + fields[COUNT])
            fields[FIRST] = behind
            behind += 1 + last - first
            made.append(np.concatenate([[(own, row * self._descriptors.strides[0])], given[first:last]]))
        library = runtime_library("trace", cache)
        # A row without a kernel is the runner's to refuse, as ever.
        for column, name in ((KERNEL, "lamina_traced"), (LIMIT, "lamina_traced_limit")):
            self._rows[:, column] = np.where(self._rows[:, column] == 0, 0, library.address(name))
        self._rows[:, COUNT] += 1
        self._bindings = np.ascontiguousarray(np.concatenate(made) if made else np.zeros((1, 2)), np.int64)
        self._table, self._arguments = self._rows.ctypes.data, self._bindings.ctypes.data
        slices = -(-self._rows[:, EXTENT] // np.maximum(self._rows[:, GRAIN], 1))
        self._room(int(slices.sum()) + 64)
        self.external: list[tuple[int, int, int]] = []
        """Row, start and end of what external backends ran; whoever calls them notes it."""

    def _room(self, records: int) -> None:
        """Memory for so many records."""
        self._trace = np.zeros((records + 1) * HEAD, np.int64)
        self._trace[1] = records
        self._descriptors[:, 1] = self._trace.ctypes.data

    def run(
        self, bases: Sequence[int], pool: ThreadPool | None = None, first: int = 0, last: int | None = None
    ) -> Failure | None:
        return super().run([*bases, self._descriptors.ctypes.data], pool, first, last)

    def clear(self) -> None:
        """Forget what ran. Where the last records did not fit, there is room for twice as many now."""
        wanted = int(self._trace[0])
        if wanted > int(self._trace[1]):
            self._room(2 * wanted)
        self._trace[0] = 0
        self.external.clear()

    @property
    def complete(self) -> bool:
        """Whether there was room for every record."""
        return bool(self._trace[0] <= self._trace[1])

    def slices(self) -> list[Slice]:
        """The slices that have run since `clear`, in the order of their starts."""
        count = min(int(self._trace[0]), int(self._trace[1]))
        records: list[list[int]] = self._trace[HEAD : (1 + count) * HEAD].reshape(count, HEAD).tolist()
        threads: dict[int, int] = {_this_thread(): 0}
        found = [Slice(row, 0, 0, 1, start, end, end - start) for row, start, end in self.external]
        for row, thread, lo, hi, start, end, own_start, own_end in sorted(records, key=lambda r: r[4]):
            number = threads.setdefault(thread, len(threads))
            found.append(Slice(row, number, lo, hi, start, end, own_end - own_start))
        return sorted(found, key=lambda s: s.start)

    def note_external(self, row: int, start: int) -> None:
        """An external backend has run a row since `start`."""
        self.external.append((row, start, perf_counter_ns()))


def traced_runs(program: CompiledProgram, inputs: Mapping[str, Any], repeats: int) -> tuple[tuple[Slice, ...], ...]:
    """The slices of each of `repeats` runs of a program. Raises LaminaError for a wrong name, dtype, rank or shape."""
    arrays = program.check(inputs)
    outputs = program.outputs(arrays)
    bases = program.bases(arrays, outputs)
    found: list[tuple[Slice, ...]] = []
    with program.lock:
        plain = program.program
        program.program = program.traced = traced = TracedProgram(plain, len(bases))
        try:
            while len(found) < repeats:
                traced.clear()
                program.run_on(bases)
                if traced.complete:
                    found.append(tuple(traced.slices()))
        finally:
            program.program, program.traced = plain, None
    return tuple(found)


def _words(address: int, count: int) -> Array:
    """A copy of so many i64."""
    return np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(address)).copy()


def _this_thread() -> int:
    from threading import get_ident

    return get_ident()
