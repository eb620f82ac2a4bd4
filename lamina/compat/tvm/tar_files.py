"""Tar archives as TVM writes its libraries, packages and models: written whole or not at all, the same bytes each time.

No member is unpacked to a place that the archive names: members are read by the names that are looked for.
"""

from __future__ import annotations

import os
import secrets
import tarfile
from collections.abc import Callable, Mapping
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TypeAlias

from lamina.errors import InputError

TarMember: TypeAlias = "bytes | Path"
"""The content of a member: bytes, or the file that has it."""


def write_tar(path: str | os.PathLike[str], members: Mapping[str, TarMember]) -> None:
    """Write an archive of members by their names, in place of what stood there. Raises InputError."""

    def write(temporary: Path) -> None:
        with tarfile.open(temporary, "w", format=tarfile.GNU_FORMAT) as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.mode = 0o644
                if isinstance(content, bytes):
                    info.size = len(content)
                    archive.addfile(info, BytesIO(content))
                    continue
                info.size = content.stat().st_size
                with open(content, "rb") as file:
                    archive.addfile(info, file)

    replace_file(path, write)


def replace_file(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let `write` make a file beside a path, and put it there: the whole one is there or none. Raises InputError."""
    place = Path(path)
    if place.exists() and not place.is_file():
        raise InputError("cannot write: this is no file", where=str(path))
    temporary = place.with_name(f"{place.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    try:
        write(temporary)
        os.replace(temporary, place)
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror or e}", where=str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def read_tar(path: str | os.PathLike[str]) -> dict[str, memoryview]:
    """The regular files of an archive by their names, without a leading `./`; they lie in the mapped file.

    Raises InputError for a file that is no archive, or is one that is compressed.
    """
    where = str(path)
    try:
        with open(path, "rb") as file:
            data = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
        with tarfile.open(path, "r:") as archive:
            found = [m for m in archive.getmembers() if m.isreg() and not m.issparse()]
    except tarfile.TarError as e:
        raise InputError(f"is no tar archive: {e}", where=where) from None
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or e}", where=where) from None
    for member in found:
        if member.offset_data + member.size > len(data):
            raise InputError(f"is damaged: {member.name} ends behind it", where=where)
    return {m.name.removeprefix("./"): data[m.offset_data : m.offset_data + m.size] for m in found}
