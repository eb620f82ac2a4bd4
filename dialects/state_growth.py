"""Growth of state: what a text, a saved program and a session say of it. Needs no xDSL, as they run without it."""

from __future__ import annotations

from typing import NamedTuple


class Growth(NamedTuple):
    """Growth of a value by rows behind its own, in the same memory."""

    axis: int
    kept: str
    """The symbol that is the number of its rows which are in the memory of the output already."""
    spare: str
    """The symbol that is the number of rows for which that memory has room beyond those of the output."""
