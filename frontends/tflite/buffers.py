"""Constants of a file: dense tensors are views of its bytes; packed and sparse ones are laid out."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import InputError, shown
from lamina.frontends.builder import checked_nbytes
from lamina.frontends.tflite.graph import TfliteTensor
from lamina.frontends.tflite.sparse import dense_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

WITHOUT_ELEMENTS = ("string", "resource", "variant", "complex64", "complex128")


class Buffers:
    """The buffers of a model."""

    def __init__(
        self, root: Any, data: bytes, label: str, limit: int, count: Callable[[Any, str], int]
    ) -> None:  # fmt: skip
        self.root = root
        self.data = data
        self.label = label
        self.limit = limit
        self.count = count
        self.length = count(root, "Buffers")

    def array(self, t: Any, tensor: TfliteTensor) -> NDArray[Any] | None:
        """The elements of a tensor, None where the file has none of it. Raises InputError where they do not fit."""
        where = f"{self.label}: tensor {shown(tensor.name)}"
        if tensor.dtype in WITHOUT_ELEMENTS:
            return None
        dtype = numpy_dtype("int8" if tensor.dtype == "int4" else tensor.dtype)
        raw = self._bytes(int(t.Buffer()), where)
        if raw is None:
            return np.zeros(tensor.shape, dtype) if prod(tensor.shape) == 0 else None
        checked_nbytes(tensor.shape, str(dtype), self.limit, where)
        sparsity = t.Sparsity()
        if sparsity is not None:
            return dense_of(sparsity, raw, tensor, dtype, self.count, len(self.data), where)
        elements = prod(tensor.shape)
        if tensor.dtype == "int4":
            return _nibbles(raw, elements, where).reshape(tensor.shape)
        if raw.size != (size := elements * dtype.itemsize):
            what = f"has {raw.size} bytes, a {tensor.dtype} of shape {list(tensor.shape)} takes {size}"
            raise InputError(what, where=where, hint="is the file whole?")
        if tensor.dtype == "bool":
            return (raw != 0).reshape(tensor.shape)
        return np.require(raw.view(dtype), requirements="A").reshape(tensor.shape)

    def _bytes(self, place: int, where: str) -> NDArray[np.uint8] | None:
        if place >= self.length:
            raise InputError(f"has the buffer {place}, there are {self.length}", where=where, hint="is the file whole?")
        buffer = self.root.Buffers(place)
        if place and int(buffer.Offset()) > 1:  # large ones lie behind the tables
            begin, size = int(buffer.Offset()), int(buffer.Size())
            if begin + size > len(self.data):
                raise InputError("its data lie behind the end of the file", where=where, hint="is the file whole?")
            return np.frombuffer(self.data, np.uint8, size, begin)
        if not int(buffer.DataLength()):
            return None
        return buffer.DataAsNumpy()


def _nibbles(raw: NDArray[np.uint8], elements: int, where: str) -> NDArray[np.int8]:
    """Numbers of 4 bits, two in a byte, the lower first."""
    if raw.size != (elements + 1) // 2:
        raise InputError(f"has {raw.size} bytes for {elements} int4", where=where, hint="is the file whole?")
    both = np.stack([raw & 15, raw >> 4], axis=-1).reshape(-1)[:elements].astype(np.int8)
    return both - (both > 7).astype(np.int8) * np.int8(16)
