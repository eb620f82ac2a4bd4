"""Candidates measured in processes of their own: a crash, a hang or a wrong result is an outcome like any other.

    with Runner(workers=2) as runner:
        records = runner.measured([candidate, ...])

A worker is a warm process; each candidate is drawn, compiled and run in a copy of it (`lamina.debugging.isolate`), with
a limit of time and of memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from time import monotonic
from typing import Any

import lamina
from lamina.debugging.isolate import Server
from lamina.debugging.outcome import Outcome
from lamina.dialects.schedule.records import Record
from lamina.tuning.kernel_task import KernelTask

MEASURE = "lamina.tuning.measuring:measure"
WARM = "lamina.tuning.measuring:warm"
"""Called in a worker before its first candidate: its copies have all that they import."""
SECONDS = 20.0
"""A candidate may take so long, its compilation included."""
PATIENCE, LEAST = 4.0, 2.0
"""A candidate may take so many times what the quickest one of its kernel took, and so many seconds at least: one that
takes longer to compile is thousands of statements, and no good."""
MEMORY = 8 << 30
"""Bytes of address space that it may take."""


@dataclass(frozen=True)
class Candidate:
    """A configuration that is to be measured: drawn of a space, or one that is decided."""

    task: KernelTask
    space: str
    """A te.schedule under canonical names."""
    seeds: tuple[int, ...] = ()
    """Seeds of its knobs, of which the best is taken; none for the decisions that there are."""
    share: float = 1.0
    """The share of the knobs that are drawn."""
    again: bool = False
    """Whether it is a gain that is looked at more closely."""
    ranking: tuple[list[str], Any] | None = None
    """The columns and the trees of a Ranker, in JSON, that says which is the best; the first seed without."""
    index: int | None = None
    """The number of the configuration, in the place of seeds."""
    refusal: str = ""
    """The reason for which it is refused already."""


class Runner:
    """Warm processes that measure candidates, each one at a time."""

    def __init__(self, workers: int = 1, seconds: float = SECONDS, function: str = MEASURE) -> None:
        """`function` takes the place of `measuring.measure` in tests."""
        self._function, self._seconds = function, seconds
        self._quickest: dict[tuple[str, str, int], float] = {}
        """Seconds of a candidate that ran, by the place of its task."""
        self._servers = [Server((WARM,), MEMORY) for _ in range(workers)]
        self._free: SimpleQueue[Server] = SimpleQueue()
        for server in self._servers:
            server.start()
            self._free.put(server)
        self._threads = ThreadPoolExecutor(workers, "lamina-tune")

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for server in self._servers:
            server.close()

    def measured(self, candidates: Iterable[Candidate], known: Sequence[str] = ()) -> Iterator[Record | None]:
        """The record of each candidate, in order; None for one whose schedule is one of those `known`."""

        def measured(candidate: Candidate) -> Record | None:
            return self._measured(candidate, known)

        return self._threads.map(measured, list(candidates))

    def _measured(self, candidate: Candidate, known: Sequence[str]) -> Record | None:
        task = candidate.task
        if candidate.refusal:
            return _failed(task, candidate.space, f"refusal: {candidate.refusal}")
        arguments = {
            "control": task.program(task.schedule),
            "space": task.program(candidate.space),
            "seeds": candidate.seeds,
            "share": candidate.share,
            "known": list(known),
            "again": candidate.again,
            "ranking": candidate.ranking,
            "index": candidate.index,
            "constants": {str(n): value for n, value in task.constants.items()},
        }
        server = self._free.get()
        quickest = self._quickest.get(task.place, self._seconds)
        start = monotonic()
        try:
            limit = min(self._seconds, max(PATIENCE * quickest, LEAST))
            found: Any = server.call(self._function, arguments, limit)
        finally:
            self._free.put(server)
        if isinstance(found, Outcome):
            return _failed(task, candidate.space, f"{found.kind}: {found.said}")
        if found.get("known"):
            return None
        self._quickest[task.place] = min(quickest, monotonic() - start)
        if found.get("wrong"):
            return _failed(task, found["trace"], f"wrong: {found['wrong']}")
        median, low, high = found["ratio"]
        return Record(
            task.key,
            task.machine,
            task.threads,
            found["trace"],
            (median, low, high),
            found["seconds"],
            version=lamina.__version__,
        )


def _failed(task: KernelTask, trace: str, error: str) -> Record:
    return Record(
        task.key, task.machine, task.threads, trace, None, None, " ".join(error.split()), version=lamina.__version__
    )
