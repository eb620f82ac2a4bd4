"""Zip archives: members that lie as they are in the file are read where they lie, text within bounds."""

from __future__ import annotations

import builtins
import mmap
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from lamina.errors import InputError, printable

HEADER = 30
"""Bytes of a member's own header before its name (.ZIP application note, 4.3.7)."""
MOST_MEMBERS = 1 << 20
"""Members of an archive."""

MOST_TEXT = 1 << 26
"""Bytes of a member that is text: 64 MB."""


class Archive:
    """An archive from a path or bytes. Raises InputError where it is none, or a member is compressed or not there.

    With `in_folder` all members are in one folder, which does not count in their names.
    """

    def __init__(self, source: Any, in_folder: bool = True) -> None:
        self.label = "model" if isinstance(source, bytes) else printable(str(source))
        try:
            if isinstance(source, bytes):
                self._data: Any = np.frombuffer(source, np.uint8)
                self._zip = ZipFile(BytesIO(source))
            else:
                with Path(source).open("rb") as file:
                    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._data = np.frombuffer(mapped, np.uint8)
                self._zip = ZipFile(source)
        except (OSError, ValueError, BadZipFile, NotImplementedError) as e:
            raise InputError(f"cannot be read: {e}", where=self.label, hint="is the file whole?") from None
        members = self._zip.infolist()
        if len(members) > MOST_MEMBERS:
            raise InputError(f"has {len(members)} members", where=self.label)
        self._members = {m.filename.partition("/")[2] if in_folder else m.filename: m for m in members}
        """By their names without the folder that all are in."""

    @property
    def size(self) -> int:
        """The bytes of the whole archive."""
        return len(self._data)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        """The names of the members, without the folder that all are in."""
        return list(self._members)

    def text(self, name: str) -> str:
        """A member that may be compressed, as text of at most so many bytes."""
        return self.content(name, MOST_TEXT).decode("utf-8", "replace")

    def content(self, name: str, most: int) -> builtins.bytes:
        """A copy of a member that may be compressed, and has at most so many bytes."""
        member = self._members.get(name)
        if member is None:
            raise InputError(f"has no member {name!r}", where=self.label, hint="is the file whole?")
        try:
            with self._zip.open(member) as file:
                data = file.read(most + 1)
        except (OSError, ValueError, BadZipFile, NotImplementedError, EOFError, zlib.error) as e:
            raise InputError(f"the member {name!r} is damaged: {e}", where=self.label) from None
        if len(data) > most:
            raise InputError(f"the member {name!r} has more than {most} bytes", where=self.label)
        return data

    def bytes(self, name: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes of a member, without a copy."""
        member = self._members.get(name)
        if member is None:
            raise InputError(f"has no member {name!r}", where=self.label, hint="is the file whole?")
        if member.compress_type != ZIP_STORED:
            raise InputError(f"the member {name!r} is compressed", where=self.label, hint="torch writes them plain")
        start = member.header_offset
        header = self._data[start : start + HEADER]
        if len(header) < HEADER or bytes(header[:4]) != b"PK\3\4":
            raise InputError(f"the member {name!r} is damaged", where=self.label)
        lengths = int.from_bytes(bytes(header[26:28]), "little") + int.from_bytes(bytes(header[28:30]), "little")
        first = start + HEADER + lengths
        found = self._data[first : first + member.file_size]
        if len(found) != member.file_size:
            raise InputError(f"the member {name!r} ends too early", where=self.label, hint="is the file whole?")
        return found
