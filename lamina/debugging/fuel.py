"""Edits, of rules and by hand, counted and limited: which of a pass does harm is found by halving their number."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from lamina.dialects import edit

ALL = 1 << 30
"""More edits than any pass makes."""
_FIRING = re.compile(r"\S+\.py:\d+ ")


@contextmanager
def counted_firings(limit: int, file: Path | None = None) -> Generator[list[str]]:
    """While it lasts, so many edits are made in all; the list then says what each did, `simplify.py:14  %7 -> %9`.

    A file holds the trace as it grows, for when this process does not come back.
    """
    fired: list[str] = []
    told = file.open("w", buffering=1) if file is not None else StringIO()
    edit.limit(limit)
    edit.trace(told)
    try:
        yield fired
    finally:
        edit.limit(None)
        edit.trace(None)
        trace = told.getvalue() if isinstance(told, StringIO) else ""
        told.close()
        fired += firings_of(trace or (file.read_text() if file is not None else ""))


def firings_of(trace: str) -> list[str]:
    """The firings among the lines of a trace, which counts those of each set of rules in between."""
    return [row for row in trace.splitlines() if _FIRING.match(row)]
