"""Firings of rules, counted and limited: which one of a pass's does harm is found by halving their number."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from lamina.passes.rules.rewriting import limit_firings, trace_rules

ALL = 1 << 30
"""More firings than any pass has."""
_FIRING = re.compile(r"\S+\.py:\d+ ")


@contextmanager
def counted_firings(limit: int, file: Path | None = None) -> Generator[list[str]]:
    """While it lasts, rules fire so many times in all; the list then says what each did, `loops/simplify.py:14  %7 ->
    %9`.

    A file holds the trace as it grows, for when this process does not come back.
    """
    fired: list[str] = []
    told = file.open("w", buffering=1) if file is not None else StringIO()
    limit_firings(limit)
    trace_rules(told)
    try:
        yield fired
    finally:
        limit_firings(None)
        trace_rules(None)
        trace = told.getvalue() if isinstance(told, StringIO) else ""
        told.close()
        fired += firings_of(trace or (file.read_text() if file is not None else ""))


def firings_of(trace: str) -> list[str]:
    """The firings among the lines of a trace, which counts those of each set of rules in between."""
    return [row for row in trace.splitlines() if _FIRING.match(row)]
