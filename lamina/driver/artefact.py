"""Compiled programs as files to keep and to hand on.

    exe.save("net.lamina")                          or: lamina compile net.onnx -o net.lamina
    exe = lamina.Executable.load("net.lamina")      or: lamina run net.lamina

One file has all that a run needs, weights included: machine code, and for what the machine runs the program's text
with the code of each part whose shapes are known or were met before. Loading runs no passes. External backends are
named, not included. The file says which version of Lamina wrote it and for which processor; one of another version, a
damaged and a foreign one are refused. Like a shared library it is code: load what you trust; and like one it is
mapped: processes share its weights, and a file in use is replaced (`save` does that), not written over. Programs that
are pickled or copied deeply go through the bytes of such a file.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.machine_spec import TargetSpec
from lamina.driver.settings import Settings
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.runtime.program_file import StoredProgram, program_bytes, write_file
from lamina.runtime.saved_file import KERNEL as KERNEL
from lamina.runtime.saved_file import MACHINE, SAVED_LABEL, SAVED_MAGIC, check_kind, read_saved, saved_of
from lamina.runtime.saved_file import PROGRAM as PROGRAM
from lamina.store.checked_files import CheckedFiles
from lamina.store.program_cache import enabled

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.driver.compilation import Source
    from lamina.driver.machine_program import MachineProgram
    from lamina.ir.context import LaminaContext
    from lamina.runtime.ports import Port
    from lamina.transform import PassContext

    Array = np.ndarray[Any, np.dtype[Any]]

# -- the file ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """The contents of a file: a program, and how it was compiled."""

    kind: str
    contents: StoredProgram
    settings: Settings
    external: tuple[str, ...] = ()
    """The external backends that it calls."""
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Plain values that whoever saved it wants to find again."""


def write(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write an artefact. Raises InputError where the disk does not allow it."""
    if Path(path).exists() and not Path(path).is_file():  # a folder, or a device that would be replaced
        raise InputError("cannot write: this is no file", where=str(path))
    try:
        write_file(Path(path), SAVED_MAGIC, SAVED_LABEL, _described(saved))
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror or e}", where=str(path)) from None


def to_bytes(saved: Saved) -> bytes:
    """The bytes of an artefact's file. Raises InputError where there is no room for it on the disk meanwhile."""
    try:
        return program_bytes(SAVED_MAGIC, SAVED_LABEL, _described(saved))
    except OSError as e:
        raise InputError(f"cannot write a temporary file: {e.strerror or e}") from None


def _described(saved: Saved) -> StoredProgram:
    """A program with what a file says of it."""
    from lamina import __version__

    description = {
        "lamina": __version__,
        "kind": saved.kind,
        "target": saved.settings.target._asdict(),
        "context": _context_plain(saved.settings.context),
        "sanitize": saved.settings.sanitize,
        "external": list(saved.external),
        "notes": dict(saved.notes),
        "contents": saved.contents.description,
    }
    return StoredProgram(description, saved.contents.objects, saved.contents.params)


def read(path: str | os.PathLike[str], kinds: Sequence[str]) -> Saved:
    """Read an artefact that this version can run on this machine. Raises InputError saying why it cannot."""
    where = str(path)
    return _checked(_whole(path), kinds, where)


def of_bytes(data: bytes, kinds: Sequence[str]) -> Saved:
    """The artefact of a file's bytes, as `read`."""
    where = "a saved program"
    # Its arrays lie as in a file that is mapped: kernels rely on that.
    mapped = mmap.mmap(-1, len(data))
    mapped.write(data)
    return _checked(saved_of(mapped, where), kinds, where)


def _checked(found: StoredProgram, kinds: Sequence[str], where: str) -> Saved:
    check_kind(found, kinds, where)
    description = found.description
    target, external = TargetSpec(**description["target"]), tuple(description["external"])
    _check_here(target, external, where)
    contents = StoredProgram(description["contents"], found.objects, found.params)
    settings = Settings(target, _context_from_plain(description["context"]), description["sanitize"])
    return Saved(description["kind"], contents, settings, external, description["notes"])


def _whole(path: str | os.PathLike[str]) -> StoredProgram:
    """The file's contents; their digest is not computed again where a mark says that this file's was right."""
    marks = CheckedFiles() if enabled(True) else None
    if marks is None:
        return read_saved(path)
    seen: list[os.stat_result] = []

    def known(status: os.stat_result) -> bool:
        if marks.has(status):
            return True
        seen.append(status)
        return False

    found = read_saved(path, known)
    for status in seen:
        marks.add(status)
    return found


def _check_here(target: TargetSpec, external: Sequence[str], where: str) -> None:
    """Raise InputError where the code, or a backend that it calls, cannot run."""
    from lamina.backends.cpu.jit import host_spec
    from lamina.ir.targets import check_host
    from lamina.passes.relay.partition.external_backends import runnable_backend

    triple, here = target.triple, host_spec(1).triple
    try:
        if triple.partition("-")[2] != here.partition("-")[2]:
            raise InputError(f"code for {triple} cannot run here, on {here}", hint="compile the model here")
        check_host(target)
        for backend in external:
            runnable_backend(backend)
    except LaminaError as e:
        e.where = where
        raise


def _context_plain(context: PassContext) -> dict[str, Any]:
    """The parts of a context that decide the outcome of passes, as plain values."""
    options = {f"{name}.{option}": list(v) for name, given in context.options.items() for option, v in given.items()}
    passes = {"required": sorted(context.required_pass), "disabled": sorted(context.disabled_pass)}
    return {"opt_level": context.opt_level, **passes, "config": options, "numerics": context.numerics}


def _context_from_plain(data: dict[str, Any]) -> PassContext:
    from lamina.transform import PassContext

    how = {"config": data["config"], "numerics": data["numerics"]}
    return PassContext(data["opt_level"], data["required"], data["disabled"], **how)


# -- several programs in one ---------------------------------------------------------------------------------------


class _Bundle:
    """Programs whose objects and arrays lie in one file; an array that several have lies there once."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.arrays: list[Array] = []
        self._places: dict[tuple[int, tuple[int, ...], str], int] = {}

    def array(self, array: Array) -> int:
        # By address: packed weights are shared, not equal by chance. `arrays` keeps them, so addresses stay.
        key = (array.ctypes.data, array.shape, array.dtype.str)
        if key not in self._places or not array.size:
            self._places[key] = len(self.arrays)
            self.arrays.append(array)
        return self._places[key]

    def program(self, stored: StoredProgram) -> dict[str, Any]:
        names: list[str] = []
        for name, data in stored.objects.items():
            names.append(f"{len(self.objects)}/{name}")
            self.objects[names[-1]] = data
        return {"program": stored.description, "objects": names, "params": [self.array(a) for a in stored.params]}


def _unbundled(contents: StoredProgram, entry: dict[str, Any]) -> StoredProgram:
    objects = {name.partition("/")[2]: contents.objects[name] for name in entry["objects"]}
    numbers: list[int] = entry["params"]
    return StoredProgram(entry["program"], objects, tuple(contents.params[n] for n in numbers))


def external_compilers(programs: Iterable[StoredProgram]) -> tuple[str, ...]:
    """The external backends that programs call."""
    from lamina.interpreters.external import ExternalFunction

    functions = (ExternalFunction.from_plain(f) for p in programs for f in p.description.get("external", ()))
    return tuple(dict.fromkeys(f.compiler for f in functions))


# -- programs for the machine ----------------------------------------------------------------------------------------


def machine_contents(program: MachineProgram) -> StoredProgram:
    """A program for the virtual machine: its text, its weights, and the code of its parts.

    The parts whose shapes are known are compiled where they have not been yet.
    """
    from lamina.driver.stage_texts import named_weights
    from lamina.ir.printing import print_op

    text = print_op(program.module, _context_of_texts(), locations=True) + "\n"
    # As it will be loaded: names of values may be others, and code is found by the text that it is compiled from.
    program.compile_ahead(_parsed(text, program.label))
    bundle = _Bundle()
    weights = [[a.key.data, a.digest.data, bundle.array(program.store.get(a))] for a in named_weights(program.module)]
    sides = (program.info.inputs, program.info.outputs)
    description = {
        "text": text,
        "label": program.label,
        "placement": program.placed,
        "ports": [[[p.name, str(_port_type(p))] for p in side] for side in sides],
        "weights": weights,
        "segments": {digest: bundle.program(stored) for digest, stored in program.kernels.stored.items()},
    }
    return StoredProgram(description, bundle.objects, tuple(bundle.arrays))


def with_threads(program: StoredProgram, threads: int) -> StoredProgram:
    """A program that runs on so many threads."""
    return StoredProgram({**program.description, "threads": threads}, program.objects, program.params)


def machine_saved(program: MachineProgram, notes: Mapping[str, Any] | None = None) -> Saved:
    """The contents of a file of a program for the virtual machine."""
    contents = machine_contents(program)
    called = [*program.external_compilers(), *external_compilers(program.kernels.stored.values())]
    external = tuple(dict.fromkeys(called))
    return Saved(MACHINE, contents, program.settings, external, notes or {})


def load_machine(saved: Saved) -> tuple[MachineProgram, Callable[[], Source]]:
    """The machine's program, and what gives its module anew."""
    from xdsl.parser import Parser

    from lamina.dialects.relay.params import ParamAttr, ParamStore
    from lamina.driver.compilation import Source
    from lamina.driver.machine_program import MachineProgram
    from lamina.driver.relay_source import port_of_type
    from lamina.store.program_cache import enabled

    contents, description = saved.contents, saved.contents.description
    label, text = description["label"], description["text"]
    store = ParamStore()
    weights: list[tuple[str, str, int]] = description["weights"]
    for key, digest, place in weights:
        store.hold(ParamAttr.of(key, digest), contents.params[place])
    ctx = _context_of_texts()
    inputs, outputs = (
        tuple(port_of_type(name, Parser(ctx, type_).parse_type()) for name, type_ in side)
        for side in description["ports"]
    )
    source = Source(_parsed(text, label), store, label, inputs)
    program = MachineProgram(source, saved.settings, enabled(True), description["placement"], outputs)
    threads = saved.settings.target.threads
    for digest, entry in description["segments"].items():
        program.kernels.stored[digest] = with_threads(_unbundled(contents, entry), threads)

    def fresh() -> Source:
        return Source(_parsed(text, label), store, label, inputs)

    return program, fresh


def _parsed(text: str, label: str) -> ModuleOp:
    """The module of a text."""
    from lamina.ir.parsing import parse_text

    return parse_text(_context_of_texts(), text, label)


def _context_of_texts() -> LaminaContext:
    from lamina.ir.context import LaminaContext

    return LaminaContext()


def _port_type(port: Port) -> Any:
    from lamina.dialects.dtypes import tensor_type

    return getattr(port, "type", None) or tensor_type(port.shape, port.dtype)


def no_texts() -> Any:
    """In place of a model. Raises UnsupportedError."""
    what = "a saved program has no texts"
    raise UnsupportedError(what, hint="`lamina compile MODEL -o FOLDER --emit all` writes them")
