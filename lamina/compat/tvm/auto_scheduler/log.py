"""Logs of the auto-scheduler: lines in the form of TVM's version 0.6, each with our record within it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from time import time
from typing import Any

from lamina.compat.tvm.autotvm.measure import MeasureErrorNo, result_of
from lamina.dialects.schedule.records import OURS, Record, read_lines
from lamina.store.record_file import append_lines
from lamina.store.text_file import check_place

VERSION = "v0.6"


class RecordToFile:
    """Adds each candidate to a log. Raises InputError for a place where no file can be."""

    def __init__(self, filename: str | os.PathLike[str] = "auto_scheduler_tuning.json") -> None:
        check_place(filename)
        self.filename = filename

    def add(self, workload_key: str, target: Any, record: Record) -> None:
        """Add a record: it is on the disk when this returns."""
        found = result_of(record, 0.0, time())
        # In the place of seconds TVM writes that a candidate which failed took 1e10 of them.
        costs = found.costs if found.error_no == MeasureErrorNo.NO_ERROR else (1e10,)
        line: dict[str, Any] = {
            "i": [[workload_key, str(target)], [[], []]],
            "r": [costs, found.error_no, found.all_cost, found.timestamp],
            "v": VERSION,
            OURS: record.fields(),
        }
        append_lines(self.filename, [json.dumps(line, allow_nan=False)])


def load_records(filename: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a log. Raises InputError for a file that cannot be read."""
    found, _ = read_lines(filename)
    return (record for _, record in found)
