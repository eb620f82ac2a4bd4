"""`autotvm.apply_history_best`: models are built with the schedules of a log."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from lamina.dialects.schedule.records import Record, read_records
from lamina.errors import InputError, UsageError
from lamina.store.record_file import write_records

_file: ContextVar[Path | None] = ContextVar("records", default=None)


def records_file() -> Path | None:
    """The file of records of the `with` around."""
    return _file.get()


class ApplyHistoryBest:
    """Within it `relay.build` gives each kernel the fastest schedule of a log that was found for its work.

    with autotvm.apply_history_best("log.json"):
        lib = relay.build(mod, target=target, params=params)
    """

    def __init__(self, records: Any) -> None:
        """`records` are a file, several, or what `record.load_from_file` gives. Raises LaminaError."""
        self._records = list(_records_of(records))
        one = cast("str | os.PathLike[str] | None", records if isinstance(records, (str, os.PathLike)) else None)
        self._file = None if one is None else Path(one).absolute()
        self._left = ExitStack()

    def load(self, records: Any) -> None:
        """Add what further files or records hold."""
        self._records += _records_of(records)
        self._file = None

    def __enter__(self) -> ApplyHistoryBest:
        path = self._file
        if path is None:  # of several files one, for the time that it lasts
            path = Path(self._left.enter_context(TemporaryDirectory(prefix="lamina-records-"))) / "records.jsonl"
            write_records(path, self._records)
        self._left.callback(_file.reset, _file.set(path))
        return self

    def __exit__(self, *_: object) -> None:
        self._left.close()


apply_history_best = ApplyHistoryBest


def _records_of(given: Any) -> Iterator[Record]:
    if isinstance(given, (str, os.PathLike)):
        path = cast("str | os.PathLike[str]", given)
        found, _ = read_records(path)
        if not found:
            raise InputError("holds no record", where=os.fspath(path), hint="autotvm.callback.log_to_file writes some")
        yield from found
        return
    if not isinstance(given, Iterable):
        raise UsageError(f"apply_history_best: {given!r} is no file and no records")
    for each in cast("Iterable[Any]", given):
        if isinstance(each, (str, os.PathLike)):
            yield from _records_of(each)
        else:
            candidate, _ = each
            yield candidate.record
