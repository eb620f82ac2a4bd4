"""Relocatable objects of WebAssembly as LLVM writes them: functions, segments of data, symbols, relocations.

Sources: WebAssembly Core Specification 2.0, chapter 5 (Binary Format); WebAssembly tool conventions, Linking.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from lamina.backends.link.elf_object import LinkError

WASM_MAGIC = b"\0asm\1\0\0\0"
"""With the version."""
CUSTOM, TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, ELEMENT, CODE, DATA = 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11
"""Numbers of sections."""
LOCAL, UNDEFINED, EXPLICIT_NAME, THREAD_LOCAL = 2, 0x10, 0x40, 0x100
"""Flags of symbols."""
_ELEMENT_OR_COUNT = (ELEMENT, 12)
"""Sections that say nothing new: relocations take addresses of functions, and data are not initialised by code."""
_SEGMENTS, _STARTS, _GROUPS, _SYMBOLS = 5, 6, 7, 8
"""Parts of the section `linking`."""
_LINKING_VERSION = 2


class WasmRelocationKind(IntEnum):
    """The kinds of relocations that are known, by their names in Linking.md."""

    FUNCTION_INDEX_LEB = 0
    TABLE_INDEX_SLEB = 1
    TABLE_INDEX_I32 = 2
    MEMORY_ADDR_LEB = 3
    MEMORY_ADDR_SLEB = 4
    MEMORY_ADDR_I32 = 5
    TYPE_INDEX_LEB = 6
    GLOBAL_INDEX_LEB = 7

    @property
    def has_addend(self) -> bool:
        return self.name.startswith("MEMORY")

    @property
    def size(self) -> int:
        """The bytes of the place."""
        return 4 if self.name.endswith("I32") else 5


_KINDS = frozenset(map(int, WasmRelocationKind))


class WasmRelocation(NamedTuple):
    """A place in a function or segment that depends on where something will be."""

    offset: int
    kind: WasmRelocationKind
    number: int
    """Of the symbol, or of the type."""
    addend: int


class SymbolKind(IntEnum):
    """Kinds of what symbols name."""

    FUNCTION = 0
    DATA = 1
    GLOBAL = 2
    SECTION = 3
    TAG = 4
    TABLE = 5


class WasmSymbol(NamedTuple):
    """A name for a function, for a place in a segment, or for what another object has."""

    kind: SymbolKind
    name: str
    flags: int
    number: int = 0
    """Of the function among all, imported ones first, or of the segment."""
    offset: int = 0

    @property
    def is_defined(self) -> bool:
        return not self.flags & UNDEFINED


class WasmFunction(NamedTuple):
    """A function with its locals; its type as the module writes it."""

    type: bytes
    body: memoryview
    relocations: tuple[WasmRelocation, ...]


class WasmSegment(NamedTuple):
    """A piece of data."""

    name: str
    alignment: int
    data: memoryview
    relocations: tuple[WasmRelocation, ...]


class WasmObject(NamedTuple):
    """An object. Functions keep their numbers, by which symbols refer to them: those of imports come first."""

    label: str
    types: tuple[bytes, ...]
    imports: tuple[bytes, ...]
    """The types of the functions that it imports."""
    functions: tuple[WasmFunction, ...]
    segments: tuple[WasmSegment, ...]
    symbols: tuple[WasmSymbol, ...]


def unsigned(value: int, size: int = 0) -> bytes:
    """A number as LEB128, of so many bytes where `size` says it."""
    out = bytearray()
    while value >= 0x80 or len(out) + 1 < size:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int, size: int = 0) -> bytes:
    """A signed number as LEB128, of so many bytes where `size` says it."""
    out = bytearray()
    while not -0x40 <= value < 0x40 or len(out) + 1 < size:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


class WasmReader:
    """Reads a part of a module from its beginning; IndexError behind its end."""

    def __init__(self, view: memoryview, at: int = 0) -> None:
        self.view, self.at = view, at

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.view)

    def byte(self) -> int:
        value = self.view[self.at]
        self.at += 1
        return value

    def number(self) -> int:
        """An unsigned number of at most 32 bits."""
        return self._groups()[0]

    def integer(self) -> int:
        """A signed number of at most 32 bits."""
        value, bits = self._groups()
        return value - (1 << bits) if value >> bits - 1 else value

    def _groups(self) -> tuple[int, int]:
        """A number in groups of seven bits, and how many bits these have. Raises ValueError for too many."""
        value = bits = 0
        byte = 0x80
        while byte & 0x80:
            byte = self.byte()
            value |= (byte & 0x7F) << bits
            bits += 7
            if bits > 35:
                raise ValueError("a number of more than 32 bits")
        return value, bits

    def piece(self, size: int) -> memoryview:
        """The next bytes."""
        if self.at + size > len(self.view):
            raise IndexError("a part ends behind the file")
        self.at += size
        return self.view[self.at - size : self.at]

    def name(self) -> str:
        return bytes(self.piece(self.number())).decode()

    def part(self) -> WasmReader:
        """A part that is preceded by its size."""
        return WasmReader(self.piece(self.number()))

    def rows(self) -> range:
        """One number for each of the entries that follow; all of them need a byte at least."""
        count = self.number()
        if count > len(self.view) - self.at:
            raise IndexError("more entries than bytes")
        return range(count)


def sections(view: memoryview) -> Iterator[tuple[int, str, int, memoryview]]:
    """Number, name (of those of number 0), offset and content of each section; for a custom one without its name.

    Raises IndexError or ValueError where the module is cut or is none.
    """
    if bytes(view[: len(WASM_MAGIC)]) != WASM_MAGIC:
        raise ValueError("it does not begin as one")
    reader = WasmReader(view, len(WASM_MAGIC))
    while not reader.is_done:
        number = reader.byte()
        content = reader.piece(reader.number())
        name = ""
        if number == CUSTOM:
            inner = WasmReader(content)
            name = inner.name()
            content = content[inner.at :]
        yield number, name, reader.at - len(content), content


def read_wasm_object(data: bytes, label: str) -> WasmObject:
    """Read a relocatable object; `label` names it in errors. Raises LinkError."""
    try:
        return _ObjectReader(memoryview(data), label).result()
    except (IndexError, ValueError, OverflowError) as error:
        raise LinkError(f"is no whole object of WebAssembly ({error})", where=label) from None


class _ObjectReader:
    def __init__(self, view: memoryview, label: str) -> None:
        self.label = label
        self.found = list(sections(view))
        self.types: list[bytes] = []
        self.imports: list[tuple[str, bytes]] = []
        """Name and type of imported functions."""
        self.others: dict[int, list[str]] = {SymbolKind.GLOBAL: [], SymbolKind.TABLE: []}
        """Names of imported globals and tables."""
        self.kept: dict[int, memoryview] = {}
        self.relocations: dict[int, list[WasmRelocation]] = {}
        """By the number of the section."""
        self.symbols: list[WasmSymbol] = []
        self.alignments: list[tuple[str, int]] = []

    def result(self) -> WasmObject:
        linking: memoryview | None = None
        for number, name, _, content in self.found:
            if number == CUSTOM:
                linking = content if name == "linking" else linking
            elif number in (TYPE, IMPORT, FUNCTION, CODE, DATA):
                if number in self.kept:
                    raise ValueError(f"two sections {number}")
                self.kept[number] = content
            elif number not in _ELEMENT_OR_COUNT:
                raise LinkError(f"the section {number} is none of a kernel's", where=self.label)
        if linking is None:
            raise ValueError("no section `linking`")
        self._read_types()
        self._read_imports()
        self._read_linking(WasmReader(linking))
        for number, name, _, content in self.found:
            if number == CUSTOM and name.startswith("reloc."):
                self._read_relocations(WasmReader(content))
        functions, segments = tuple(self._functions()), tuple(self._segments())
        self._check(len(functions), segments)
        types = tuple(self.types)
        return WasmObject(
            self.label, types, tuple(t for _, t in self.imports), functions, segments, tuple(self.symbols)
        )

    def _reader(self, number: int) -> WasmReader:
        return WasmReader(self.kept.get(number, memoryview(b"\0")))

    def _read_types(self) -> None:
        reader = self._reader(TYPE)
        for _ in reader.rows():
            start = reader.at
            if reader.byte() != 0x60:
                raise ValueError("a type that is no function's")
            for _ in range(2):
                reader.piece(reader.number())
            self.types.append(bytes(reader.view[start : reader.at]))

    def _read_imports(self) -> None:
        reader = self._reader(IMPORT)
        for _ in reader.rows():
            reader.name()
            name, kind = reader.name(), reader.byte()
            if kind == 0:
                self.imports.append((name, self.types[reader.number()]))
            elif kind in (1, 2):  # tables and memories: the linker makes one of each
                if kind == 1:
                    self.others[SymbolKind.TABLE].append(name)
                    reader.byte()
                bounded = reader.byte()
                for _ in range(1 + (bounded & 1)):
                    reader.number()
            elif kind == 3:
                self.others[SymbolKind.GLOBAL].append(name)
                reader.piece(2)
            else:
                raise ValueError(f"an import of kind {kind}")

    def _read_linking(self, reader: WasmReader) -> None:
        version = reader.number()
        if version != _LINKING_VERSION:
            raise ValueError(f"version {version} of the section `linking`")
        while not reader.is_done:
            kind, part = reader.byte(), reader.part()
            if kind == _SEGMENTS:
                for _ in part.rows():
                    self.alignments.append((part.name(), 1 << min(part.number(), 31)))
                    part.number()
            elif kind == _SYMBOLS:
                self.symbols += [self._symbol(part) for _ in part.rows()]
            elif kind not in (_STARTS, _GROUPS) or part.number():
                raise LinkError(f"the part {kind} of `linking` is none of a kernel's", where=self.label)

    def _symbol(self, reader: WasmReader) -> WasmSymbol:
        kind, flags = SymbolKind(reader.byte()), reader.number()
        undefined = bool(flags & UNDEFINED)
        if kind is SymbolKind.DATA:
            name = reader.name()
            index, offset, _ = (0, 0, 0) if undefined else (reader.number(), reader.number(), reader.number())
            return WasmSymbol(kind, name, flags, index, offset)
        index = reader.number()
        if kind is SymbolKind.SECTION:
            return WasmSymbol(kind, "", flags | LOCAL, index)
        if undefined and not flags & EXPLICIT_NAME:
            name = self.imports[index][0] if kind is SymbolKind.FUNCTION else self.others[kind][index]
        else:
            name = reader.name()
        return WasmSymbol(kind, name, flags, index)

    def _read_relocations(self, reader: WasmReader) -> None:
        target = reader.number()
        if target >= len(self.found):
            raise IndexError("relocations of no section")
        number = self.found[target][0]
        found = self.relocations.setdefault(number, [])
        for _ in reader.rows():
            kind = reader.byte()
            if number == CUSTOM:  # of debuggers
                return
            if kind not in _KINDS:
                raise LinkError(f"a relocation of kind {kind} (wasm32) is not on the linker's list", where=self.label)
            known = WasmRelocationKind(kind)
            offset, index = reader.number(), reader.number()
            found.append(WasmRelocation(offset, known, index, reader.integer() if known.has_addend else 0))

    def _functions(self) -> Iterator[WasmFunction]:
        declared, reader = self._reader(FUNCTION), self._reader(CODE)
        types = [self.types[declared.number()] for _ in declared.rows()]
        if len(reader.rows()) != len(types):
            raise ValueError("not as many types as functions")
        waiting = sorted(self.relocations.get(CODE, ()), reverse=True)
        for type_ in types:
            body = reader.piece(reader.number())
            yield WasmFunction(type_, body, tuple(_within(waiting, reader.at - len(body), reader.at)))
        if waiting:
            raise IndexError("a relocation in no function")

    def _segments(self) -> Iterator[WasmSegment]:
        reader = self._reader(DATA)
        waiting = sorted(self.relocations.get(DATA, ()), reverse=True)
        rows = reader.rows()
        if len(rows) != len(self.alignments):
            raise ValueError("not as many alignments as segments")
        for name, alignment in self.alignments:
            if reader.number() != 0 or reader.byte() != 0x41:
                raise ValueError(f"the segment {name} has no address")
            reader.integer()
            if reader.byte() != 0x0B:
                raise ValueError(f"the segment {name} has no constant address")
            data = reader.piece(reader.number())
            yield WasmSegment(name, alignment, data, tuple(_within(waiting, reader.at - len(data), reader.at)))
        if waiting:
            raise IndexError("a relocation in no segment")

    def _check(self, functions: int, segments: tuple[WasmSegment, ...]) -> None:
        """Raise IndexError for a symbol or a relocation of what there is not."""
        for symbol in self.symbols:
            if symbol.kind is SymbolKind.FUNCTION:
                first = 0 if not symbol.is_defined else len(self.imports)
                last = len(self.imports) if not symbol.is_defined else first + functions
                if not first <= symbol.number < last:
                    raise IndexError(f"{symbol.name} is a function that there is not")
            elif symbol.kind is SymbolKind.DATA and symbol.is_defined:
                if symbol.number >= len(segments) or symbol.offset > len(segments[symbol.number].data):
                    raise IndexError(f"{symbol.name} is in a segment that there is not")
        for r in (r for found in self.relocations.values() for r in found):
            many = self.types if r.kind is WasmRelocationKind.TYPE_INDEX_LEB else self.symbols
            if r.number >= len(many):
                raise IndexError("a relocation is of no symbol")


def _within(waiting: list[WasmRelocation], start: int, end: int) -> Iterator[WasmRelocation]:
    """Take the relocations of a stretch from the end of a list, the first of which is last."""
    while waiting and waiting[-1].offset < end:
        r = waiting.pop()
        if not start <= r.offset <= end - r.kind.size:
            raise IndexError("a relocation is outside of what it is in")
        yield r._replace(offset=r.offset - start)


def custom_section(view: memoryview, name: str) -> tuple[int, int] | None:
    """The offset and size of what the first custom section of a name holds. Raises IndexError or ValueError for no
    module."""
    for number, found, at, content in sections(view):
        if number == CUSTOM and found == name:
            return at, len(content)
    return None
