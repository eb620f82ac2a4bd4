"""`relay.save_param_dict` and `load_param_dict`: weights as bytes, in TVM's own format.

uint64 magic, uint64 0, the names as a vector of strings, the arrays as a vector of NDArrays; each array is its magic,
a reserved word, device, rank, dtype, shape and bytes (src/runtime/file_utils.cc and ndarray.h of TVM).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from lamina.compat.tvm.nd import NDArray, array
from lamina.errors import InputError
from lamina.frontends.tvm_text.array_bytes import ARRAY_MAGIC, Bytes

LIST_MAGIC = 0xF7E58D4F05049CB7
_CODES = {"i": 0, "u": 1, "f": 2, "b": 1}


def save_param_dict(params: Mapping[str, Any]) -> bytearray:
    """Weights by their names, as bytes."""
    out = bytearray(struct.pack("<QQQ", LIST_MAGIC, 0, len(params)))
    for name in params:
        raw = name.encode()
        out += struct.pack("<Q", len(raw)) + raw
    out += struct.pack("<Q", len(params))
    for value in params.values():
        data: Any = np.asarray(value.numpy_view if isinstance(value, NDArray) else value, order="C")
        bits = 1 if data.dtype == bool else data.dtype.itemsize * 8
        out += struct.pack("<QQiii", ARRAY_MAGIC, 0, 1, 0, data.ndim)
        out += struct.pack("<BBH", _CODES[data.dtype.kind], bits, 1)
        out += struct.pack(f"<{data.ndim}q", *data.shape)
        out += struct.pack("<q", data.nbytes) + data.tobytes()
    return out


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, NDArray]:
    """Load what `save_param_dict` saved, also TVM's. Raises InputError where the bytes are others."""
    data = Bytes(bytes(param_bytes))
    if data.take("<QQ")[0] != LIST_MAGIC:
        raise InputError("these bytes are no parameters", hint="relay.save_param_dict writes them")
    names: list[str] = []
    for _ in range(data.take("<Q")[0]):
        (length,) = data.take("<Q")
        names.append(data.take(f"<{length}s")[0].decode())
    (count,) = data.take("<Q")
    if count != len(names):
        raise InputError(f"{len(names)} names for {count} arrays")
    return {name: array(data.array(name)) for name in names}
