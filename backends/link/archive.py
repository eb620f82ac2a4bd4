"""Archives of objects (`ar`), with the index of symbols by which linkers find what they need.

Sources: the common format of GNU and System V, as binutils documents it (bfd, `ar.h`); that of BSD, which macOS has, by
FreeBSD's manual page ar(5) and `mach-o/ranlib.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MAGIC = b"!<arch>\n"
_HEADER = 60
"""Bytes of a member's header."""


class ArchiveMember(NamedTuple):
    """A file in an archive: its name, its size in bytes, the symbols that it defines."""

    name: str
    size: int
    symbols: Sequence[str]


def archive_head(member: ArchiveMember, bsd: bool = False) -> bytes:
    """All that stands before the only member of an archive; behind it one byte makes an odd size even."""
    if bsd:
        return _bsd_head(member)
    names = b"".join(s.encode() + b"\0" for s in member.symbols)
    index_size = 4 + 4 * len(member.symbols) + len(names)
    start = len(MAGIC) + _HEADER + index_size + index_size % 2
    index = len(member.symbols).to_bytes(4, "big") + start.to_bytes(4, "big") * len(member.symbols) + names
    return MAGIC + _header("/", index_size) + index + bytes(index_size % 2) + _header(f"{member.name}/", member.size)


def _bsd_head(member: ArchiveMember) -> bytes:
    """The same as BSD and macOS have it: names stand before contents, which begin at multiples of eight."""

    def named(name: str, at: int, size: int) -> bytes:
        room = len(name) + 1 + -(at + _HEADER + len(name) + 1) % 8
        return _header(f"#1/{room}", room + size) + name.encode().ljust(room, b"\0")

    names = b"".join(s.encode() + b"\0" for s in member.symbols)
    names += bytes(-len(names) % 8)
    index_size = 4 + 8 * len(member.symbols) + 4 + len(names)
    start = len(MAGIC) + len(named("__.SYMDEF", len(MAGIC), 0)) + index_size
    start += -start % 8
    index, place = (8 * len(member.symbols)).to_bytes(4, "little"), 0
    for symbol in member.symbols:
        index += place.to_bytes(4, "little") + start.to_bytes(4, "little")
        place += len(symbol.encode()) + 1
    index += len(names).to_bytes(4, "little") + names
    index += bytes(-len(index) % 8)
    head = MAGIC + named("__.SYMDEF", len(MAGIC), len(index)) + index
    assert len(head) == start
    return head + named(member.name, start, member.size)


def member_bytes(data: bytes) -> bytes:
    """The content of the only member of an archive. Raises ValueError where there is none."""
    at = len(MAGIC)
    while at + _HEADER <= len(data):
        name, size = data[at : at + 16], int(data[at + 48 : at + 58])
        at += _HEADER
        if name.startswith(b"#1/"):
            room = int(name[3:])
            if not data[at : at + room].startswith(b"__.SYMDEF"):
                return data[at + room : at + size]
        elif not name.startswith(b"/ "):
            return data[at : at + size]
        at += size + size % 2
    raise ValueError("there is nothing in the archive")


def _header(name: str, size: int) -> bytes:
    """A member's header: without a date, an owner or rights that would differ from build to build."""
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{size:<10}`\n".encode()
