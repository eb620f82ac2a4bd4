"""One relocatable object of Mach-O from several, for a linker of the user's: what is not exported becomes local.

    header, commands | code | constants | tables with addresses | relocations, symbols, names | the data

Source: as that of `macho_object`. Nothing is said about unwinding: frames of arm64 are found by their pointers, and no
exception passes through kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.backends.link import elf_object as elf
from lamina.backends.link import macho_object as macho
from lamina.backends.link.described import MACHO_DESCRIPTION, described, seal
from lamina.backends.link.elf_object import LinkError, ObjectFile, ObjectSection, Symbol
from lamina.backends.link.macho_object import AS_IS, RECORDS
from lamina.backends.link.merger import MergedObject, MergedSection, merge_objects
from lamina.backends.link.shared_object import Data, LinkedLibrary

TEXT, CONSTANTS, TABLES, DATA_SECTION = "__TEXT,__text", "__TEXT,__const", "__DATA,__const", "__TEXT,__lamina"
"""Sections of the result; the loader writes addresses into the tables, which are read-only then."""
_UNWIND = "__TEXT,__eh_frame"
_ALL = 7
"""The rights of an object's only segment; its sections get those of the segments that they name."""
_MACOS, _ELEVEN = 1, 11 << 16


def merge_macho(
    objects: Sequence[ObjectFile], exports: Sequence[str], label: str, data: Data, description: bytes = b""
) -> LinkedLibrary:
    """Put objects together; `label` names the result in errors. The data follow it.

    A description stands in a section that linkers leave out. Raises LinkError: for a symbol that two have or that is to
    be exported and is not there, and for a variable.
    """
    return _written(merge_objects(objects, exports, label, data, _name_of), data, description)


def _name_of(obj: ObjectFile, section: ObjectSection) -> str | None:
    """The section of the result that takes one of an object; None where none does. Raises LinkError for variables."""
    if not section.flags & elf.ALLOC or not section.size or section.name == _UNWIND:
        return None
    if section.flags & elf.EXECUTE:
        return TEXT
    if section.flags & elf.WRITE or section.kind == elf.NOBITS:
        raise LinkError(f"the section {section.name} holds variables, which a library has not", where=obj.label)
    return TABLES if section.relocations else CONSTANTS


def _written(merged: MergedObject, data: Data, description: bytes) -> LinkedLibrary:
    block = MergedSection(DATA_SECTION, elf.PROGBITS, elf.ALLOC, 64)
    said = [MergedSection(MACHO_DESCRIPTION, elf.PROGBITS, 0, 1, described(description))] if description else []
    # Symbols know the number of the data's section, the first behind the others; what is said comes last.
    sections = [*merged.sections, block, *said]
    sizes = [data.size if s is block else len(s.data) for s in sections]
    commands = RECORDS.segment.size + len(sections) * RECORDS.section.size
    commands += RECORDS.version.size + RECORDS.symtab.size + RECORDS.dysymtab.size
    start = -(-(RECORDS.header.size + commands) // 64) * 64
    # Addresses are places in the file, so that one segment has all: what stands between is nobody's.
    out, addresses = bytearray(start), [0] * len(sections)
    for n, section in enumerate(sections):
        out += bytes(-len(out) % section.alignment)
        section.offset, addresses[n] = len(out), len(out) - start
        out += section.data
    out += bytes(-len(out) % 8)
    tables: list[tuple[int, int]] = []
    for section in sections:
        rows = _relocation_rows(section)
        tables.append((len(out) if rows else 0, len(rows) // RECORDS.relocation.size))
        out += rows
    symbols_at, strings = len(out), _strings(merged.symbols)
    names_at = symbols_at + RECORDS.symbol.size * (len(merged.symbols) - 1)
    data_at = -(-(names_at + len(strings)) // 64) * 64
    block.offset, addresses[len(merged.sections)] = data_at, data_at - start
    out += _symbol_table(merged.symbols, addresses) + strings
    segment = [macho.SEGMENT, RECORDS.segment.size + len(sections) * RECORDS.section.size, b"", 0]
    size = data_at + data.size - start
    segment += [size, start, size, _ALL, _ALL, len(sections), 0]
    head = RECORDS.segment.pack(*segment)
    for n, section in enumerate(sections):
        place, name = (part.encode() for part in section.name.split(","))
        marks = macho.INSTRUCTIONS if section.flags & elf.EXECUTE else 0 if section.flags else macho.FOR_DEBUGGERS
        row = (name, place, addresses[n], sizes[n], section.offset, section.alignment.bit_length() - 1)
        head += RECORDS.section.pack(*row, *tables[n], marks, 0, 0, 0)
    head += RECORDS.version.pack(macho.BUILD_VERSION, RECORDS.version.size, _MACOS, _ELEVEN, 0, 0)
    count = len(merged.symbols) - 1
    head += RECORDS.symtab.pack(macho.SYMTAB, RECORDS.symtab.size, symbols_at, count, names_at, len(strings))
    head += _numbers(merged)
    header = (macho.MAGIC, macho.ARM64, 0, macho.OBJECT_FILE, 4, len(head), 0, 0)
    out[: RECORDS.header.size + len(head)] = RECORDS.header.pack(*header) + head
    if said:
        seal(out, said[0].offset, data_at)
    return LinkedLibrary(bytes(out), data_at, merged.needed())


def _numbers(merged: MergedObject) -> bytes:
    """The command that says which symbols are local, which are for others and which are elsewhere."""
    local = merged.first_global - 1
    elsewhere = sum(1 for s in merged.symbols[merged.first_global :] if not s.section)
    count = len(merged.symbols) - 1
    ranges = (0, local, local, count - elsewhere - local, count - elsewhere, elsewhere)
    return RECORDS.dysymtab.pack(macho.DYSYMTAB, RECORDS.dysymtab.size, *ranges, *([0] * 12))


def _relocation_rows(section: MergedSection) -> bytes:
    rows = bytearray()
    for offset, kind, symbol, addend in section.relocations:
        if addend is not None:
            # Before its relocation, where the number of a symbol stands elsewhere; of an instruction of four bytes.
            rows += RECORDS.relocation.pack(offset, macho.ADDEND << 28 | 2 << 25 | addend & 0xFFFFFF)
        rows += RECORDS.relocation.pack(offset, kind << 24 | symbol - 1)
    return bytes(rows)


def _name_in_file(symbol: Symbol) -> bytes:
    name = symbol.name[1:] if symbol.name.startswith(AS_IS) else f"_{symbol.name}"
    return name.encode() + b"\0"


def _strings(symbols: Sequence[Symbol]) -> bytes:
    """The names of symbols."""
    strings = b"\0" + b"".join(map(_name_in_file, symbols[1:]))
    return strings + bytes(-len(strings) % 8)


def _symbol_table(symbols: Sequence[Symbol], addresses: Sequence[int]) -> bytes:
    """The table of symbols, by the addresses of the sections."""
    table, name_at = bytearray(), 1
    for symbol in symbols[1:]:
        type_ = macho.IN_SECTION if symbol.section else macho.UNDEFINED
        type_ |= macho.EXTERNAL if symbol.binding != elf.LOCAL else 0
        value = addresses[symbol.section - 1] + symbol.value if symbol.section else 0
        table += RECORDS.symbol.pack(name_at, type_, symbol.section, 0, value)
        name_at += len(_name_in_file(symbol))
    return bytes(table)
