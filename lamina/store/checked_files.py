"""Record of large files that need not be read whole again before they are used.

A file that was once compared with its digest, or that this machine has just written, stays what it was as long as
nobody changes it, which its size and time of change tell, and the machine does not go down, which may leave pages
unwritten. So a mark in the cache names the file by device, inode, size and time, and the boot; without any of them,
or without a cache, a file is compared each time.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path

from lamina.backends.cpu.cache_directory import default_directory
from lamina.backends.cpu.object_cache import ObjectCache, cache_key

LIMIT = 4 << 20
"""Bytes of marks, and of digests, that are kept."""
SETTLED = 2.0
"""Seconds after which a file counts as one that nobody is writing any more: clocks of file systems are coarse."""


@cache
def _boot() -> str:
    """An identifier of the time since the system came up; empty where it cannot be told."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


class CheckedFiles:
    """Marks in the folder `checked` of a cache."""

    def __init__(self, directory: Path | None = None) -> None:
        self._cache = ObjectCache((directory or default_directory()) / "checked", LIMIT)

    def has(self, status: os.stat_result) -> bool:
        """Whether the open file of this status has been compared with its digest."""
        return bool(_boot()) and self._cache.get(_key(status)) is not None

    def add(self, status: os.stat_result) -> None:
        """Remember that it has."""
        if _boot():
            self._cache.put(_key(status), b"")

    def add_written(self, path: Path) -> None:
        """Remember a file that this process has just written. Raises OSError.

        Its time of change becomes that of a finer clock than the one by which systems stamp files, so that whoever
        changes it a moment later leaves another time.
        """
        now = time.time_ns()
        os.utime(path, ns=(now, now))
        self.add(os.stat(path, follow_symlinks=False))


class KnownDigests:
    """Digests of files in the folder `digests` of a cache, so that a large model is not read to find its program.

    A file is named as in a mark, and by when its inode changed, which nobody can set. One that was changed a moment ago
    is not remembered: it may change again within the same tick of the clock.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._cache = ObjectCache((directory or default_directory()) / "digests", LIMIT)

    def get(self, status: os.stat_result) -> bytes | None:
        """The bytes that were remembered of the file of this status, else None."""
        return self._cache.get(_digest_key(status)) if _boot() else None

    def put(self, status: os.stat_result, data: bytes) -> None:
        """Remember something of a file whose status was taken before it was read."""
        if _boot() and time.time() - max(status.st_mtime, status.st_ctime) > SETTLED:
            self._cache.put(_digest_key(status), data)


def _digest_key(status: os.stat_result) -> str:
    return cache_key("digest", _key(status), str(status.st_ctime_ns))


def _key(status: os.stat_result) -> str:
    parts = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    return cache_key("checked", _boot(), *map(str, parts))
