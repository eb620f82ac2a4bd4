"""`autotvm.apply_history_best`: models are built with the schedules of a log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from lamina.compat.tvm.applied_records import RECORDS_FILE
from lamina.compat.tvm.autotvm.record import decode, encode
from lamina.compat.tvm.autotvm.task.space import ConfigEntity
from lamina.compat.tvm.autotvm.task.template import FOUND
from lamina.dialects.schedule.records import Record, read_lines
from lamina.errors import InputError, UsageError
from lamina.store.record_file import write_records


class ApplyHistoryBest:
    """Within it `relay.build` gives each kernel the fastest schedule of a log that was found for its work.

    with autotvm.apply_history_best("log.json"):
        lib = relay.build(mod, target=target, params=params)

    A template that is called there gets the fastest configuration of its arguments.
    """

    def __init__(self, records: Any) -> None:
        """`records` are a file, several, or what `record.load_from_file` gives. Raises LaminaError."""
        self._lines = list(_lines_of(records))
        one = cast("str | os.PathLike[str] | None", records if isinstance(records, (str, os.PathLike)) else None)
        self._file = None if one is None else Path(one).absolute()
        self._left = ExitStack()

    def load(self, records: Any) -> None:
        """Add what further files or records hold."""
        self._lines += _lines_of(records)
        self._file = None

    def __enter__(self) -> ApplyHistoryBest:
        path = self._file
        if path is None:  # of several files one, for the time that it lasts
            path = Path(self._left.enter_context(TemporaryDirectory(prefix="lamina-records-"))) / "records.jsonl"
            write_records(path, [record for _, record in self._lines])
        self._left.callback(RECORDS_FILE.reset, RECORDS_FILE.set(path))
        self._left.callback(FOUND.reset, FOUND.set(self.query))
        return self

    def query(self, workload: tuple[Any, ...]) -> ConfigEntity | None:
        """The fastest configuration of a template with arguments; None where the log has none."""
        best: tuple[float, str] | None = None
        wanted = json.loads(json.dumps(workload))
        for line, record in self._lines:
            if record.ratio is None or (best is not None and record.ratio[0] >= best[0]):
                continue
            told = json.loads(line).get("input", ())
            if told and [told[1], *told[2]] == wanted:
                best = record.ratio[0], line
        return decode(best[1])[0].config if best is not None else None

    def __exit__(self, *_: object) -> None:
        self._left.close()


apply_history_best = ApplyHistoryBest


def _lines_of(given: Any) -> Iterator[tuple[str, Record]]:
    """The records with their lines; those of `load_from_file` are written anew."""
    if isinstance(given, (str, os.PathLike)):
        path = cast("str | os.PathLike[str]", given)
        found, _ = read_lines(path)
        if not found:
            raise InputError("holds no record", where=os.fspath(path), hint="autotvm.callback.log_to_file writes some")
        yield from found
        return
    if not isinstance(given, Iterable):
        raise UsageError(f"apply_history_best: {given!r} is no file and no records")
    for each in cast("Iterable[Any]", given):
        if isinstance(each, (str, os.PathLike)):
            yield from _lines_of(each)
        else:
            candidate, result = each
            yield encode(candidate, result), candidate.record
