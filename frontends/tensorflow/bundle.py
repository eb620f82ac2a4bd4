"""Checkpoints of TensorFlow's: an index, which is a sorted table of LevelDB's format, and shards of plain bytes.

The table (tensorflow/core/lib/io/table_format.txt) ends in a footer that points to a block, whose entries point to the
blocks of entries; keys share beginnings with those before them. The index says of each tensor its type, its shape and
where it lies (tensorflow/core/protobuf/tensor_bundle.proto).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.dtypes import itemsize, numpy_dtype
from lamina.errors import InputError, UnsupportedError, shown
from lamina.frontends.builder import LIMIT, checked_nbytes
from lamina.frontends.protobuf import Message
from lamina.frontends.tensorflow.tensors import checked_type, shape_of
from lamina.frontends.wire_format import Odd, varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOOTER = 48
MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
PLAIN, SNAPPY = 0, 1
"""The kinds of blocks, told by the byte behind them; 4 bytes of a checksum follow."""
MOST_INDEX = 1 << 26
"""Bytes of an index: 64 MB."""
DTYPE, SHAPE, SHARD, OFFSET, SIZE, SLICES = 1, 2, 3, 4, 5, 7
"""BundleEntryProto."""


class Bundle:
    """The tensors of a checkpoint by their keys, read where they lie. Raises InputError, UnsupportedError."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self.label = str(prefix)
        path = prefix.with_name(f"{prefix.name}.index")
        try:
            if path.stat().st_size > MOST_INDEX:
                raise InputError(f"has more than {MOST_INDEX} bytes", where=str(path))
            data = path.read_bytes()
        except OSError as e:
            raise InputError(f"cannot be read: {e.strerror}", where=str(path)) from None
        try:
            entries = dict(_table(data))
            header = Message(entries.pop(b"", b""))
            self.shards = header.number(1)
            if header.number(2):
                raise UnsupportedError("the checkpoint was written on a machine with big endians", where=str(path))
        except Odd:
            raise InputError("is no index of a checkpoint", where=str(path), hint="is the file whole?") from None
        self._entries = {key.decode("utf-8", "backslashreplace"): value for key, value in entries.items()}
        self._files: dict[int, NDArray[np.uint8]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def text(self, key: str) -> bytes:
        """The one text of a tensor: its length, a checksum of 4 bytes, and itself. Raises Odd."""
        entry = Message(self._entries[key])
        file, first, size = self._shard(entry.number(SHARD), self.label), entry.number(OFFSET), entry.number(SIZE)
        if first < 0 or not 0 <= size <= MOST_INDEX:
            raise Odd
        data = file[first : first + size].tobytes()
        length, begin = varint(data, 0, len(data))
        if begin + 4 + length != size or len(data) != size:
            raise Odd
        return data[begin + 4 :]

    def array(self, key: str) -> NDArray[Any]:
        """The elements of a tensor, without a copy."""
        where = f"{self.label}: {shown(key)}"
        if key not in self._entries:
            raise InputError("is not in the checkpoint", where=where, hint="is the folder whole?")
        entry = Message(self._entries[key])
        dtype, shape = checked_type(entry.number(DTYPE), where), shape_of(entry.message(SHAPE))
        if entry.has(SLICES):
            raise UnsupportedError("is saved in slices", where=where, hint="save the model anew")
        if shape is None:
            raise InputError("has no shape", where=where)
        checked_nbytes(shape, dtype, LIMIT, where)
        file, first, size = self._shard(entry.number(SHARD), where), entry.number(OFFSET), entry.number(SIZE)
        if size != prod(shape) * itemsize(dtype) or first < 0 or first + size > len(file):
            raise InputError(f"{size} bytes at {first} are no {dtype}{list(shape)}", where=where)
        data = file[first : first + size]
        # A tensor may begin anywhere.
        data = data if first % itemsize(dtype) == 0 else data.copy()
        return data.view(numpy_dtype(dtype)).reshape(shape)

    def _shard(self, number: int, where: str) -> NDArray[np.uint8]:
        if not 0 <= number < self.shards:
            raise InputError(f"is in shard {number} of {self.shards}", where=where, hint="is the folder whole?")
        if number not in self._files:
            path = self.prefix.with_name(f"{self.prefix.name}.data-{number:05d}-of-{self.shards:05d}")
            try:
                empty = path.stat().st_size == 0
                file = np.zeros(0, np.uint8) if empty else np.memmap(path, np.uint8, "r").view(np.ndarray)
            except OSError as e:
                raise InputError(f"cannot be read: {e.strerror}", where=str(path)) from None
            self._files[number] = file
        return self._files[number]


def _table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a table. Raises Odd."""
    if len(data) < FOOTER or not data.endswith(MAGIC):
        raise Odd
    footer = len(data) - FOOTER
    position = footer
    for _ in range(2):  # of the block that describes others, which is empty
        _, position = varint(data, position, len(data))
    index = _block(data, *_handle(data, position, len(data)))
    for _, where in _entries(index):
        yield from _entries(_block(data, *_handle(where, 0, len(where))))


def _handle(data: bytes, position: int, end: int) -> tuple[int, int]:
    """The place where a block begins, and the number of its bytes."""
    offset, position = varint(data, position, end)
    size, _ = varint(data, position, end)
    return offset, size


def _block(data: bytes, offset: int, size: int) -> bytes:
    if offset + size + 5 > len(data):
        raise Odd
    kind = data[offset + size]
    if kind == SNAPPY:
        raise UnsupportedError("the index of the checkpoint is compressed", hint="TensorFlow writes it plain")
    if kind != PLAIN:
        raise Odd
    return data[offset : offset + size]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a block; behind them are places where keys stand whole, and how many these are."""
    if len(block) < 4:
        raise Odd
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    position, key = 0, b""
    while position < end:
        shared, position = varint(block, position, end)
        own, position = varint(block, position, end)
        length, position = varint(block, position, end)
        if shared > len(key) or position + own + length > end:
            raise Odd
        key = key[:shared] + block[position : position + own]
        position += own
        yield key, block[position : position + length]
        position += length
