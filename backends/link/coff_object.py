"""Relocatable objects of COFF, Windows's format, as LLVM writes them for x86-64: sections, symbols, relocations.

Source: Microsoft, "PE Format". What is read is an `ObjectFile` as that of ELF is; symbols and sections count from 1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lamina.backends.link import elf_object as elf
from lamina.backends.link.elf_object import LinkError, ObjectFile, ObjectSection, Relocation, Symbol

MACHINE = 0x8664
"""The number of x86-64 in COFF."""
CODE, INITIALISED, UNINITIALISED = 0x20, 0x40, 0x80
INFORMATION, REMOVED, COMDAT, MANY_RELOCATIONS, DISCARDABLE = 0x200, 0x800, 0x1000, 0x01000000, 0x02000000
EXECUTES, READS, WRITES = 0x20000000, 0x40000000, 0x80000000
"""Characteristics of sections. MANY_RELOCATIONS says that the first of them holds their number."""
EXTERNAL, STATIC, LABEL, FILE = 2, 3, 6, 103
"""Storage classes of symbols."""
FUNCTION_TYPE = 0x20
MOST_RELOCATIONS = 0xFFFF
"""The largest number of them that the header of a section holds."""
KINDS = {1: 8, 3: 4, **dict.fromkeys(range(4, 10), 4)}
"""Kinds of relocations, and the bytes of their places: addresses of 64 bits, offsets in the image, and distances from
0 to 5 bytes behind the place. All have their addends there."""


class CoffRecords(NamedTuple):
    """The records of the format."""

    header: struct.Struct
    section: struct.Struct
    symbol: struct.Struct
    relocation: struct.Struct


RECORDS = CoffRecords(*map(struct.Struct, ("<HHIIIHH", "<8sIIIIIIHHI", "<8sIhHBB", "<IIH")))


def read_coff(data: bytes | memoryview, label: str) -> ObjectFile:
    """Read a relocatable object; `label` names it in errors. Raises LinkError."""
    view = memoryview(data)
    if len(view) < RECORDS.header.size or int.from_bytes(view[:2], "little") != MACHINE:
        raise LinkError("is no object of COFF for x86-64", where=label)
    try:
        return _read(view, label)
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise LinkError(f"is no whole object of COFF ({error})", where=label) from None


def _read(view: memoryview, label: str) -> ObjectFile:
    _, count, _, symbols_at, symbol_count, optional, _ = RECORDS.header.unpack_from(view)
    strings = view[symbols_at + symbol_count * RECORDS.symbol.size :]
    start = RECORDS.header.size + optional
    rows = [RECORDS.section.unpack_from(view, start + n * RECORDS.section.size) for n in range(count)]
    comdat = {n for n, row in enumerate(rows, 1) if row[9] & COMDAT}
    symbols = (elf.Symbol("", 0, 0, 0, 0, 0), *_symbols(view, symbols_at, symbol_count, strings, comdat, label))
    sections = [ObjectSection("", 0, 0, view[:0], 0, 1, ())]
    for row in rows:
        name, size, at, marks = _section_name(row[0], strings), int(row[3]), int(row[4]), int(row[9])
        kind = elf.NOBITS if marks & UNINITIALISED else elf.PROGBITS
        if kind == elf.PROGBITS and at + size > len(view):
            raise IndexError("a section ends behind the file")
        content = view[at : at + size] if kind == elf.PROGBITS else view[:0]
        relocations = tuple(_relocations(view, int(row[5]), int(row[7]), marks))
        for r in relocations:
            if r.kind not in KINDS:
                raise LinkError(f"a relocation of the kind {r.kind} in {name} is none that is known", where=label)
            if r.symbol >= len(symbols) or r.offset + KINDS[r.kind] > size:
                raise IndexError("a relocation is outside of its section, or of no symbol")
        alignment = 1 << max((marks >> 20 & 15) - 1, 0)
        sections.append(ObjectSection(name, kind, _flags(marks), content, size, alignment, relocations))
    return ObjectFile(label, MACHINE, 64, 0, tuple(sections), symbols)


def _flags(marks: int) -> int:
    """The flags of a section as ELF says them."""
    if marks & (INFORMATION | REMOVED | DISCARDABLE):
        return 0
    return elf.ALLOC | elf.WRITE * bool(marks & WRITES) | elf.EXECUTE * bool(marks & EXECUTES)


def _section_name(field: bytes, strings: memoryview) -> str:
    name = field.rstrip(b"\0")
    return _text(strings, int(name[1:])) if name.startswith(b"/") else name.decode()


def _relocations(view: memoryview, at: int, count: int, marks: int) -> Iterator[Relocation]:
    first = 0
    if marks & MANY_RELOCATIONS and count == MOST_RELOCATIONS:
        count, first = int(RECORDS.relocation.unpack_from(view, at)[0]), 1
    for n in range(first, count):
        offset, symbol, kind = RECORDS.relocation.unpack_from(view, at + n * RECORDS.relocation.size)
        yield Relocation(offset, kind, symbol + 1, None)


def _symbols(
    view: memoryview, at: int, count: int, strings: memoryview, comdat: set[int], label: str
) -> Iterator[Symbol]:
    """The symbols; one that is none stands for what belongs to the one before it, and for what is not of a section.

    What several objects may have (COMDAT) are constants, by their values: each object keeps its own.
    """
    skipped = 0
    for n in range(count):
        field, value, section, kind, storage, more = RECORDS.symbol.unpack_from(view, at + n * RECORDS.symbol.size)
        if skipped or section < 0 or storage == FILE:
            skipped = skipped - 1 if skipped else more
            yield Symbol("", 0, 0, 0, 0, elf.LOCAL)
            continue
        skipped = more
        name = _text(strings, int.from_bytes(field[4:], "little")) if field[:4] == bytes(4) else _short(field)
        if storage not in (EXTERNAL, STATIC, LABEL) or (not section and value):
            raise LinkError(f"{name} is no symbol of a kind that is known", where=label)
        shared = storage == EXTERNAL and section not in comdat
        type_ = elf.FUNCTION if kind == FUNCTION_TYPE else elf.NOTYPE
        yield Symbol(name, section, value, 0, type_, elf.GLOBAL if shared else elf.LOCAL)


def _short(field: bytes) -> str:
    return field.rstrip(b"\0").decode()


def _text(strings: memoryview, start: int) -> str:
    end = bytes(strings[start : start + 4096]).index(0)
    return bytes(strings[start : start + end]).decode()
