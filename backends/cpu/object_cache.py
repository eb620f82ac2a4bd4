"""Compiled objects on disk, so that the second compilation of a model costs milliseconds.

The key is the SHA-256 of everything that decides the bytes. An entry is one file: a header with its key, the
digest of the content, then the content; both are checked when it is read, and what does not match counts as absent
and is replaced. Entries come into being by rename, so readers see whole files and writers need no locks. The folder
must belong to us alone, because the objects are run. A cache that cannot be used costs one warning, never the build.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

from lamina.backends.cpu.cache_directory import default_directory
from lamina.backends.cpu.jit import CODEGEN, Machine, llvm_version

DEFAULT_LIMIT = 2 << 30
"""Bytes that the folder may hold before the entries used longest ago go."""

_MAGIC = b"lamina object 1\n"
_HEADER = len(_MAGIC) + 64
_SUFFIX = ".obj"
_STALE_SECONDS = 3600
_COUNTS = 32
"""Times that the folder is counted, on average, while as much as it may hold is added to it. To count it is to look at
every entry: with 10,000 of them 40 ms (Emerald Rapids), in each of the many processes that add one."""


class CacheWarning(UserWarning):
    """The object cache is not used; everything else goes on."""


def cache_key(*parts: str | bytes) -> str:
    """SHA-256 of the parts, each with its length, so that no two lists of parts run together."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def object_key(text: str, machine: Machine) -> str:
    """The cache key of one object: everything that decides its bytes."""
    return cache_key("object", text, *machine, llvm_version(), CODEGEN)


class ObjectCache:
    """`get` and `put` by key. Safe against other users, torn writes and any number of writers."""

    def __init__(self, directory: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        self.directory = default_directory() if directory is None else Path(directory)
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self._warned = False
        self._size: int | None = None
        self._usable: bool | None = None

    def get(self, key: str) -> bytes | None:
        """The content stored under the key; None when there is none that can be trusted."""
        data = self._read(key) if self._ready() else None
        if data is None:
            self.misses += 1
        else:
            self.hits += 1
        return data

    def put(self, key: str, data: bytes) -> None:
        """Store the content. When the disk does not allow it, nothing happens but one warning."""
        if not self._ready():
            return
        path = self._path(key)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
                file.write(_MAGIC + bytes.fromhex(key) + hashlib.sha256(data).digest() + data)
            os.replace(temporary, path)
        except OSError as error:
            self._warn(f"cannot write {temporary} ({len(data)} bytes): {error.strerror}")
            try:
                temporary.unlink(missing_ok=True)
            except OSError:
                pass
            return
        self._grow(key, _HEADER + len(data))

    def clear(self) -> int:
        """Remove every entry; how many there were."""
        entries = [path for path, _ in self._entries()] if self._ready() else []
        for path in entries:
            path.unlink(missing_ok=True)
        self._size = 0
        return len(entries)

    @property
    def has_counted(self) -> bool:
        """Whether the size of the folder is known, which takes looking at every entry."""
        return self._size is not None

    def _path(self, key: str) -> Path:
        if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
            raise ValueError(f"cache key '{key}' is not a SHA-256 in hexadecimal")
        return self.directory / key[:2] / (key + _SUFFIX)

    def _read(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            # A link would let its owner choose what we run.
            with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                if not _ours(os.fstat(file.fileno()), stat.S_ISREG):
                    return None
                content = file.read()
        except OSError:
            return None
        data = content[_HEADER:]
        if content[:_HEADER] != _MAGIC + bytes.fromhex(key) + hashlib.sha256(data).digest():
            return None
        try:
            os.utime(path)
        except OSError:
            pass
        return data

    def _ready(self) -> bool:
        if self._usable is None:
            self._usable = self._prepare()
        return self._usable

    def _prepare(self) -> bool:
        folder = self.directory
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                pass
            found = os.lstat(folder)
        except OSError as error:
            self._warn(f"cannot create {folder}: {error.strerror}")
            return False
        if stat.S_ISLNK(found.st_mode):
            self._warn(f"{folder} is a symbolic link")
            return False
        if not stat.S_ISDIR(found.st_mode):
            self._warn(f"{folder} is not a folder")
            return False
        if not _ours(found, stat.S_ISDIR):
            self._warn(f"{folder} belongs to another user or others may write to it (chmod 700 mends that)")
            return False
        return True

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"the object cache is not used: {reason}", CacheWarning, stacklevel=4)

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for folder in self.directory.iterdir():
            if len(folder.name) != 2 or not folder.is_dir() or folder.is_symlink():
                continue
            for path in folder.iterdir():
                try:
                    found = path.lstat()
                except OSError:
                    continue
                yield path, found

    def _grow(self, key: str, added: int) -> None:
        """Count what was added and let the entries used longest ago go when the folder is too large.

        A process that has not counted the folder yet does so with a chance that is the share of the limit which it
        adds: a key is a digest, so it is a number drawn at random.
        """
        if not self.has_counted and int(key[:8], 16) * self.limit >= added * _COUNTS << 32:
            return
        try:
            if self._size is None:
                self._size = sum(found.st_size for _, found in self._entries())
            else:
                self._size += added
            if self._size <= self.limit:
                return
            # Other writers add too, so count afresh; to nine tenths, so as not to come back at once.
            entries = sorted(self._entries(), key=lambda entry: (_last_used(entry[1]), entry[0].name))
            self._size = sum(found.st_size for _, found in entries)
            newest = max((found.st_mtime for _, found in entries), default=0.0)
            for path, found in entries:
                writing = path.suffix == ".tmp" and newest - found.st_mtime < _STALE_SECONDS
                if self._size <= self.limit * 9 // 10 or writing:
                    continue
                path.unlink(missing_ok=True)
                self._size -= found.st_size
        except OSError as error:
            self._warn(f"cannot tidy up {self.directory}: {error.strerror}")


def _last_used(found: os.stat_result) -> int:
    """The time of the last read or write of an entry, in nanoseconds."""
    return max(found.st_atime_ns, found.st_mtime_ns)


def _ours(found: os.stat_result, kind: object) -> bool:
    """A file or folder of the right kind that only we can change."""
    if not callable(kind) or not kind(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022
