"""One relocatable object of COFF from several, for a linker of the user's: what is not exported becomes local.

    headers | code | constants and tables | for unwinding | relocations, symbols, names | the data

Source: Microsoft, "PE Format". Relocations keep their addends, which are in the places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.backends.link import coff_object as coff
from lamina.backends.link import elf_object as elf
from lamina.backends.link.coff_object import RECORDS
from lamina.backends.link.described import DESCRIPTION_SECTION, described, seal
from lamina.backends.link.elf_object import LinkError, ObjectFile, ObjectSection
from lamina.backends.link.merger import MergedObject, MergedSection, merge_objects
from lamina.backends.link.shared_object import Data, LinkedLibrary

CONSTANTS, DATA_SECTION = ".rdata", ".rdata$lamina"
"""Linkers put what stands behind the `$` into the section before it, in the order of the names."""
DIRECTIVES = ".drectve"
"""The section of what an object says to the linker."""
_UNWIND = (".pdata", ".xdata")
_MOST_BYTES = 1 << 31
"""Distances in an image have 32 bits, with a sign."""


def merge_coff(
    objects: Sequence[ObjectFile],
    exports: Sequence[str],
    label: str,
    data: Data,
    description: bytes = b"",
    shared: bool = False,
) -> LinkedLibrary:
    """Put objects together; `label` names the result in errors. The data follow it.

    A description stands in a section that linkers leave out. With `shared` the object says to the linker what to export
    from a library. Raises LinkError: for a symbol that two have or that is to be exported and is not there, for a
    variable, and for more than an image can hold.
    """
    if data.size >= _MOST_BYTES:
        raise LinkError(f"{data.size:,} bytes of weights are more than a program of Windows can hold", where=label)
    merged = merge_objects(objects, exports, label, data, _name_of)
    said = "".join(f" -export:{name},data" for name in exports) if shared else ""
    return _written(merged, data, {DIRECTIVES: said.encode(), DESCRIPTION_SECTION: description})


def _name_of(obj: ObjectFile, section: ObjectSection) -> str | None:
    """The section of the result that takes one of an object; None where none does. Raises LinkError for variables."""
    if not section.flags & elf.ALLOC or not section.size:
        return None
    if section.flags & elf.EXECUTE:
        return ".text"
    if section.flags & elf.WRITE:
        raise LinkError(f"the section {section.name} holds variables, which a library has not", where=obj.label)
    return section.name if section.name in _UNWIND else CONSTANTS


def _written(merged: MergedObject, data: Data, texts: Mapping[str, bytes]) -> LinkedLibrary:
    sections = [*merged.sections, MergedSection(DATA_SECTION, elf.PROGBITS, elf.ALLOC, 64)]
    if texts[DIRECTIVES]:
        sections.append(MergedSection(DIRECTIVES, elf.PROGBITS, 0, 1, bytearray(texts[DIRECTIVES])))
    if texts[DESCRIPTION_SECTION]:
        said = described(texts[DESCRIPTION_SECTION])
        sections.append(MergedSection(DESCRIPTION_SECTION, elf.PROGBITS, 0, 1, said))
    strings = _Strings()
    # First, since a header has seven digits for the place of a name.
    names = [strings.section(s.name) for s in sections]
    head = RECORDS.header.size + RECORDS.section.size * len(sections)
    out, relocations = bytearray(head), bytearray()
    for section in sections:
        out += bytes(-len(out) % section.alignment)
        section.offset = len(out)
        out += section.data
    tables = {s.name: (len(out), len(s.relocations)) for s in sections}
    for section in sections:
        rows = _relocation_rows(section)
        tables[section.name] = len(out) + len(relocations), len(rows) // RECORDS.relocation.size
        relocations += rows
    out += relocations
    symbols_at = len(out)
    for symbol in merged.symbols[1:]:
        storage = coff.STATIC if symbol.binding == elf.LOCAL else coff.EXTERNAL
        kind = coff.FUNCTION_TYPE if symbol.kind == elf.FUNCTION else 0
        name = strings.symbol(symbol.name)
        out += RECORDS.symbol.pack(name, symbol.value, symbol.section, kind, storage, 0)
    out += (len(strings.data) + 4).to_bytes(4, "little") + strings.data
    data_at = -(-len(out) // 64) * 64
    RECORDS.header.pack_into(out, 0, coff.MACHINE, len(sections), 0, symbols_at, len(merged.symbols) - 1, 0, 0)
    for n, section in enumerate(sections):
        at, count = tables[section.name]
        place, size = (data_at, data.size) if section.name == DATA_SECTION else (section.offset, len(section.data))
        marks = _marks(section) | (coff.MANY_RELOCATIONS if count > coff.MOST_RELOCATIONS else 0)
        row = (names[n], 0, 0, size, place if size else 0, at if count else 0, 0)
        RECORDS.section.pack_into(
            out, RECORDS.header.size + n * RECORDS.section.size, *row, min(count, coff.MOST_RELOCATIONS), 0, marks
        )
    if sections[-1].name == DESCRIPTION_SECTION:
        seal(out, sections[-1].offset, data_at)
    return LinkedLibrary(bytes(out), data_at, merged.needed())


def _relocation_rows(section: MergedSection) -> bytes:
    """The relocations of a section; where the header cannot count them, behind one that does."""
    rows = bytearray()
    if len(section.relocations) > coff.MOST_RELOCATIONS - 1:
        rows += RECORDS.relocation.pack(len(section.relocations) + 1, 0, 0)
    for offset, kind, symbol, _ in section.relocations:
        rows += RECORDS.relocation.pack(offset, symbol - 1, kind)
    return bytes(rows)


def _marks(section: MergedSection) -> int:
    alignment = section.alignment.bit_length() << 20
    if section.name in (DIRECTIVES, DESCRIPTION_SECTION):
        return coff.INFORMATION | coff.REMOVED | alignment
    if section.flags & elf.EXECUTE:
        return coff.CODE | coff.EXECUTES | coff.READS | alignment
    return coff.INITIALISED | coff.READS | alignment


class _Strings:
    """The table of names of more than eight bytes."""

    def __init__(self) -> None:
        self.data = bytearray()

    def _added(self, name: bytes) -> int:
        at = len(self.data) + 4
        self.data += name + b"\0"
        return at

    def symbol(self, name: str) -> bytes:
        text = name.encode()
        return text if len(text) <= 8 else bytes(4) + self._added(text).to_bytes(4, "little")

    def section(self, name: str) -> bytes:
        text = name.encode()
        return text if len(text) <= 8 else f"/{self._added(text)}".encode()
