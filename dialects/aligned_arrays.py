"""Memory for arrays at addresses that vector loads like."""

from __future__ import annotations

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


def aligned(array: Array) -> Array:
    """The array itself where it is contiguous and aligned, else a copy that is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = aligned_bytes(max(array.nbytes, 1))[: array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
