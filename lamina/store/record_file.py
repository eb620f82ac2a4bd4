"""Files of records: lines are added so that a process that is killed loses none that it was told is there.

A line is one append of the system, and on the disk when `append_lines` returns. What is killed in the middle leaves a
torn end, which the next append closes and readers skip (`dialects/schedule/records.py` has the format). Several
processes may add to one file: they take turns by a lock on it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lamina.dialects.schedule.records import Record
from lamina.errors import InputError
from lamina.store.text_file import write_text


def append_records(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Add records to the end of a file, as `append_lines` does."""
    append_lines(path, (record.line() for record in records))


def append_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Add lines to the end of a file, which is made where there is none. Raises InputError where that fails.

    When it returns they outlast the process, and the power.
    """
    data = "".join(f"{line}\n" for line in lines).encode()
    if not data:
        return
    try:
        is_new = not os.path.exists(path)
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            _write(file, b"\n" + data if torn else data)
            os.fdatasync(file)
        finally:
            os.close(file)
        if is_new:
            _sync_folder(Path(path).absolute().parent)
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror}", where=os.fspath(path)) from None


def _write(file: int, data: bytes) -> None:
    """Write all of some bytes: a disk that is nearly full takes fewer at once."""
    while data:
        data = data[os.write(file, data) :]


def _sync_folder(folder: Path) -> None:
    """See to it that a new file has its name when the power fails."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def write_records(path: str | os.PathLike[str], records: Sequence[Record]) -> None:
    """Write a file of these records alone; what stood there is replaced at once. Raises InputError."""
    write_text(path, "".join(f"{record.line()}\n" for record in records))
