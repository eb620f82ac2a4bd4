"""Strings as numbers: programs compute with none, and hold them as int64, the number of each in a table.

A model's table has the strings that it knows - of its constants and attributes - by number; in a run others get the
numbers behind, in the order in which they come. Two strings have one number where they are equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Strings:
    """Strings by number; new ones are entered when they are asked for."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._codes: dict[str, int] = {s: k for k, s in enumerate(known)}

    def __len__(self) -> int:
        return len(self._codes)

    def code(self, text: str | bytes) -> int:
        """The number of a string. Raises UnicodeDecodeError for bytes that are not UTF-8."""
        known = text if isinstance(text, str) else text.decode("utf-8")
        return self._codes.setdefault(known, len(self._codes))

    def encoded(self, array: NDArray[Any]) -> NDArray[np.int64]:
        """The numbers of an array of strings."""
        return np.array([self.code(s) for s in array.reshape(-1).tolist()], np.int64).reshape(array.shape)

    def decoded(self, codes: NDArray[Any]) -> NDArray[np.object_]:
        """The strings of an array of numbers; IndexError for a number that is none of a string."""
        known = self.known()
        found = np.empty(codes.size, object)
        found[:] = [known[int(c)] for c in codes.reshape(-1)]
        return found.reshape(codes.shape)

    def known(self) -> tuple[str, ...]:
        """All of them, in the order of their numbers."""
        return tuple(self._codes)
