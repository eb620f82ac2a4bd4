"""Which large files need not be read whole again before they are used.

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

from lamina.backends.cpu.object_cache import ObjectCache, cache_key, default_directory

LIMIT = 4 << 20
"""Bytes of marks that are kept."""


@cache
def _boot() -> str:
    """What names the time since the system came up; empty where it cannot be told."""
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


def _key(status: os.stat_result) -> str:
    parts = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    return cache_key("checked", _boot(), *map(str, parts))
