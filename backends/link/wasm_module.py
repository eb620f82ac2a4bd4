"""Modules of WebAssembly from relocatable objects and a block of data; they import nothing.

    [ description | types, functions, table, memory, globals, exports | names | code | constants | the data ]

The memory, from its first byte on:

    [ the stack, downwards | constants and tables | the data, at a multiple of 64 | free from `__heap_base` on ]

so that a stack that is too deep ends in a trap, not in the data. Functions whose address is taken are in the only
table. A module made here has no variables, and every relocation that is not on the list is refused, as in a shared
library. Names come before the code, so that nothing follows the data, which are written as they are read.
The same input gives the same bytes.

Sources: WebAssembly Core Specification 2.0, chapter 5 (Binary Format) and its appendix on custom sections; WebAssembly
tool conventions, Linking.md and BasicCABI.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lamina.backends.link import wasm_object as wasm
from lamina.backends.link.elf_object import LinkError
from lamina.backends.link.shared_object import Data, LinkedLibrary
from lamina.backends.link.wasm_object import (
    SymbolKind,
    WasmFunction,
    WasmObject,
    WasmRelocation,
    WasmRelocationKind,
    WasmSegment,
    WasmSymbol,
    signed,
    unsigned,
)

DESCRIPTION = "lamina"
"""The custom section that describes a module: SHA-256 of the file up to the data, with this digest as zeros, the number
of these bytes in eight, and a text as JSON."""
DIGEST_BYTES = 32
STACK_BYTES = 4 << 20
"""Sixteen of the largest buffers that a kernel has on its stack; what is not touched is not there."""
PAGE = 65536
_MOST_PAGES = 65536
_DATA_ALIGNMENT = 64
_VARIABLES = (".data", ".bss", ".tdata", ".tbss")
_I32, _FUNCREF = 0x7F, 0x70
_STACK_POINTER, TABLE_NAME, HEAP_BASE, MEMORY_NAME = (
    "__stack_pointer", "__indirect_function_table", "__heap_base", "memory"
)  # fmt: skip
_NAMES = "name"
_OF_FUNCTION, _OF_TABLE, _OF_MEMORY, _OF_GLOBAL = 0, 1, 2, 3
"""Kinds of exports."""


class _Owner(NamedTuple):
    """The owner of a symbol: the number of its object."""

    number: int
    symbol: WasmSymbol


def link_module(
    objects: Sequence[WasmObject],
    functions: Mapping[str, str],
    constants: Sequence[str],
    label: str,
    description: bytes = b"",
    data: Data | None = None,
) -> LinkedLibrary:
    """Link objects; `functions` are the symbols of exported functions by the names that they get, `constants` symbols
    whose addresses are exported as globals. `label` names the module in errors. The data follow it.

    Raises LinkError: for a symbol that nobody has or two have, a variable, and more memory than there can be.
    """
    return _ModuleLinker(objects, functions, constants, label, data).result(description)


class _ModuleLinker:
    def __init__(
        self,
        objects: Sequence[WasmObject],
        functions: Mapping[str, str],
        constants: Sequence[str],
        label: str,
        data: Data | None,
    ) -> None:
        self.objects, self.exported, self.constants, self.label, self.data = objects, functions, constants, label, data
        self.types: dict[bytes, int] = {}
        self.functions: dict[tuple[int, int], int] = {}
        """Numbers in the module of functions, by object and their number there."""
        self.bodies: list[tuple[int, WasmFunction]] = []
        """Functions with the number of their object."""
        self.names: dict[int, str] = {}
        self.owners: dict[str, _Owner] = {}
        self.slots: dict[int, int] = {}
        """Places in the table, by the number of the function; nothing is in the first."""
        self.addresses: dict[tuple[int, int], int] = {}
        """Of segments, by object and their number there."""
        self.end = STACK_BYTES
        """Of what has an address."""

    def result(self, description: bytes) -> LinkedLibrary:
        for n, obj in enumerate(self.objects):
            self._define(n, obj)
        self._place()
        bodies = [self._moved(n, f.body, f.relocations) for n, f in self.bodies]
        constants = bytearray(self.data_at - STACK_BYTES)
        for n, obj in enumerate(self.objects):
            for m, segment in enumerate(obj.segments):
                at = self.addresses[n, m] - STACK_BYTES
                constants[at : at + len(segment.data)] = self._moved(n, segment.data, segment.relocations)
        return self._written(description, bodies, bytes(constants))

    # -- what goes where -------------------------------------------------------------------------------------------

    def _define(self, n: int, obj: WasmObject) -> None:
        """Give numbers to functions, and owners to what objects share."""
        for m, function in enumerate(obj.functions):
            self.functions[n, len(obj.imports) + m] = len(self.bodies)
            self.bodies.append((n, function))
        for symbol in obj.symbols:
            if not symbol.is_defined:
                continue
            if symbol.kind is SymbolKind.FUNCTION:
                self.names[self.functions[n, symbol.number]] = symbol.name
            elif symbol.kind is not SymbolKind.DATA:
                raise LinkError(f"{symbol.name or 'a section'} is none of a kernel's symbols", where=obj.label)
            if symbol.flags & wasm.LOCAL:
                continue
            before = self.owners.setdefault(symbol.name, _Owner(n, symbol))
            if before.symbol is not symbol:
                first = self.objects[before.number].label
                raise LinkError(f"{symbol.name} is defined here and in {first}", where=obj.label)

    def _place(self) -> None:
        """Give addresses to all segments and to the data."""
        for n, obj in enumerate(self.objects):
            for m, segment in enumerate(obj.segments):
                _refuse_variables(obj, segment)
                self.addresses[n, m] = self._room(len(segment.data), segment.alignment)
        self.data_at = self._room(self.data.size if self.data is not None else 0, _DATA_ALIGNMENT)
        self.heap = self._room(0, _DATA_ALIGNMENT)
        if self.heap > PAGE * _MOST_PAGES:
            raise LinkError(f"{self.heap:,} bytes are more than a memory of WebAssembly has", where=self.label)

    def _room(self, size: int, alignment: int) -> int:
        at = -(-self.end // alignment) * alignment
        self.end = at + size
        return at

    # -- relocations -----------------------------------------------------------------------------------------------

    def _moved(self, n: int, content: memoryview, relocations: Iterable[WasmRelocation]) -> bytes:
        """A function or a segment of an object with the numbers and addresses that hold in the module."""
        out = bytearray(content)
        for r in relocations:
            value = self._value(n, r)
            if r.kind.name.endswith("I32"):
                field = (value % (1 << 32)).to_bytes(4, "little")
            elif r.kind.name.endswith("SLEB"):
                field = signed(value - (value >> 31 << 32), r.kind.size)
            else:
                field = unsigned(value, r.kind.size)
            out[r.offset : r.offset + r.kind.size] = field
        return bytes(out)

    def _value(self, n: int, r: WasmRelocation) -> int:
        obj = self.objects[n]
        if r.kind is WasmRelocationKind.TYPE_INDEX_LEB:
            return self._type(obj.types[r.number])
        symbol = obj.symbols[r.number]
        if r.kind is WasmRelocationKind.GLOBAL_INDEX_LEB:
            if symbol.name != _STACK_POINTER:
                raise LinkError(f"it uses the global {symbol.name}, which a module has not", where=obj.label)
            return 0
        if r.kind.has_addend:
            address = self._address(n, symbol) + r.addend
            if not 0 <= address < 1 << 32:
                raise LinkError(f"an address of {symbol.name} is outside of the memory", where=obj.label)
            return address
        number = self._function(n, symbol, r.kind is WasmRelocationKind.FUNCTION_INDEX_LEB)
        if r.kind is WasmRelocationKind.FUNCTION_INDEX_LEB:
            return number
        return self.slots.setdefault(number, len(self.slots) + 1)

    def _owner(self, n: int, symbol: WasmSymbol) -> _Owner:
        """The object that has what a symbol of another one names."""
        if symbol.is_defined:
            return _Owner(n, symbol)
        found = self.owners.get(symbol.name)
        if found is None or found.symbol.kind is not symbol.kind:
            what = "calls" if symbol.kind is SymbolKind.FUNCTION else "needs"
            hint = "a module of WebAssembly has no libraries"
            if symbol.name == "malloc":
                hint += "; give the shapes, so that buffers have known sizes"
            raise LinkError(f"it {what} {symbol.name}, which no object has", where=self.objects[n].label, hint=hint)
        return found

    def _function(self, n: int, symbol: WasmSymbol, is_called: bool) -> int:
        """The number of a function; of one that is called by its number, the types have to agree."""
        owner = self._owner(n, symbol)
        number = self.functions[owner.number, owner.symbol.number]
        if is_called and not symbol.is_defined:
            if self.objects[n].imports[symbol.number] != self.bodies[number][1].type:
                first = self.objects[owner.number].label
                raise LinkError(
                    f"it calls {symbol.name} with other arguments than {first} has", where=self.objects[n].label
                )
        return number

    def _address(self, n: int, symbol: WasmSymbol) -> int:
        if self.data is not None and not symbol.is_defined and symbol.name == self.data.symbol:
            return self.data_at
        owner = self._owner(n, symbol)
        return self.addresses[owner.number, owner.symbol.number] + owner.symbol.offset

    def _type(self, type_: bytes) -> int:
        return self.types.setdefault(type_, len(self.types))

    def _exported_owner(self, name: str, kind: SymbolKind) -> _Owner:
        found = self.owners.get(name)
        if found is None or found.symbol.kind is not kind:
            raise LinkError(f"there is no {name} to export", where=self.label)
        return found

    # -- the file --------------------------------------------------------------------------------------------------

    def _written(self, description: bytes, bodies: Sequence[bytes], constants: bytes) -> LinkedLibrary:
        size = self.data.size if self.data is not None else 0
        types = [self._type(f.type) for _, f in self.bodies]
        out = bytearray(wasm.WASM_MAGIC)
        digest = DIGEST_BYTES + 8
        out += _custom(DESCRIPTION, bytes(digest) + description)
        digest_at = len(out) - len(description) - digest
        out += _section(wasm.TYPE, _vector(self.types))
        out += _section(wasm.FUNCTION, _vector(unsigned(t) for t in types))
        slots = 1 + len(self.slots)
        out += _section(wasm.TABLE, _vector([bytes((_FUNCREF, 1)) + 2 * unsigned(slots)]))
        out += _section(wasm.MEMORY, _vector([b"\0" + unsigned(-(-self.heap // PAGE))]))
        out += _section(wasm.GLOBAL, _vector(self._globals()))
        out += _section(wasm.EXPORT, _vector(self._exports()))
        if self.slots:
            numbers = _vector(unsigned(number) for number in self.slots)
            out += _section(wasm.ELEMENT, _vector([b"\0" + _constant(1) + numbers]))
        out += _custom(_NAMES, self._function_names())
        out += _section(wasm.CODE, _vector(unsigned(len(body)) + body for body in bodies))
        rows = [b"\0" + _constant(STACK_BYTES) + unsigned(len(constants)) + constants]
        if size:
            rows.append(b"\0" + _constant(self.data_at) + unsigned(size))
        content = _vector(rows)
        out += bytes((wasm.DATA,)) + unsigned(len(content) + size) + content
        out[digest_at + DIGEST_BYTES : digest_at + digest] = len(out).to_bytes(8, "little")
        out[digest_at : digest_at + DIGEST_BYTES] = hashlib.sha256(out).digest()
        return LinkedLibrary(bytes(out), len(out))

    def _globals(self) -> list[bytes]:
        found = [bytes((_I32, 1)) + _constant(STACK_BYTES), bytes((_I32, 0)) + _constant(self.heap)]
        for name in self.constants:
            owner = self._exported_owner(name, SymbolKind.DATA)
            found.append(bytes((_I32, 0)) + _constant(self._address(owner.number, owner.symbol)))
        return found

    def _exports(self) -> list[bytes]:
        found = [(MEMORY_NAME, _OF_MEMORY, 0), (TABLE_NAME, _OF_TABLE, 0), (HEAP_BASE, _OF_GLOBAL, 1)]
        found += [(name, _OF_GLOBAL, n) for n, name in enumerate(self.constants, 2)]
        for name, symbol in self.exported.items():
            owner = self._exported_owner(symbol, SymbolKind.FUNCTION)
            found.append((name, _OF_FUNCTION, self.functions[owner.number, owner.symbol.number]))
        return [_text(name) + bytes((kind,)) + unsigned(number) for name, kind, number in found]

    def _function_names(self) -> bytes:
        """The names that profilers and traces show."""
        names = _vector(unsigned(n) + _text(self.names[n]) for n in sorted(self.names))
        return bytes((1,)) + unsigned(len(names)) + names


def _refuse_variables(obj: WasmObject, segment: WasmSegment) -> None:
    name = segment.name
    if name.startswith(_VARIABLES) and not name.startswith(".data.rel.ro"):
        raise LinkError(f"the section {name} holds variables, which a library has not", where=obj.label)


def _vector(pieces: Iterable[bytes]) -> bytes:
    found = list(pieces)
    return unsigned(len(found)) + b"".join(found)


def _section(number: int, content: bytes) -> bytes:
    return bytes((number,)) + unsigned(len(content)) + content


def _custom(name: str, content: bytes) -> bytes:
    return _section(wasm.CUSTOM, _text(name) + content)


def _text(name: str) -> bytes:
    data = name.encode()
    return unsigned(len(data)) + data


def _constant(value: int) -> bytes:
    """An expression: a number of 32 bits."""
    return b"\x41" + signed(value - (value >> 31 << 32)) + b"\x0b"
