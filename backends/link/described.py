"""Descriptions of nets in objects: a text in a section that linkers leave out, behind a digest of all but the data, the
last bytes of the file."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from lamina.backends.link import elf_object as elf
from lamina.backends.link.coff_object import MACHINE, read_coff
from lamina.backends.link.elf_object import LinkError, ObjectFile
from lamina.backends.link.macho_object import MAGIC, read_macho

DESCRIPTION_SECTION, MACHO_DESCRIPTION = ".lamina.description", "__DWARF,__lamina"
"""The section, and that of Mach-O, where segments are told apart: what is for debuggers stays in objects."""
_DIGEST = 32
"""Bytes of the digest before a description."""


class DescribedObject(NamedTuple):
    """An object that was written with a description."""

    description: bytes
    object: ObjectFile
    """The object without the data, whose symbol is that of another one."""
    data: memoryview


def described(description: bytes) -> bytearray:
    """The content of the section, still without the digest."""
    return bytearray(bytes(_DIGEST) + description)


def seal(out: bytearray, offset: int, end: int) -> None:
    """Put the digest into a file whose section is at an offset; the data begin at `end`, behind zeros, which count."""
    digest = hashlib.sha256(bytes(out) + bytes(end - len(out))).digest()
    out[offset : offset + _DIGEST] = digest


def read_any(data: memoryview, label: str) -> ObjectFile:
    """An object of ELF, COFF or Mach-O, by its first bytes. Raises LinkError."""
    if bytes(data[:2]) == MACHINE.to_bytes(2, "little"):
        return read_coff(data, label)
    return read_macho(data, label) if bytes(data[:4]) == MAGIC.to_bytes(4, "little") else elf.read_object(data, label)


def read_described(data: memoryview, symbol: str, label: str) -> DescribedObject:
    """The parts of an object with a description; `symbol` is that of the data.

    Raises LinkError for another object, and for one that is not what was written.
    """
    found = read_any(data, label)
    said = next((s for s in found.sections if s.name in (DESCRIPTION_SECTION, MACHO_DESCRIPTION)), None)
    number = next((s.section for s in found.symbols if s.name == symbol), elf.UNDEFINED)
    if said is None or number == elf.UNDEFINED:
        raise LinkError("is no object of a net that Lamina has exported", where=label)
    block = found.sections[number]
    head = bytearray(data[: len(data) - len(block.data)])
    at = head.find(said.data[:_DIGEST])
    head[at : at + _DIGEST] = bytes(_DIGEST)
    if at < 0 or hashlib.sha256(head).digest() != bytes(said.data[:_DIGEST]):
        raise LinkError("is damaged: it is not what was written", where=label, hint="copy it anew, or export it again")
    sections = [*found.sections]
    sections[number] = block._replace(flags=0)
    symbols = tuple(
        s._replace(section=elf.UNDEFINED, binding=elf.GLOBAL, kind=elf.NOTYPE, size=0) if s.name == symbol else s
        for s in found.symbols
    )
    kept = found._replace(sections=tuple(sections), symbols=symbols)
    return DescribedObject(bytes(said.data[_DIGEST:]), kept, block.data)
