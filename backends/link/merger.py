"""Objects of one processor put together, whatever their format: what is not exported becomes local.

Sections of a kind are put one behind the other. They keep their relocations, which refer to copies of the symbols that
they had, and what a format writes around that is its own: `relocatable` (ELF), `coff_relocatable`, `macho_relocatable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lamina.backends.link import elf_object as elf
from lamina.backends.link.elf_object import LinkError, ObjectFile, ObjectSection, Relocation, Symbol
from lamina.backends.link.shared_object import Data

_MAPPING = "$"
"""The first letter of symbols that say where code and where data begin in a section, on Arm and RISC-V."""


@dataclass
class MergedSection:
    """A section of the result: the pieces of that kind, one behind the other. Relocations have the numbers that symbols
    have in the result."""

    name: str
    kind: int
    flags: int
    alignment: int = 1
    data: bytearray = field(default_factory=bytearray)
    relocations: list[Relocation] = field(default_factory=list[Relocation])
    offset: int = 0


class MergedObject(NamedTuple):
    """The sections and symbols of several objects together. The data are a section of their own, behind these."""

    sections: Sequence[MergedSection]
    symbols: Sequence[Symbol]
    """The first is none; then local ones, those that are exported, and those that are elsewhere."""
    first_global: int

    def needed(self) -> tuple[str, ...]:
        """The names of what is elsewhere."""
        return tuple(s.name for s in self.symbols[self.first_global :] if not s.section)


def merge_objects(
    objects: Sequence[ObjectFile],
    exports: Sequence[str],
    label: str,
    data: Data | None,
    name_of: Callable[[ObjectFile, ObjectSection], str | None],
) -> MergedObject:
    """Put objects of one processor together; `label` names the result in errors.

    `name_of` gives the section of the result that takes one of an object, None where none does. Raises LinkError: for a
    symbol that two have or that is to be exported and is not there, and what `name_of` raises.
    """
    return _Merger(objects, exports, label, data, name_of).result()


class _Merger:
    def __init__(
        self,
        objects: Sequence[ObjectFile],
        exports: Sequence[str],
        label: str,
        data: Data | None,
        name_of: Callable[[ObjectFile, ObjectSection], str | None],
    ) -> None:
        self.objects, self.exports, self.label, self.data, self.name_of = objects, exports, label, data, name_of
        self.sections: list[MergedSection] = []
        self.places: dict[tuple[int, int], tuple[int, int]] = {}
        """Number and offset of the section that has a section of an object."""
        self.owners: dict[str, tuple[int, int]] = {}
        """The object and the number of each symbol that objects share."""
        self.entries: list[Symbol] = [Symbol("", 0, 0, 0, 0, 0)]
        self.numbers: dict[tuple[int, int] | str, int] = {}
        """Numbers in the table of symbols, by object and number, or by the name of what is elsewhere."""

    def result(self) -> MergedObject:
        self._merge_sections()
        self._find_owners()
        local = list(self._local_symbols())
        for key, entry in local:
            self.numbers[key] = len(self.entries)
            self.entries.append(entry)
        first_global = len(self.entries)
        self._global_symbols()
        self._move_relocations()
        return MergedObject(self.sections, self.entries, first_global)

    def _merge_sections(self) -> None:
        names: dict[str, int] = {}
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                name = self.name_of(obj, section)
                if name is None:
                    continue
                if name not in names:
                    names[name] = len(self.sections) + 1
                    self.sections.append(MergedSection(name, section.kind, section.flags & ~0x30))
                merged = self.sections[names[name] - 1]
                merged.alignment = max(merged.alignment, section.alignment)
                merged.data.extend(bytes(-len(merged.data) % section.alignment))
                self.places[n, m] = names[name], len(merged.data)
                merged.data += section.data

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

    def _local_symbols(self) -> Iterator[tuple[tuple[int, int] | str, Symbol]]:
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
                yield (n, m), Symbol(symbol.name, place[0], place[1] + symbol.value, symbol.size, kind, elf.LOCAL)
        if self.data is not None:
            yield (
                self.data.symbol,
                Symbol(self.data.symbol, len(self.sections) + 1, 0, self.data.size, elf.OBJECT, elf.LOCAL),
            )

    def _global_symbols(self) -> None:
        for name in self.exports:
            n, m = self.owners[name]
            symbol = self.objects[n].symbols[m]
            section, at = self.places[n, symbol.section]
            self.numbers[n, m] = len(self.entries)
            self.entries.append(Symbol(name, section, at + symbol.value, symbol.size, symbol.kind, elf.GLOBAL))

    def _move_relocations(self) -> None:
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                if (n, m) not in self.places:
                    continue
                number, at = self.places[n, m]
                for r in section.relocations:
                    symbol = self._number_of(n, r.symbol)
                    self.sections[number - 1].relocations.append(Relocation(at + r.offset, r.kind, symbol, r.addend))

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
            self.entries.append(Symbol(symbol.name, elf.UNDEFINED, 0, 0, elf.NOTYPE, elf.GLOBAL))
        return self.numbers[symbol.name]
