"""Messages of protobuf, read by the numbers of their fields: no generated code, no copy of what is not asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.wire_format import Bytes, Field, Odd, fields, varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

VARINT, WIDE, TEXT, NARROW = 0, 1, 2, 5
"""Kinds on the wire: a number, 8 bytes, bytes with a length, 4 bytes."""


class Message:
    """The message between two positions. Every question raises Odd where the bytes are not those of a message."""

    def __init__(self, data: Bytes, begin: int = 0, end: int | None = None) -> None:
        self.bytes = data
        self.begin = begin
        self.end = len(data) if end is None else end

    @cached_property
    def _fields(self) -> dict[int, list[Field]]:
        found: dict[int, list[Field]] = {}
        for f in fields(self.bytes, self.begin, self.end):
            found.setdefault(f.number, []).append(f)
        return found

    def has(self, number: int) -> bool:
        """Whether a field is there."""
        return number in self._fields

    def _of(self, number: int, *kinds: int) -> list[Field]:
        found = self._fields.get(number, [])
        if any(f.kind not in kinds for f in found):
            raise Odd
        return found

    def messages(self, number: int) -> list[Message]:
        """The messages of a repeated field."""
        return [Message(self.bytes, f.payload, f.end) for f in self._of(number, TEXT)]

    def message(self, number: int) -> Message:
        """The message of a field, one without fields where it is absent."""
        found = self.messages(number)
        return found[-1] if found else Message(b"")

    def data(self, number: int) -> memoryview:
        """The bytes of a field, without a copy; none where it is absent."""
        found = self._of(number, TEXT)
        return memoryview(self.bytes)[found[-1].payload : found[-1].end] if found else memoryview(b"")

    def blobs(self, number: int) -> list[bytes]:
        """The bytes of a repeated field."""
        return [bytes(self.bytes[f.payload : f.end]) for f in self._of(number, TEXT)]

    def texts(self, number: int) -> list[str]:
        """The texts of a repeated field; what is not UTF-8 as escapes."""
        return [blob.decode("utf-8", "backslashreplace") for blob in self.blobs(number)]

    def text(self, number: int) -> str:
        """The text of a field, empty where it is absent."""
        found = self.texts(number)
        return found[-1] if found else ""

    def numbers(self, number: int) -> list[int]:
        """The integers of a repeated field, packed or not, as signed numbers of 64 bits."""
        found: list[int] = []
        for f in self._of(number, VARINT, TEXT):
            position = f.payload
            while position < f.end:
                value, position = varint(self.bytes, position, f.end)
                found.append(_signed(value))
        return found

    def number(self, number: int, default: int = 0) -> int:
        """The integer of a field, signed."""
        found = self.numbers(number)
        return found[-1] if found else default

    def floats(self, number: int, dtype: str = "<f4") -> NDArray[Any]:
        """The numbers of fixed width of a repeated field, packed or not."""
        wide = np.dtype(dtype).itemsize
        parts = [bytes(self.bytes[f.payload : f.end]) for f in self._of(number, WIDE if wide == 8 else NARROW, TEXT)]
        if any(len(p) % wide for p in parts):
            raise Odd
        return np.frombuffer(b"".join(parts), dtype)

    def table(self, number: int) -> dict[str, Message]:
        """A map from texts to messages."""
        return {entry.text(1): entry.message(2) for entry in self.messages(number)}


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
