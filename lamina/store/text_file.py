"""Small files of text that are written whole or not at all: choices, figures of a machine."""

from __future__ import annotations

import os
from pathlib import Path

from lamina.errors import InputError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file; what stood there is replaced at once, a device is written to. Raises InputError."""
    beside = Path(f"{os.fspath(path)}.{os.getpid()}.tmp")
    try:
        if Path(path).exists() and not Path(path).is_file():
            Path(path).write_text(text, "utf-8")
            return
        beside.write_text(text, "utf-8")
        beside.replace(path)
    except OSError as e:
        beside.unlink(missing_ok=True)
        raise InputError(f"cannot write: {e.strerror}", where=os.fspath(path)) from None


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise InputError where no file can be written: to be asked before long measurements, not after."""
    folder = Path(path).absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        what = "is no folder" if not folder.is_dir() else "cannot be written to"
        raise InputError(f"cannot write: {folder} {what}", where=os.fspath(path))
