"""Files of saved programs, as `Executable.save` writes them, read without a compiler."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from typing import Any

from lamina.errors import InputError
from lamina.ir.suffixes import SAVED
from lamina.runtime.program_file import LABEL, MAGIC, StoredProgram, read_program

PROGRAM, MACHINE, KERNEL = "program", "program for the machine", "kernel"
"""The kinds of what a file holds: kernels in a fixed order, the text of a program for the virtual machine with code of
its parts, one kernel of tensor expressions."""
FORMAT = 3
"""Of the description, and of how code and runtime call each other."""
SAVED_MAGIC = b"lamina artefact\n"
SAVED_LABEL = f"format {FORMAT}".encode().ljust(LABEL)
_AGAIN = "compile the model again"
assert len(SAVED_MAGIC) == MAGIC


def read_saved(
    path: str | os.PathLike[str], trusted: Callable[[os.stat_result], bool] = lambda _: False
) -> StoredProgram:
    """Read a saved program: mapped, its weights compared with their digest where the file is not `trusted`.

    Raises InputError for a file of something else, of another format, and one that is damaged.
    """
    where = str(path)
    try:
        with open(path, "rb") as file:
            _check_begin(file.read(MAGIC + LABEL), where)
            status = os.fstat(file.fileno())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or e}", where=where) from None
    return saved_of(mapped, where, trusted(status))


def saved_of(data: mmap.mmap, where: str, trusted: bool = False) -> StoredProgram:
    """The program in the bytes of a file, as `read_saved`."""
    begin = data[: MAGIC + LABEL]
    _check_begin(begin, where)
    found = read_program(data, begin, trusted)
    if found is None:
        raise InputError("is damaged: it is not what was written", where=where, hint=f"copy it anew, or {_AGAIN}")
    return found


def check_kind(found: StoredProgram, kinds: Sequence[str], where: str) -> None:
    """Raise InputError for what another version of Lamina wrote, and for another kind than these."""
    from lamina import __version__

    description: dict[str, Any] = found.description
    version, kind = description["lamina"], description["kind"]
    if version != __version__:
        raise InputError(f"was saved by Lamina {version}, this is {__version__}", where=where, hint=_AGAIN)
    if kind not in kinds:
        raise InputError(f"holds a {kind}, not a {' or a '.join(kinds)}", where=where)


def _check_begin(begin: bytes, where: str) -> None:
    if begin[:MAGIC] != SAVED_MAGIC:
        hint = f"`lamina compile MODEL -o FILE{SAVED}` and Executable.save write them"
        raise InputError("is no program that Lamina has saved", where=where, hint=hint)
    if begin[MAGIC:] != SAVED_LABEL:
        what = begin[MAGIC:].rstrip().decode("ascii", "replace")
        raise InputError(f"is of {what!r}, this Lamina reads {FORMAT}", where=where, hint=_AGAIN)
