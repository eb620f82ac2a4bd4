"""Compiled programs as files: machine code, a description, packed weights.

    magic | label | digest of length and header | length of the header | header (JSON) | objects | arrays

Objects and arrays are aligned to 64 bytes; the header has a digest of each of the two parts, so that the code can be
checked without touching the weights (`checked_files.py`). Digests are SHA-256 of the SHA-256s of 4 MiB pieces, which
threads compute. A file comes into being by rename: there is
the whole one or none. The cache of programs (`program_cache.py`) and programs that users save (`artefact.py`) are such
files; the label says which program, or which format, it is.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

LABEL = 32
"""Bytes of a label."""
MAGIC = 16
"""Bytes that say what a file is."""

_DIGEST = MAGIC + LABEL
_LENGTH = _DIGEST + 32
HEADER = _LENGTH + 8
"""The offset of the header in bytes: no file is shorter."""
_ALIGNMENT = 64
_CHUNK = 4 << 20


def digest_of(data: bytes | memoryview) -> bytes:
    """SHA-256 over the SHA-256s of pieces: large data takes as long as its largest share for one processor."""
    return digests_of([data])[0] or hashlib.sha256((0).to_bytes(8, "little")).digest()


def digests_of(arrays: Sequence[bytes | memoryview]) -> list[bytes]:
    """The `digest_of` each of these, as if they were one; that of an empty one is empty."""
    from concurrent.futures import ThreadPoolExecutor

    views = [memoryview(a) for a in arrays]
    pieces = [view[start : start + _CHUNK] for view in views for start in range(0, len(view), _CHUNK)]
    if sum(map(len, pieces)) <= 3 * _CHUNK:
        found = map(_sha256, pieces)
    else:
        # hashlib lets other threads run while it works.
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            found = iter(list(pool.map(_sha256, pieces)))
    digests: list[bytes] = []
    for view in views:
        whole = hashlib.sha256(len(view).to_bytes(8, "little"))
        for _ in range(0, len(view), _CHUNK):
            whole.update(next(found))
        digests.append(whole.digest() if len(view) else b"")
    return digests


def _sha256(data: memoryview) -> bytes:
    return hashlib.sha256(data).digest()


@dataclass(frozen=True)
class StoredProgram:
    """A compiled program apart from the process it runs in. `description` is JSON of plain values."""

    description: dict[str, Any]
    objects: dict[str, bytes]
    params: tuple[Array, ...]


def write_file(
    path: Path, magic: bytes, label: bytes, program: StoredProgram, mode: int = 0o666, durable: bool = True
) -> int:
    """Write a program, in place of what stood there, and return the file's size. Raises OSError.

    A durable one is on the disk when this returns; who reads it sees the old file or the new one, never half of it.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
            size = _write(file, magic, label, program)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        try:
            temporary.unlink(missing_ok=True)
        except OSError:
            pass
        raise
    return size


def program_bytes(magic: bytes, label: bytes, program: StoredProgram) -> bytes:
    """The bytes of the file that `write_file` would write. Raises OSError where no temporary file can hold them."""
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        _write(file, magic, label, program)
        file.seek(0)
        return file.read()


def read_program(data: Any, begins: bytes, trusted: bool = False) -> StoredProgram | None:
    """The program in the bytes of a file; None when it is not whole, or begins otherwise. Arrays stay in the bytes.

    The arrays of a trusted file are not compared with their digest, so that they are read when they are first used.
    """
    view = memoryview(data)
    if len(view) <= HEADER or bytes(view[: len(begins)]) != begins:
        return None
    start = HEADER + int.from_bytes(view[_LENGTH:HEADER], "little")
    if start > len(view) or digest_of(view[_LENGTH:start]) != bytes(view[_DIGEST:_LENGTH]):
        return None
    # The digest held, so this is what `_write` wrote.
    header: dict[str, Any] = json.loads(bytes(view[HEADER:start]))
    rest, split = view[start:], header["split"]
    if len(rest) != header["size"] or digest_of(rest[:split]).hex() != header["code"]:
        return None
    if not trusted and digest_of(rest[split:]).hex() != header["weights"]:
        return None
    objects = {name: bytes(rest[start : start + size]) for name, start, size in header["objects"]}
    return StoredProgram(header["program"], objects, tuple(_param(rest, *entry) for entry in header["params"]))


def _header(program: StoredProgram, code: str = "", weights: str = "") -> bytes:
    """The header, padded so that the data after it starts aligned; offsets in it count from there."""
    position = 0

    def place(size: int) -> int:
        nonlocal position
        start = position
        position += -(-size // _ALIGNMENT) * _ALIGNMENT
        return start

    objects = [[name, place(len(data)), len(data)] for name, data in program.objects.items()]
    split = position
    params = [[str(a.dtype), list(a.shape), place(a.nbytes)] for a in program.params]
    digests = {"split": split, "size": position, "code": code or "0" * 64, "weights": weights or "0" * 64}
    header = {"program": program.description, "objects": objects, "params": params, **digests}
    text = json.dumps(header, separators=(",", ":")).encode()
    return text + b" " * (-(HEADER + len(text)) % _ALIGNMENT)


def _write(file: BinaryIO, magic: bytes, label: bytes, program: StoredProgram) -> int:
    """Write the whole file; its size."""
    size = len(_header(program))
    file.write(bytes(HEADER + size))
    start = file.tell()
    for piece in program.objects.values():
        _write_piece(file, piece)
    split = file.tell()
    for array in program.params:
        _write_piece(file, _bytes_of(array))
    file.flush()
    end = file.tell()
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
        with view[start:split] as objects, view[split:end] as arrays:
            code, weights = digest_of(objects).hex(), digest_of(arrays).hex()
    # Of the same length, now that the digests are known.
    rest = size.to_bytes(8, "little") + _header(program, code, weights)
    file.seek(0)
    file.write(magic + label + digest_of(rest) + rest)
    return end


def _write_piece(file: BinaryIO, piece: bytes | memoryview) -> None:
    file.write(piece)
    file.write(bytes(-len(piece) % _ALIGNMENT))


def _bytes_of(array: Array) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _param(data: memoryview, dtype: str, shape: list[int], start: int) -> Array:
    kind = numpy_dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return np.empty(shape, kind)
    return np.frombuffer(data, kind, count, start).reshape(shape)
