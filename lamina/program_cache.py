"""Whole compiled programs on disk: machine code, the program's description and its packed weights in one file.

The key is the SHA-256 of everything that decides the result: the model's bytes, shapes, target, options, the versions
of what compiles, and Lamina's own sources. A file is

    magic | key | digest of the rest | length of the header | header (JSON) | objects and weights, 64-byte aligned

Weights are mapped, not read. Digests are SHA-256 of the SHA-256s of 4 MiB pieces, which threads compute. The folder
obeys the rules of the object cache: it is ours alone, entries come into being by rename, and what does not match its
key and digest counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lamina.backends.cpu.object_cache import ObjectCache, cache_key, default_directory
from lamina.dialects.dtypes import numpy_dtype

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

DEFAULT_LIMIT = 8 << 30
"""Bytes of programs that are kept; weights make them large."""

_MAGIC = b"lamina program1\n"
_KEY = len(_MAGIC)
_DIGEST = _KEY + 32
_LENGTH = _DIGEST + 32
_HEADER = _LENGTH + 8
_ALIGNMENT = 64
_CHUNK = 4 << 20


def digest_of(data: bytes | memoryview) -> bytes:
    """SHA-256 over the SHA-256s of pieces: large data takes as long as its largest share for one processor."""
    from concurrent.futures import ThreadPoolExecutor

    view = memoryview(data)
    pieces = [view[start : start + _CHUNK] for start in range(0, len(view), _CHUNK)]
    whole = hashlib.sha256(len(view).to_bytes(8, "little"))
    if len(pieces) < 4:
        found = map(_sha256, pieces)
    else:
        # hashlib lets other threads run while it works.
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            found = list(pool.map(_sha256, pieces))
    for piece in found:
        whole.update(piece)
    return whole.digest()


def _sha256(data: memoryview) -> bytes:
    return hashlib.sha256(data).digest()


@dataclass(frozen=True)
class StoredProgram:
    """What a compiled program is apart from the process it runs in. `description` is JSON of plain values."""

    description: dict[str, Any]
    objects: dict[str, bytes]
    params: tuple[Array, ...]


def enabled(cache: bool) -> bool:
    """Whether a build may use caches: neither the call nor the environment variable LAMINA_CACHE says no."""
    return cache and os.environ.get("LAMINA_CACHE", "").lower() not in ("off", "0", "no", "false")


@cache
def sources_digest() -> str:
    """A digest of Lamina's own code, so that a changed compiler never takes an old program for its own."""
    root = Path(__file__).resolve().parent
    digest = hashlib.sha256()
    for path in _sources(root):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def _sources(root: Path) -> Iterator[Path]:
    """Every file of the package that decides what it compiles; the four rooms may be links in it."""
    pending = [root]
    while pending:
        folder = pending.pop()
        for path in sorted(folder.iterdir()):
            if path.suffix in (".py", ".mlir"):
                yield path
            elif path.name != "__pycache__" and path.is_dir():
                pending.append(path)


def program_key(model: str, shapes: Mapping[str, Any], target: str, passes: str | int, sanitize: bool = False) -> str:
    """The key of a program. `model` is a digest of everything that it consists of, `passes` the PassContext's text."""
    from importlib.metadata import version

    import lamina
    from lamina.backends.cpu.jit import CODEGEN_LEVEL

    plain = {name: size if isinstance(size, int) else list(size) for name, size in shapes.items()}
    versions = [lamina.__version__, *(version(p) for p in ("xdsl", "llvmlite", "numpy", "onnx"))]
    return cache_key(
        "program",
        model,
        json.dumps(plain, sort_keys=True),
        target,
        f"opt {passes} codegen {CODEGEN_LEVEL}" + " sanitize" * sanitize,
        " ".join(versions),
        sources_digest(),
    )


class ProgramCache(ObjectCache):
    """`load` and `store` by key, in the folder `programs` of the cache."""

    def __init__(self, directory: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        base = default_directory() if directory is None else Path(directory)
        self._base = ObjectCache(base)
        super().__init__(base / "programs", limit)

    def _ready(self) -> bool:
        # The folder above decides who may replace this one.
        return self._base._ready() and super()._ready()

    def _path(self, key: str) -> Path:
        return super()._path(key).with_suffix(".program")

    def load(self, key: str) -> StoredProgram | None:
        """The program stored under the key; None when there is none that can be trusted."""
        found = self._load(key) if self._ready() else None
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
        return found

    def _load(self, key: str) -> StoredProgram | None:
        path = self._path(key)
        try:
            # A link would let its owner choose what we run.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(file.fileno())
                others_write = hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022)
                if not stat.S_ISREG(status.st_mode) or others_write or status.st_size <= _HEADER:
                    return None
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return None
        found = _read(mapped, key)
        if found is not None:
            try:
                os.utime(path)
            except OSError:
                pass
        return found

    def store(self, key: str, program: StoredProgram) -> None:
        """Store a program. When the disk does not allow it, nothing happens but one warning."""
        if not self._ready():
            return
        path = self._path(key)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                size = _write(file, key, program)
            os.replace(temporary, path)
        except OSError as error:
            self._warn(f"cannot write {temporary}: {error.strerror}")
            try:
                temporary.unlink(missing_ok=True)
            except OSError:
                pass
            return
        self._grow(size)


# -- the file ------------------------------------------------------------------------------------------------


def _header(program: StoredProgram) -> bytes:
    """The header, padded so that the data after it starts aligned; offsets in it count from there."""
    position = 0

    def place(size: int) -> int:
        nonlocal position
        start = position
        position += -(-size // _ALIGNMENT) * _ALIGNMENT
        return start

    objects = [[name, place(len(data)), len(data)] for name, data in program.objects.items()]
    params = [[str(a.dtype), list(a.shape), place(a.nbytes)] for a in program.params]
    header = {"program": program.description, "objects": objects, "params": params}
    text = json.dumps(header, separators=(",", ":")).encode()
    return text + b" " * (-(_HEADER + len(text)) % _ALIGNMENT)


def _write(file: BinaryIO, key: str, program: StoredProgram) -> int:
    """Write the whole file; its size."""
    header = _header(program)
    file.write(_MAGIC + bytes.fromhex(key) + bytes(32) + len(header).to_bytes(8, "little") + header)
    for piece in (*program.objects.values(), *(_bytes_of(a) for a in program.params)):
        file.write(piece)
        file.write(bytes(-len(piece) % _ALIGNMENT))
    file.flush()
    size = file.tell()
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        with memoryview(mapped) as view, view[_LENGTH:] as rest:
            digest = digest_of(rest)
    file.seek(_DIGEST)
    file.write(digest)
    return size


def _bytes_of(array: Array) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _read(mapped: mmap.mmap, key: str) -> StoredProgram | None:
    """The program in a file; None when it is not whole or not the one asked for."""
    if mapped[:_DIGEST] != _MAGIC + bytes.fromhex(key):
        return None
    view = memoryview(mapped)
    if digest_of(view[_LENGTH:]) != mapped[_DIGEST:_LENGTH]:
        return None
    # The digest held, so this is what `_write` wrote.
    length = int.from_bytes(mapped[_LENGTH:_HEADER], "little")
    header: dict[str, Any] = json.loads(mapped[_HEADER : _HEADER + length])
    data = view[_HEADER + length :]
    objects = {name: bytes(data[start : start + size]) for name, start, size in header["objects"]}
    return StoredProgram(header["program"], objects, tuple(_param(data, *entry) for entry in header["params"]))


def _param(data: memoryview, dtype: str, shape: list[int], start: int) -> Array:
    kind = numpy_dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return np.empty(shape, kind)
    return np.frombuffer(data, kind, count, start).reshape(shape)
