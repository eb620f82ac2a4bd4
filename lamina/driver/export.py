"""Compiled programs as shared libraries, or modules of WebAssembly, with the C interface of `lamina.h`.

    exe.export("net.so")                            or: lamina compile net.onnx -o net.so

The kernels are those of the program, to the byte; the run-time and the net's tables are compiled for its processor's
family, and `backends/link` puts them together: no compiler and no linker takes part. Weights follow on pages of their
own, as they lie in a saved program, so that processes share them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from lamina.backends.cpu.jit import Machine, compile_object, machine_of
from lamina.backends.cpu.machines import check_runs_here
from lamina.backends.cpu.runtime.interface import ABI
from lamina.backends.cpu.runtime.layout import DATA, IMPORTS, IMPORTS_OF_POOL, LINE_BYTES, OF_NETS
from lamina.backends.cpu.runtime.modules import WASM, runtime_object, support_of, system_of
from lamina.backends.cpu.runtime.net import FUNCTIONS, Net, NetTensor, net_module
from lamina.backends.link.archive import ArchiveMember, archive_head
from lamina.backends.link.coff_object import read_coff
from lamina.backends.link.coff_relocatable import merge_coff
from lamina.backends.link.described import read_described
from lamina.backends.link.elf_object import UNDEFINED, ObjectFile, read_object
from lamina.backends.link.macho_object import read_macho
from lamina.backends.link.macho_relocatable import merge_macho
from lamina.backends.link.relocatable import merge
from lamina.backends.link.shared_object import DATA_SECTION, Data, LinkedLibrary, link
from lamina.backends.link.wasm_module import link_module
from lamina.backends.link.wasm_object import WasmObject, WasmSymbol, read_wasm_object
from lamina.dialects.machine_spec import TargetSpec, is_bare, is_macos, is_wasm, is_windows
from lamina.driver.artefact import external_compilers
from lamina.driver.linker import check_linker, link_shared, linking_folder, system_to_link
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.suffixes import ARCHIVE, LIBRARIES_TO_LINK, LIBRARY, LINKABLE, MODULE, OBJECT, is_c_source, is_module
from lamina.runtime.exported import digest_of_weights, weights_digest

if TYPE_CHECKING:
    import numpy as np

    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.runtime.program_file import StoredProgram

    Array = np.ndarray[Any, np.dtype[Any]]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def net_name(path: str | os.PathLike[str], name: str | None = None) -> str:
    """The name of the net in a file: what stands before the suffix, with `_` for what C does not take in a name.

    Raises UsageError for one that is given and is none in C.
    """
    if name is not None:
        if not _NAME.fullmatch(name):
            raise UsageError(f"the name of a net is one of C, not {name!r}")
        return name
    stem = Path(path).name.partition(".")[0]
    return re.sub(r"\W", "_", stem, flags=re.ASCII) or "net"


def check_exported(
    path: str | os.PathLike[str], target: TargetSpec, name: str | None = None, linker: Sequence[str] | None = None
) -> None:
    """Raise UsageError for a name that a net cannot have, for a file that code for a target does not go into, and
    where the linker that it takes is missing."""
    where, triple, name = str(path), target.triple, net_name(path, name)
    if f"lamina_{name}" in OF_NETS:
        what, hint = f"a net is not named {name!r}, as a part of the run-time is", "choose another name"
        raise UsageError(what, where=where, hint=f"{hint} for the file, or for the net")
    if is_bare(triple) and not where.endswith(LINKABLE):
        what = f"{target.cpu} has no system that loads a library"
        raise UsageError(what, where=where, hint=f"write small{ARCHIVE} or small{OBJECT} for a linker")
    if is_wasm(triple) and not is_module(path):
        raise UsageError(f"{WASM} is written into a file *{MODULE}", where=where)
    if is_module(path) and not is_wasm(triple):
        hint = f"`lamina compile MODEL -o FILE{MODULE}` compiles for {WASM}"
        raise UsageError(f"a module of WebAssembly has no code for {triple}", where=where, hint=hint)
    if where.endswith(LIBRARY) and (system := system_to_link(target)):
        of_system = next(suffix for suffix, of in LIBRARIES_TO_LINK.items() if of == system)
        hint = f"write FILE{of_system}, or FILE{ARCHIVE} or FILE{OBJECT} for a linker of yours"
        raise UsageError(f"a library of Linux has no code for {triple}", where=where, hint=hint)
    check_linker(target, linker, where)


class ExportedFile(NamedTuple):
    """A file for a net."""

    path: str | os.PathLike[str]
    name: str | None = None
    """Of the net; by default the file's."""
    linker: Sequence[str] | None = None
    """The command that links a library for Windows (.dll) or macOS (.dylib), by default that of the package
    `ziglang`."""


def export_program(
    file: ExportedFile,
    program: StoredProgram,
    target: TargetSpec,
    cache: ObjectCache | None = None,
    notes: Mapping[str, Any] | None = None,
) -> LinkedLibrary:
    """Write a program as a shared library, an object (.o), an archive (.a) or a module (.wasm), by the path's suffix.

    `notes` are plain values to keep with it, with the graph of its calls. Objects and archives are for a linker of the
    user's.

    Raises UnsupportedError for a program that calls external backends, or a system that there is no run-time for;
    UsageError for a name that is none in C, or a suffix that is none for the target; InputError where the disk does not
    allow it.
    """
    path, where = Path(file.path), str(file.path)
    check_exported(path, target, file.name, file.linker)
    name = net_name(path, file.name)
    if is_c_source(path):
        hint = "lamina.export(model, path) writes a model as C source"
        raise UsageError("this program is machine code", where=where, hint=hint)
    if called := external_compilers([program]):
        names = ", ".join(called)
        raise UnsupportedError(
            f"it calls {names}, which is Python", where=where, hint="compile it for the target 'cpu'"
        )
    objects, description, data = _parts(program, target, name, cache, notes)
    head, library = _linked(objects, target, name, path.name, description, data)
    alignment = _alignment_of(target)
    pieces = [piece for array in program.params for piece in _pieces(array, alignment)]
    if where.endswith(tuple(LIBRARIES_TO_LINK)):
        _link_elsewhere(file, target, library, pieces)
    else:
        _write(path, head, library, pieces)
    return library


def _link_elsewhere(
    given: ExportedFile, target: TargetSpec, library: LinkedLibrary, data: Sequence[bytes | memoryview]
) -> None:
    """Let a linker make the library of an object, and put it where it belongs."""
    path = Path(given.path)
    with linking_folder() as folder:
        obj = Path(folder) / f"net{OBJECT}"
        _write(obj, b"", library, data)
        made = link_shared(target, given.linker, obj, library.needed, path)
        write_whole(path, lambda file: _copy(made, file), 0o777)


def _copy(source: Path, target: BinaryIO) -> None:
    with source.open("rb") as file:
        shutil.copyfileobj(file, target)


def _linked(
    objects: Sequence[Any], target: TargetSpec, name: str, label: str, description: bytes, data: Data
) -> tuple[bytes, LinkedLibrary]:
    """The bytes before a library, and the library, of objects that were read; `label` is the file's name."""
    exports = [f"lamina_{name}"]
    if label.endswith(MODULE):
        functions = {short: f"lamina.{short}" for short in FUNCTIONS}
        return b"", link_module(objects, functions, exports, label, description, data)
    shared = label.endswith(tuple(LIBRARIES_TO_LINK))
    if label.endswith(LINKABLE) or shared:
        if is_windows(target.triple):
            library = merge_coff(objects, exports, label, data, description, shared)
        elif is_macos(target.triple):
            library = merge_macho(objects, exports, label, data, description)
        else:
            names = _sections_of(name) if is_bare(target.triple) else None
            library = merge(objects, exports, label, data, description, names)
        bsd = is_macos(target.triple)
        symbols = [f"_{name}" for name in exports] if bsd else exports
        member = ArchiveMember(f"{name}.o", library.data_at + data.size, symbols)
        return archive_head(member, bsd) if label.endswith(ARCHIVE) else b"", library
    return b"", link(objects, exports, label, _imports(target), description, data)


def _imports(target: TargetSpec) -> dict[str, str]:
    """The functions that a net may call, and where they are."""
    return IMPORTS | (IMPORTS_OF_POOL if target.threads > 1 else {})


def _sections_of(name: str) -> dict[str, str]:
    """The sections of a net without a system, which the script of the user's linker places, by what they are here."""
    return {
        ".text": f".text.lamina.{name}",
        ".rodata": f".rodata.lamina.{name}.tables",
        DATA_SECTION: f".rodata.lamina.{name}.params",
    }


def link_object(data: memoryview, path: str | os.PathLike[str], where: str) -> None:
    """Write the shared library of a net whose object `export_program` has written; `where` names that one in errors.

    Raises LinkError for another object, InputError for one that is damaged or of another system, and where the disk
    does not allow it.
    """
    described = read_described(data, DATA, where)
    description: dict[str, Any] = json.loads(described.description)
    target = TargetSpec(**description["target"])
    if system_to_link(target):
        check_runs_here(target)
    digest = bytes.fromhex(description["weights"])
    block = Data(DATA, len(described.data), digest)
    if digest_of_weights(described.data, description) != digest:
        raise InputError("is damaged: its weights are not what was written", where=where, hint="copy it anew")
    exports, imports = [f"lamina_{description['name']}"], _imports(target)
    library = link([described.object], exports, Path(path).name, imports, described.description, block)
    _write(Path(path), b"", library, [described.data])


def _parts(
    program: StoredProgram,
    target: TargetSpec,
    name: str,
    cache: ObjectCache | None,
    notes: Mapping[str, Any] | None = None,
) -> tuple[list[ObjectFile] | list[WasmObject], bytes, Data]:
    """The objects of a library, its description, and what there is to say of its data."""
    system = system_of(target.triple)
    net = _net_of(program, target, name)
    digest = weights_digest([_bytes_of(a) for a in program.params])
    description = _description(net, program, target, digest, notes)
    text = json.dumps(description, separators=(",", ":"), sort_keys=True).encode()
    code = hashlib.sha256(text)
    for key, piece in program.objects.items():
        code.update(key.encode() + piece)
    net = replace(net, marker=int.from_bytes(code.digest()[:8], "little") >> 1)
    kernels = {f"kernel {key}" if key else "tables": piece for key, piece in program.objects.items()}
    read = _reader_of(target.triple)
    objects = [read(piece, label) for label, piece in kernels.items()]

    def add(parts: Sequence[str]) -> None:
        objects.extend(read(runtime_object(part, cache, system), f"run-time {part}") for part in parts)

    add(["run", "net", *(["pool", "net_pool"] if target.threads > 1 else ["alone"])])
    called = {s.name for o in objects for s in o.symbols if _is_called(s)}
    add([part for part, functions in support_of(system).items() if not called.isdisjoint(functions)])
    objects.append(read(_compiled(net, machine_of(net.target)), "interface"))
    return objects, text, Data(DATA, net.size, digest)


def _reader_of(triple: str) -> Any:
    """The function that reads the objects of a target."""
    if is_wasm(triple):
        return read_wasm_object
    if is_macos(triple):
        return read_macho
    return read_coff if is_windows(triple) else read_object


def _is_called(symbol: Any) -> bool:
    """Whether an object has a symbol from elsewhere."""
    return not symbol.is_defined if isinstance(symbol, WasmSymbol) else symbol.section == UNDEFINED


def _net_of(program: StoredProgram, target: TargetSpec, name: str) -> Net:
    from lamina import __version__
    from lamina.runtime.program_info import ProgramInfo

    info = ProgramInfo.from_plain(program.description)
    offsets, size = _offsets(program.params, _alignment_of(target))
    inputs, outputs = (tuple(NetTensor(p.name, p.shape, p.dtype) for p in side) for side in (info.inputs, info.outputs))
    return Net(
        name,
        target.attr(),
        f"Lamina {__version__}",
        0,
        inputs,
        outputs,
        info.arena,
        len(info.entries),
        info.messages,
        offsets,
        size,
    )


def _description(
    net: Net, program: StoredProgram, target: TargetSpec, digest: bytes, notes: Mapping[str, Any] | None
) -> dict[str, Any]:
    from lamina import __version__

    params = zip(program.params, net.offsets, strict=True)
    return {
        "lamina": __version__,
        "abi": ABI,
        "name": net.name,
        "target": target._asdict(),
        "inputs": [_plain(t) for t in net.inputs],
        "outputs": [_plain(t) for t in net.outputs],
        "arena": net.arena,
        "memory": net.pool_at,
        "entries": list(program.description["entries"]),
        "params": [[str(a.dtype), list(a.shape), at] for a, at in params],
        "weights": digest.hex(),
        "bytes": net.size,
        "state": program.description.get("state", []),
        **({"notes": dict(notes), "graph": program.description.get("graph", {})} if notes else {}),
    }


def _compiled(net: Net, machine: Machine) -> bytes:
    from lamina.backends.llvm.emit import emit_module

    return compile_object(emit_module(net_module(net)), machine)


def _plain(tensor: NetTensor) -> list[Any]:
    return [tensor.name, list(tensor.shape), tensor.dtype]


def _alignment_of(target: TargetSpec) -> int:
    """The bytes of which the offset of a weight in the data is a multiple: a line of the caches, or a vector where
    memory is short."""
    return max(target.vector_bits // 8, 8) if is_bare(target.triple) else LINE_BYTES


def _offsets(params: Sequence[Array], alignment: int) -> tuple[tuple[int, ...], int]:
    """The offset of each weight in the data, and the length of these in bytes."""
    found: list[int] = []
    at = 0
    for array in params:
        found.append(at)
        at += -(-array.nbytes // alignment) * alignment
    return tuple(found), at


def _write(path: Path, head: bytes, library: LinkedLibrary, data: Sequence[bytes | memoryview]) -> None:
    """Write a library with what stands before it, and its data."""

    def write(file: BinaryIO) -> None:
        file.write(head)
        library.write(file, data)

    write_whole(path, write, 0o777)


def write_whole(path: Path, write: Callable[[BinaryIO], None], mode: int = 0o666) -> None:
    """Write a file by rename: there is the whole one or none. Raises InputError where the disk does not allow it."""
    if path.exists() and not path.is_file():
        raise InputError("cannot write: this is no file", where=str(path))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            write(file)
        os.replace(temporary, path)
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror or e}", where=str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _bytes_of(array: Array) -> memoryview:
    return array.reshape(-1).view("uint8").data if array.size else memoryview(b"")


def _pieces(array: Array, alignment: int) -> list[memoryview | bytes]:
    data = _bytes_of(array)
    return [data, bytes(-len(data) % alignment)]
