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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from lamina.backends.cpu.jit import Machine, compile_object, machine_of
from lamina.backends.cpu.machines import check_runs_here
from lamina.backends.cpu.runtime.interface import ABI
from lamina.backends.cpu.runtime.layout import DATA, IMPORTS, IMPORTS_OF_POOL, LINE_BYTES, OF_NETS, PACKING
from lamina.backends.cpu.runtime.modules import WASM, runtime_object, support_of, system_of
from lamina.backends.cpu.runtime.net import Net, NetPacking, NetSizes, NetTensor, net_module
from lamina.backends.link.archive import ArchiveMember, archive_head
from lamina.backends.link.coff_object import read_coff
from lamina.backends.link.coff_relocatable import merge_coff
from lamina.backends.link.described import read_described
from lamina.backends.link.elf_object import UNDEFINED, ObjectFile, read_object, with_prefix
from lamina.backends.link.macho_object import read_macho
from lamina.backends.link.macho_relocatable import merge_macho
from lamina.backends.link.relocatable import merge
from lamina.backends.link.shared_object import DATA_SECTION, Data, LinkedLibrary, link
from lamina.backends.link.wasm_module import link_module
from lamina.backends.link.wasm_object import WasmObject, WasmSymbol, read_wasm_object
from lamina.dialects.machine_spec import TargetSpec, is_bare, is_macos, is_wasm, is_windows
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.driver.artefact import external_compilers
from lamina.driver.export_shapes import shapes_function
from lamina.driver.linker import check_linker, link_shared, linking_folder, system_to_link
from lamina.driver.small_program import packing_of, stored_arrays
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.collector import quiet_gc
from lamina.ir.suffixes import ARCHIVE, LIBRARIES_TO_LINK, LIBRARY, LINKABLE, MODULE, OBJECT, is_c_source, is_module
from lamina.runtime.exported import digest_of_weights, weights_digest
from lamina.runtime.ports import SIZE

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


class ExportedFile(NamedTuple):
    """A file for a net."""

    path: str | os.PathLike[str]
    name: str | None = None
    """Of the net; by default the file's."""
    linker: Sequence[str] | None = None
    """The command that links a library for Windows (.dll) or macOS (.dylib), by default that of the package
    `ziglang`."""


def check_exported(file: ExportedFile, target: TargetSpec, small: bool = False) -> None:
    """Raise UsageError for a name that a net cannot have, for a file that code for a target does not go into, or that
    has no place for the code of a `small` one, and where the linker that it takes is missing."""
    path = file.path
    where, triple, name = str(path), target.triple, net_name(path, file.name)
    if f"lamina_{name}" in OF_NETS:
        what, hint = f"a net is not named {name!r}, as a part of the run-time is", "choose another name"
        raise UsageError(what, where=where, hint=f"{hint} for the file, or for the net")
    if small and (is_c_source(path) or is_module(path) or is_bare(triple)):
        kind = "C source" if is_c_source(path) else WASM if is_module(path) else target.cpu
        what = f"weights are packed as a net is loaded where a system loads it, which {kind} is not for"
        raise UsageError(what, where=where, hint="leave out --small (small=True)")
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
    check_linker(target, file.linker, where)


@quiet_gc()
def export_program(
    file: ExportedFile,
    program: StoredProgram,
    target: TargetSpec,
    cache: ObjectCache | None = None,
    notes: Mapping[str, Any] | None = None,
) -> LinkedLibrary:
    """Write a program as a shared library, an object (.o), an archive (.a) or a module (.wasm), by the path's suffix.

    `notes` are plain values to keep with it, with the graph of its calls. Objects and archives are for a linker of the
    user's. A small program packs its weights when the file is loaded.

    Raises UnsupportedError for a program that calls external backends, or a system that there is no run-time for;
    UsageError for a name that is none in C, or a suffix that is none for the target; InputError where the disk does not
    allow it.
    """
    path, where = Path(file.path), str(file.path)
    check_exported(file, target)
    name = net_name(path, file.name)
    if is_c_source(path):
        hint = "lamina.export(model, path) writes a model as C source"
        raise UsageError("this program is machine code", where=where, hint=hint)
    if called := external_compilers([program]):
        names = ", ".join(called)
        raise UnsupportedError(
            f"it calls {names}, which is Python", where=where, hint="compile it for the target 'cpu'"
        )
    net, objects, description, data = _parts(program, target, name, cache, notes)
    head, library = _linked(objects, target, net, path.name, description, data)
    alignment = _alignment_of(target)
    pieces = [piece for array in stored_arrays(program) for piece in _pieces(array, alignment)]
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
    objects: Sequence[Any], target: TargetSpec, net: Net, label: str, description: bytes, data: Data
) -> tuple[bytes, LinkedLibrary]:
    """The bytes before a library, and the library, of objects that were read; `label` is the file's name."""
    exports = [net.symbol]
    if label.endswith(MODULE):
        functions = {short: f"lamina.{short}" for short in net.functions}
        return b"", link_module(objects, functions, exports, label, description, data)
    shared = label.endswith(tuple(LIBRARIES_TO_LINK))
    if label.endswith(LINKABLE) or shared:
        if is_windows(target.triple):
            library = merge_coff(objects, exports, label, data, description, shared)
        elif is_macos(target.triple):
            library = merge_macho(objects, exports, label, data, description)
        else:
            names = _sections_of(net.name) if is_bare(target.triple) else None
            library = merge(objects, exports, label, data, description, names)
        bsd = is_macos(target.triple)
        symbols = [f"_{name}" for name in exports] if bsd else exports
        member = ArchiveMember(f"{net.name}.o", library.data_at + data.size, symbols)
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
) -> tuple[Net, list[ObjectFile] | list[WasmObject], bytes, Data]:
    """A net, the objects of its library, its description, and what there is to say of its data."""
    system, packing = system_of(target.triple), packing_of(program)
    arrays = stored_arrays(program)
    net, places = _net_of(program, target, name)
    digest = weights_digest([_bytes_of(a) for a in arrays])
    description = _description(net, program, target, digest, zip(arrays, places, strict=True), notes)
    text = json.dumps(description, separators=(",", ":"), sort_keys=True).encode()
    code = hashlib.sha256(text)
    for key, piece in [*program.objects.items(), *(packing.program.objects.items() if packing else ())]:
        code.update(key.encode() + piece)
    net = replace(net, marker=int.from_bytes(code.digest()[:8], "little") >> 1)
    read = _reader_of(target.triple)

    def read_all(pieces: Mapping[str, bytes]) -> list[Any]:
        return [read(piece, f"kernel {key}" if key else "tables") for key, piece in pieces.items()]

    objects = read_all(program.objects)
    if packing is not None:
        objects += with_prefix(read_all(packing.program.objects), PACKING)

    def add(parts: Sequence[str]) -> None:
        objects.extend(read(runtime_object(part, cache, system), f"run-time {part}") for part in parts)

    parts = [
        "run",
        "net",
        "net_open" if net.open else "net_fixed",
        *(["pool", "net_pool"] if target.threads > 1 else ["alone"]),
    ]
    add([*parts, *(["pack"] if packing is not None else [])])
    called = {s.name for o in objects for s in o.symbols if _is_called(s)}
    add([part for part, functions in support_of(system).items() if not called.isdisjoint(functions)])
    objects.append(read(_compiled(net, machine_of(net.target)), "interface"))
    return net, objects, text, Data(DATA, net.size, digest)


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


def _net_of(program: StoredProgram, target: TargetSpec, name: str) -> tuple[Net, tuple[int, ...]]:
    """A net as its tables describe it, and the offsets of what its data hold."""
    from lamina import __version__
    from lamina.runtime.program_info import ProgramInfo

    info = ProgramInfo.from_plain(program.description)
    places, size = _offsets([a.nbytes for a in stored_arrays(program)], _alignment_of(target))
    offsets, packs, packing = places, None, packing_of(program)
    if packing is not None:
        second = ProgramInfo.from_plain(packing.program.description)
        sizes = [prod(p.shape) * numpy_dtype(p.dtype).itemsize for p in second.outputs]
        packed, length = _offsets(sizes, _alignment_of(target))
        offsets = tuple(places[n] if n >= 0 else -1 - packed[-1 - n] for n in packing.places)
        stored = tuple(places[n] for n in packing.sources)
        packs = NetPacking(packed, stored, length, second.fixed_memory(1), len(second.entries))
    tensors = [[p for p in side if p.dtype != SIZE] for side in (info.inputs, info.outputs)]
    inputs, outputs = (tuple(NetTensor(p.name, p.shape, p.dtype) for p in side) for side in tensors)
    net = Net(
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
        packs,
        NetSizes(len(info.sizes), len(info.places), shapes_function(info)) if info.sizes else None,
        info.thread_memory,
    )
    return net, places


def _description(
    net: Net,
    program: StoredProgram,
    target: TargetSpec,
    digest: bytes,
    data: Iterable[tuple[Array, int]],
    notes: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The description of a file; `data` are the arrays in it and their offsets."""
    from lamina import __version__

    packs = {"packs": {"bytes": net.packing.size, "room": net.room}} if net.packing is not None else {}
    return {
        "lamina": __version__,
        "abi": ABI,
        "name": net.name,
        "target": target._asdict(),
        "inputs": program.description["inputs"],
        "outputs": program.description["outputs"],
        "arena": net.arena + net.thread_memory,
        "memory": net.state_bytes,
        "entries": list(program.description["entries"]),
        "params": [[str(a.dtype), list(a.shape), at] for a, at in data],
        "weights": digest.hex(),
        "bytes": net.size,
        "state": program.description.get("state", []),
        **{key: program.description[key] for key in ("workspaces",) if key in program.description},
        **packs,
        **({"notes": dict(notes), "graph": program.description.get("graph", {})} if notes else {}),
    }


def _compiled(net: Net, machine: Machine) -> bytes:
    from lamina.backends.llvm.emit import emit_module

    return compile_object(emit_module(net_module(net)), machine)


def _alignment_of(target: TargetSpec) -> int:
    """The bytes of which the offset of a weight in the data is a multiple: a line of the caches, or a vector where
    memory is short."""
    return max(target.vector_bits // 8, 8) if is_bare(target.triple) else LINE_BYTES


def _offsets(sizes: Iterable[int], alignment: int) -> tuple[tuple[int, ...], int]:
    """The offset of each of weights that lie one behind the other, and the length of all in bytes."""
    found: list[int] = []
    at = 0
    for size in sizes:
        found.append(at)
        at += -(-size // alignment) * alignment
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
