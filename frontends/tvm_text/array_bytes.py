"""Arrays in TVM's own binary format, as metadata of texts and files of weights hold them.

Each is its magic, a reserved word, device, rank, dtype, shape and bytes (ndarray.h of TVM).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from lamina.errors import InputError

ARRAY_MAGIC = 0xDD5E40F096B4A13F
Array = np.ndarray[Any, np.dtype[Any]]


class Bytes:
    """Bytes that are read from their beginning."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def take(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize(form)
        if self.place + size > len(self.data):
            raise InputError("the parameters end too early")
        found = struct.unpack_from(form, self.data, self.place)
        self.place += size
        return found

    def array(self, name: str) -> Array:
        """The array that begins here."""
        magic, _, _, _, rank = self.take("<QQiii")
        code, bits, lanes = self.take("<BBH")
        if magic != ARRAY_MAGIC or lanes != 1 or code > 2:
            raise InputError(f"the array {name!r} is damaged")
        shape = self.take(f"<{rank}q")
        (size,) = self.take("<q")
        dtype = "?" if bits == 1 else f"<{'iuf'[code]}{bits // 8}"
        return np.frombuffer(self.take(f"<{size}s")[0], dtype).reshape(shape)


def load_array(data: bytes) -> Array:
    """One array in TVM's format."""
    return Bytes(data).array("of the bytes")
