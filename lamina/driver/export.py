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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.backends.cpu.jit import FLOAT_SUPPORT, Machine, compile_object, machine_of
from lamina.backends.cpu.runtime.interface import ABI
from lamina.backends.cpu.runtime.modules import WASM, runtime_object, system_of
from lamina.backends.cpu.runtime.net import DATA, FUNCTIONS, Net, NetTensor, net_module
from lamina.backends.link.archive import ArchiveMember, archive_head
from lamina.backends.link.elf_object import read_object
from lamina.backends.link.relocatable import merge
from lamina.backends.link.shared_object import Data, LinkedLibrary, link
from lamina.backends.link.wasm_module import link_module
from lamina.backends.link.wasm_object import read_wasm_object
from lamina.driver.artefact import external_compilers
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.suffixes import ARCHIVE, MODULE, OBJECT, is_module
from lamina.runtime.exported import weights_digest

if TYPE_CHECKING:
    import numpy as np

    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.machine_spec import TargetSpec
    from lamina.runtime.compiled import Port
    from lamina.runtime.program_file import StoredProgram

    Array = np.ndarray[Any, np.dtype[Any]]

LIBC, LIBM = "libc.so.6", "libm.so.6"
_OF_THREADS = ("pthread_create", "pthread_join", "sched_yield", "syscall")
_OF_MEMORY = ("memcpy", "memmove", "memset")
_OF_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs floor fma"
    " fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 nearbyint pow remainder rint round roundeven sin sinh sqrt"
    " tan tanh tgamma trunc"
).split()
"""Functions that LLVM calls where a kernel asks for one that it does not compute itself, a cosine for instance."""
_OF_ARM = "ldivmod uldivmod lmul l2f l2d ul2f ul2d f2lz f2ulz d2lz d2ulz idiv uidiv idivmod uidivmod".split()
"""Arithmetic of 64 bits, and conversions of it, on Arm of 32 bits (Run-time ABI for the Arm Architecture)."""
IMPORTS = {
    **dict.fromkeys((f"__aeabi_{name}" for name in _OF_ARM), "libgcc_s.so.1"),
    **dict.fromkeys(_OF_MEMORY, LIBC),
    **{name + suffix: LIBM for name in _OF_MATH for suffix in ("", "f")},
}
"""Functions of other libraries that a net may call, beside those of threads."""
_ALIGNMENT = 64
"""Of a weight in the data, in bytes."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def net_name(path: str | os.PathLike[str]) -> str:
    """The name of the net in a file: what stands before the suffix, with `_` for what C does not take in a name."""
    stem = Path(path).name.partition(".")[0]
    return re.sub(r"\W", "_", stem, flags=re.ASCII) or "net"


def export_program(
    path: str | os.PathLike[str],
    program: StoredProgram,
    target: TargetSpec,
    name: str | None = None,
    cache: ObjectCache | None = None,
    notes: Mapping[str, Any] | None = None,
) -> LinkedLibrary:
    """Write a program as a shared library, an object (.o), an archive (.a) or a module (.wasm), by the path's suffix.

    `name` is that of the net, by default the file's; `notes` are plain values to keep with it, with the graph of its
    calls. Objects and archives are for a linker of the user's.

    Raises UnsupportedError for a program that calls external backends, or a system that there is no run-time for;
    UsageError for a name that is none in C, or a suffix that is none for the target; InputError where the disk does not
    allow it.
    """
    where = str(path)
    name = net_name(path) if name is None else name
    if not _NAME.fullmatch(name):
        raise UsageError(f"the name of a net is one of C, not {name!r}")
    if called := external_compilers([program]):
        names = ", ".join(called)
        raise UnsupportedError(
            f"it calls {names}, which is Python", where=where, hint="compile it for the target 'cpu'"
        )
    check_file(path, target)
    pieces, description, data = _parts(program, target, name, cache, notes)
    head, library = _linked(pieces, target, name, Path(path).name, description, data)
    _write(Path(path), head, library, program.params)
    return library


def check_file(path: str | os.PathLike[str], target: TargetSpec) -> None:
    """Raise UsageError where the suffix of a path is none for a target, UnsupportedError for one without a run-time."""
    wasm = system_of(target.triple) == WASM
    if wasm and not is_module(path):
        raise UsageError(f"{WASM} is written into a file *{MODULE}", where=str(path))
    if is_module(path) and not wasm:
        hint = f"`lamina compile MODEL -o FILE{MODULE}` compiles for {WASM}"
        raise UsageError(f"a module of WebAssembly has no code for {target.triple}", where=str(path), hint=hint)
    if wasm and target.threads > 1:
        raise UnsupportedError(f"a module of WebAssembly has one thread, not {target.threads}", where=str(path))


def _linked(
    pieces: Mapping[str, bytes], target: TargetSpec, name: str, label: str, description: bytes, data: Data
) -> tuple[bytes, LinkedLibrary]:
    """The bytes before a library, and the library, of objects by their labels; `label` is the file's name."""
    exports = [f"lamina_{name}"]
    if label.endswith(MODULE):
        parts = [read_wasm_object(piece, part) for part, piece in pieces.items()]
        functions = {short: f"lamina.{short}" for short in FUNCTIONS}
        return b"", link_module(parts, functions, exports, label, description, data)
    objects = [read_object(piece, part) for part, piece in pieces.items()]
    if label.endswith((OBJECT, ARCHIVE)):
        library, head = merge(objects, exports, label, data), b""
        if label.endswith(ARCHIVE):
            head = archive_head(ArchiveMember(f"{name}.o", library.data_at + data.size, exports))
        return head, library
    threads = dict.fromkeys(_OF_THREADS, LIBC) if target.threads > 1 else {}
    return b"", link(objects, exports, label, {**IMPORTS, **threads}, description, data)


def _parts(
    program: StoredProgram,
    target: TargetSpec,
    name: str,
    cache: ObjectCache | None,
    notes: Mapping[str, Any] | None = None,
) -> tuple[dict[str, bytes], bytes, Data]:
    """The objects of a library by their labels, its description, and what there is to say of its data."""
    from lamina import __version__
    from lamina.runtime.compiled import ProgramInfo

    info = ProgramInfo.from_plain(program.description)
    system = system_of(target.triple)
    offsets, size = _offsets(program.params)
    digest = weights_digest([_bytes_of(a) for a in program.params])
    description = {
        "lamina": __version__,
        "abi": ABI,
        "name": name,
        "target": target._asdict(),
        "inputs": [_plain(p) for p in info.inputs],
        "outputs": [_plain(p) for p in info.outputs],
        "arena": info.arena,
        "entries": list(info.entries),
        "params": [[str(a.dtype), list(a.shape), at] for a, at in zip(program.params, offsets, strict=True)],
        "weights": digest.hex(),
        "bytes": size,
        "state": program.description.get("state", []),
        **({"notes": dict(notes), "graph": program.description.get("graph", {})} if notes else {}),
    }
    text = json.dumps(description, separators=(",", ":"), sort_keys=True).encode()
    code = hashlib.sha256(text)
    for key, piece in program.objects.items():
        code.update(key.encode() + piece)
    marker = int.from_bytes(code.digest()[:8], "little") >> 1
    tensors = [tuple(NetTensor(p.name, p.shape, p.dtype) for p in side) for side in (info.inputs, info.outputs)]
    net = Net(
        name,
        target.attr(),
        f"Lamina {__version__}",
        marker,
        tensors[0],
        tensors[1],
        info.arena,
        len(info.entries),
        info.messages,
        offsets,
        size,
    )
    pieces = {f"kernel {key}" if key else "tables": piece for key, piece in program.objects.items()}
    parts = ["run", "net", *(["pool", "net_pool"] if target.threads > 1 else ["alone"])]
    if any(s.encode() in piece for piece in pieces.values() for s in FLOAT_SUPPORT):
        parts.append("float_support")
    pieces |= {f"run-time {part}": runtime_object(part, cache, system) for part in parts}
    pieces["interface"] = _compiled(net, machine_of(net.target))
    return pieces, text, Data(DATA, size, digest)


def _compiled(net: Net, machine: Machine) -> bytes:
    from lamina.backends.llvm.emit import emit_module

    return compile_object(emit_module(net_module(net)), machine)


def _plain(port: Port) -> list[Any]:
    return [port.name, list(port.shape), port.dtype]


def _offsets(params: Sequence[Array]) -> tuple[tuple[int, ...], int]:
    """The offset of each weight in the data, and the length of these in bytes."""
    found: list[int] = []
    at = 0
    for array in params:
        found.append(at)
        at += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    return tuple(found), at


def _write(path: Path, head: bytes, library: LinkedLibrary, params: Sequence[Array]) -> None:
    """Write the file by rename: there is the whole one or none."""
    if path.exists() and not path.is_file():
        raise InputError("cannot write: this is no file", where=str(path))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777), "wb") as file:
            file.write(head)
            library.write(file, [piece for array in params for piece in _pieces(array)])
        os.replace(temporary, path)
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror or e}", where=str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _bytes_of(array: Array) -> memoryview:
    return array.reshape(-1).view("uint8").data if array.size else memoryview(b"")


def _pieces(array: Array) -> list[memoryview | bytes]:
    data = _bytes_of(array)
    return [data, bytes(-len(data) % _ALIGNMENT)]
