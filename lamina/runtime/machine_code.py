"""Machine code in this process: of programs, and of the run-time.

With the compiler LLVM links objects. `lamina-runtime` (`tools/runtime_wheel`) has no LLVM: it brings the run-time
compiled for each system, in the folder PREBUILT, and `backends/link` makes a library of a program's objects, which the
system loads from memory.
"""

from __future__ import annotations

import _ctypes
import ctypes
import os
import platform
import weakref
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from lamina.backends.cpu.runtime.layout import FLOAT_SUPPORT, IMPORTS
from lamina.backends.link.elf_object import read_object
from lamina.backends.link.shared_object import link

if TYPE_CHECKING:
    from lamina.backends.cpu.object_cache import ObjectCache

PREBUILT = Path(__file__).with_name("prebuilt")
"""The folder of the run-time's code for each system, where there is no compiler."""


class CodeLibrary(Protocol):
    """Machine code in this process. Addresses are valid while the library is referenced."""

    def address(self, symbol: str) -> int:
        """The address of a function or global."""
        ...

    def function(self, symbol: str, result: Any, *arguments: Any) -> Any:
        """A ctypes function for the symbol; it keeps the library alive."""
        ...


_loads = count(1)


def load_library(file: IO[bytes]) -> ctypes.CDLL:
    """Load the shared library in an open file, to be unloaded by `unload_library`. Raises OSError.

    The loader gives what it has loaded by a path before as long as that is loaded, whatever the file there is by now.
    So the path goes by the open file, and is another text each time: steps to the same folder spell a number. A file
    that is loaded twice is one library all the same, by its inode.
    """
    steps = "".join("/." if bit == "1" else "/" for bit in f"{next(_loads):b}")
    return ctypes.CDLL(f"/proc/self/fd{steps}/{file.fileno()}")


def unload_library(library: ctypes.CDLL) -> None:
    """Unload a library; nothing of it is used any more."""
    _ctypes.dlclose(library._handle)


class _MemoryLibrary:
    """A shared library that lies in memory only."""

    def __init__(self, code: bytes) -> None:
        with open(os.memfd_create("lamina"), "wb") as file:
            file.write(code)
            file.flush()
            self._library = load_library(file)
        weakref.finalize(self, unload_library, self._library).atexit = False

    def address(self, symbol: str) -> int:
        return ctypes.addressof(ctypes.c_char.in_dll(self._library, symbol))

    def function(self, symbol: str, result: Any, *arguments: Any) -> Any:
        call = ctypes.CFUNCTYPE(result, *arguments)(self.address(symbol))
        call.library = self  # type: ignore[attr-defined]
        return call


_loaded: dict[str, CodeLibrary] = {}


def load_objects(objects: Iterable[bytes], exports: Sequence[str]) -> CodeLibrary:
    """Link objects of a program into a library of this process; `exports` are the symbols that are asked for.

    Raises LinkError, CompileError for objects that are none.
    """
    if not PREBUILT.is_dir():
        from lamina.backends.cpu.link import load_objects as linked

        return linked(objects, exports)
    pieces = list(objects)
    if any(s.encode() in piece for piece in pieces for s in FLOAT_SUPPORT):
        pieces.append(_prebuilt("float_support.o"))
    files = [read_object(piece, f"object {n}") for n, piece in enumerate(pieces)]
    return _MemoryLibrary(link(files, exports, "program.so", IMPORTS).code)


def runtime_library(name: str, cache: ObjectCache | None = None) -> CodeLibrary:
    """A library of the run-time loaded, once a process: a name of `layout.EXPORTS`."""
    if not PREBUILT.is_dir():
        from lamina.backends.cpu.runtime.modules import runtime_library as compiled

        return compiled(name, cache)
    if name not in _loaded:
        _loaded[name] = _MemoryLibrary(_prebuilt(f"{name}.so"))
    return _loaded[name]


def _prebuilt(name: str) -> bytes:
    processor = "armv7" if platform.machine().startswith("armv7") else platform.machine()
    return (PREBUILT / f"linux_{processor}" / name).read_bytes()
