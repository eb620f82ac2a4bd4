"""Suffixes of file names, and what they say of a file."""

from __future__ import annotations

import os
from typing import TypeGuard, cast

from lamina.errors import UsageError

SAVED = ".lamina"
"""A program that was compiled and saved."""
LIBRARY, OBJECT, ARCHIVE, MODULE = ".so", ".o", ".a", ".wasm"
"""A program that was exported: as a shared library, as an object or an archive for a linker, or for WebAssembly."""
OBJECT_OF_WINDOWS = ".obj"
"""An object by the name that it has on Windows."""
LINKABLE = (OBJECT, OBJECT_OF_WINDOWS, ARCHIVE)
"""Files for a linker."""
C_SOURCE = ".c"
"""A program that was exported as C source."""
LIBRARIES_TO_LINK = {".dll": "Windows", ".dylib": "macOS"}
"""Libraries that a linker makes, and their systems."""
EXPORTED = (LIBRARY, *LIBRARIES_TO_LINK, *LINKABLE, MODULE, C_SOURCE)
"""All of these."""
MLIR = ".mlir"
"""Texts of our IR."""


def is_saved(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of a saved program."""
    return isinstance(source, (str, os.PathLike)) and str(os.fspath(source)).endswith(SAVED)  # pyright: ignore[reportUnknownArgumentType]


def is_library(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of an exported program."""
    return isinstance(source, (str, os.PathLike)) and str(os.fspath(source)).endswith(LIBRARY)  # pyright: ignore[reportUnknownArgumentType]


def is_module(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of a program that was exported as a module of WebAssembly."""
    return isinstance(source, (str, os.PathLike)) and str(os.fspath(source)).endswith(MODULE)  # pyright: ignore[reportUnknownArgumentType]


def is_exported(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of an exported program of any kind."""
    return isinstance(source, (str, os.PathLike)) and str(os.fspath(source)).endswith(EXPORTED)  # pyright: ignore[reportUnknownArgumentType]


def is_c_source(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a path is that of C source."""
    return isinstance(source, (str, os.PathLike)) and str(os.fspath(source)).endswith(C_SOURCE)  # pyright: ignore[reportUnknownArgumentType]


def is_text(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of a Relay text, in our format or in a frontend's."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = cast("str | os.PathLike[str]", source)
    if os.fspath(path).endswith(MLIR):
        return True
    from lamina.frontends.formats import TextFormat, format_by_suffix

    return isinstance(format_by_suffix(path), TextFormat)


def refuse_saved(source: object) -> None:
    """Raise UsageError where a model is expected and a saved program is given."""
    if is_saved(source):
        raise UsageError("is a compiled program", where=str(source), hint="lamina.Executable.load runs it")
