"""Relocatable objects of Mach-O, macOS's format, as LLVM writes them for arm64: sections, symbols, relocations.

Source: Apple, "OS X ABI Mach-O File Format Reference", and the constants of `mach-o/loader.h`, `nlist.h` and `reloc.h`.
What is read is an `ObjectFile` as that of ELF is; a section's name is `segment,section`, and symbols and sections count
from 1. The `_` before every name of C is left out; a name that has none begins with a byte of one, as in LLVM's texts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lamina.backends.link import elf_object as elf
from lamina.backends.link.elf_object import LinkError, ObjectFile, ObjectSection, Relocation, Symbol

MAGIC, ARM64, OBJECT_FILE = 0xFEEDFACF, 0x0100000C, 1
SEGMENT, SYMTAB, DYSYMTAB, BUILD_VERSION = 0x19, 0x2, 0xB, 0x32
"""Load commands."""
INSTRUCTIONS = 0x80000400
"""Attributes of a section of code: all of it is."""
FOR_DEBUGGERS = 0x02000000
"""Attribute of a section that linkers leave out: what is for debuggers, and tables for unwinding."""
_SOME_INSTRUCTIONS, _ZERO_FILLED = 0x400, (0x1, 0xC, 0x12)
EXTERNAL, UNDEFINED, IN_SECTION, ABSOLUTE = 0x1, 0x0, 0xE, 0x2
"""Bits of the type of a symbol."""
_TYPE, _PRIVATE, _STAB = 0x0E, 0x10, 0xE0
AS_IS = "\x01"
"""The first letter of a name that is none of C."""
UNSIGNED, SUBTRACTOR, ADDEND = 0, 1, 10
OF_SYMBOL = 1 << 3
"""In the upper byte of a relocation: the type in four bits, whether it is about a symbol, the size, and whether it is a
distance."""
KINDS = frozenset(range(7))
"""Types of relocations: words, differences of words, and what instructions of arm64 hold of an address."""


class MachoRecords(NamedTuple):
    """The records of the format."""

    header: struct.Struct
    segment: struct.Struct
    section: struct.Struct
    symtab: struct.Struct
    dysymtab: struct.Struct
    version: struct.Struct
    symbol: struct.Struct
    relocation: struct.Struct


RECORDS = MachoRecords(
    *map(
        struct.Struct,
        ("<8I", "<II16sQQQQiiII", "<16s16sQQ8I", "<6I", "<20I", "<6I", "<IBBHQ", "<iI"),
    )
)


class _Header(NamedTuple):
    """The header of a section."""

    name: str
    address: int
    size: int
    offset: int
    align: int
    relocations: int
    relocation_count: int
    marks: int

    @staticmethod
    def at(view: memoryview, place: int) -> _Header:
        section, segment, *numbers = RECORDS.section.unpack_from(view, place)
        name = ",".join(part.rstrip(b"\0").decode() for part in (segment, section))
        return _Header(name, *numbers[:7])

    @property
    def is_empty(self) -> bool:
        return self.marks & 0xFF in _ZERO_FILLED

    @property
    def runs(self) -> bool:
        return bool(self.marks & _SOME_INSTRUCTIONS)


def read_macho(data: bytes | memoryview, label: str) -> ObjectFile:
    """Read a relocatable object; `label` names it in errors. Raises LinkError."""
    view = memoryview(data)
    if len(view) < RECORDS.header.size or RECORDS.header.unpack_from(view)[:2] != (MAGIC, ARM64):
        raise LinkError("is no object of Mach-O for arm64", where=label)
    try:
        return _read(view, label)
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise LinkError(f"is no whole object of Mach-O ({error})", where=label) from None


def _read(view: memoryview, label: str) -> ObjectFile:
    header = RECORDS.header.unpack_from(view)
    if header[3] != OBJECT_FILE:
        raise LinkError("is no relocatable object", where=label)
    rows: list[_Header] = []
    table: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    at = RECORDS.header.size
    for _ in range(header[4]):
        command, size = struct.unpack_from("<II", view, at)
        if command == SEGMENT:
            count = RECORDS.segment.unpack_from(view, at)[9]
            start = at + RECORDS.segment.size
            rows += [_Header.at(view, start + n * RECORDS.section.size) for n in range(count)]
        elif command == SYMTAB:
            table = RECORDS.symtab.unpack_from(view, at)
        at += size
        if size < 8 or at > len(view):
            raise IndexError("a command ends behind the file")
    symbols = [Symbol("", 0, 0, 0, 0, 0), *_symbols(view, table, rows, label)]
    first = len(symbols)
    symbols += [Symbol(f"{AS_IS}l_{n}", n, 0, 0, elf.NOTYPE, elf.LOCAL) for n in range(1, len(rows) + 1)]
    sections = [ObjectSection("", 0, 0, view[:0], 0, 1, ())]
    sections += [_section(view, row, rows, first, len(symbols), label) for row in rows]
    return ObjectFile(label, ARM64, 64, 0, tuple(sections), tuple(symbols))


def _section(view: memoryview, row: _Header, rows: list[_Header], first: int, count: int, label: str) -> ObjectSection:
    """A section; `first` is the number of the symbol that stands for the first one, `count` that of all symbols."""
    if not row.is_empty and row.offset + row.size > len(view):
        raise IndexError("a section ends behind the file")
    content = bytearray() if row.is_empty else bytearray(view[row.offset : row.offset + row.size])
    relocations = tuple(_relocations(view, row, rows, content, first, label))
    for r in relocations:
        if r.symbol >= count or r.offset < 0 or r.offset + 4 > row.size:
            raise IndexError("a relocation is outside of its section, or of no symbol")
    flags = 0 if row.marks & FOR_DEBUGGERS else elf.ALLOC | elf.EXECUTE * row.runs
    flags |= elf.WRITE * (row.name.startswith("__DATA,") and row.name != "__DATA,__const")
    kind = elf.NOBITS if row.is_empty else elf.PROGBITS
    return ObjectSection(row.name, kind, flags, memoryview(content), row.size, 1 << row.align, relocations)


def _relocations(
    view: memoryview, row: _Header, rows: list[_Header], content: bytearray, first: int, label: str
) -> Iterator[Relocation]:
    """Relocations in their order, pairs one after the other; what is about a section is about a symbol at its start."""
    addend: int | None = None
    for n in range(row.relocation_count):
        offset, word = RECORDS.relocation.unpack_from(view, row.relocations + n * RECORDS.relocation.size)
        number, upper = int(word) & 0xFFFFFF, int(word) >> 24
        kind = upper >> 4
        if kind == ADDEND:
            addend = number - (1 << 24) if number & 1 << 23 else number
            continue
        if kind not in KINDS:
            raise LinkError(f"a relocation of the type {kind} is none that is known", where=label)
        symbol = number + 1
        if not upper & OF_SYMBOL:
            size = 1 << (upper >> 1 & 3)
            if kind != UNSIGNED or not 1 <= number <= len(rows) or offset + size > len(content):
                raise LinkError(f"a relocation of the type {kind} is about a section", where=label)
            place = int.from_bytes(content[offset : offset + size], "little") - rows[number - 1].address
            content[offset : offset + size] = place.to_bytes(size, "little", signed=True)
            symbol = first + number - 1
        yield Relocation(offset, upper | OF_SYMBOL, symbol, addend)
        addend = None


def _symbols(view: memoryview, table: tuple[int, ...], rows: list[_Header], label: str) -> Iterator[Symbol]:
    strings = view[table[4] : table[4] + table[5]]
    for n in range(table[3]):
        start, type_, section, _, value = RECORDS.symbol.unpack_from(view, table[2] + n * RECORDS.symbol.size)
        text = bytes(strings[start : start + 4096])
        given = text[: text.index(0)].decode()
        name = given[1:] if given.startswith("_") else AS_IS + given
        if type_ & _STAB or type_ & _TYPE not in (IN_SECTION, UNDEFINED) or (type_ & _TYPE == UNDEFINED and value):
            raise LinkError(f"{given} is no symbol of a kind that is known", where=label)
        shared = bool(type_ & EXTERNAL)
        where = int(section) if type_ & _TYPE == IN_SECTION else elf.UNDEFINED
        kind = elf.NOTYPE
        if where:
            value -= rows[where - 1].address
            kind = elf.FUNCTION if rows[where - 1].runs and not name.startswith(AS_IS) else elf.NOTYPE
        yield Symbol(name, where, value, 0, kind, elf.GLOBAL if shared else elf.LOCAL)
