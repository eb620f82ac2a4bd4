"""Records of schedules that were measured: JSON lines, one a candidate, each by itself.

    {"v": 1, "task": "3f9a...", "machine": "x86_64-unknown-linux-gnu znver4 512 32", "threads": 1,
     "trace": "te.schedule @task {...}", "ratio": [0.91, 0.9, 0.93], "seconds": 0.00012, "error": "", "lamina": "0.1.0"}

`task` is the key of the kernel's work, `trace` its schedule, both under canonical names (`canonical.py`). `ratio` is
the candidate's time over that of the default schedule, measured by turns: the median, and the ends of its 95 %
interval. Times of different minutes compare nothing; ratios do. A candidate that failed has an error in place of both.
The logs of `lamina.compat.tvm` hold the same, each record within a line of AutoTVM's or AutoScheduler's form.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, cast

from lamina.errors import InputError

FORMAT = 1
TVM_LOG = 0.2
"""The version of AutoTVM's logs."""
OURS = "lamina"
"""The key of a record within a line of a log of TVM's form, beside what TVM's tools read."""


@dataclass(frozen=True)
class Record:
    """A candidate for the schedule of a kernel, and what came of it."""

    task: str
    """SHA-256 of the kernel's canonical text."""
    machine: str
    """As `machine_of` names a target; not the threads."""
    threads: int
    trace: str
    """The te.schedule, under canonical names."""
    ratio: tuple[float, float, float] | None
    """Its time over the default's: median, lower and upper end of the 95 % interval; None where it failed."""
    seconds: float | None
    """The median of its runs."""
    error: str = ""
    """The kind of its failure and one line of what was said; empty where it ran and was right."""
    version: str = ""
    """The version of Lamina that it was measured with."""

    @property
    def is_gain(self) -> bool:
        """Whether it is faster than the default beyond doubt."""
        return self.ratio is not None and self.ratio[2] < 1

    def line(self) -> str:
        """The line of a file, without its end."""
        return json.dumps(self.fields(), allow_nan=False)

    def fields(self) -> dict[str, Any]:
        """The keys and values of a line."""
        return {
            "v": FORMAT,
            "task": self.task,
            "machine": self.machine,
            "threads": self.threads,
            "trace": self.trace,
            "ratio": self.ratio,
            "seconds": self.seconds,
            "error": self.error,
            "lamina": self.version,
        }

    @staticmethod
    def of_line(line: str) -> Record:
        """The record of a line. Raises ValueError that says what is wrong with it."""
        read: Any = json.loads(line)
        if not isinstance(read, dict):
            raise ValueError("no object")
        data = cast("dict[str, Any]", read)
        ours: Any = data.get(OURS)
        if isinstance(ours, dict):
            data = cast("dict[str, Any]", ours)
        elif data.get("version") == TVM_LOG or ("i" in data and "r" in data):
            raise ValueError("what TVM has measured: schedules of its own, which do not apply here")
        if data.get("v") != FORMAT:
            raise ValueError(f"a record of format {data.get('v')!r}, this version reads {FORMAT}")
        texts = {k: data.get(k, "") for k in ("task", "machine", "trace", "error", "lamina")}
        for key, value in texts.items():
            if not isinstance(value, str):
                raise ValueError(f"{key!r} is no string")
        threads = data.get("threads")
        ratio: Any = data.get("ratio")
        seconds: Any = data.get("seconds")
        if type(threads) is not int or threads < 1:
            raise ValueError("'threads' is no number of threads")
        if not texts["error"] and not (_positive(ratio, 3) and _positive([seconds], 1)):
            raise ValueError("there is neither an error nor a ratio of three positive numbers and the seconds")
        return Record(
            texts["task"],
            texts["machine"],
            threads,
            texts["trace"],
            None if texts["error"] else (float(ratio[0]), float(ratio[1]), float(ratio[2])),
            None if texts["error"] else float(seconds),
            texts["error"],
            texts["lamina"],
        )


def _positive(numbers: Any, count: int) -> bool:
    """Whether something is a list of so many positive finite numbers."""
    return (
        isinstance(numbers, Sequence)
        and len(cast("Sequence[Any]", numbers)) == count
        and all(type(n) in (int, float) and isfinite(n) and n > 0 for n in cast("Sequence[Any]", numbers))
    )


def read_records(path: str | os.PathLike[str]) -> tuple[list[Record], list[str]]:
    """The records of a file, and a note for each line that is none, such as the torn end of one that was killed.

    Raises InputError for a file that cannot be read.
    """
    found, notes = read_lines(path)
    return [record for _, record in found], notes


def read_lines(path: str | os.PathLike[str]) -> tuple[list[tuple[str, Record]], list[str]]:
    """The lines of a file that hold records, each with its record, and the notes of `read_records`."""
    where = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as e:
        raise InputError(f"cannot read: {e.strerror}", where=where) from None
    found: list[tuple[str, Record]] = []
    notes: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            text = line.decode("utf-8")
            found.append((text, Record.of_line(text)))
        except ValueError as e:  # what is no UTF-8 and what is no JSON are such errors as well
            notes.append(f"{where}:{number}: skipped, {_reason(e)}")
    return found, notes


def _reason(error: ValueError) -> str:
    """The reason in one line."""
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return "the line is torn or is no JSON"
    return str(error)


def latest_records(records: Iterable[Record]) -> list[Record]:
    """The last record of each schedule of a task: a gain is the luckiest of many until it was measured once more."""
    return list({(r.task, r.machine, r.threads, r.trace): r for r in records}.values())


def best_records(records: Iterable[Record]) -> dict[tuple[str, str, int], Record]:
    """The gain that is surest for each task, machine and number of threads: the smallest upper end.

    Of several records of a schedule the last one counts, and a later one of equal ones. Tasks for which nothing was
    faster than the default are not there.
    """
    best: dict[tuple[str, str, int], Record] = {}
    for record in latest_records(records):
        key = record.task, record.machine, record.threads
        if record.ratio is None or not record.is_gain:
            continue
        known = best.get(key)
        if known is None or known.ratio is None or record.ratio[2] <= known.ratio[2]:
            best[key] = record
    return best
