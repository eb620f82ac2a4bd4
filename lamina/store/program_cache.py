"""Whole compiled programs on disk: machine code, the program's description and its packed weights in one file.

The key is the SHA-256 of everything that decides the result: the model's bytes, shapes, target, options, the versions
of what compiles, and Lamina's own sources. It is the label of a file as `program_file.py` writes it.

Weights are mapped, not read: processes share them, and pages come in as they are used. The folder obeys the rules of
the object cache: it is ours alone, entries come into being by rename, and what does not match its key and digest counts
as absent; an entry that has matched is not compared again until it changes (`checked_files.py`).
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import stat
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lamina.backends.cpu.cache_directory import default_directory
from lamina.backends.cpu.object_cache import ObjectCache, cache_key
from lamina.errors import InputError
from lamina.runtime.program_file import HEADER, StoredProgram, read_program, write_file
from lamina.store.checked_files import CheckedFiles

DEFAULT_LIMIT = 8 << 30
"""Bytes of programs that are kept; weights make them large."""

_MAGIC = b"lamina program2\n"


def enabled(cache: bool) -> bool:
    """Whether a build may use caches: neither the call nor the environment variable LAMINA_CACHE says no."""
    return cache and os.environ.get("LAMINA_CACHE", "").lower() not in ("off", "0", "no", "false")


def object_cache(cache: bool = True) -> ObjectCache | None:
    """The cache of objects, None where a build may not use it."""
    return ObjectCache() if enabled(cache) else None


@cache
def sources_digest() -> str:
    """A digest of Lamina's own code, so that a changed compiler never takes an old program for its own."""
    root = Path(__file__).resolve().parents[1]
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


def installed_version(package: str) -> str:
    """The version of a package, by the folder that its installer has left beside it, without importing anything."""
    spec = find_spec(package)
    folder = Path(spec.origin).parents[1] if spec is not None and spec.origin else None
    if folder is not None:
        found = [n for n in os.listdir(folder) if n.startswith(f"{package}-") and n.endswith(".dist-info")]
        if len(found) == 1:
            return found[0].removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib.metadata import version  # takes as long as all else that a key needs

    return version(package)


def _digest(path: str) -> str:
    """SHA-256 of a file. Raises InputError."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as e:
        raise InputError(f"cannot read: {e.strerror}", where=path) from None


def program_key(
    model: str,
    shapes: Mapping[str, Any],
    target: str,
    passes: str | int,
    sanitize: bool = False,
    choices: Mapping[str, str] | None = None,
    records: str | None = None,
    states: Mapping[str, str] | None = None,
) -> str:
    """The key of a program. `model` is a digest of everything that it consists of, `passes` the PassContext's text.

    `records` is the file that schedules come from. Raises InputError where it cannot be read.
    """
    import lamina
    from lamina.backends.cpu.jit import CODEGEN

    plain = {name: size if isinstance(size, (int, str)) else list(size) for name, size in shapes.items()}
    versions = [lamina.__version__, *map(installed_version, ("xdsl", "llvmlite", "numpy", "onnx"))]
    return cache_key(
        "program",
        model,
        json.dumps([plain, dict(choices or {}), _digest(records) if records is not None else ""], sort_keys=True),
        json.dumps(dict(states or {}), sort_keys=True),
        target,
        f"opt {passes} {CODEGEN}" + " sanitize" * sanitize,
        " ".join(versions),
        sources_digest(),
    )


class ProgramCache(ObjectCache):
    """`load` and `store` by key, in the folder `programs` of the cache."""

    def __init__(self, directory: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        base = default_directory() if directory is None else Path(directory)
        self._base = ObjectCache(base)
        super().__init__(base / "programs", limit)
        self._checked = CheckedFiles(base)

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
                if not stat.S_ISREG(status.st_mode) or others_write or status.st_size <= HEADER:
                    return None
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return None
        known = self._checked.has(status)
        found = read_program(mapped, _MAGIC + bytes.fromhex(key), known)
        if found is not None:
            if not known:
                self._checked.add(status)
            try:
                # What was used last is what was read last; the time of change says that nobody has changed it.
                os.utime(path, ns=(time.time_ns(), status.st_mtime_ns))
            except OSError:
                pass
        return found

    @contextmanager
    def storing(self, key: str, program: StoredProgram) -> Generator[None]:
        """Store a program while it is linked: both wait for the disk and for LLVM rather than for Python."""
        writer = ThreadPoolExecutor(1, "lamina-store")
        writing = writer.submit(self.store, key, program)
        writer.shutdown(wait=False)
        try:
            yield
        finally:
            writing.result()

    def store(self, key: str, program: StoredProgram) -> None:
        """Store a program. When the disk does not allow it, nothing happens but one warning."""
        if not self._ready():
            return
        path = self._path(key)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            size = write_file(path, _MAGIC, bytes.fromhex(key), program, 0o600, durable=False)
            self._checked.add_written(path)
        except OSError as error:
            self._warn(f"cannot write {path}: {error.strerror}")
            return
        self._grow(key, size)
