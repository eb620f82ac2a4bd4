"""Relocatable objects of ELF as LLVM writes them: sections, symbols, relocations.

Source: System V ABI, chapters 4 and 5 (Object Files), and the processors' supplements for the kinds of relocations.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lamina.errors import LaminaError

ELF_MAGIC = b"\x7fELF"
PROGBITS, SYMTAB, RELA, NOBITS, REL = 1, 2, 4, 8, 9
"""Types of sections."""
WRITE, ALLOC, EXECUTE = 1, 2, 4
"""Flags of sections."""
UNDEFINED, ABSOLUTE, COMMON = 0, 0xFFF1, 0xFFF2
"""Section numbers of symbols that are in no section."""
LOCAL, GLOBAL, WEAK = 0, 1, 2
"""Bindings of symbols."""
NOTYPE, OBJECT, FUNCTION, SECTION, FILE = 0, 1, 2, 3, 4
"""Types of symbols."""


class LinkError(LaminaError):
    """An object or a program that cannot be linked."""


class Relocation(NamedTuple):
    """A place in a section that depends on where a symbol will be."""

    offset: int
    kind: int
    symbol: int
    addend: int | None
    """None where the place itself holds it."""


class ObjectSection(NamedTuple):
    """A part of an object."""

    name: str
    kind: int
    flags: int
    data: memoryview
    """Empty for NOBITS."""
    size: int
    alignment: int
    relocations: tuple[Relocation, ...]


class Symbol(NamedTuple):
    """A name for a place in a section, or for what another object has."""

    name: str
    section: int
    value: int
    size: int
    kind: int
    binding: int


class ObjectFile(NamedTuple):
    """An object. Sections keep their numbers, by which symbols refer to them."""

    label: str
    machine: int
    bits: int
    flags: int
    """Of the processor, as its supplement says: the convention of calls, mostly."""
    sections: tuple[ObjectSection, ...]
    symbols: tuple[Symbol, ...]


class ElfRecords(NamedTuple):
    """The records of a class of ELF, 64 or 32 bits."""

    header: struct.Struct
    section: struct.Struct
    program: struct.Struct
    symbol: struct.Struct
    rel: struct.Struct
    rela: struct.Struct
    dynamic: struct.Struct
    word: struct.Struct


RECORDS = {
    64: ElfRecords(
        *map(struct.Struct, ("<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IIQQQQQQ", "<IBBHQQ", "<QQ", "<QQq", "<QQ", "<Q"))
    ),
    32: ElfRecords(
        *map(struct.Struct, ("<16sHHIIIIIHHHHHH", "<IIIIIIIIII", "<IIIIIIII", "<IIIBBH", "<II", "<IIi", "<II", "<I"))
    ),
}


def symbol_record(bits: int, name: int, section: int, value: int, size: int, info: int) -> bytes:
    """A row of a table of symbols."""
    if bits == 64:
        return RECORDS[64].symbol.pack(name, info, 0, section, value, size)
    return RECORDS[32].symbol.pack(name, value, size, info, 0, section)


def identification(bits: int) -> bytes:
    """The first bytes of a file: the class, little-endian, version 1."""
    return ELF_MAGIC + bytes((2 if bits == 64 else 1, 1, 1)) + bytes(9)


def read_object(data: bytes | memoryview, label: str) -> ObjectFile:
    """Read a relocatable object; `label` names it in errors. Raises LinkError."""
    view = memoryview(data)
    if bytes(view[:4]) != ELF_MAGIC or len(view) < 52 or view[4] not in (1, 2) or view[5] != 1:
        raise LinkError("is no object of ELF in little-endian order", where=label)
    bits = 64 if view[4] == 2 else 32
    layout = RECORDS[bits]
    try:
        return _read(view, label, bits, layout)
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise LinkError(f"is no whole object of ELF ({error})", where=label) from None


def with_prefix(objects: Sequence[ObjectFile], prefix: str) -> list[ObjectFile]:
    """Objects of one program, each name that they share behind a prefix: another program has the same names."""
    shared = {s.name for o in objects for s in o.symbols if s.binding != LOCAL and s.section != UNDEFINED}

    def named(symbol: Symbol) -> Symbol:
        theirs = symbol.binding != LOCAL and symbol.name in shared
        return symbol._replace(name=prefix + symbol.name) if theirs else symbol

    return [o._replace(label=prefix + o.label, symbols=tuple(map(named, o.symbols))) for o in objects]


def _read(view: memoryview, label: str, bits: int, layout: ElfRecords) -> ObjectFile:
    header = layout.header.unpack_from(view)
    kind, machine, start, flags, count, names_at = (int(header[n]) for n in (1, 2, 6, 7, 12, 13))
    if kind != 1:
        raise LinkError("is no relocatable object", where=label)
    rows: list[tuple[int, ...]] = [_row(layout, view, start + n * layout.section.size) for n in range(count)]
    names = _content(view, rows[names_at])
    symbols: tuple[Symbol, ...] = ()
    relocations: dict[int, list[Relocation]] = {}
    for row in rows:
        if row[1] == SYMTAB:
            symbols = tuple(_symbols(_content(view, row), _content(view, rows[row[6]]), bits, layout))
        elif row[1] in (RELA, REL):
            relocations.setdefault(row[7], []).extend(_relocations(_content(view, row), row[1], bits, layout))
    for n, found in relocations.items():
        size = rows[n][5]
        if any(r.symbol >= len(symbols) or r.offset + 4 > size for r in found):
            raise IndexError("a relocation is outside of its section, or of no symbol")
    sections = tuple(
        ObjectSection(
            _text(names, row[0]),
            row[1],
            row[2],
            _content(view, row),
            row[5],
            max(row[8], 1),
            tuple(relocations.get(n, ())),
        )
        for n, row in enumerate(rows)
    )
    return ObjectFile(label, machine, bits, flags, sections, symbols)


def _row(layout: ElfRecords, view: memoryview, at: int) -> tuple[int, ...]:
    """The header of a section."""
    return layout.section.unpack_from(view, at)


def _content(view: memoryview, row: tuple[int, ...]) -> memoryview:
    kind, offset, size = row[1], row[4], row[5]
    if kind in (0, NOBITS):
        return view[:0]
    if offset + size > len(view):
        raise IndexError("a section ends behind the file")
    return view[offset : offset + size]


def _symbols(data: memoryview, names: memoryview, bits: int, layout: ElfRecords) -> Iterator[Symbol]:
    for row in layout.symbol.iter_unpack(data):
        if bits == 64:
            name, info, _, section, value, size = row
        else:
            name, value, size, info, _, section = row
        yield Symbol(_text(names, name), section, value, size, info & 15, info >> 4)


def _relocations(data: memoryview, kind: int, bits: int, layout: ElfRecords) -> Iterator[Relocation]:
    shift, mask = (32, 0xFFFFFFFF) if bits == 64 else (8, 0xFF)
    for row in (layout.rela if kind == RELA else layout.rel).iter_unpack(data):
        yield Relocation(row[0], row[1] & mask, row[1] >> shift, row[2] if kind == RELA else None)


def _text(names: memoryview, start: int) -> str:
    end = bytes(names[start : start + 4096]).index(0) if start < len(names) else 0
    return bytes(names[start : start + end]).decode()
