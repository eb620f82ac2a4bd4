"""One relocatable object of ELF from several, for a linker of the user's: what is not exported becomes local.

Sources: System V ABI, chapter 4. Sections keep their relocations, which refer to copies of the symbols that they had.
A description may stand in a section that linkers leave out (SHF_EXCLUDE), behind the SHA-256 of all but the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lamina.backends.link import elf_object as elf
from lamina.backends.link.described import DESCRIPTION_SECTION, described, seal
from lamina.backends.link.elf_object import LinkError, ObjectFile, ObjectSection
from lamina.backends.link.merger import MergedObject, MergedSection, merge_objects
from lamina.backends.link.shared_object import DATA_SECTION, PROCESSORS, Data, LinkedLibrary, part_name

_EXCLUDE = 0x80000000
_ATTRIBUTES = 0x70000003
"""The type of the section by which Arm and RISC-V say their conventions: that of one object stands for all."""


@dataclass
class _Section:
    """A section of the file."""

    name: str
    kind: int
    flags: int
    alignment: int = 1
    data: bytearray = field(default_factory=bytearray)
    link: int = 0
    info: int = 0
    entry: int = 0
    offset: int = 0


def merge(
    objects: Sequence[ObjectFile],
    exports: Sequence[str],
    label: str,
    data: Data | None = None,
    description: bytes = b"",
    names: Mapping[str, str] | None = None,
) -> LinkedLibrary:
    """Put objects of one processor together; `label` names the result in errors. The data follow it.

    `names` are those that sections get instead of `.text`, `.rodata`, `DATA_SECTION` and so on, for a linker's script
    to tell them apart; a description stands in a section that nobody loads. Raises LinkError: for a symbol that two
    have or that is to be exported and is not there, and for a variable.
    """
    machines = {(o.machine, o.bits) for o in objects}
    if len(machines) != 1 or objects[0].machine not in PROCESSORS:
        raise LinkError("the objects are of several processors, or of one that there is no linker for", where=label)
    processor, given = PROCESSORS[objects[0].machine], names or {}

    def name_of(obj: ObjectFile, section: ObjectSection) -> str | None:
        if section.kind == _ATTRIBUTES:
            return section.name if obj is objects[0] else None
        name = part_name(obj, section, processor)
        return name and given.get(name, name)

    merged = merge_objects(objects, exports, label, data, name_of)
    return _ElfFile(merged, objects[0], data, description, given.get(DATA_SECTION, DATA_SECTION)).written()


class _ElfFile:
    def __init__(
        self, merged: MergedObject, first: ObjectFile, data: Data | None, description: bytes, place: str
    ) -> None:
        self.merged, self.first, self.data, self.description, self.place = merged, first, data, description, place
        self.processor = PROCESSORS[first.machine]
        self.records = elf.RECORDS[first.bits]

    def written(self) -> LinkedLibrary:
        merged = self.merged.sections
        sections = [_Section(s.name, s.kind, s.flags, s.alignment, s.data) for s in merged]
        if self.data is not None:
            sections.append(_Section(self.place, elf.PROGBITS, elf.ALLOC, 64))
        if self.description:
            said = described(self.description)
            sections.append(_Section(DESCRIPTION_SECTION, elf.PROGBITS, _EXCLUDE, 1, said))
        symtab = len(sections) + sum(bool(s.relocations) for s in merged) + 1
        for number, section in enumerate(merged, 1):
            if section.relocations:
                sections.append(self._relocation_section(number, section, symtab))
        table, strings = bytearray(), bytearray(b"\0")
        for entry in self.merged.symbols:
            name = len(strings) if entry.name else 0
            strings += entry.name.encode() + b"\0" if entry.name else b""
            table += elf.symbol_record(self.processor.bits, name, *entry[1:4], entry.binding << 4 | entry.kind)
        symbols = _Section(".symtab", elf.SYMTAB, 0, 8, table, link=symtab + 1, info=self.merged.first_global)
        symbols.entry = self.records.symbol.size
        sections += [symbols, _Section(".strtab", 3, 0, 1, strings), _Section(".note.GNU-stack", elf.PROGBITS, 0)]
        names = _Section(".shstrtab", 3, 0)
        sections.append(names)
        names.data += b"\0" + b"".join(s.name.encode() + b"\0" for s in sections)
        return self._file(sections)

    def _relocation_section(self, number: int, section: MergedSection, symtab: int) -> _Section:
        explicit = self.processor.has_addends
        record = self.records.rela if explicit else self.records.rel
        shift = 32 if self.processor.bits == 64 else 8
        rows = bytearray()
        for offset, kind, symbol, addend in section.relocations:
            rows += record.pack(offset, symbol << shift | kind, *([addend or 0] if explicit else []))
        name, type_ = (".rela", elf.RELA) if explicit else (".rel", elf.REL)
        return _Section(name + section.name, type_, 0x40, 8, rows, link=symtab, info=number, entry=record.size)

    def _file(self, sections: Sequence[_Section]) -> LinkedLibrary:
        out = bytearray(self.records.header.size)
        for section in sections:
            out += bytes(-len(out) % max(section.alignment, 1))
            section.offset = len(out)
            out += section.data
        out += bytes(-len(out) % 8)
        headers = len(out)
        size = self.records.section.size
        data_at = -(-(headers + size * (len(sections) + 1)) // 64) * 64
        strings = bytes(sections[-1].data)
        out += bytes(size)
        for s in sections:
            name = strings.index(b"\0" + s.name.encode() + b"\0") + 1
            place, length = (s.offset, len(s.data))
            if self.data is not None and s.name == self.place:
                place, length = data_at, self.data.size
            out += self.records.section.pack(
                name, s.kind, s.flags, 0, place, length, s.link, s.info, s.alignment, s.entry
            )
        counts = (self.records.header.size, 0, 0, size, len(sections) + 1, len(sections))
        ident = elf.identification(self.processor.bits)
        flags = self.first.flags
        self.records.header.pack_into(out, 0, ident, 1, self.processor.machine, 1, 0, 0, headers, flags, *counts)
        end = data_at if self.data is not None else len(out)
        for section in sections:
            if section.name == DESCRIPTION_SECTION:
                seal(out, section.offset, end)
        return LinkedLibrary(bytes(out), end)
