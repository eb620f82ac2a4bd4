"""The file of records that builds read: that of the `with autotvm.apply_history_best(...)` around."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path

RECORDS_FILE: ContextVar[Path | None] = ContextVar("records", default=None)


def records_file() -> Path | None:
    """The file, None outside of all."""
    return RECORDS_FILE.get()
