"""`autotvm.record`: logs of what was measured, in lines of TVM's format 0.2.

A line holds our record beside what TVM's tools read, so that `lamina compile --records` takes the file as well. What
TVM has measured are schedules of its own, of which none applies here: such lines are skipped, with a note.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, cast

from lamina.compat.tvm.autotvm.measure import MeasureInput, MeasureResult
from lamina.compat.tvm.autotvm.task import ConfigEntity, LoggedTask
from lamina.dialects.schedule.records import OURS, TVM_LOG, Record, best_records, read_lines
from lamina.errors import InputError, UnsupportedError
from lamina.ir.tvm_names import VERSION
from lamina.store.text_file import write_text


def encode(inp: MeasureInput, result: MeasureResult, protocol: str = "json") -> str:
    """A line of a log. Raises UnsupportedError for another protocol than JSON: the others are Python's pickle."""
    if protocol != "json":
        raise UnsupportedError(f"a log in {protocol!r}", hint='protocol="json"')
    line: dict[str, Any] = {
        "input": [str(inp.target), inp.task.workload[0], inp.task.workload[1:], {}],
        "config": inp.config.to_json_dict(),
        "result": [result.costs, result.error_no, result.all_cost, result.timestamp],
        "version": TVM_LOG,
        "tvm_version": VERSION,
        OURS: inp.record.fields(),
    }
    return json.dumps(line, allow_nan=False)


def decode(row: str, protocol: str = "json") -> tuple[MeasureInput, MeasureResult]:
    """The candidate of a line, and what came of it. Raises InputError for a line that is none of ours."""
    if protocol != "json":
        raise UnsupportedError(f"a log in {protocol!r}", hint='protocol="json"')
    try:
        record, data = Record.of_line(row), cast("dict[str, Any]", json.loads(row))
        target, name, args, _ = data["input"]
        costs, error_no, all_cost, timestamp = data["result"]
    except (ValueError, KeyError, TypeError) as e:
        raise InputError(f"no line of a log: {e}") from None
    task = LoggedTask(str(name), _tuples(args))
    config = ConfigEntity.from_json_dict(data["config"])
    found = MeasureResult(tuple(costs), int(error_no), float(all_cost), float(timestamp))
    return MeasureInput(target, task, config, record), found


def _tuples(value: Any) -> Any:
    """Lists of JSON as the tuples that they were."""
    return tuple(_tuples(v) for v in cast("list[Any]", value)) if isinstance(value, list) else value


def load_from_file(filename: str | os.PathLike[str]) -> Iterator[tuple[MeasureInput, MeasureResult]]:
    """The candidates of a log; a note to stderr for each line that is none. Raises InputError."""
    found, notes = read_lines(filename)
    for note in notes:
        sys.stderr.write(f"warning: {note}\n")
    for line, _ in found:
        yield decode(line)


def pick_best(in_file: str | os.PathLike[str], out_file: str | os.PathLike[str]) -> None:
    """Write a log of the surest gain of each task. Raises InputError for files that cannot be read or written."""
    found, _ = read_lines(in_file)
    best = set(map(id, best_records([record for _, record in found]).values()))
    write_text(out_file, "".join(f"{line}\n" for line, record in found if id(record) in best))
