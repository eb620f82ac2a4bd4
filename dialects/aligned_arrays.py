"""Memory for arrays at addresses that vector loads like."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]

ALIGNMENT = 64


def aligned_bytes(size: int) -> Array:
    """Zeros at an aligned address. Raises InputError where there is not so much memory."""
    try:
        raw = np.zeros(size + ALIGNMENT, np.uint8)
    except MemoryError:
        raise InputError(f"the program works in {size} bytes of memory, which there are not") from None
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def aligned_zeros(shape: Sequence[int], dtype: Any) -> Array:
    """Zeros at an aligned address. Raises InputError where there is not so much memory."""
    size = prod(shape) * np.dtype(dtype).itemsize
    return aligned_bytes(max(size, 1))[:size].view(dtype).reshape(shape)


def aligned(array: Array) -> Array:
    """The array itself where it is contiguous and aligned, else a copy that is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = aligned_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy
