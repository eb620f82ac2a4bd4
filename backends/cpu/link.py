"""Linking kernels, with what they call of the run-time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lamina.backends.cpu.jit import JitLibrary, link_objects
from lamina.backends.cpu.runtime.layout import FLOAT_SUPPORT
from lamina.backends.cpu.runtime.modules import runtime_library


def load_objects(objects: Iterable[bytes], exports: Sequence[str] = ()) -> JitLibrary:
    """Link objects into one library of this process; conversions of 16-bit floats that they call are the run-time's.

    Names in `exports` are resolved at once. Raises CompileError.
    """
    kept = list(objects)
    needed = [s for s in FLOAT_SUPPORT if s not in exports and any(s.encode() in data for data in kept)]
    symbols: dict[str, int] = {}
    if needed:
        support = runtime_library("float_support")
        symbols = {s: support.address(s) for s in needed}
    return link_objects(kept, exports, symbols)
