"""Times in real runs: each kernel's by the model's own nodes, and a trace that Perfetto shows.

recording = exe.record(inputs, repeats=20)     what ran when and where, noted by the machine code itself
print(recording.profile().table())
recording.save("trace.json")                   for https://ui.perfetto.dev or chrome://tracing
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import InputError
from lamina.measure.timing import columns
from lamina.runtime.ports import SIZE

if TYPE_CHECKING:
    from lamina.runtime.trace import Slice


@dataclass(frozen=True)
class Kernel:
    """One call of a kernel: what it computes and what it has to do at least."""

    nodes: str
    """The model's nodes."""
    symbol: str = ""
    shapes: str = ""
    """`float32[1, 3] x float32[3, 2] -> float32[1, 2]`"""
    operations: int | None = None
    """On elements; None where that is not known before it runs."""
    weights: int = 0
    """Bytes of constants."""
    data: int = 0
    """Bytes of other arguments and of results."""
    external: bool = False
    """Whether an external backend runs it."""


@dataclass(frozen=True)
class KernelTime:
    """One call of a kernel and its median time."""

    nodes: str
    seconds: float
    share: float
    kernel: Kernel

    @property
    def rate(self) -> float | None:
        """Operations a second."""
        operations = self.kernel.operations
        return operations / self.seconds if operations and self.seconds else None


class Profile(tuple[KernelTime, ...]):
    """The kernels of a program, the slowest first."""

    __slots__ = ()

    @staticmethod
    def of(kernels: Sequence[Kernel], times: Sequence[Sequence[float]]) -> Profile:
        """From the seconds of each kernel in each run."""
        medians = [float(np.median(t)) for t in times]
        total = sum(medians) or 1.0
        rows = [KernelTime(k.nodes, t, t / total, k) for k, t in zip(kernels, medians, strict=True)]
        return Profile(sorted(rows, key=lambda r: (-r.seconds, r.nodes)))

    @property
    def total(self) -> float:
        return sum(row.seconds for row in self)

    def table(self, limit: int | None = None) -> str:
        """Time, share, billions of operations a second and nodes of each kernel, and the total."""
        rows = [(f"{r.seconds * 1e6:,.1f}", f"{r.share:.1%}", _giga(r.rate), r.nodes) for r in self[:limit]]
        left = len(self) - len(rows)
        if left > 0:
            rest = sum(r.seconds for r in self[limit:])
            rows.append((f"{rest * 1e6:,.1f}", f"{rest / (self.total or 1.0):.1%}", "", f"({left} more)"))
        known = [r.kernel.operations or 0 for r in self]
        rate = _giga(sum(known) / self.total if self.total and any(known) else None)
        rows.append((f"{self.total * 1e6:,.1f}", "100.0%", rate, "total"))
        return columns([("us", "share", "Gop/s", "nodes"), *rows])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return self.table(20)


def _giga(rate: float | None) -> str:
    return "" if rate is None else f"{rate / 1e9:.1f}"


KEPT = 3
"""Runs that a trace shows: the last ones."""


@dataclass(frozen=True)
class Recording:
    """The kernels that ran, with their times, in several runs of a program."""

    name: str
    kernels: tuple[Kernel, ...]
    calls: tuple[int, ...]
    """The kernel of each row of the program."""
    threads: int
    runs: tuple[tuple[Slice, ...], ...]

    def seconds(self) -> list[list[float]]:
        """The time of each kernel in each run.

        With one thread it is that thread's own time, which does not grow when the system runs something else in
        between; with several, from the start of the first slice to the end of the last.
        """
        runs = [self._times(run) for run in self.runs]
        return [list(times) for times in zip(*runs, strict=True)]

    def _times(self, run: Sequence[Slice]) -> list[float]:
        """The seconds of each kernel in one run."""
        rows: dict[int, list[Slice]] = {}
        for s in run:
            rows.setdefault(s.row, []).append(s)
        times = [0.0] * len(self.kernels)
        for row, slices in rows.items():
            span = max(s.end for s in slices) - min(s.start for s in slices)
            own = sum(s.busy for s in slices)
            times[self.calls[row]] += (own if self.threads == 1 else span) / 1e9
        return times

    def profile(self) -> Profile:
        """Each kernel's median time."""
        return Profile.of(self.kernels, self.seconds())

    def perfetto(self) -> dict[str, Any]:
        """The last runs in the format of Chrome's traces: threads as tracks, kernels as slices."""
        runs = self.runs[-KEPT:]
        origin = min((s.start for run in runs for s in run), default=0)
        threads = sorted({s.thread for run in runs for s in run})
        events: list[dict[str, Any]] = [_named("process_name", 0, f"lamina: {self.name}")]
        events += [_named("thread_name", t, f"thread {t}" if t else "thread 0 (caller)") for t in threads]
        for number, run in enumerate(runs, len(self.runs) - len(runs)):
            times = self._times(run)
            events += [self._event(s, times[self.calls[s.row]], number, origin) for s in run]
        return {"traceEvents": events, "displayTimeUnit": "ns"}

    def _event(self, s: Slice, seconds: float, run: int, origin: int) -> dict[str, Any]:
        """A slice; `seconds` is the time of its kernel in this run."""
        kernel = self.kernels[self.calls[s.row]]
        arguments: dict[str, Any] = {"shapes": kernel.shapes, "run": run, "kernel us": seconds * 1e6}
        if not kernel.external:
            arguments |= {"kernel": kernel.symbol, "iterations": f"[{s.first}, {s.last})", "own us": s.busy / 1e3}
        if kernel.operations and seconds:
            arguments["GFLOP/s"] = round(kernel.operations / seconds / 1e9, 2)
        return {
            "name": kernel.nodes,
            "cat": "external" if kernel.external else "kernel",
            "ph": "X",
            "ts": (s.start - origin) / 1e3,
            "dur": (s.end - s.start) / 1e3,
            "pid": 1,
            "tid": s.thread,
            "args": arguments,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as JSON. Raises InputError where the disk does not allow it."""
        try:
            Path(path).write_text(json.dumps(self.perfetto()) + "\n", "utf-8")
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror or e}", where=str(path)) from None


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}}


def kernels_of(
    labels: Sequence[str], calls: Sequence[int], graph: dict[str, Any], external: Sequence[int] = ()
) -> tuple[Kernel, ...]:
    """The kernels of a program in order: its rows' labels, the call of each row, its graph, the external rows."""
    first: dict[int, int] = {}
    for row, call in enumerate(calls):
        first.setdefault(call, row)
    nodes = [n for n in graph.get("nodes", ()) if n[1]]
    costs = graph.get("costs", ())
    known = len(nodes) == len(first) == len(costs)
    found: list[Kernel] = []
    for call, row in first.items():
        outside = row in external
        if not known:
            found.append(Kernel(labels[row], external=outside))
            continue
        _, symbol, reads, values = nodes[call]
        given_to = [graph["nodes"][n][3][r] for n, r in reads]
        taken = " x ".join(_described(v) for v in given_to if v[1] != SIZE)
        given = ", ".join(map(_described, values))
        operations, weights, data = costs[call]
        found.append(Kernel(labels[row], symbol, f"{taken} -> {given}", operations, weights, data, outside))
    return tuple(found)


def _described(value: Sequence[Any]) -> str:
    shape, dtype = value
    return f"{dtype}[{', '.join('?' if e < 0 else str(e) for e in shape)}]"
