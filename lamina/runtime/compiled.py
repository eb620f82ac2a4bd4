"""Compiled programs in this process: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.dialects.aligned_arrays import ALIGNMENT, aligned, aligned_bytes
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, LaminaError
from lamina.runtime.direct_call import DirectCall, address_of
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.given_arrays import check_names, copied_outputs, given_outputs
from lamina.runtime.machine_code import CodeLibrary, load_objects
from lamina.runtime.ports import SIZE, check_inputs
from lamina.runtime.program import Program, ThreadPool
from lamina.runtime.program_file import StoredProgram
from lamina.runtime.program_info import ProgramInfo
from lamina.runtime.sized_call import SizedCall

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.interpreters.external import LoadedCall
    from lamina.runtime.ports import Port
    from lamina.runtime.trace import TracedProgram

    Array = np.ndarray[Any, np.dtype[Any]]


class Memory(NamedTuple):
    """Bytes that a program holds, besides its code, its inputs and its outputs."""

    arena: int
    """Bytes that kernels hand on to others or work in, each thread its own part: the most that is needed at one time,
    or little more."""
    weights: int
    workspaces: tuple[Port, ...] = ()
    """The same of what depends on sizes."""

    def __str__(self) -> str:
        sized = "".join(f" and {w.extents.product()} bytes" for w in self.workspaces if w.extents is not None)
        return f"{self.arena / 1e6:.1f} MB{sized} to work in, {self.weights / 1e6:.1f} MB of weights"


class CompiledProgram:
    """A program ready to run.

    Calls from several threads run at the same time where all shapes are known and no external backend takes part; else
    they take turns.
    """

    def __init__(
        self,
        info: ProgramInfo,
        library: CodeLibrary,
        params: Sequence[Array],
        threads: int | None = None,
        cache: ObjectCache | None = None,
    ) -> None:
        self.info = info
        self.params = [aligned(p) for p in params]
        self.program = Program(library, info.name, len(info.entries), cache)
        self.pool = ThreadPool(threads)
        self.lock = ForkLock()
        """Held while it runs."""
        self.arena = aligned_bytes(max(info.fixed_memory(self.pool.threads), ALIGNMENT))
        self._arena_base = self.arena.ctypes.data
        self._param_bases = [p.ctypes.data for p in self.params]
        self._working: Array | None = None
        self._calls: list[LoadedCall] = []
        if info.calls:
            from lamina.interpreters.external import load_calls

            self._calls = load_calls(info.external, info.calls, self.params, self.pool.threads)
        # The order of the base pointers is that of `bases`.
        fixed = not self._calls and not info.workspaces and DirectCall.fits((*info.inputs, *info.outputs))
        what = info, self.program, self.pool, self.lock, self._arena_base, self._param_bases
        self.direct = DirectCall(*what) if fixed else None
        """The short way in, where all shapes are known and no external backend takes part."""
        self.sized = SizedCall(info, DirectCall(*what)) if not self._calls and SizedCall.fits(info) else None
        """The short way in, where inputs tell the sizes."""
        self.traced: TracedProgram | None = None
        """While runs are being traced (`lamina.runtime.trace`)."""

    @property
    def memory(self) -> Memory:
        """Of the kernels and the constants."""
        return Memory(
            self.info.fixed_memory(self.pool.threads), sum(p.nbytes for p in self.params), self.info.workspaces
        )

    def check(self, inputs: Mapping[str, Any]) -> list[Array]:
        """The inputs in order, each as declared. Raises LaminaError for a wrong name, dtype, rank or shape."""
        return check_inputs(self.info.inputs, inputs)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """One inference."""
        short = self.direct or self.sized
        results = short(inputs) if short is not None else None
        if results is not None:
            return results
        arrays = self.check(inputs)
        outputs = self.outputs(arrays)
        bases = self.bases(arrays, outputs)
        with self.lock:
            self.run_on(bases)
        return {p.name: o for p, o in zip(self.info.outputs, outputs, strict=True)}

    def run_out(self, inputs: Mapping[str, Any], out: Mapping[str, Array]) -> dict[str, Array]:
        """One inference into the arrays of `out`, where it has them. Raises InputError for arrays that do not fit."""
        arrays = self.check(inputs)
        if self.direct is None:
            check_names(self.info.outputs, out)
            return copied_outputs(self.run(inputs), out)
        results = given_outputs(self.info.outputs, out, arrays)
        self.direct.on_addresses([address_of(a) for a in arrays], [address_of(r) for r in results])
        return {p.name: r for p, r in zip(self.info.outputs, results, strict=True)}

    def close(self) -> None:
        """End the threads; the next run starts others."""
        self.pool.end()
        short = self.direct or self.sized
        if short is not None:
            short.drop_lanes()

    def run_into(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run on checked inputs and write into contiguous outputs of the right types and shapes."""
        bases = self.bases(inputs, outputs)
        with self.lock:
            self.run_on(bases)

    def sizes(self, inputs: Sequence[Array]) -> list[int]:
        """The sizes among checked inputs."""
        return [int(a) for p, a in zip(self.info.inputs, inputs, strict=True) if p.dtype == SIZE]

    def outputs(self, inputs: Sequence[Array]) -> list[Array]:
        """Arrays for the results, as large as the inputs ask for."""
        sizes = self.sizes(inputs)
        return [np.empty(p.shape_for(sizes), numpy_dtype(p.dtype)) for p in self.info.outputs]

    def bases(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[int]:
        """The base pointers after the status block, in the program table's order.

        They hold as long as the arrays, and until the next call of this method.
        """
        places: list[int] = []
        if self.info.workspaces:
            working = self.info.working_memory(self.sizes(inputs))
            self._working = aligned_bytes(max(working.size, ALIGNMENT))
            places = [self._working.ctypes.data + offset for offset in working.offsets]
        given = [a.ctypes.data for a in (*inputs, *outputs)]
        return [self._arena_base, *given, *self._param_bases, *places]

    def run_on(self, bases: list[int], first: int = 0, last: int | None = None) -> None:
        """Run entries [first, last) on base pointers, with the lock held."""
        end = len(self.info.entries) if last is None else last
        for call in self._calls:
            if first <= call.entry < end:
                if first < call.entry:
                    self._run_kernels(bases, first, call.entry)
                self._run_external(call, bases)
                first = call.entry + 1
        if first < end or not self._calls:
            self._run_kernels(bases, first, end)

    def _run_external(self, call: LoadedCall, bases: list[int]) -> None:
        start = perf_counter_ns()
        try:
            call.run(bases)
        except LaminaError:
            raise
        except Exception as e:
            said = " ".join(str(e).split())[:300]
            what = f"the external backend {call.compiler!r} failed: {type(e).__name__}: {said}"
            raise InputError(what, where=f"node {self.info.entries[call.entry]!r}") from e
        if self.traced is not None:
            self.traced.note_external(call.entry, start)

    def _run_kernels(self, bases: list[int], first: int, last: int) -> None:
        self.info.check(self.program.run(bases, self.pool, first, last))


def load_program(
    stored: StoredProgram, cache: ObjectCache | None = None, info: ProgramInfo | None = None
) -> CompiledProgram:
    """Load a compiled program into this process. `info` is what is known of one that has sizes."""
    info = info or ProgramInfo.from_plain(stored.description)
    library = load_objects(stored.objects.values(), Program.symbols(info.name))
    return CompiledProgram(info, library, stored.params, stored.description["threads"], cache)
