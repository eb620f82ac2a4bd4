"""Arrays as callers give them: those of numpy, tensors of other libraries, lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lamina.errors import InputError

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]


def _by_dlpack(value: Any) -> Array | None:
    """A tensor of another library without a copy; None where it has none, of another device or element type."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return None
    try:
        return cast("Array", np.from_dlpack(value))
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None


def as_array(name: str, value: Any) -> Any:
    """The array that is given for an input, without a copy where it has its memory. Raises InputError for none."""
    shared = _by_dlpack(value)
    if shared is not None:
        return shared
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as e:
        said = " ".join(str(e).split())[:120]
        raise InputError(f"not an array: {said}", where=f"input {name!r}", hint="give a numpy array") from None
