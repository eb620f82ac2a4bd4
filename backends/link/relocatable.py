"""One relocatable object of ELF from several, for a linker of the user's: what is not exported becomes local.

Sources: System V ABI, chapter 4. Sections keep their relocations, which refer to copies of the symbols that they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lamina.backends.link import elf_object as elf
from lamina.backends.link.elf_object import LinkError, ObjectFile
from lamina.backends.link.shared_object import DATA_SECTION, PROCESSORS, Data, LinkedLibrary, part_name

_ATTRIBUTES = 0x70000003
"""The type of the section by which Arm and RISC-V say their conventions: that of one object stands for all."""


_MAPPING = "$"
"""The first letter of symbols that say where code and where data begin in a section, on Arm and RISC-V."""
DESCRIPTION_SECTION = ".lamina.description"
"""The section of an object's description."""


class _Moved(NamedTuple):
    offset: int
    kind: int
    symbol: int
    """Its number in the table of the result."""
    addend: int | None


@dataclass
class _Merged:
    """A section of the result: the pieces of that kind, one behind the other."""

    name: str
    kind: int
    flags: int
    alignment: int = 1
    data: bytearray = field(default_factory=bytearray)
    relocations: list[_Moved] = field(default_factory=list["_Moved"])
    link: int = 0
    info: int = 0
    entry: int = 0
    offset: int = 0


class _Entry(NamedTuple):
    name: str
    section: int
    value: int
    size: int
    info: int


def merge(
    objects: Sequence[ObjectFile],
    exports: Sequence[str],
    label: str,
    data: Data | None = None,
    names: Mapping[str, str] | None = None,
    description: bytes = b"",
) -> LinkedLibrary:
    """Put objects of one processor together; `label` names the result in errors. The data follow it.

    `names` are those that sections get instead of `.text`, `.rodata`, `DATA_SECTION` and so on, for a linker's script
    to tell them apart; a description stands in a section that nobody loads. Raises LinkError: for a symbol that two
    have or that is to be exported and is not there, and for a variable.
    """
    return _Merger(objects, exports, label, data, names or {}, description).result()


class _Merger:
    def __init__(
        self,
        objects: Sequence[ObjectFile],
        exports: Sequence[str],
        label: str,
        data: Data | None,
        names: Mapping[str, str],
        description: bytes,
    ) -> None:
        machines = {(o.machine, o.bits) for o in objects}
        if len(machines) != 1 or objects[0].machine not in PROCESSORS:
            raise LinkError("the objects are of several processors, or of one that there is no linker for", where=label)
        self.objects, self.exports, self.label, self.data, self.names = objects, exports, label, data, names
        self.description = description
        self.processor = PROCESSORS[objects[0].machine]
        self.records = elf.RECORDS[objects[0].bits]
        self.sections: list[_Merged] = []
        self.places: dict[tuple[int, int], tuple[int, int]] = {}
        """Number and offset of the section that has a section of an object."""
        self.owners: dict[str, tuple[int, int]] = {}
        """The object and the number of each symbol that objects share."""
        self.entries: list[_Entry] = [_Entry("", 0, 0, 0, 0)]
        self.numbers: dict[tuple[int, int] | str, int] = {}
        """Numbers in the table of symbols, by object and number, or by the name of what is elsewhere."""

    def result(self) -> LinkedLibrary:
        self._merge_sections()
        self._find_owners()
        local = list(self._local_symbols())
        for key, entry in local:
            self.numbers[key] = len(self.entries)
            self.entries.append(entry)
        first_global = len(self.entries)
        self._global_symbols()
        self._move_relocations()
        return self._written(first_global)

    def _merge_sections(self) -> None:
        names: dict[str, int] = {}
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                name = self._name_of(n, section)
                if name is None:
                    continue
                if name not in names:
                    names[name] = len(self.sections) + 1
                    self.sections.append(_Merged(name, section.kind, section.flags & ~0x30))
                merged = self.sections[names[name] - 1]
                merged.alignment = max(merged.alignment, section.alignment)
                merged.data.extend(bytes(-len(merged.data) % section.alignment))
                self.places[n, m] = names[name], len(merged.data)
                merged.data += section.data

    def _name_of(self, n: int, section: elf.ObjectSection) -> str | None:
        """The section of the result that takes one of an object; None where none does."""
        if section.kind == _ATTRIBUTES:
            return section.name if n == 0 else None
        name = part_name(self.objects[n], section, self.processor)
        return name and self.names.get(name, name)

    def _find_owners(self) -> None:
        for n, obj in enumerate(self.objects):
            for m, symbol in enumerate(obj.symbols):
                if symbol.binding != elf.LOCAL and symbol.section != elf.UNDEFINED:
                    before = self.owners.setdefault(symbol.name, (n, m))
                    if before != (n, m):
                        first = self.objects[before[0]].label
                        raise LinkError(f"{symbol.name} is defined here and in {first}", where=obj.label)
        for name in self.exports:
            if name not in self.owners:
                raise LinkError(f"there is no {name} to export", where=self.label)

    def _local_symbols(self) -> Iterator[tuple[tuple[int, int] | str, _Entry]]:
        used = {
            (n, r.symbol)
            for n, obj in enumerate(self.objects)
            for m, s in enumerate(obj.sections)
            if (n, m) in self.places
            for r in s.relocations
        }
        for n, obj in enumerate(self.objects):
            for m, symbol in enumerate(obj.symbols):
                place = self.places.get((n, symbol.section))
                named = symbol.kind in (elf.FUNCTION, elf.OBJECT) or symbol.name.startswith(_MAPPING)
                if place is None or not (named or (n, m) in used or symbol.binding != elf.LOCAL):
                    continue
                if symbol.name in self.exports and symbol.binding != elf.LOCAL:
                    continue
                kind = symbol.kind if symbol.kind in (elf.FUNCTION, elf.OBJECT) else elf.NOTYPE
                yield (n, m), _Entry(symbol.name, place[0], place[1] + symbol.value, symbol.size, kind)
        if self.data is not None:
            yield self.data.symbol, _Entry(self.data.symbol, len(self.sections) + 1, 0, self.data.size, elf.OBJECT)

    def _global_symbols(self) -> None:
        for name in self.exports:
            n, m = self.owners[name]
            symbol = self.objects[n].symbols[m]
            section, at = self.places[n, symbol.section]
            self.numbers[n, m] = len(self.entries)
            self.entries.append(_Entry(name, section, at + symbol.value, symbol.size, elf.GLOBAL << 4 | symbol.kind))

    def _move_relocations(self) -> None:
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                if (n, m) not in self.places:
                    continue
                number, at = self.places[n, m]
                for r in section.relocations:
                    symbol = self._number_of(n, r.symbol)
                    self.sections[number - 1].relocations.append(_Moved(at + r.offset, r.kind, symbol, r.addend))

    def _number_of(self, n: int, m: int) -> int:
        symbol = self.objects[n].symbols[m]
        if symbol.section != elf.UNDEFINED or not symbol.name:
            if m and (n, m) not in self.numbers:
                raise LinkError(f"{symbol.name or 'a section'} is needed, but left out", where=self.objects[n].label)
            return self.numbers[n, m] if m else 0
        if symbol.name in self.owners:
            return self.numbers[self.owners[symbol.name]]
        if symbol.name not in self.numbers:  # elsewhere
            self.numbers[symbol.name] = len(self.entries)
            self.entries.append(_Entry(symbol.name, elf.UNDEFINED, 0, 0, elf.GLOBAL << 4))
        return self.numbers[symbol.name]

    # -- the file --------------------------------------------------------------------------------------------------

    def _written(self, first_global: int) -> LinkedLibrary:
        sections = [*self.sections]
        if self.data is not None:
            name = self.names.get(DATA_SECTION, DATA_SECTION)
            sections.append(_Merged(name, elf.PROGBITS, elf.ALLOC, 64))
        symtab = len(sections) + sum(bool(s.relocations) for s in self.sections) + bool(self.description) + 1
        for number, section in enumerate(self.sections, 1):
            if section.relocations:
                sections.append(self._relocation_section(number, section, symtab))
        table, strings = bytearray(), bytearray(b"\0")
        for entry in self.entries:
            name = len(strings) if entry.name else 0
            strings += entry.name.encode() + b"\0" if entry.name else b""
            table += elf.symbol_record(self.processor.bits, name, *entry[1:])
        symbols = _Merged(".symtab", elf.SYMTAB, 0, 8, table, link=symtab + 1, info=first_global)
        symbols.entry = self.records.symbol.size
        if self.description:
            sections.append(_Merged(DESCRIPTION_SECTION, elf.PROGBITS, 0, data=bytearray(self.description)))
        sections += [symbols, _Merged(".strtab", 3, 0, 1, strings), _Merged(".note.GNU-stack", elf.PROGBITS, 0)]
        names = _Merged(".shstrtab", 3, 0)
        sections.append(names)
        names.data += b"\0" + b"".join(s.name.encode() + b"\0" for s in sections)
        return self._file(sections)

    def _relocation_section(self, number: int, section: _Merged, symtab: int) -> _Merged:
        explicit = self.processor.has_addends
        record = self.records.rela if explicit else self.records.rel
        shift = 32 if self.processor.bits == 64 else 8
        rows = bytearray()
        for offset, kind, symbol, addend in section.relocations:
            rows += record.pack(offset, symbol << shift | kind, *([addend or 0] if explicit else []))
        name, type_ = (".rela", elf.RELA) if explicit else (".rel", elf.REL)
        return _Merged(name + section.name, type_, 0x40, 8, rows, link=symtab, info=number, entry=record.size)

    def _file(self, sections: Sequence[_Merged]) -> LinkedLibrary:
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
            if self.data is not None and s.name == self.names.get(DATA_SECTION, DATA_SECTION):
                place, length = data_at, self.data.size
            out += self.records.section.pack(
                name, s.kind, s.flags, 0, place, length, s.link, s.info, s.alignment, s.entry
            )
        counts = (self.records.header.size, 0, 0, size, len(sections) + 1, len(sections))
        ident = elf.identification(self.processor.bits)
        flags = self.objects[0].flags
        self.records.header.pack_into(out, 0, ident, 1, self.processor.machine, 1, 0, 0, headers, flags, *counts)
        return LinkedLibrary(bytes(out), data_at if self.data is not None else len(out))
