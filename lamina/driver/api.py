"""The Python interface: `load`, `compile`, and programs that run.

exe = lamina.compile("resnet50.onnx")       or a Relay text, "net.mlir"
y = exe(x)                                arrays in order
y = exe.run({"data_0": x})["prob_1"]      arrays by name
print(exe.profile({"data_0": x}).table())
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from lamina.backends.cpu.processors import available_threads
from lamina.driver.model import Model, Origin, Shapes, Source
from lamina.driver.open_extents import Beyond, Opened
from lamina.driver.settings import Settings
from lamina.driver.sources import Choice, Imports, answers_of, key_of, source_of, with_choices
from lamina.errors import ExtentError, UnsupportedError, UsageError
from lamina.ir.collector import quiet_gc
from lamina.ir.suffixes import is_c_source
from lamina.ir.targets import check_host, spec_of
from lamina.measure.kernel_profile import Profile, Recording, kernels_of
from lamina.measure.timing import Benchmark, random_inputs, repeated
from lamina.runtime.compiled import CompiledProgram, Memory, load_program
from lamina.runtime.given_arrays import as_array
from lamina.runtime.ports import Port
from lamina.runtime.program_file import StoredProgram
from lamina.runtime.runnable import HasPorts, Runnable
from lamina.runtime.session import KeptValue
from lamina.store.program_cache import ProgramCache, enabled, object_cache

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.choices import Question
    from lamina.dialects.target import TargetAttr
    from lamina.driver import artefact
    from lamina.driver.compilation import Compilation, Fresh
    from lamina.driver.compilation import Source as _Module
    from lamina.driver.exportable import ExportableProgram
    from lamina.driver.machine_program import MachineProgram
    from lamina.driver.open_model import OpenProgram
    from lamina.driver.pipelines import Progress
    from lamina.driver.stage_texts import StageTexts
    from lamina.runtime.grown_rows import InPlace
    from lamina.transform import PassContext

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["Benchmark", "Executable", "Model", "Port", "Profile", "compile", "export", "load"]


def load(
    source: Source,
    shapes: Shapes | None = None,
    max_tensor_bytes: int | None = None,
    states: Mapping[str, str] | None = None,
) -> Model:
    """Import an ONNX model from a path, bytes or a ModelProto; a Relay program from a .mlir file or a module.

    `shapes` gives an input's shape by its name, or the size of a named dimension; `max_tensor_bytes` is how large a
    tensor of an ONNX model may be, 16 GiB by default. `states` are outputs that go to inputs in the next run, by the
    names of these. Raises LaminaError.
    """
    return Model.of(Origin.of(source, shapes, max_tensor_bytes, states))


@quiet_gc()
def compile(
    model: Model | Source,
    target: str | TargetAttr = "cpu",
    shapes: Shapes | None = None,
    threads: int | None = None,
    opt_level: int | PassContext | None = None,
    progress: Progress | None = None,
    cache: bool = True,
    sanitize: bool = False,
    choices: Choice = None,
    numerics: str | None = None,
    records: str | os.PathLike[str] | None = None,
    states: Mapping[str, str] | None = None,
) -> Executable:
    """Compile a model for a target: `cpu` is this machine, with all its processors unless `threads` says otherwise.

    Its processors are those that affinity and the limits of control groups leave to this process.
    Before it may stand external backends, the preferred one first: in `openblas, cpu` OpenBLAS runs what it takes, and
    everything else is compiled as ever (`Executable.placement` says what and why).
    `opt_level` is 0 to 4, or a `lamina.transform.PassContext` that says which graph passes run; by default the current
    context, 3 outside of all. `progress(step, seconds, note)` is called after each step. With `cache` (and unless the
    environment says LAMINA_CACHE=off) a program that was compiled before comes from disk. With `sanitize` its kernels
    check their accesses while they run: bounds, elements that nothing has written, races. `choices` are what
    `lamina.tuning` has found to be faster than the default schedules: a choice file, or the answers by question.
    `records` is a file of measured schedules: kernels that have one there get the fastest of their work.
    `numerics` is "fast", or "exact" for sums that differ from the model's in their order alone: docs/numerics.md says
    what that leaves out. By default it is the context's, which is fast where it says nothing.

    A program with control flow, data or extents that only arrays tell is run by the virtual machine (`lamina.vm.vm`),
    which compiles as it meets shapes: it has no profile and no texts below Relay. An ONNX model whose extents are open
    is one program for all sizes, or for those of a range, `shapes={"seq": "1..512"}`. Where that cannot be,
    it is compiled for each shape that it meets, with a warning that says why. `states`
    are outputs that go to inputs in the next run, by the names of these: what grows by concatenation is added to where
    it lies (`Executable.session`). Raises LaminaError.
    """
    origin, fresh = source_of(model, shapes, states)
    settings = Settings.of(target, threads, opt_level, numerics, sanitize, records)
    check_host(settings.target)
    answers = answers_of(choices, settings.target)
    programs = ProgramCache() if enabled(cache) else None
    objects = object_cache(cache)
    key = key_of(origin, settings, answers) if programs is not None else ""
    # Instruments want to see the passes run.
    found = programs.load(key) if programs is not None and key and not settings.context.instruments else None
    wanted = with_choices(fresh, answers)
    stages = _stages(wanted, settings)
    if found is not None:
        return Executable(load_program(found, objects), stages, settings, found, cached=True).of_origin(origin, objects)
    compilation = _compilation(wanted, settings, progress, objects)
    made = _built(compilation, origin, fresh)
    if not isinstance(made, StoredProgram):
        if answers:
            what = f"choices are for models whose kernels have a fixed order; this one is {made.describe()}"
            raise UnsupportedError(what, hint="compile it without")
        return Executable(made, stages, settings)
    # What ops of a user mean is in no key.
    foreign = isinstance(fresh, Imports) and fresh.foreign
    kept = key and not foreign and origin.unchanged()
    with programs.storing(key, made) if programs is not None and kept else nullcontext():
        return Executable(load_program(made, objects), stages, settings, made).of_origin(origin, objects)


@quiet_gc()
def export(
    model: Model | Source,
    path: str | os.PathLike[str],
    target: str | TargetAttr = "cpu",
    *,
    name: str | None = None,
    threads: int | None = None,
    shapes: Shapes | None = None,
    numerics: str | None = None,
    opt_level: int | PassContext | None = None,
    choices: Choice = None,
    records: str | os.PathLike[str] | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    small: bool = False,
    linker: Sequence[str] | None = None,
) -> None:
    """Compile a model into a shared library with the C interface of `lamina.h`, for this machine or another.

    `name` is that of the net, by default the file's: the library has one symbol, `lamina_<name>`. What stood there is
    replaced. FILE.o and FILE.a are for a linker; FILE.wasm is a module of WebAssembly, for the target `wasm32` whether
    it is named or none is. FILE.dll and FILE.dylib are linked by `linker`, the words of a C compiler's command, by
    default by the package `ziglang`. FILE.c is C source for any machine and one thread, and with more than 16 MB of
    weights a file of these beside it. With `small` the file has the weights before packing enlarges them, and packs
    them when it is loaded. The other arguments are those of `compile`. Raises UnsupportedError for a model that has no
    kernels in a fixed order or calls external backends, for C source of open extents, and UsageError for what cannot be
    small.
    """
    from lamina.driver.c_source import export_source, exported_target
    from lamina.driver.export import ExportedFile, check_exported

    settings = Settings.of(exported_target(path, target, threads), threads, opt_level, numerics, False, records)
    check_exported(ExportedFile(path, name, linker), settings.target, small)
    if is_c_source(path):
        _, fresh = source_of(model, shapes)
        wanted = with_choices(fresh, answers_of(choices, settings.target))
        if not export_source(path, wanted, settings, name, progress):
            raise _not_fixed(path, " of known extents", "FILE.so")
        return
    made = exportable(model, replace(settings, small=small), shapes, choices, cache, progress)
    if made is None:
        raise _not_fixed(path)
    if small and not made.memory.weights:
        what = "a net without weights has none to pack"
        raise UsageError(what, where=str(path), hint="leave out --small (small=True)")
    made.export(path, name, linker=linker)


@quiet_gc()
def exportable(
    model: Model | Source,
    settings: Settings,
    shapes: Shapes | None = None,
    choices: Choice = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> ExportableProgram | None:
    """The program of a model as it is exported, for this machine or another; None without kernels in a fixed order.

    A small one is compiled anew: how its weights were packed is in no cache.
    """
    from lamina.driver.exportable import ExportableProgram

    origin, fresh = source_of(model, shapes)
    answers = answers_of(choices, settings.target)
    wanted = with_choices(fresh, answers)
    programs = ProgramCache() if enabled(cache) else None
    key = key_of(origin, settings, answers) if programs is not None else ""
    known = programs is not None and key and not settings.context.instruments and not settings.small
    made = programs.load(key) if programs is not None and known else None
    objects = object_cache(cache)
    if made is None:
        compilation = _compilation(wanted, settings, progress, objects)
        found = _built(compilation, origin, fresh)
        if not isinstance(found, StoredProgram):
            return None
        made = found
        foreign = isinstance(fresh, Imports) and fresh.foreign
        if programs is not None and key and not foreign and origin.unchanged():
            programs.store(key, made)
        if settings.small and not made.description.get("external"):
            from lamina.driver.packing import small_program

            made = small_program(compilation, made)
    return ExportableProgram(made, settings, _stages(wanted, settings), objects)


def _not_fixed(
    path: str | os.PathLike[str], known: str = "", other: str = "it for Python (FILE.lamina)"
) -> UnsupportedError:
    what = f"this model has no kernels in a fixed order{known}"
    return UnsupportedError(what, where=str(path), hint=f"give all shapes, or write {other}")


def _compilation(
    fresh: Fresh, settings: Settings, progress: Progress | None = None, objects: ObjectCache | None = None
) -> Compilation:
    """The compilation of a model; the compiler is imported here, so that only those who need it load it."""
    from lamina.dialects.lazy_formats import read_formats_late

    read_formats_late()
    from lamina.backends.cpu.runtime.modules import runtime_library
    from lamina.driver.compilation import Compilation

    # What runs the program is the same for all of them, and made before there is one.
    return Compilation(fresh, settings, objects, progress, partial(runtime_library, cache=objects))


def _built(compilation: Compilation, origin: Origin, fresh: Fresh) -> StoredProgram | MachineProgram | OpenProgram:
    from lamina.driver.compilation import build

    with Opened(compilation, origin, fresh, compile) as opened:
        opened.made = build(compilation)
    return opened.made


def texts(
    model: Model | Source, settings: Settings, shapes: Shapes | None = None, choices: Choice = None
) -> StageTexts:
    """The texts of a model at every level, also for a machine that is not this one; with `settings.small` those of the
    program that packs its weights."""
    _, fresh = source_of(model, shapes)
    fresh = with_choices(fresh, answers_of(choices, settings.target))
    if settings.small:
        from lamina.driver.packing import second_source

        fresh, settings = second_source(fresh, settings)
    return _stages(fresh, settings)()


def _stages(fresh: Fresh, settings: Settings) -> Callable[[], StageTexts]:
    """The texts of a model, made when first asked for: who only runs a program needs no compiler."""

    @cache
    def make() -> StageTexts:
        from lamina.driver.stage_texts import StageTexts

        return StageTexts(fresh, settings)

    return make


def questions(
    model: Model | Source,
    target: str | TargetAttr = "cpu",
    threads: int | None = None,
    opt_level: int | PassContext | None = None,
    numerics: str | None = None,
    choices: Choice = None,
) -> list[Question]:
    """The questions of a model that `choices` can answer, with their candidates, what these are expected to take, and
    the ones that are taken with some choices. Raises UnsupportedError for none."""
    from lamina.driver.compilation import Compilation, questions_of

    _, fresh = source_of(model, None)
    settings = Settings.of(target, threads, opt_level, numerics)
    return questions_of(Compilation(with_choices(fresh, answers_of(choices, settings.target)), settings))


class Executable(Runnable):
    """A compiled model.

    Calls from several threads run at the same time, each in memory and with threads of its own; where shapes are not
    known, the virtual machine runs the model or external backends take part, they take turns.
    """

    def __init__(
        self,
        program: CompiledProgram | MachineProgram | OpenProgram,
        texts: Callable[[], StageTexts],
        settings: Settings,
        stored: StoredProgram | None = None,
        cached: bool = False,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        self._program = program
        self._direct = program.direct if isinstance(program, CompiledProgram) else None
        self._stored = stored
        self._description = stored.description if stored is not None else {}
        self._texts = texts
        self._beyond: Beyond | None = None
        self._settings = settings
        self.opt_level = settings.context.opt_level
        self.context = settings.context
        """The context whose graph passes compiled it."""
        self.sanitize = settings.sanitize
        self.cached = cached
        """Whether the program came from the cache."""
        self.notes = dict(notes or {})
        """The notes that `save` kept with the program that this one was loaded from."""

    def of_origin(self, origin: Origin, objects: ObjectCache | None) -> Self:
        """The same, which compiles its model for sizes that it is not for, where users have ruled out none.

        `objects` is the cache of machine code, None for no caches.
        """
        assert self._stored is not None
        self._beyond = Beyond.of(self._stored, origin, self._settings, objects, compile)
        return self

    def described(self) -> HasPorts:
        return self._program.info

    @property
    def target(self) -> TargetAttr:
        """The machine that it was compiled for."""
        return self._settings.attr

    @property
    def threads(self) -> int:
        return self._settings.target.threads

    def run_on(self, inputs: Mapping[str, Any], out: Mapping[str, Array] | None) -> dict[str, Any]:
        results = self._direct(inputs) if self._direct is not None and out is None else None
        if results is not None:
            return results
        arrays = self._arrays(inputs)
        try:
            return self._program.run(arrays) if out is None else self._program.run_out(arrays, out)
        except ExtentError:
            if self._beyond is None:
                raise
        other = self._beyond.program()
        if isinstance(self._program, CompiledProgram):
            # The sizes may be given too; arrays tell them.
            arrays = {n: a for n, a in arrays.items() if n not in self._program.info.sizes}
        return other.run(arrays) if out is None else other.run_out(arrays, out)

    def close(self) -> None:
        self._program.close()
        if self._beyond is not None:
            self._beyond.close()

    def kept(self) -> list[KeptValue]:
        if isinstance(self._program, CompiledProgram):
            return [KeptValue.from_plain(v) for v in self._description.get("state", ())]
        return [KeptValue(*v) for v in self._program.state()]

    def in_place(self) -> InPlace | None:
        # Kernels that check their accesses want every element of a result written.
        return self._program.sized if isinstance(self._program, CompiledProgram) and not self.sanitize else None

    @property
    def takes_addresses(self) -> bool:
        """Whether `on_addresses` gives a function: not for shapes that only arrays tell, nor with external backends."""
        return self._direct is not None

    def on_addresses(self) -> Callable[[Sequence[int], Sequence[int]], None]:
        """A function that runs on the addresses of inputs and outputs, in order, and looks at none of them.

        Whoever calls it vouches for them: memory as the ports say, in order and aligned to its elements, that of the
        outputs apart. Raises UnsupportedError for a program whose shapes only arrays tell, or with external backends.
        """
        if self._direct is None:
            raise UnsupportedError("the program takes arrays only", hint="call it on arrays")
        return self._direct.on_addresses

    def benchmark(
        self, inputs: Mapping[str, Any] | None = None, repeats: int | None = None, seconds: float = 3.0
    ) -> Benchmark:
        """The time of a run, `repeats` times or for some seconds; random inputs where none are given."""
        arrays = self._arrays(inputs)
        return repeated(lambda: self._program.run(arrays), repeats, seconds)

    def profile(self, inputs: Mapping[str, Any] | None = None, repeats: int = 20) -> Profile:
        """The time of each kernel, named by the model's own nodes."""
        return self.record(inputs, repeats).profile()

    def record(self, inputs: Mapping[str, Any] | None = None, repeats: int = 20) -> Recording:
        """Record the kernels of `repeats` runs, their times and threads: `Recording.save` writes a trace for Perfetto.

        Raises UnsupportedError where the virtual machine runs the program.
        """
        if not isinstance(self._program, CompiledProgram):
            what = f"this model is {self._program.describe()}: it has no kernels in a fixed order"
            raise UnsupportedError(what, hint="benchmark times whole runs")
        if type(repeats) is not int or repeats < 1:
            raise UsageError(f"repeats is a positive integer, not {repeats!r}")
        from lamina.runtime.trace import traced_runs

        arrays = self._arrays(inputs)
        self._program.run(arrays)
        runs = traced_runs(self._program, arrays, repeats)
        info = self._program.info
        external = [c.entry for c in info.calls]
        kernels = kernels_of(info.entries, info.entry_calls, self._description.get("graph", {}), external)
        return Recording(info.name, kernels, info.entry_calls, self.threads, runs)

    def text(self, level: str) -> str:
        """The program at a level: `relay`, `te`, `tir`, `llvm`, `ll` (LLVM assembly) or `asm` (machine code)."""
        return self._texts().get(level)

    def source(self, level: str) -> _Module:
        """The module at a level, `relay` to `llvm`, and its weights; who asks may change it."""
        return self._texts().source(level)

    def save_texts(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every level's text into a folder, and the weights that the texts name: the paths.

        `opt-tool relay.mlir -p PIPELINE` makes the later files from the first, byte for byte.
        """
        return self._texts().save(Path(folder))

    @property
    def pipeline(self) -> str:
        """The passes that compile at this level, for `opt-tool -p`."""
        return str(self._settings.pipeline)

    @property
    def is_fixed(self) -> bool:
        """Whether it is kernels in a fixed order; else the virtual machine runs it, or each shape has its own."""
        return isinstance(self._program, CompiledProgram)

    @property
    def is_exportable(self) -> bool:
        """Whether it is machine code alone: `is_fixed`, and no external backend is called."""
        return self._stored is not None and not self._description.get("external")

    @property
    def memory(self) -> Memory:
        """The bytes that a run needs besides inputs and outputs.

        Raises UnsupportedError where the virtual machine runs the program.
        """
        if not isinstance(self._program, CompiledProgram):
            raise UnsupportedError(f"this model is {self._program.describe()}: its memory is known as it runs")
        return self._program.memory

    @property
    def placement(self) -> str:
        """The parts that went to external backends, and what kept each other op; empty where none was asked.

        Of what the virtual machine runs it is said part by part, for those that have been compiled.
        """
        if isinstance(self._program, CompiledProgram):
            return self._description.get("placement", "")
        return self._program.placement()

    @property
    def graph(self) -> dict[str, Any]:
        """The readers of each kernel (`lamina.driver.call_graph`). Raises UnsupportedError for machine programs."""
        if not isinstance(self._program, CompiledProgram):
            raise UnsupportedError(f"this model is {self._program.describe()}: it has no graph of kernels")
        return self._description["graph"]

    # -- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the program into a file, weights included, for `Executable.load`; what stood there is replaced.

        `notes` are plain values to keep with it (`Executable.notes`), by default those that it was loaded with.

        What the machine runs is saved with the code of its parts as far as shapes are known or were met. A model that
        is compiled for each shape cannot be saved. Raises LaminaError.
        """
        from lamina.driver import artefact

        artefact.write(path, self._saved(self.notes if notes is None else notes))

    def export(
        self, path: str | os.PathLike[str], name: str | None = None, notes: Mapping[str, Any] | None = None
    ) -> None:
        """Write the program as a shared library with the C interface of `lamina.h`, for `ExportedNet` and for C.

        `name` is that of the net, by default the file's: the library has one symbol, `lamina_<name>`. What stood there
        is replaced. With the suffix .o or .a it is an object or an archive, for a linker. No compiler is needed.
        `notes` are kept, as by `save`. Raises UnsupportedError for what has no kernels in a fixed order or calls
        external backends.
        """
        from lamina.driver.export import ExportedFile, export_program

        if self._stored is None:
            raise _not_fixed(path)
        export_program(ExportedFile(path, name), self._stored, self._settings.target, object_cache(), notes)

    def _saved(self, notes: Mapping[str, Any]) -> artefact.Saved:
        """The contents of a file of the program. Raises UnsupportedError where none can."""
        from lamina.driver import artefact
        from lamina.driver.machine_program import MachineProgram

        if self._stored is not None:
            external = artefact.external_compilers([self._stored])
            return artefact.Saved(artefact.PROGRAM, self._stored, self._settings, external, notes)
        if isinstance(self._program, MachineProgram):
            return artefact.machine_saved(self._program, notes)
        hint = "give the shapes: lamina.compile(model, shapes={...})"
        raise UnsupportedError("this model is compiled for each shape, which no file can hold", hint=hint)

    def __reduce__(self) -> tuple[Callable[[bytes], Executable], tuple[bytes]]:
        """Pickled and copied deeply as `save` and `load` do it; it has no texts then. Like a saved one it is code."""
        from lamina.driver import artefact

        return _of_bytes, (artefact.to_bytes(self._saved(self.notes)),)

    def __copy__(self) -> Executable:
        return self

    @staticmethod
    def load(path: str | os.PathLike[str], threads: int | None = None) -> Executable:
        """The program of a file that `save` wrote, with as many threads as it was compiled for or `threads` says.

        It is code: load what you trust. Raises InputError for a file that is none, is damaged, comes from another
        version or for another machine, or needs an external backend that is not here.
        """
        from lamina.driver import artefact

        return Executable.of_saved(artefact.read(path, (artefact.PROGRAM, artefact.MACHINE)), threads)

    @staticmethod
    def of_saved(saved: artefact.Saved, threads: int | None = None) -> Executable:
        """The program of a file that was read."""
        from lamina.driver import artefact

        settings = saved.settings
        if threads is not None:
            settings = replace(settings, target=spec_of(settings.target, threads))
        if saved.kind == artefact.MACHINE:
            machine, fresh = artefact.load_machine(replace(saved, settings=settings))
            return Executable(machine, _stages(fresh, settings), settings, notes=saved.notes)
        stored = artefact.with_threads(saved.contents, settings.target.threads)
        program = load_program(stored, object_cache())
        return Executable(program, _stages(artefact.no_texts, settings), settings, stored, notes=saved.notes)

    def _arrays(self, inputs: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if inputs is None:
            return {**random_inputs(self.inputs), **self.initial_state}
        if not isinstance(inputs, Mapping):  # type: ignore[redundant-expr]
            example = ", ".join(f"{p.name!r}: array" for p in self.inputs)
            raise UsageError(
                f"inputs are a dict, not {type(inputs).__name__}",
                hint=f"run({{{example}}}), or call the executable with arrays in order",
            )
        if all(type(value) is np.ndarray for value in inputs.values()):
            return inputs
        values = {p.name for p in self.inputs if not p.dtype}  # what is no tensor
        return {name: value if name in values else as_array(name, value) for name, value in inputs.items()}

    def __repr__(self) -> str:
        sides = [", ".join(f"{p.name}: {p.describe()}" for p in ports) for ports in (self.inputs, self.outputs)]
        program = self._program
        fixed = isinstance(program, CompiledProgram)
        how = f"{len(program.info.entries)} kernels" if fixed else program.describe()
        return (
            f"lamina.Executable ({sides[0]}) -> ({sides[1]}), {how}, "
            f"{self._settings.target.cpu}, {threads_text(self.threads)}, opt level {self.opt_level}"
        )


def _of_bytes(data: bytes) -> Executable:
    """The program of a saved form."""
    from lamina.driver import artefact

    return Executable.of_saved(artefact.of_bytes(data, (artefact.PROGRAM, artefact.MACHINE)))


def threads_text(threads: int) -> str:
    """`4 threads`, and where that is more than this process has processors, how many it has."""
    available = available_threads()
    more = f" (this process may use {available} processor{'s' * (available > 1)})" if threads > available else ""
    return f"{threads} threads{more}"
