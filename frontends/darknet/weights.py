"""The numbers of a `.weights` file, in the order in which layers take them (Darknet's load_weights)."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, printable
from lamina.frontends.companion import bytes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WHOLE = "are the two files of one network?"


class Weights:
    """A file from its header on: three int32 for the version, and the number of images seen.

    That number has 64 bits since version 0.2, 32 before. Versions of more than 1000 say that the matrices of connected
    layers are transposed.
    """

    def __init__(self, path: Path) -> None:
        self.label = printable(str(path))
        data = bytes_of(path)
        if len(data) < 16:
            raise InputError(f"has {len(data)} bytes, no header", where=self.label, hint="is the file whole?")
        major, minor, _ = (int(n) for n in data[:12].view("<i4"))
        header = 20 if major * 10 + minor >= 2 and 0 <= major < 1000 and 0 <= minor < 1000 else 16
        self.is_transposed = major > 1000 or minor > 1000
        if (len(data) - header) % 4 or header > len(data):
            what = f"has {len(data)} bytes, no whole number of elements behind its header"
            raise InputError(what, where=self.label, hint="is the file whole?")
        self._numbers = data[header:].view("<f4")
        self._taken = 0

    def take(self, shape: tuple[int, ...], where: str) -> NDArray[Any]:
        """The next numbers, float32 in a shape. Raises InputError where there are not so many."""
        count, left = prod(shape), len(self._numbers) - self._taken
        if count > left:
            what = f"takes {count} weights, {left} are left in {self.label}"
            raise InputError(what, where=where, hint=_WHOLE)
        first, self._taken = self._taken, self._taken + count
        return self._numbers[first : self._taken].reshape(shape)

    def finish(self) -> None:
        """Raise InputError where numbers are left: they are another network's."""
        if left := len(self._numbers) - self._taken:
            raise InputError(f"has {left} weights more than the network takes", where=self.label, hint=_WHOLE)
