"""The OpenBLAS inside NumPy's wheel, or the system's, by ctypes.

A wheel's library has names of its own (`scipy_cblas_sgemm64_`) and 64-bit integers; others have the plain names, with
integers of 32 bits unless the name ends in `64_`.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager
from ctypes.util import find_library
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
_SPELLINGS = (("scipy_", "64_"), ("", "64_"), ("", "_64"), ("scipy_", ""), ("", ""))
"""Prefixes and suffixes of the names of functions; the ends with 64 have 64-bit integers."""


@dataclass(frozen=True)
class Library:
    """The functions that are called."""

    path: str
    gemm: dict[str, Any]
    """By numpy dtype name."""
    integer: type[Any]
    get_threads: Any
    set_threads: Any

    @contextmanager
    def threads(self, count: int) -> Generator[None]:
        """Use so many threads while it lasts. The number is the process's: NumPy uses the same library."""
        with _THREADS:
            before = self.get_threads()
            if before == count:
                yield
                return
            self.set_threads(count)
            try:
                yield
            finally:
                self.set_threads(before)


_THREADS = threading.Lock()


def candidates() -> list[str]:
    """Paths where an OpenBLAS may be: beside NumPy first."""
    package = Path(np.__file__).parent
    folders = [package.parent / "numpy.libs", package / ".dylibs", package / ".libs"]
    found = [str(p) for folder in folders if folder.is_dir() for p in sorted(folder.iterdir()) if "openblas" in p.name]
    system = [find_library(name) for name in ("openblas64_", "openblas")]
    return [*found, *(name for name in system if name is not None)]


@cache
def load() -> Library | str:
    """The library, or why there is none."""
    tried: list[str] = []
    for path in candidates():
        try:
            loaded = ctypes.CDLL(path)
        except OSError as e:
            tried.append(f"{Path(path).name}: {e}")
            continue
        found = _functions(loaded, path)
        if found is not None:
            return found
        tried.append(f"{Path(path).name} has no cblas_sgemm")
    return "there is no OpenBLAS beside NumPy or in the system" + (f" ({'; '.join(tried)})" if tried else "")


def _functions(loaded: ctypes.CDLL, path: str) -> Library | None:
    for before, behind in _SPELLINGS:
        names = [f"{before}{n}{behind}" for n in ("cblas_sgemm", "cblas_dgemm")]
        names += [f"{before}openblas_{n}_num_threads{behind}" for n in ("get", "set")]
        if not all(hasattr(loaded, n) for n in names):
            continue
        single, double, get, set_ = (getattr(loaded, n) for n in names)
        integer: type[Any] = ctypes.c_int64 if "64" in behind else ctypes.c_int
        for function, real in ((single, ctypes.c_float), (double, ctypes.c_double)):
            pointer, flag = ctypes.c_void_p, ctypes.c_int
            matrix = [pointer, integer]
            function.argtypes = [flag] * 3 + [integer] * 3 + [real, *matrix, *matrix, real, *matrix]
            function.restype = None
        get.argtypes, get.restype = [], ctypes.c_int
        set_.argtypes, set_.restype = [ctypes.c_int], None
        return Library(path, {"float32": single, "float64": double}, integer, get, set_)
    return None
