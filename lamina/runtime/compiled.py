"""A module of the llvm level, compiled and loaded: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.errors import InputError
from lamina.passes.stair.program import entry_labels
from lamina.runtime.program import Program, ThreadPool

if TYPE_CHECKING:
    from lamina.backends.cpu.jit import JitLibrary
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import TargetAttr

    Array = np.ndarray[Any, np.dtype[Any]]

ALIGNMENT = 64


@dataclass(frozen=True)
class Port:
    """An input or output: name, shape and numpy dtype name."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    def describe(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class ProgramInfo:
    """What the module attribute `lamina.program` says."""

    name: str
    arena: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    params: tuple[Attribute, ...]
    entries: tuple[str, ...]
    messages: tuple[str, ...] = ()
    """What the codes 1, 2, ... say that a kernel may leave in the status block."""

    @staticmethod
    def of(module: ModuleOp) -> ProgramInfo:
        attr = module.attributes.get("lamina.program")
        if not isinstance(attr, DictionaryAttr):
            raise InputError("the module has no 'lamina.program'; only what tir-to-llvm makes of @main can run")
        data: dict[str, Any] = dict(attr.data)
        return ProgramInfo(
            data["name"].data,
            data["arena"].value.data,
            tuple(_port(p) for p in data["inputs"]),
            tuple(_port(p) for p in data["outputs"]),
            tuple(data["params"]),
            tuple(entry_labels(module, data["name"].data)),
            tuple(m.data for m in data.get("messages", ())),
        )


def _port(attr: Any) -> Port:
    name, type_ = attr.data["name"], attr.data["type"]
    assert isinstance(name, StringAttr) and type(type_) is MemRefType
    return Port(name.data, type_.get_shape(), dtype_name(type_.element_type))


def aligned_bytes(size: int) -> Array:
    """Memory of the process at an address that vector loads like."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def aligned(array: Array) -> Array:
    """The array itself where it is contiguous and aligned, else a copy that is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = aligned_bytes(max(array.nbytes, 1))[: array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class CompiledProgram:
    """A program ready to run. Calls from several threads take turns."""

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
        self.arena = aligned_bytes(max(info.arena, ALIGNMENT))
        import threading

        self._lock = threading.Lock()

    def check(self, inputs: Mapping[str, Any]) -> list[Array]:
        """The inputs in order, each as declared. Raises LaminaError for a wrong name, dtype, rank or shape."""
        return check_inputs(self.info.inputs, inputs)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """One inference."""
        arrays = self.check(inputs)
        outputs = self.outputs()
        with self._lock:
            self._run(self.bases(arrays, outputs))
        return {p.name: o for p, o in zip(self.info.outputs, outputs, strict=True)}

    def outputs(self) -> list[Array]:
        return [np.empty(p.shape, numpy_dtype(p.dtype)) for p in self.info.outputs]

    def bases(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[int]:
        """The base pointers after the status block, in the program table's order."""
        return [self.arena.ctypes.data, *(a.ctypes.data for a in [*inputs, *outputs, *self.params])]

    def _run(self, bases: list[int], first: int = 0, last: int | None = None) -> None:
        failure = self.program.run(bases, self.pool, first, last)
        if failure is not None:
            what = self.info.messages[failure.code - 1]
            raise InputError(what, where=f"node {self.info.entries[failure.entry]!r}")

    def time_entries(self, inputs: Mapping[str, Any], repeats: int) -> list[list[float]]:
        """Seconds of each program entry, once for every repeat."""
        from time import perf_counter

        arrays, outputs = self.check(inputs), self.outputs()
        bases = self.bases(arrays, outputs)
        times: list[list[float]] = [[] for _ in self.info.entries]
        with self._lock:
            for _ in range(repeats):
                for n, found in enumerate(times):
                    start = perf_counter()
                    self._run(bases, n, n + 1)
                    found.append(perf_counter() - start)
        return times


def check_inputs(ports: Sequence[Port], inputs: Mapping[str, Any]) -> list[Array]:
    """Arrays in the order of the ports. Raises LaminaError for a wrong name, dtype, rank or shape."""
    from lamina.errors import did_you_mean

    names = [p.name for p in ports]
    for name in inputs:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
            raise InputError("the model has no such input", where=f"input {name!r}", hint=hint)
    arrays: list[Array] = []
    for p in ports:
        where = f"input {p.name!r}"
        if p.name not in inputs:
            raise InputError(f"missing; expected {p.describe()}", where=where)
        array = np.asarray(inputs[p.name])
        if array.dtype != numpy_dtype(p.dtype):
            given = array.dtype.name if array.dtype.isnative else f"byte-swapped {array.dtype.name}"
            raise InputError(f"{given} given, {p.dtype} expected", where=where, hint="convert it with astype")
        if array.ndim != len(p.shape):
            raise InputError(f"rank {array.ndim} given, expected {p.describe()}", where=where)
        if array.shape != p.shape:
            raise InputError(f"shape {list(array.shape)} given, expected {p.describe()}", where=where)
        arrays.append(np.ascontiguousarray(array))
    return arrays


def load_module(
    module: ModuleOp,
    store: ParamStore | None,
    target: TargetAttr | None = None,
    cache: ObjectCache | None = None,
    workers: int | None = None,
) -> CompiledProgram:
    """Compile a module of the llvm level for a target (its own, else this machine) and load it."""
    from lamina.backends.cpu.compile_kernels import KernelCompiler
    from lamina.backends.cpu.emit import emit_kernels
    from lamina.backends.cpu.jit import host_target, load_objects
    from lamina.dialects.target import module_target

    target = target or module_target(module) or host_target(1)
    info = ProgramInfo.of(module)
    with KernelCompiler(target, workers, cache) as compiler:
        for name, text in emit_kernels(module, target):
            compiler.submit(name, text)
        objects = compiler.result()
    library = load_objects(objects.values())
    from lamina.dialects.relay.params import ParamStore

    params = [(store or ParamStore()).get(p) for p in info.params]  # type: ignore[arg-type]
    return CompiledProgram(info, library, params, target.threads.data, cache)


def run_llvm_module(module: ModuleOp, ctx: Any, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Run `@main` of a module of the llvm level."""
    return load_module(module, getattr(ctx, "params", None)).run(inputs)
