"""An ONNX file as protobuf wrote it, walked without a parser: its weights apart from all else.

A parser copies every weight out of the file's bytes, and the importer once more out of the message. Here the message is
parsed without its large weights, and these are read from the file straight to where they stay. Nothing is imported that
takes time: whoever looks a model up in the cache walks it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

Bytes: TypeAlias = "bytes | memoryview"

LARGE = 1 << 12
"""Bytes of a weight that is worth it."""
GRAPH, INITIALIZER = 7, 5
"""ModelProto.graph, GraphProto.initializer."""
DIMS, DATA_TYPE, NAME, RAW_DATA = 1, 2, 8, 9
"""TensorProto."""
PLAIN = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16))
"""TensorProto.DataType: those whose raw bytes are their values: floats from 16 bits on, integers from 8, bool."""


class Field(NamedTuple):
    """One field of a message: its number and kind on the wire, where it begins, its payload, and where it ends."""

    number: int
    kind: int
    start: int
    payload: int
    end: int


class Odd(Exception):
    """The bytes are not as a writer of protobuf leaves them."""


def split(data: Bytes) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """A model without the bytes of large initialisers of its graph, and by their names where these begin and end.

    Only of tensors that hold their values as they are, in `raw_data`. All of the data where it is no such model: the
    parser says what is wrong with it.
    """
    spans: dict[str, tuple[int, int]] = {}
    try:
        found = list(fields(data, 0, len(data)))
        if [f.kind for f in found if f.number == GRAPH] != [2]:
            return bytes(data), {}
        parts = [_graph(data, f, spans) if f.number == GRAPH else bytes(data[f.start : f.end]) for f in found]
    except Odd:
        return bytes(data), {}
    return b"".join(parts), spans


def _graph(data: Bytes, graph: Field, spans: dict[str, tuple[int, int]]) -> bytes:
    parts: list[bytes] = []
    for f in fields(data, graph.payload, graph.end):
        is_large = f.number == INITIALIZER and f.kind == 2 and f.end - f.payload >= LARGE
        small = _tensor(data, f, spans) if is_large else None
        parts.append(bytes(data[f.start : f.end]) if small is None else _message(INITIALIZER, small))
    return _message(GRAPH, b"".join(parts))


def _tensor(data: Bytes, tensor: Field, spans: dict[str, tuple[int, int]]) -> bytes | None:
    """A tensor without its bytes; None for one that has them elsewhere, or is not as simple as others."""
    found: dict[int, Field] = {}
    parts: list[bytes] = []
    for f in fields(data, tensor.payload, tensor.end):
        if f.number not in (DIMS, DATA_TYPE, NAME, RAW_DATA) or f.number != DIMS and f.number in found:
            return None
        found[f.number] = f
        if f.number != RAW_DATA:
            parts.append(bytes(data[f.start : f.end]))
    kinds = {number: found[number].kind for number in (DATA_TYPE, NAME, RAW_DATA) if number in found}
    if kinds != {DATA_TYPE: 0, NAME: 2, RAW_DATA: 2}:
        return None
    name, raw = found[NAME], found[RAW_DATA]
    if varint(data, found[DATA_TYPE].payload, tensor.end)[0] not in PLAIN or raw.end - raw.payload < LARGE:
        return None
    try:
        key = bytes(data[name.payload : name.end]).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if key in spans:
        return None
    spans[key] = raw.payload, raw.end
    return b"".join(parts)


def fields(data: Bytes, begin: int, end: int) -> Iterator[Field]:
    """The fields of the message between two positions. Raises Odd where they do not end where it does."""
    position = begin
    while position < end:
        start = position
        key, position = varint(data, position, end)
        kind, number = key & 7, key >> 3
        payload = position
        if kind == 0:
            _, position = varint(data, position, end)
        elif kind in (1, 5):
            position += 8 if kind == 1 else 4
        elif kind == 2:
            length, payload = varint(data, position, end)
            position = payload + length
        else:
            raise Odd
        if position > end or not number:
            raise Odd
        yield Field(number, kind, start, payload, position)


def varint(data: Bytes, position: int, end: int) -> tuple[int, int]:
    """A number, and the position behind it. Raises Odd where it does not end."""
    value = shift = 0
    while position < end and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise Odd


def _message(number: int, payload: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(payload)) + payload


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
