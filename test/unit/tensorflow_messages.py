"""Messages of TensorFlow's, encoded by hand: nodes, graphs, functions, constants, SavedModels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

FLOAT, INT, STRING, BOOL, RESOURCE = 1, 3, 7, 10, 20
"""DataType."""


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def number(field: int, value: int) -> bytes:
    """A field of an integer."""
    return varint(field << 3) + varint(value)


def part(field: int, content: bytes | str) -> bytes:
    """A field of bytes, of text or of a message."""
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def shape(extents: Sequence[int]) -> bytes:
    """A TensorShapeProto."""
    return b"".join(part(2, number(1, e)) for e in extents)


def tensor(dtype: int, extents: Sequence[int], content: bytes | None = None, more: bytes = b"") -> bytes:
    """A TensorProto."""
    data = b"" if content is None else part(4, content)
    return number(1, dtype) + part(2, shape(extents)) + data + more


def array(values: Any, dtype: str = "int32") -> bytes:
    """A TensorProto of an array of int32 or float32."""
    given = np.asarray(values, dtype)
    return tensor(INT if dtype == "int32" else FLOAT, given.shape, given.tobytes())


def kind(dtype: int) -> bytes:
    """An AttrValue of a type."""
    return number(6, dtype)


def node(op: str, name: str, *inputs: str, **attributes: bytes) -> bytes:
    """A NodeDef; attributes are AttrValues."""
    entries = b"".join(part(5, part(1, key) + part(2, value)) for key, value in attributes.items())
    return part(1, name) + part(2, op) + b"".join(part(3, i) for i in inputs) + entries


def constant(name: str, message: bytes) -> bytes:
    """A Const of a TensorProto."""
    return node("Const", name, value=part(8, message))


def placeholder(name: str, extents: Sequence[int], dtype: int = FLOAT) -> bytes:
    """A Placeholder."""
    return node("Placeholder", name, dtype=kind(dtype), shape=part(7, shape(extents)))


def function(name: str, inputs: Sequence[str], results: dict[str, str], *nodes: bytes) -> bytes:
    """A FunctionDef of float32 values."""
    arguments = b"".join(part(2, part(1, i) + number(3, FLOAT)) for i in inputs)
    signature = part(1, name) + arguments + b"".join(part(3, part(1, r) + number(3, FLOAT)) for r in results)
    returned = b"".join(part(4, part(1, r) + part(2, value)) for r, value in results.items())
    return part(1, signature) + b"".join(part(3, n) for n in nodes) + returned


def called(name: str) -> bytes:
    """An AttrValue of a function."""
    return part(10, part(1, name))


def graph(*nodes: bytes, functions: Sequence[bytes] = ()) -> bytes:
    """A GraphDef."""
    library = part(2, b"".join(part(1, f) for f in functions)) if functions else b""
    return b"".join(part(1, n) for n in nodes) + library


def saved_model(
    content: bytes, inputs: dict[str, str], outputs: dict[str, str], tags: Sequence[str] = ("serve",),
    name: str = "serving_default",
) -> bytes:  # fmt: skip
    """A SavedModel of one graph and one signature."""
    sides = ((1, inputs), (2, outputs))
    signature = b"".join(part(s, part(1, k) + part(2, part(1, v))) for s, side in sides for k, v in side.items())
    meta = part(1, b"".join(part(4, t) for t in tags)) + part(2, content)
    return number(1, 1) + part(2, meta + part(5, part(1, name) + part(2, signature)))


def table(entries: dict[str, bytes]) -> bytes:
    """The index of a checkpoint: one block of entries, one that points to it, a footer."""

    def block(pairs: Sequence[tuple[bytes, bytes]]) -> bytes:
        rows = b"".join(varint(0) + varint(len(k)) + varint(len(v)) + k + v for k, v in pairs)
        return rows + bytes(4) + (1).to_bytes(4, "little")

    data = block([(key.encode(), value) for key, value in sorted(entries.items())])
    index = block([(b"\xff", varint(0) + varint(len(data)))])
    body = data + bytes(5) + index + bytes(5)
    footer = varint(0) + varint(0) + varint(len(data) + 5) + varint(len(index))
    return body + footer.ljust(40, b"\0") + (0xDB4775248B80FB57).to_bytes(8, "little")


def entry(dtype: int, extents: Sequence[int], first: int, size: int, shard: int = 0) -> bytes:
    """A BundleEntryProto."""
    return number(1, dtype) + part(2, shape(extents)) + number(3, shard) + number(4, first) + number(5, size)
