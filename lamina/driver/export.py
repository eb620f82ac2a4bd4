"""Compiled programs as shared libraries with the C interface of `lamina.h`.

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
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.backends.cpu.jit import Machine, compile_object, machine_of
from lamina.backends.cpu.runtime.interface import ABI, TAKEN
from lamina.backends.cpu.runtime.modules import LINE_BYTES, OF_NETS, runtime_object, support_of, system_of
from lamina.backends.cpu.runtime.net import DATA, Net, NetTensor, net_module
from lamina.backends.link.archive import ArchiveMember, archive_head
from lamina.backends.link.elf_object import UNDEFINED, ObjectFile, read_object
from lamina.backends.link.relocatable import merge
from lamina.backends.link.shared_object import DATA_SECTION, Data, LinkedLibrary, link
from lamina.dialects.machine_spec import is_bare
from lamina.driver.artefact import external_compilers
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.suffixes import ARCHIVE, OBJECT, is_library
from lamina.runtime.exported import weights_digest

if TYPE_CHECKING:
    import numpy as np

    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.machine_spec import TargetSpec
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
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


_OTHER_NAME = "choose another name for the file, or for the net"


def net_name(path: str | os.PathLike[str]) -> str:
    """The name of the net in a file: what stands before the suffix, with `_` for what C does not take in a name."""
    stem = Path(path).name.partition(".")[0]
    return re.sub(r"\W", "_", stem, flags=re.ASCII) or "net"


def check_exported(path: str | os.PathLike[str], target: TargetSpec, name: str | None = None) -> None:
    """Raise UsageError for a name that is none in C, and for a shared library where no system loads it."""
    name = net_name(path) if name is None else name
    if not _NAME.fullmatch(name):
        raise UsageError(f"the name of a net is one of C, not {name!r}")
    if f"lamina_{name}" in OF_NETS:
        raise UsageError(
            f"a net is not named {name!r}, as a part of the run-time is", where=str(path), hint=_OTHER_NAME
        )
    if f"lamina_{name}" in TAKEN and not is_library(path):
        what = f"a net named {name!r} cannot be linked: lamina.h has a lamina_{name} of its own"
        raise UsageError(what, where=str(path), hint=_OTHER_NAME)
    if is_bare(target.triple) and not str(path).endswith((OBJECT, ARCHIVE)):
        what = f"{target.cpu} has no system that loads a library"
        raise UsageError(what, where=str(path), hint=f"write small{ARCHIVE} or small{OBJECT} for a linker")


def export_program(
    path: str | os.PathLike[str],
    program: StoredProgram,
    target: TargetSpec,
    name: str | None = None,
    cache: ObjectCache | None = None,
    notes: Mapping[str, Any] | None = None,
) -> LinkedLibrary:
    """Write a program as a shared library, an object (.o) or an archive (.a), by the suffix of the path.

    `name` is that of the net, by default the file's; `notes` are plain values to keep with it, with the graph of its
    calls. Objects and archives are for a linker of the user's.

    Raises UnsupportedError for a program that calls external backends, or a system that there is no run-time for;
    UsageError for a name that is none in C; InputError where the disk does not allow it.
    """
    check_exported(path, target, name)
    where = str(path)
    name = net_name(path) if name is None else name
    if called := external_compilers([program]):
        names = ", ".join(called)
        raise UnsupportedError(
            f"it calls {names}, which is Python", where=where, hint="compile it for the target 'cpu'"
        )
    objects, description, data = _parts(program, target, name, cache, notes)
    exports, label, head = [f"lamina_{name}"], Path(path).name, b""
    if label.endswith((OBJECT, ARCHIVE)):
        names = _sections_of(name) if is_bare(target.triple) else {}
        library = merge(objects, exports, label, data, names, description)
        if label.endswith(ARCHIVE):
            head = archive_head(ArchiveMember(f"{name}.o", library.data_at + data.size, exports))
    else:
        threads = dict.fromkeys(_OF_THREADS, LIBC) if target.threads > 1 else {}
        library = link(objects, exports, label, {**IMPORTS, **threads}, description, data)
    _write(Path(path), head, library, program.params, _alignment_of(target))
    return library


def _sections_of(name: str) -> dict[str, str]:
    """The sections of a net without a system, which the script of the user's linker places, by what they are here."""
    return {
        ".text": f".text.lamina.{name}",
        ".rodata": f".rodata.lamina.{name}.tables",
        DATA_SECTION: f".rodata.lamina.{name}.params",
    }


def _parts(
    program: StoredProgram,
    target: TargetSpec,
    name: str,
    cache: ObjectCache | None,
    notes: Mapping[str, Any] | None = None,
) -> tuple[list[ObjectFile], bytes, Data]:
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
    pieces = {f"kernel {key}" if key else "tables": piece for key, piece in program.objects.items()}
    parts = ["run", "net", *(["pool", "net_pool"] if target.threads > 1 else ["alone"])]
    objects = [read_object(piece, label) for label, piece in pieces.items()]
    called = {s.name for o in objects for s in o.symbols if s.section == UNDEFINED}
    parts += [part for part, functions in support_of(system).items() if not called.isdisjoint(functions)]
    runtime = {f"run-time {part}": runtime_object(part, cache, system) for part in parts}
    runtime["interface"] = _compiled(net, machine_of(net.target))
    objects += [read_object(piece, label) for label, piece in runtime.items()]
    return objects, text, Data(DATA, net.size, digest)


def _net_of(program: StoredProgram, target: TargetSpec, name: str) -> Net:
    from lamina import __version__
    from lamina.runtime.compiled import ProgramInfo

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


def _write(path: Path, head: bytes, library: LinkedLibrary, params: Sequence[Array], alignment: int) -> None:
    """Write the file by rename: there is the whole one or none."""
    if path.exists() and not path.is_file():
        raise InputError("cannot write: this is no file", where=str(path))
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777), "wb") as file:
            file.write(head)
            library.write(file, [piece for array in params for piece in _pieces(array, alignment)])
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
