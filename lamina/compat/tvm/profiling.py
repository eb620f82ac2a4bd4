"""`tvm.runtime.profiling`: what a profile says, as a table, CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lamina.measure.timing import columns


@dataclass(frozen=True)
class Duration:
    """A time."""

    microseconds: float


@dataclass(frozen=True)
class Percent:
    """A part of the whole, of 100."""

    percent: float


@dataclass(frozen=True)
class Count:
    """A number of calls."""

    value: int


class Report:
    """The calls of a run with their times, and the whole on each device."""

    def __init__(
        self, calls: Sequence[dict[str, Any]], device_metrics: dict[str, dict[str, Any]], configuration: dict[str, Any]
    ) -> None:
        self.calls = list(calls)
        self.device_metrics = device_metrics
        self.configuration = configuration

    @staticmethod
    def of(rows: Sequence[tuple[str, float, Sequence[tuple[tuple[int, ...], str]]]], device: str) -> Report:
        """A report of kernels by name, seconds and what they read (shape, dtype)."""
        total = sum(seconds for _, seconds, _ in rows) or 1.0
        calls = [
            {
                "Name": name,
                "Duration (us)": Duration(seconds * 1e6),
                "Percent": Percent(seconds / total * 100),
                "Device": device,
                "Count": Count(1),
                "Argument Shapes": ", ".join(f"{dtype}[{', '.join(map(str, shape))}]" for shape, dtype in reads),
            }
            for name, seconds, reads in rows
        ]
        whole = {"Duration (us)": Duration(total * 1e6), "Count": Count(len(rows)), "Device": device}
        return Report(calls, {device: whole}, {"Executor": "Graph"})

    def table(self, sort: bool = True, aggregate: bool = True, col_sums: bool = True) -> str:
        """The calls, those of one name together, the slowest first."""
        rows: dict[Any, list[Any]] = {}
        for n, call in enumerate(self.calls):
            key = (call["Name"], call["Argument Shapes"]) if aggregate else n
            row = rows.setdefault(key, [0.0, 0.0, 0, call["Name"], call["Argument Shapes"]])
            row[0] += call["Duration (us)"].microseconds
            row[1] += call["Percent"].percent
            row[2] += call["Count"].value
        found = sorted(rows.values(), key=lambda r: -r[0]) if sort else list(rows.values())
        if col_sums:
            found.append([*(sum(r[n] for r in found) for n in range(3)), "Sum", ""])
        lines = [(f"{r[0]:,.2f}", f"{r[1]:.2f}", str(r[2]), f"{r[3]}  {r[4]}".rstrip()) for r in found]
        return columns([("Duration (us)", "Percent", "Count", "Name  Argument Shapes"), *lines])

    def csv(self) -> str:
        """A line for each call."""
        keys = ["Name", "Duration (us)", "Percent", "Device", "Count", "Argument Shapes"]
        lines = [",".join(keys)]
        lines += [",".join(json.dumps(_plain(c[k])) for k in keys) for c in self.calls]
        return "\n".join(lines) + "\n"

    def json(self) -> str:
        """Calls, device_metrics and configuration."""
        calls = [{k: _entry(v) for k, v in c.items()} for c in self.calls]
        devices = {d: {k: _entry(v) for k, v in m.items()} for d, m in self.device_metrics.items()}
        return json.dumps({"calls": calls, "device_metrics": devices, "configuration": self.configuration})

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def _plain(value: Any) -> Any:
    return next(iter(vars(value).values())) if isinstance(value, (Duration, Percent, Count)) else value


def _entry(value: Any) -> dict[str, Any]:
    if isinstance(value, Count):
        return {"count": value.value}
    return dict(vars(value)) if isinstance(value, (Duration, Percent)) else {"string": value}


__all__ = ["Count", "Duration", "Percent", "Report"]
