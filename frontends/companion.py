"""Models of two files: one describes the network, another one beside it holds the weights."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_TEXT = 1 << 23
"""Bytes of a description: 8 MB."""
_MOST_NEIGHBOURS = 10_000
"""Files of a folder that are looked at."""


def path_of(source: Any, second: str) -> Path:
    """The path of a model. Raises InputError for bytes, which leave out the second file, and for what is no file."""
    if not isinstance(source, (str, os.PathLike)):
        hint = f"give the path of the file, so that its {second} is found beside it"
        raise InputError("a model of two files cannot be read from bytes", hint=hint)
    path = Path(source)  # pyright: ignore[reportUnknownArgumentType]
    try:
        if path.is_file():
            return path
        what = "is a folder, not a file" if path.is_dir() else "no such file"
    except (OSError, ValueError) as e:
        what = f"cannot be read: {e}"
    raise InputError(what, where=printable(str(path)))


def beside(path: Path, names: Sequence[str], suffix: str) -> Path | None:
    """The second file: the first of the names that is there, else the only file of the folder with the suffix."""
    try:
        for name in names:
            if (found := path.parent / name).is_file():
                return found
        neighbours: list[Path] = []
        with os.scandir(path.parent) as entries:
            for count, entry in enumerate(entries):
                if count > _MOST_NEIGHBOURS:
                    return None
                if entry.name.endswith(suffix) and entry.is_file():
                    neighbours.append(path.parent / entry.name)
    except (OSError, ValueError):
        return None
    return neighbours[0] if len(neighbours) == 1 else None


def same_stem(path: Path, suffix: str) -> Path | None:
    """The second file of the same name but for its suffix, else the only one of the folder with the suffix."""
    return beside(path, [path.with_suffix(suffix).name], suffix)


def no_weights(path: str | Path, name: str) -> InputError:
    """The error of a network that takes weights which are not there."""
    return InputError("its weights are not beside it", where=printable(str(path)), hint=f"put it there as {name}")


def text_of(path: Path) -> str:
    """The text of a description. Raises InputError for one that cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_TEXT + 1)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot be read: {e}", where=printable(str(path))) from None
    if len(data) > MOST_TEXT:
        raise InputError(f"has more than {MOST_TEXT} bytes", where=printable(str(path)))
    return data.decode("utf-8", "replace")


def bytes_of(path: Path) -> NDArray[np.uint8]:
    """The bytes of a file of weights where they lie, without a copy."""
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return np.zeros(0, np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot be read: {e}", where=printable(str(path))) from None
