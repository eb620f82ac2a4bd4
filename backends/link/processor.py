"""Facts of a processor for the linker: the kinds of relocations, and how a call reaches another library.

A processor is a file beside this one with one `Processor`; `shared_object.PROCESSORS` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple

Field = Callable[[bytearray, int, int, int], None]
"""Writes the field of a relocation: into these bytes, at this offset, for that address, from the address of the place.

Raises ValueError where the field is too small.
"""


class Through(Enum):
    """The address that a relocation is about."""

    SYMBOL = "symbol"
    """That of the symbol, which has to be in the library."""
    CALL = "call"
    """That of the function, or of a stub that jumps to another library's."""
    TABLE = "table"
    """That of the symbol's entry in the global offset table."""
    PARTNER = "partner"
    """That of another relocation, at the place that the symbol names: it has the upper bits, this the lower."""
    WORD = "word"
    """That of the symbol, whole: the loader adds where the library lies, or looks the symbol up."""


def stored_word(data: bytearray, at: int) -> int:
    """A signed number of four bytes."""
    return int.from_bytes(data[at : at + 4], "little", signed=True)


class RelocationKind(NamedTuple):
    """A kind of relocation."""

    name: str
    through: Through
    field: Field
    addend: Callable[[bytearray, int], int] = stored_word
    """Reads the addend in the field, where the object has it there."""


class Processor(NamedTuple):
    """Facts of a processor's supplement to the ABI."""

    name: str
    machine: int
    """The number of the processor in ELF (`e_machine`)."""
    bits: int
    page: int
    """The largest page that its systems have, in bytes."""
    relative: int
    """The dynamic relocation that adds the base of the library."""
    symbolic: int
    """The one of a word that is the address of a symbol."""
    table_entry: int
    """The same for an entry of the global offset table."""
    kinds: Mapping[int, RelocationKind | None]
    """By number; None for those that ask for nothing."""
    stub_size: int
    stub: Callable[[int, int], bytes]
    """The code that jumps to the address in the table at the first address, standing at the second."""
    unwind_table: int = 0
    """The type of sections with tables for unwinding that are of no use here, where it has some."""
    has_addends: bool = True
    """Whether relocations for the loader have their addends; else they are in the places."""


def word(name: str, size: int) -> RelocationKind:
    """A word of so many bytes that holds an address."""

    def field(data: bytearray, at: int, value: int, _: int) -> None:
        data[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    return RelocationKind(name, Through.WORD, field)


def relative(name: str, size: int, through: Through = Through.SYMBOL) -> RelocationKind:
    """The distance from the place, in so many bytes."""

    def field(data: bytearray, at: int, value: int, place: int) -> None:
        data[at : at + size] = (value - place).to_bytes(size, "little", signed=True)

    return RelocationKind(name, through, field)


def patch(data: bytearray, at: int, mask: int, bits: int) -> None:
    """Replace the bits of the mask in the instruction of four bytes."""
    old = int.from_bytes(data[at : at + 4], "little")
    data[at : at + 4] = (old & ~mask | bits & mask).to_bytes(4, "little")


def signed(value: int, bits: int) -> int:
    """The number in so many bits. Raises ValueError where it does not fit."""
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"the distance {value} does not fit into {bits} bits")
    return value % (1 << bits)
