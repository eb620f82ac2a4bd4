"""The arrays of a `.params` file: a list of NDArrays and their names, `arg:` and `aux:` (MXNet's NDArray::Save).

uint64 0x112, uint64 0, uint64 count, the arrays, uint64 count, and of each name its length and bytes. An array begins
with the number of its version; those of the first have 32-bit extents, and before it there was no number at all.
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.dtypes import itemsize, numpy_dtype
from lamina.errors import InputError, UnsupportedError, printable, shown
from lamina.frontends.companion import beside, bytes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = 0x112
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
"""Versions of an array: 64-bit extents, a kind of storage before them, and extents of NumPy's semantics."""
DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32",
          "uint64", "bfloat16")  # fmt: skip
"""Element types by their numbers (mshadow)."""
MOST_AXES = 32
MOST_ELEMENTS = 1 << 56
"""Elements of which NumPy can make an array, axes without elements left out."""
MOST_FILES = 10_000


def params_beside(path: Path) -> Path | None:
    """The `.params` of the highest epoch with the prefix of a symbol's path, else the only one of the folder."""
    prefix = re.sub(r"(-symbol)?\.json$", "", path.name)
    try:
        numbered = [p for p in path.parent.glob("*.params") if re.fullmatch(re.escape(prefix) + r"-\d{4,}", p.stem)]
    except (OSError, ValueError):
        return None
    if numbered:
        return max(numbered, key=lambda p: int(p.stem.rpartition("-")[2]))
    return beside(path, [f"{prefix}.params"], ".params")


class _Cursor:
    def __init__(self, data: NDArray[np.uint8], label: str) -> None:
        self.data = data
        self.label = label
        self.position = 0

    def bytes(self, count: int) -> NDArray[np.uint8]:
        """The next bytes. Raises InputError behind the end."""
        if count > len(self.data) - self.position:
            raise InputError("ends too early", where=self.label, hint="is the file whole?")
        self.position += count
        return self.data[self.position - count : self.position]

    def number(self, size: int) -> int:
        """The next unsigned number."""
        return int.from_bytes(self.bytes(size).tobytes(), "little")


def arrays_at(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by their names with `arg:` and `aux:`. Raises LaminaError for what is no such file."""
    cursor = _Cursor(bytes_of(path), printable(str(path)))
    if len(cursor.data) < 24 or cursor.number(8) != MAGIC:
        raise InputError("holds no arrays of MXNet", where=cursor.label, hint="is the file whole?")
    cursor.number(8)
    count = cursor.number(8)
    if count > len(cursor.data) // 8:
        raise InputError("ends too early", where=cursor.label, hint="is the file whole?")
    arrays = [_array(cursor) for _ in range(count)]
    names = cursor.number(8)
    if names != count:
        raise InputError(f"has {names} names for {count} arrays", where=cursor.label)
    found: dict[str, NDArray[Any]] = {}
    for array in arrays:
        name = cursor.bytes(cursor.number(8)).tobytes().decode("utf-8", "replace")
        if name in found:
            raise InputError(f"has two arrays {shown(name[:80])}", where=cursor.label)
        found[name] = array
    return found


def _array(cursor: _Cursor) -> NDArray[Any]:
    version = cursor.number(4)
    if version in (V2, V3) and cursor.number(4) != 0:
        hint = "save it densely: array.tostype('default')"
        raise UnsupportedError("has a sparse array", where=cursor.label, hint=hint)
    is_new = version in (V1, V2, V3)
    axes = cursor.number(4) if is_new else version
    shape = [cursor.number(8 if is_new else 4) for _ in range(axes if axes <= MOST_AXES else 0)]
    if axes > MOST_AXES or prod(e or 1 for e in shape) > MOST_ELEMENTS:
        raise InputError("holds no arrays of MXNet that are whole", where=cursor.label, hint="is the file whole?")
    if axes == 0 and version != V3 or 0 in shape and version != V3:
        return np.zeros(shape or 0, np.float32)  # an array without a value: nothing follows
    cursor.number(8)  # the device
    kind = cursor.number(4)
    if kind >= len(DTYPES):
        raise InputError(f"has an array of type {kind}", where=cursor.label, hint="is the file whole?")
    dtype = DTYPES[kind]
    size = prod(shape) * itemsize(dtype)
    return cursor.bytes(size).view(numpy_dtype(dtype)).reshape(shape)
