"""Shared libraries of ELF from relocatable objects and a block of data, for a loader and nothing else.

    headers, notes, symbols, relocations, constants | code | tables with addresses | names for debuggers | the data
                                       read only     runs    read only once loaded          not loaded     read only

Sources: System V ABI, chapters 4 and 5; the GNU extensions as glibc's and musl's loaders read them (DT_GNU_HASH,
PT_GNU_RELRO, PT_GNU_STACK, PT_GNU_EH_FRAME, NT_GNU_BUILD_ID); Linux Standard Base 5.0, section 10.6 (.eh_frame_hdr).

A library made here has no variables: what would need a writable section is refused, and so is every relocation that the
processor's table does not list. All addresses are resolved as it is loaded, and what held them is read-only then. The
same input gives the same bytes. The data begin on a page of its own, so that they stay in the file until they are read,
and processes share them. Large ones lie at an address that differs from their place in the file by whole huge pages, so
that a system that keeps files in such pages maps them as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from lamina.backends.link import elf_object as elf
from lamina.backends.link.aarch64 import AARCH64
from lamina.backends.link.armv7 import ARMV7
from lamina.backends.link.elf_object import LinkError, ObjectFile
from lamina.backends.link.loader_tables import frame_table, frame_table_bytes, hash_table
from lamina.backends.link.processor import Processor, RelocationKind, Through
from lamina.backends.link.riscv64 import RISCV64
from lamina.backends.link.x86_64 import X86_64

PROCESSORS = {p.machine: p for p in (X86_64, AARCH64, RISCV64, ARMV7)}
"""By their numbers in ELF."""

DESCRIPTION, DIGEST = 1, 2
"""Notes of the owner `Lamina`: a description as JSON; SHA-256 of the file up to the data, with this digest and the
build-id as zeros, and the number of these bytes."""
OWNER = b"Lamina\0\0"
BUILD_ID = 3
"""The note of the owner `GNU` that names a build: 20 bytes, here of the digest and of that of the data."""
_ID_BYTES, _DIGEST_BYTES = 20, 40

_LOAD, _DYNAMIC, _NOTE, _EH_FRAME, _STACK, _RELRO = 1, 2, 4, 0x6474E550, 0x6474E551, 0x6474E552
_EXECUTES, _WRITES, _READS = 1, 2, 4
_NEEDED, _STRTAB, _SYMTAB, _RELA, _RELASZ, _RELAENT, _STRSZ, _SYMENT, _SONAME, _FLAGS = 1, 5, 6, 7, 8, 9, 10, 11, 14, 30
_GNU_HASH, _RELACOUNT, _FLAGS_1 = 0x6FFFFEF5, 0x6FFFFFF9, 0x6FFFFFFB
_REL, _RELSZ, _RELENT, _RELCOUNT = 17, 18, 19, 0x6FFFFFFA
_NOTE_SECTION, _DYNAMIC_SECTION, _DYNSYM, _STRTAB_SECTION, _HASH_SECTION = 7, 6, 11, 3, 0x6FFFFFF6

HUGE_PAGE = 1 << 21
"""Bytes of a huge page where pages have 4 KB: of x86-64, AArch64 and RISC-V, an entry of the last table but one."""

DATA_SECTION = ".lamina.data"
"""The section of the data."""


class Data(NamedTuple):
    """The block of data behind the code: what symbol is its first byte, how long it is, and a digest of it."""

    symbol: str
    size: int
    digest: bytes


@dataclass
class _Part:
    """A section of the library."""

    name: str
    kind: int
    flags: int
    alignment: int
    data: bytearray = field(default_factory=bytearray)
    entry: int = 0
    """Bytes of an entry, where it is a table."""
    link: str = ""
    """The section that it refers to."""
    info: int = 0
    address: int = 0
    offset: int = 0

    def align(self, alignment: int) -> int:
        self.alignment = max(self.alignment, alignment)
        self.data.extend(bytes(-len(self.data) % alignment))
        return len(self.data)


def build_id_of(digest: bytes, data: bytes) -> bytes:
    """The build-id of a library by its digest and that of its data."""
    return hashlib.sha256(digest + data).digest()[:_ID_BYTES]


def part_name(obj: ObjectFile, section: elf.ObjectSection, processor: Processor) -> str | None:
    """The section of the result that takes one of an object; None where none does. Raises LinkError for variables."""
    left_out = (_NOTE_SECTION, processor.unwind_table)
    if not section.flags & elf.ALLOC or not section.size or section.kind in left_out:
        return None
    if section.flags & elf.EXECUTE:
        return ".text"
    if section.flags & elf.WRITE:
        if section.name.startswith(".data.rel.ro"):
            return ".data.rel.ro"
        raise LinkError(f"the section {section.name} holds variables, which a library has not", where=obj.label)
    return ".eh_frame" if section.name == ".eh_frame" else ".rodata"


class LinkedLibrary(NamedTuple):
    """A linked library but for its data, which follow at `data_at`."""

    code: bytes
    data_at: int
    needed: tuple[str, ...] = ()
    """Functions that an object asks of others, where its format is one that is not linked here."""

    def write(self, file: BinaryIO, data: Sequence[bytes | memoryview]) -> None:
        """Write it with its data."""
        file.write(self.code)
        file.write(bytes(self.data_at - len(self.code)))
        for piece in data:
            file.write(piece)


def link(
    objects: Sequence[ObjectFile],
    exports: Sequence[str],
    name: str,
    imports: Mapping[str, str],
    description: bytes = b"",
    data: Data | None = None,
) -> LinkedLibrary:
    """Link objects of one processor; `name` is that of the library, `imports` the library of each function it may call.

    Raises LinkError: for a symbol that nobody has or two have, a variable, a relocation that is not on the list.
    """
    return _Linker(objects, exports, name, imports, description, data).result()


class _Linker:
    def __init__(
        self,
        objects: Sequence[ObjectFile],
        exports: Sequence[str],
        name: str,
        imports: Mapping[str, str],
        description: bytes,
        data: Data | None,
    ) -> None:
        machines = {(o.machine, o.bits) for o in objects}
        if len(machines) != 1:
            raise LinkError("the objects are of several processors", where=name)
        machine, bits = machines.pop()
        found = PROCESSORS.get(machine)
        if found is None or found.bits != bits:
            raise LinkError(f"no linker for the processor {machine} of ELF ({bits} bits)", where=name)
        self.processor: Processor = found
        self.layout = elf.RECORDS[bits]
        self.objects, self.exports, self.name, self.data = objects, exports, name, data
        self.flags = objects[0].flags
        self.text = _Part(".text", elf.PROGBITS, elf.ALLOC | elf.EXECUTE, 16)
        self.constants = _Part(".rodata", elf.PROGBITS, elf.ALLOC, 16)
        self.frames = _Part(".eh_frame", elf.PROGBITS, elf.ALLOC, 8)
        self.frame_table = _Part(".eh_frame_hdr", elf.PROGBITS, elf.ALLOC, 4)
        self.addresses = _Part(".data.rel.ro", elf.PROGBITS, elf.ALLOC | elf.WRITE, 16)
        self.got = _Part(".got", elf.PROGBITS, elf.ALLOC | elf.WRITE, 8, entry=bits // 8)
        self.places: dict[tuple[int, int], tuple[_Part, int]] = {}
        """The part that a section of an object lies in, and its offset there."""
        self.globals: dict[str, tuple[int, elf.Symbol]] = {}
        self.libraries = imports
        self.imports: dict[str, int] = {}
        """Functions of other libraries, with their numbers among the dynamic symbols."""
        self.entries: dict[tuple[int, int] | str, int] = {}
        """Offsets in the global offset table, by symbol."""
        self.stubs: dict[str, int] = {}
        """Offsets in the code of the stubs of imports."""
        self.dynamic: list[tuple[_Part, int, int, int, int]] = []
        """Relocations for the loader: part, offset, kind, number of the symbol, addend."""
        self.partners: dict[tuple[int, int], dict[int, elf.Relocation]] = {}
        """Relocations of a section of an object by their offsets, where others refer to them."""
        self.notes = self._notes(description)

    def _notes(self, description: bytes) -> _Part:
        part = _Part(".note.lamina", _NOTE_SECTION, elf.ALLOC, 4)
        for owner, kind, content in (
            (b"GNU\0", BUILD_ID, bytes(_ID_BYTES)),
            (OWNER, DIGEST, bytes(_DIGEST_BYTES)),
            (OWNER, DESCRIPTION, description),
        ):
            for number in (len(owner.rstrip(b"\0")) + 1, len(content), kind):
                part.data += number.to_bytes(4, "little")
            part.data += owner + content
            part.align(4)
        return part

    def result(self) -> LinkedLibrary:
        self._place_sections()
        self._define_globals()
        self._reserve()
        return self._written(self._tables())

    # -- what goes where -------------------------------------------------------------------------------------------

    def _part_of(self, obj: ObjectFile, section: elf.ObjectSection) -> _Part | None:
        name = part_name(obj, section, self.processor)
        return next((p for p in (self.text, self.constants, self.frames, self.addresses) if p.name == name), None)

    def _place_sections(self) -> None:
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                part = self._part_of(obj, section)
                if part is not None:
                    self.places[n, m] = part, part.align(section.alignment)
                    part.data += section.data if section.kind != elf.NOBITS else bytes(section.size)

    def _define_globals(self) -> None:
        for n, obj in enumerate(self.objects):
            for symbol in obj.symbols:
                if symbol.binding == elf.LOCAL or symbol.section == elf.UNDEFINED:
                    continue
                if symbol.section == elf.COMMON:
                    raise LinkError(f"{symbol.name} is a variable, which a library has not", where=obj.label)
                before = self.globals.setdefault(symbol.name, (n, symbol))
                if before[0] != n and elf.WEAK not in (before[1].binding, symbol.binding):
                    raise LinkError(
                        f"{symbol.name} is defined here and in {self.objects[before[0]].label}", where=obj.label
                    )
        for name in self.exports:
            if name not in self.globals:
                raise LinkError(f"there is no {name} to export", where=self.name)

    def _reserve(self) -> None:
        """Find what is imported; make room for stubs and for entries of the table."""
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                if (n, m) not in self.places:
                    continue
                for relocation in section.relocations:
                    self._reserve_one(n, obj, relocation)
        for name in self.imports:
            if name in self.stubs:
                self.stubs[name] = self.text.align(self.processor.stub_size)
                self.text.data += bytes(self.processor.stub_size)

    def _reserve_one(self, n: int, obj: ObjectFile, relocation: elf.Relocation) -> None:
        symbol = obj.symbols[relocation.symbol]
        if relocation.kind not in self.processor.kinds:
            what = f"a relocation of kind {relocation.kind} ({self.processor.name}) is not on the linker's list"
            raise LinkError(f"{what}: {symbol.name or 'a section'}", where=obj.label)
        kind = self.processor.kinds[relocation.kind]
        if kind is None or kind.through is Through.PARTNER:
            return
        outside = self._is_outside(symbol)
        if outside:
            if symbol.name not in self.libraries:
                raise LinkError(f"it calls {symbol.name}, which is in no library that it may use", where=obj.label)
            self.imports.setdefault(symbol.name, len(self.imports) + 1)
            if kind.through is Through.SYMBOL:
                raise LinkError(f"{kind.name} reaches {symbol.name} of another library", where=obj.label)
            if kind.through is Through.CALL:
                self.stubs.setdefault(symbol.name, 0)
        if kind.through is Through.TABLE or (outside and kind.through is Through.CALL):
            key = self._key(n, relocation.symbol, symbol)
            if key not in self.entries:
                self.entries[key] = len(self.got.data)
                self.got.data += bytes(self.got.entry)

    def _is_outside(self, symbol: elf.Symbol) -> bool:
        """Whether a symbol is neither in an object nor the data's."""
        if symbol.section != elf.UNDEFINED or symbol.name in self.globals:
            return False
        return self.data is None or symbol.name != self.data.symbol

    def _key(self, n: int, number: int, symbol: elf.Symbol) -> tuple[int, int] | str:
        return (n, number) if symbol.binding == elf.LOCAL else symbol.name

    # -- tables of the loader --------------------------------------------------------------------------------------

    def _tables(self) -> dict[str, _Part]:
        """The sections that a loader reads, with their final sizes."""
        layout, exports = self.layout, list(self.exports)
        names = bytearray(b"\0")
        offsets: dict[str, int] = {}
        needed = list(dict.fromkeys(self.libraries[name] for name in self.imports))
        for text in (self.name, *needed, *self.imports, *exports):
            if text not in offsets:
                offsets[text] = len(names)
                names += text.encode() + b"\0"
        count = 1 + len(self.imports) + len(exports)
        relocations = len(self.entries) + self._words()
        table = _Part(".dynsym", _DYNSYM, elf.ALLOC, 8, bytearray(layout.symbol.size * count), layout.symbol.size)
        table.link, table.info = ".dynstr", 1
        found_by = hash_table(exports, count, self.processor.bits)
        hashes = _Part(".gnu.hash", _HASH_SECTION, elf.ALLOC, 8, found_by, link=".dynsym")
        strings = _Part(".dynstr", _STRTAB_SECTION, elf.ALLOC, 1, names)
        record, name, type_ = layout.rela, ".rela.dyn", elf.RELA
        if not self.processor.has_addends:
            record, name, type_ = layout.rel, ".rel.dyn", elf.REL
        rela = _Part(name, type_, elf.ALLOC, 8, bytearray(record.size * relocations), record.size, link=".dynsym")
        self.needed, self.name_offsets = needed, offsets
        dynamic = _Part(".dynamic", _DYNAMIC_SECTION, elf.ALLOC | elf.WRITE, 8, entry=layout.dynamic.size)
        dynamic.link = ".dynstr"
        dynamic.data = bytearray(layout.dynamic.size * (13 + len(needed)))
        if self.frames.data:
            self.frames.data += bytes(4)
            self.frame_table.data = bytearray(frame_table_bytes(self.frames.data))
        return {p.name: p for p in (hashes, table, strings, rela, dynamic)}

    def _words(self) -> int:
        """The number of words that the loader fills in."""
        words = {n for n, kind in self.processor.kinds.items() if kind is not None and kind.through is Through.WORD}
        return sum(
            r.kind in words
            for n, obj in enumerate(self.objects)
            for m, section in enumerate(obj.sections)
            if (n, m) in self.places
            for r in section.relocations
        )

    # -- addresses -------------------------------------------------------------------------------------------------

    def _written(self, tables: Mapping[str, _Part]) -> LinkedLibrary:
        constants = [self.notes, *tables.values(), self.constants, self.frame_table, self.frames]
        read = [p for p in constants if p.data and p.name != ".dynamic"]
        ran = [self.text] if self.text.data else []
        filled = [p for p in (self.addresses, tables[".dynamic"], self.got) if p.data]
        groups = [g for g in (read, ran, filled) if g]
        # Segments, the data's, dynamic, notes, table of frames, stack, read-only once loaded.
        count = len(groups) + (self.data is not None) + 4 + bool(self.frames.data)
        page = self.processor.page
        offset = self.layout.header.size + count * self.layout.program.size
        address = offset
        segments: list[tuple[int, int, int, int, int, int]] = []
        for group, flags in zip(groups, [_READS, _READS | _EXECUTES, _READS | _WRITES], strict=True):
            start = 0 if group is read else offset
            if group is not read:
                address = -(-address // page) * page + offset % page
            begin = 0 if group is read else address
            for part in group:
                step = -address % part.alignment
                offset, address = offset + step, address + step
                part.offset, part.address = offset, address
                offset, address = offset + len(part.data), address + len(part.data)
            size = address - begin
            # What is read-only once loaded ends with its page, or the loader would leave the last one writable.
            in_memory = size if group is not filled else -(-(begin + size) // page) * page - begin
            segments.append((_LOAD, flags, start, begin, size, in_memory))
        parts = [p for g in groups for p in g]
        self.numbers = {id(part): n + 1 for n, part in enumerate(parts)}
        out = bytearray(offset)
        sections = self._names(out, parts)
        end = len(out) + self.layout.section.size * (len(sections) + 1 + (self.data is not None))
        data_at = -(-end // page) * page
        if self.data is not None:
            least = -(-address // page) * page + page
            self.data_alignment = HUGE_PAGE if self.data.size >= HUGE_PAGE else page
            self.data_address = least + (data_at - least) % self.data_alignment
        self._fill(tables)
        for part in parts:
            out[part.offset : part.offset + len(part.data)] = part.data
        return self._assembled(out, sections, segments, tables, data_at)

    def _assembled(
        self,
        out: bytearray,
        sections: list[tuple[_Part, int]],
        segments: list[tuple[int, int, int, int, int, int]],
        tables: Mapping[str, _Part],
        data_at: int,
    ) -> LinkedLibrary:
        """The file up to its data; `out` is what its sections have filled of it."""
        if self.data is not None:
            size, address = self.data.size, self.data_address
            segments.append((_LOAD, _READS, data_at, address, size, size))
            whole = _Part(DATA_SECTION, elf.PROGBITS, elf.ALLOC, self.processor.page, address=address, offset=data_at)
            sections.insert(len(sections) - 1, (whole, size))
        else:
            data_at = 0
        for part, kind in ((tables[".dynamic"], _DYNAMIC), (self.notes, _NOTE), (self.frame_table, _EH_FRAME)):
            if part.data:
                flags = _READS | _WRITES if part.flags & elf.WRITE else _READS
                size = len(part.data)
                segments.append((kind, flags, part.offset, part.address, size, size))
        segments.append((_STACK, _READS | _WRITES, 0, 0, 0, 0))
        _, _, offset, address, size, in_memory = segments[2 if self.text.data else 1]
        segments.append((_RELRO, _READS, offset, address, size, in_memory))
        headers = self._section_headers(out, sections)
        self._put_headers(out, segments, len(sections) + 1, headers)
        self._sign(out)
        return LinkedLibrary(bytes(out), data_at or len(out))

    def _fill(self, tables: Mapping[str, _Part]) -> None:
        """Write every field whose value depends on an address."""
        for n, obj in enumerate(self.objects):
            for m, section in enumerate(obj.sections):
                if (n, m) in self.places:
                    part, at = self.places[n, m]
                    for relocation in section.relocations:
                        self._apply(n, obj, part, at + relocation.offset, relocation)
        for name, at in self.stubs.items():
            entry = self.got.address + self.entries[name]
            self.text.data[at : at + self.processor.stub_size] = self.processor.stub(entry, self.text.address + at)
        for key, at in self.entries.items():
            number = self.imports.get(key, 0) if isinstance(key, str) else 0
            if number:
                self.dynamic.append((self.got, at, self.processor.table_entry, number, 0))
            else:
                n, symbol = self.globals[key] if isinstance(key, str) and key in self.globals else self._local(key)
                self._relative(self.got, at, self._address(n, symbol))
        if self.frames.data:
            place, frames = self.frame_table, self.frames
            place.data[:] = frame_table(frames.data, frames.address, place.address)
        self._fill_tables(tables)

    def _local(self, key: tuple[int, int] | str) -> tuple[int, elf.Symbol]:
        if isinstance(key, str):  # the data's
            return 0, elf.Symbol(key, elf.UNDEFINED, 0, 0, 0, elf.GLOBAL)
        return key[0], self.objects[key[0]].symbols[key[1]]

    def _address(self, n: int, symbol: elf.Symbol) -> int:
        """The address of a symbol of the library."""
        if symbol.section == elf.UNDEFINED:
            if symbol.name in self.globals:
                return self._address(*self.globals[symbol.name])
            return self.data_address
        if symbol.section == elf.ABSOLUTE:
            return symbol.value
        if (n, symbol.section) not in self.places:
            section = self.objects[n].sections[symbol.section].name
            raise LinkError(f"{symbol.name or section} is needed, but not loaded", where=self.objects[n].label)
        part, at = self.places[n, symbol.section]
        return part.address + at + symbol.value

    def _apply(self, n: int, obj: ObjectFile, part: _Part, at: int, relocation: elf.Relocation) -> None:
        kind = self.processor.kinds[relocation.kind]
        if kind is None:
            return
        symbol, place = obj.symbols[relocation.symbol], part.address + at
        addend = kind.addend(part.data, at) if relocation.addend is None else relocation.addend
        if kind.through is Through.WORD:
            if not part.flags & elf.WRITE:
                raise LinkError(f"{kind.name} in {part.name}, where nothing can be filled in", where=obj.label)
            if self._is_outside(symbol):
                kind.field(part.data, at, addend, place)
                self.dynamic.append((part, at, self.processor.symbolic, self.imports[symbol.name], addend))
            else:
                self._relative(part, at, self._address(n, symbol) + addend)
            return
        if kind.through is Through.PARTNER:
            partner = self._partner(n, obj, symbol)
            other = self.processor.kinds[partner.kind]
            assert other is not None
            value, place = self._value(n, obj, partner, other) + (partner.addend or 0), self._address(n, symbol)
        else:
            value = self._value(n, obj, relocation, kind) + addend
        try:
            kind.field(part.data, at, value, place)
        except (ValueError, OverflowError) as error:
            raise LinkError(f"{kind.name} of {symbol.name or 'a section'}: {error}", where=obj.label) from None

    def _value(self, n: int, obj: ObjectFile, relocation: elf.Relocation, kind: RelocationKind) -> int:
        """The address that a relocation is about, without its addend."""
        symbol = obj.symbols[relocation.symbol]
        if kind.through is Through.TABLE:
            return self.got.address + self.entries[self._key(n, relocation.symbol, symbol)]
        return self.text.address + self.stubs[symbol.name] if self._is_outside(symbol) else self._address(n, symbol)

    def _partner(self, n: int, obj: ObjectFile, label: elf.Symbol) -> elf.Relocation:
        """The relocation at a label."""
        found = self.partners.get((n, label.section))
        if found is None:
            upper = (r for r in obj.sections[label.section].relocations if self.processor.kinds.get(r.kind) is not None)
            found = self.partners[n, label.section] = {r.offset: r for r in upper}
        if label.value not in found:
            raise LinkError(f"there is no relocation at {label.name}", where=obj.label)
        return found[label.value]

    def _relative(self, part: _Part, at: int, value: int) -> None:
        size = self.processor.bits // 8
        part.data[at : at + size] = value.to_bytes(size, "little")
        self.dynamic.append((part, at, self.processor.relative, 0, value))

    # -- the file --------------------------------------------------------------------------------------------------

    def _fill_tables(self, tables: Mapping[str, _Part]) -> None:
        layout, names, bits = self.layout, self.name_offsets, self.processor.bits
        symbols = bytearray(layout.symbol.size)
        for name in self.imports:
            symbols += elf.symbol_record(bits, names[name], 0, 0, 0, elf.GLOBAL << 4 | elf.FUNCTION)
        for name in self.exports:
            n, symbol = self.globals[name]
            info = elf.GLOBAL << 4 | symbol.kind
            section = self.numbers[id(self.places[n, symbol.section][0])]
            symbols += elf.symbol_record(bits, names[name], section, self._address(n, symbol), symbol.size, info)
        tables[".dynsym"].data[:] = symbols
        kinds = self.processor
        rows = sorted(self.dynamic, key=lambda r: (r[2] != kinds.relative, r[3], r[0].address + r[1]))
        shift = 32 if kinds.bits == 64 else 8
        heads = [(part.address + at, number << shift | kind) for part, at, kind, number, _ in rows]
        if kinds.has_addends:
            rela = b"".join(layout.rela.pack(*head, row[4]) for head, row in zip(heads, rows, strict=True))
            tags, table = (_RELA, _RELASZ, _RELAENT, _RELACOUNT), tables[".rela.dyn"]
        else:
            rela = b"".join(layout.rel.pack(*head) for head in heads)
            tags, table = (_REL, _RELSZ, _RELENT, _RELCOUNT), tables[".rel.dyn"]
        table.data[:] = rela
        said = [*((_NEEDED, names[n]) for n in self.needed), (_SONAME, names[self.name])]
        at = {name: part.address for name, part in tables.items()}
        said += [
            (_GNU_HASH, at[".gnu.hash"]),
            (_STRTAB, at[".dynstr"]),
            (_SYMTAB, at[".dynsym"]),
            (_STRSZ, len(tables[".dynstr"].data)),
            (_SYMENT, layout.symbol.size),
            (tags[0], table.address),
            (tags[1], len(rela)),
            (tags[2], table.entry),
            (tags[3], sum(r[2] == kinds.relative for r in rows)),
            (_FLAGS, 8),  # DF_BIND_NOW
            (_FLAGS_1, 1),  # DF_1_NOW
            (0, 0),
        ]
        dynamic = b"".join(layout.dynamic.pack(tag, value) for tag, value in said)
        assert len(dynamic) == len(tables[".dynamic"].data)
        tables[".dynamic"].data[:] = dynamic

    def _names(self, out: bytearray, parts: Sequence[_Part]) -> list[tuple[_Part, int]]:
        """The sections of the file, with the functions' names for debuggers and profilers behind them."""
        table, strings, bits = bytearray(self.layout.symbol.size), bytearray(b"\0"), self.processor.bits
        for n, obj in enumerate(self.objects):
            for symbol in obj.symbols:
                place = self.places.get((n, symbol.section))
                if symbol.kind not in (elf.FUNCTION, elf.OBJECT) or place is None:
                    continue
                where, number = self._address(n, symbol), self.numbers[id(place[0])]
                table += elf.symbol_record(bits, len(strings), number, where, symbol.size, symbol.kind)
                strings += symbol.name.encode() + b"\0"
        rows = len(table) // self.layout.symbol.size
        behind = [
            _Part(".symtab", elf.SYMTAB, 0, 8, table, self.layout.symbol.size, ".strtab", rows),
            _Part(".strtab", _STRTAB_SECTION, 0, 1, strings),
            _Part(".shstrtab", _STRTAB_SECTION, 0, 1),
        ]
        behind[2].data = bytearray(
            b"\0" + b"".join(p.name.encode() + b"\0" for p in (*parts, *behind)) + DATA_SECTION.encode() + b"\0"
        )
        for part in behind:
            out += bytes(-len(out) % part.alignment)
            part.offset = len(out)
            out += part.data
        return [(p, len(p.data)) for p in (*parts, *behind)]

    def _section_headers(self, out: bytearray, sections: Sequence[tuple[_Part, int]]) -> int:
        """Append the headers of the sections; the offset of the first."""
        out += bytes(-len(out) % 8)
        start = len(out)
        strings = bytes(sections[-1][0].data)
        numbers = {part.name: n + 1 for n, (part, _) in enumerate(sections)}
        out += bytes(self.layout.section.size)
        for part, size in sections:
            name = strings.index(b"\0" + part.name.encode() + b"\0") + 1
            link = numbers[part.link] if part.link else 0
            place = (part.address, part.offset, size)
            out += self.layout.section.pack(
                name, part.kind, part.flags, *place, link, part.info, part.alignment, part.entry
            )
        return start

    def _put_headers(
        self, out: bytearray, segments: Sequence[tuple[int, int, int, int, int, int]], sections: int, headers: int
    ) -> None:
        layout, bits = self.layout, self.processor.bits
        ident = elf.identification(bits)
        size = layout.header.size
        sizes = (size, layout.program.size, len(segments), layout.section.size, sections, sections - 1)
        layout.header.pack_into(out, 0, ident, 3, self.processor.machine, 1, 0, size, headers, self.flags, *sizes)
        for n, (kind, flags, offset, address, size, in_memory) in enumerate(segments):
            alignment = {_LOAD: self.processor.page, _STACK: 16, _DYNAMIC: 8, _RELRO: 1}.get(kind, 4)
            if kind == _LOAD and self.data is not None and address == self.data_address:
                alignment = self.data_alignment
            where = (offset, address, address, size, in_memory)
            row = (kind, flags, *where, alignment) if bits == 64 else (kind, *where, flags, alignment)
            layout.program.pack_into(out, layout.header.size + n * layout.program.size, *row)

    def _sign(self, out: bytearray) -> None:
        """Write the digest and the build-id."""
        id_at = self.notes.offset + 16
        digest_at = id_at + _ID_BYTES + 12 + len(OWNER)
        digest = hashlib.sha256(out).digest()
        out[digest_at : digest_at + _DIGEST_BYTES] = digest + len(out).to_bytes(8, "little")
        identity = build_id_of(digest, self.data.digest if self.data is not None else b"")
        out[id_at : id_at + _ID_BYTES] = identity
