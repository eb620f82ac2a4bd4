"""A module of the llvm level, compiled and loaded: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from lamina.dialects.aligned_arrays import ALIGNMENT, aligned
from lamina.dialects.aligned_arrays import aligned_bytes as aligned_bytes
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, linear_text
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, LaminaError
from lamina.interpreters.external import ExternalCall, ExternalFunction, LoadedCall, load_calls
from lamina.runtime.direct_call import DirectCall
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.program import Failure, Program, ThreadPool
from lamina.runtime.program_file import StoredProgram

if TYPE_CHECKING:
    from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
    from xdsl.ir import Attribute

    from lamina.backends.cpu.jit import JitLibrary
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.index.index_map import IndexMap
    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import TargetAttr
    from lamina.runtime.trace import TracedProgram

    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Port:
    """An input or output: name, shape and numpy dtype name."""

    name: str
    shape: tuple[int, ...]
    """DYNAMIC_INDEX stands for an extent that is known only when the program runs."""
    dtype: str
    extents: IndexMap | None = None
    """The extents over the program's sizes, where one of them is unknown."""

    def describe(self, sizes: Sequence[str] = ()) -> str:
        if self.extents is None:
            return f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        return f"{self.dtype}[{', '.join(linear_text(e, lambda d: sizes[cast(int, d)]) for e in self.extents.results)}]"

    def shape_for(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The shape for given sizes."""
        if self.extents is None:
            return self.shape
        values: dict[Atom, int] = dict(enumerate(sizes))
        return tuple(e.evaluate(values) for e in self.extents.results)


PROGRAM = "lamina.program"
"""The module attribute that says what a program takes and gives."""
SIZE = "index"
"""The dtype of a port that is a size."""


@dataclass(frozen=True)
class ProgramInfo:
    """The program as the module attribute `lamina.program` describes it."""

    name: str
    arena: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    params: tuple[Attribute, ...]
    entries: tuple[str, ...]
    """The label of each row: the model's nodes that it computes."""
    messages: tuple[str, ...] = ()
    """The messages of the codes 1, 2, ... that a kernel may leave in the status block."""
    workspaces: tuple[Port, ...] = ()
    """Buffers to work in whose size depends on the program's sizes."""
    external: tuple[ExternalFunction, ...] = ()
    """The functions that external backends run."""
    calls: tuple[ExternalCall, ...] = ()
    """The entries that call them, in order."""
    entry_calls: tuple[int, ...] = ()
    """The number of the program's call that each entry belongs to."""

    @property
    def sizes(self) -> list[str]:
        """The names of the sizes."""
        return [p.name for p in self.inputs if p.dtype == SIZE]

    def check(self, failure: Failure | None) -> None:
        """Raise InputError for what a kernel reported, if it did."""
        if failure is not None:
            what = self.messages[failure.code - 1]
            raise InputError(what, where=f"node {self.entries[failure.entry]!r}")

    def plain(self) -> dict[str, Any]:
        """All but the constants as plain values, of a program without sizes."""
        return {
            "name": self.name,
            "arena": self.arena,
            "inputs": [[p.name, list(p.shape), p.dtype] for p in self.inputs],
            "outputs": [[p.name, list(p.shape), p.dtype] for p in self.outputs],
            "entries": list(self.entries),
            "messages": list(self.messages),
            "entry_calls": list(self.entry_calls),
            **({"external": [f.plain() for f in self.external]} if self.external else {}),
            **({"calls": [c.plain() for c in self.calls]} if self.calls else {}),
        }

    @staticmethod
    def from_plain(data: Mapping[str, Any]) -> ProgramInfo:
        """The other way round."""
        inputs, outputs = (
            tuple(Port(name, tuple(shape), dtype) for name, shape, dtype in data[side])
            for side in ("inputs", "outputs")
        )
        external = tuple(ExternalFunction.from_plain(f) for f in data.get("external", ()))
        calls = tuple(ExternalCall.from_plain(c) for c in data.get("calls", ()))
        entries, messages = tuple(data["entries"]), tuple(data.get("messages", ()))
        of_entries = tuple(data.get("entry_calls", range(len(entries))))
        what = (data["name"], data["arena"], inputs, outputs, (), entries, messages, (), external, calls)
        return ProgramInfo(*what, entry_calls=of_entries)

    @staticmethod
    def of(module: ModuleOp) -> ProgramInfo:
        # What was compiled before is loaded without any IR.
        from xdsl.dialects.builtin import DictionaryAttr, StringAttr

        from lamina.passes.tir_to_llvm.program import entry_calls, entry_labels

        attr = module.attributes.get(PROGRAM)
        if not isinstance(attr, DictionaryAttr):
            raise InputError(f"the module has no {PROGRAM!r}; only what tir-to-llvm makes of @main can run")
        name = attr.data["name"]
        assert isinstance(name, StringAttr)
        calls = entry_calls(module, name.data)
        return ProgramInfo.of_attribute(attr, entry_labels(module, name.data), calls)

    @staticmethod
    def of_attribute(attr: DictionaryAttr, labels: list[str], entry_calls: Sequence[int] = ()) -> ProgramInfo:
        """Read the attribute of a program whose entries have these labels and belong to these calls."""
        data: dict[str, Any] = dict(attr.data)
        external = tuple(ExternalFunction.of(f) for f in data.get("external", ()))
        calls = tuple(ExternalCall.of(c) for c in data.get("calls", ()))
        for call in calls:
            # Without a node of the model it is the function that says what the entry is.
            labels[call.entry] = labels[call.entry] or external[call.function].name
        return ProgramInfo(
            data["name"].data,
            data["arena"].value.data,
            tuple(_port(p) for p in data["inputs"]),
            tuple(_port(p) for p in data["outputs"]),
            tuple(data["params"]),
            tuple(labels),
            tuple(m.data for m in data.get("messages", ())),
            tuple(_port(w) for w in data.get("workspaces", ())),
            external,
            calls,
            tuple(entry_calls) or tuple(range(len(labels))),
        )


def _port(attr: Any) -> Port:
    from xdsl.dialects.builtin import IndexType, MemRefType, StringAttr

    from lamina.dialects.dtypes import dtype_name
    from lamina.dialects.index.index_map import IndexMapAttr

    name, type_, shape = attr.data.get("name", StringAttr("workspace")), attr.data["type"], attr.data.get("shape")
    assert isinstance(name, StringAttr)
    if isinstance(type_, IndexType):
        return Port(name.data, (), SIZE)
    assert type(type_) is MemRefType
    extents = shape.data if isinstance(shape, IndexMapAttr) else None
    return Port(name.data, type_.get_shape(), dtype_name(type_.element_type), extents)


def by_name(ports: Sequence[Port], arrays: Sequence[Any]) -> dict[str, Any]:
    """Arrays in the order of ports, by the names of these. Raises InputError for another number of them."""
    if len(arrays) != len(ports):
        names = ", ".join(f"{p.name}: {p.describe()}" for p in ports)
        raise InputError(f"{len(arrays)} arrays given, {len(ports)} expected", hint=f"inputs are {names}")
    return {p.name: a for p, a in zip(ports, arrays, strict=True)}


class Memory(NamedTuple):
    """Bytes that a program holds, besides its code, its inputs and its outputs."""

    arena: int
    """Bytes that kernels hand on to others or work in: the most that is needed at one time, or little more."""
    weights: int

    def __str__(self) -> str:
        return f"{self.arena / 1e6:.1f} MB to work in, {self.weights / 1e6:.1f} MB of weights"


class CompiledProgram:
    """A program ready to run.

    Calls from several threads run at the same time where all shapes are known and no external backend takes part; else
    they take turns.
    """

    def __init__(
        self,
        info: ProgramInfo,
        library: JitLibrary,
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
        self.arena = aligned_bytes(max(info.arena, ALIGNMENT))
        self._arena_base = self.arena.ctypes.data
        self._param_bases = [p.ctypes.data for p in self.params]
        self._workspaces: list[Array] = []
        self._calls: list[LoadedCall] = load_calls(info.external, info.calls, self.params, self.pool.threads)
        # The order of the base pointers is that of `bases`.
        fixed = not self._calls and not info.workspaces and DirectCall.fits((*info.inputs, *info.outputs))
        what = info, self.program, self.pool, self.lock, self._arena_base, self._param_bases
        self.direct = DirectCall(*what) if fixed else None
        """The short way in, where all shapes are known and no external backend takes part."""
        self.traced: TracedProgram | None = None
        """While runs are being traced (`lamina.runtime.trace`)."""

    @property
    def memory(self) -> Memory:
        """Of the kernels and the constants; what depends on sizes is not counted."""
        return Memory(self.info.arena, sum(p.nbytes for p in self.params))

    def check(self, inputs: Mapping[str, Any]) -> list[Array]:
        """The inputs in order, each as declared. Raises LaminaError for a wrong name, dtype, rank or shape."""
        return check_inputs(self.info.inputs, inputs)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """One inference."""
        results = self.direct(inputs) if self.direct is not None else None
        if results is not None:
            return results
        arrays = self.check(inputs)
        outputs = self.outputs(arrays)
        bases = self.bases(arrays, outputs)
        with self.lock:
            self.run_on(bases)
        return {p.name: o for p, o in zip(self.info.outputs, outputs, strict=True)}

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
        if self.info.workspaces:
            sizes = self.sizes(inputs)
            self._workspaces = [
                aligned_bytes(max(prod(w.shape_for(sizes)), 1) * numpy_dtype(w.dtype).itemsize)
                for w in self.info.workspaces
            ]
        given = [a.ctypes.data for a in (*inputs, *outputs)]
        return [self._arena_base, *given, *self._param_bases, *(w.ctypes.data for w in self._workspaces)]

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


def check_inputs(ports: Sequence[Port], inputs: Mapping[str, Any]) -> list[Array]:
    """Arrays in the order of the ports. Raises LaminaError for a wrong name, dtype, rank or shape."""
    from lamina.errors import did_you_mean

    names = [p.name for p in ports]
    for name in inputs:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
            raise InputError("the model has no such input", where=f"input {name!r}", hint=hint)
    arrays: list[Array] = []
    sizes = infer_sizes(ports, inputs)
    size_names = list(sizes)
    for p in ports:
        where = f"input {p.name!r}"
        if p.dtype == SIZE:
            arrays.append(np.asarray(sizes[p.name], np.int64))
            continue
        if p.name not in inputs:
            raise InputError(f"missing; expected {p.describe(size_names)}", where=where)
        array = np.asarray(inputs[p.name])
        if array.dtype != numpy_dtype(p.dtype):
            given = array.dtype.name if array.dtype.isnative else f"byte-swapped {array.dtype.name}"
            raise InputError(f"{given} given, {p.dtype} expected", where=where, hint="convert it with astype")
        if array.ndim != len(p.shape):
            raise InputError(f"rank {array.ndim} given, expected {p.describe(size_names)}", where=where)
        if array.shape != p.shape_for(list(sizes.values())):
            known = ", ".join(f"{n} = {v}" for n, v in sizes.items())
            expected = p.describe(size_names) + (f" with {known}" if known else "")
            raise InputError(f"shape {list(array.shape)} given, expected {expected}", where=where)
        # ascontiguousarray would make rank 1 of rank 0.
        arrays.append(np.asarray(array, order="C"))
    return arrays


def infer_sizes(ports: Sequence[Port], inputs: Mapping[str, Any]) -> dict[str, int]:
    """The program's sizes: as given, else from the first array that has one as an extent of its own.

    Raises InputError for a size that no array tells, and for one that is no number from 0 on.
    """
    names = [p.name for p in ports if p.dtype == SIZE]
    found: dict[str, int] = {}
    for n, name in enumerate(names):
        if name in inputs:
            value = np.asarray(inputs[name])
            if value.shape != () or value.dtype.kind not in "iu":
                raise InputError("a size is one integer", where=f"input {name!r}")
            found[name] = int(value)
        for p in ports:
            array = inputs.get(p.name)
            if name in found or p.extents is None or array is None:
                continue
            shape = np.shape(array)
            if len(shape) == len(p.extents.results) and Linear.dim(n) in p.extents.results:
                found[name] = shape[p.extents.results.index(Linear.dim(n))]
        if name not in found:
            raise InputError("no array tells this size; give it as an integer", where=f"input {name!r}")
        if not 0 <= found[name] <= MAX_EXTENT:
            raise InputError(f"{found[name]} is no size", where=f"input {name!r}")
    return found


def compile_module(
    module: ModuleOp,
    store: ParamStore | None,
    target: TargetAttr | None = None,
    cache: ObjectCache | None = None,
    workers: int | None = None,
) -> tuple[ProgramInfo, StoredProgram]:
    """Compile a module of the llvm level for a target: its own, else this machine."""
    from lamina.backends.cpu.compile_kernels import KernelCompiler
    from lamina.backends.cpu.jit import host_target
    from lamina.backends.llvm.emit import emit_kernels
    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import module_target

    target = target or module_target(module) or host_target(1)
    info = ProgramInfo.of(module)
    with KernelCompiler(target, workers, cache) as compiler:
        for name, text in emit_kernels(module, target):
            compiler.submit(name, text)
        objects = compiler.result()
    params = tuple(aligned((store or ParamStore()).get(p)) for p in info.params)  # type: ignore[arg-type]
    return info, StoredProgram({**info.plain(), "threads": target.threads.data}, objects, params)


def load_program(
    stored: StoredProgram, cache: ObjectCache | None = None, info: ProgramInfo | None = None
) -> CompiledProgram:
    """Load a compiled program into this process. `info` is what is known of one that has sizes."""
    from lamina.backends.cpu.link import load_objects

    library = load_objects(stored.objects.values())
    info = info or ProgramInfo.from_plain(stored.description)
    return CompiledProgram(info, library, stored.params, stored.description["threads"], cache)


def load_module(
    module: ModuleOp,
    store: ParamStore | None,
    target: TargetAttr | None = None,
    cache: ObjectCache | None = None,
    workers: int | None = None,
) -> CompiledProgram:
    """Compile a module of the llvm level for a target (its own, else this machine) and load it.

    Raises InputError where its code cannot run here.
    """
    from lamina.dialects.target import module_target
    from lamina.ir.targets import check_host

    if target := target or module_target(module):
        check_host(target)
    info, stored = compile_module(module, store, target, cache, workers)
    return load_program(stored, cache, info)


def run_llvm_module(module: ModuleOp, ctx: Any, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Run `@main` of a module of the llvm level."""
    return load_module(module, getattr(ctx, "params", None)).run(inputs)
