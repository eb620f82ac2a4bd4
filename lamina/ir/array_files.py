"""Arrays in files that NumPy reads: one in an npy file, several by name in an npz file. Never pickled objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile, ZipFile

import numpy as np

from lamina.errors import InputError, UsageError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def read_arrays(path: str) -> Array | dict[str, Array]:
    """An array from an npy file, arrays by name from an npz file. Raises InputError for any other file."""
    try:
        stored: Any = np.load(path, allow_pickle=False)
        if isinstance(stored, np.ndarray):
            return stored  # type: ignore[return-value]
        with stored:
            return {name: stored[name] for name in stored.files}
    except OSError as e:
        raise InputError(f"cannot read: {e.strerror or 'not an npy or npz file'}", where=path) from None
    except (ValueError, EOFError, BadZipFile) as e:
        said, hint = " ".join(str(e).split()), "save arrays with numpy.savez"
        if "pickle" in said:  # NumPy's guess of whatever it does not know
            raise InputError("not an npy or npz file of numbers", where=path, hint=hint) from None
        raise InputError(f"not an npy or npz file of numbers: {said}", where=path, hint=hint) from None


def write_arrays(path: str, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name into an npz file, or the only one into a file that ends with .npy.

    The file has the name that is given: unlike numpy.savez, which adds a suffix, and which cannot hold an array of the
    name `file`. Raises InputError where the disk does not allow it, UsageError for several arrays in an npy file.
    """
    one = Path(path).suffix == ".npy"
    if one and len(arrays) != 1:
        names = ", ".join(map(repr, arrays)) or "none"
        raise UsageError(f"{path} would hold one array, there are {names}", hint="give a file that ends with .npz")
    # A file is replaced when all is written; what is no file, /dev/stdout for one, is written to.
    is_file = not os.path.lexists(path) or os.path.isfile(path)
    place = f"{os.path.realpath(path)}.{os.getpid()}.tmp" if is_file else path
    try:
        if one:
            (array,) = arrays.values()
            with open(place, "wb") as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
        else:
            with ZipFile(place, "w") as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                        np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
        if is_file:
            os.replace(place, os.path.realpath(path))
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror or e}", where=path) from None
    finally:
        if is_file and os.path.exists(place):
            os.unlink(place)
