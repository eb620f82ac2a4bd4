"""The search of one kernel so far: its space, what was measured of it, the best."""

from __future__ import annotations

from dataclasses import dataclass, field

from lamina.dialects.schedule.records import Record
from lamina.tuning.kernel_task import KernelTask
from lamina.tuning.spaces import Measured, Space

DOUBTS = 24
"""A kernel for which so many candidates in a row gave nothing counts for half of its share, and so on."""


@dataclass
class Progress:
    """The search of one kernel so far."""

    task: KernelTask
    space: Space
    best: Record | None = None
    """The surest gain that was measured twice."""
    tried: int = 0
    fruitless: int = 0
    """Candidates since the last gain."""
    failed: int = 0
    known: int = 0
    """Draws in a row whose schedules were known."""
    traces: set[str] = field(default_factory=set[str])
    measured: list[Measured] = field(default_factory=list[Measured])

    @property
    def weight(self) -> float:
        """The worth of another candidate."""
        now = self.best.ratio[0] if self.best is not None and self.best.ratio is not None else 1.0
        return self.task.share * now * 0.5 ** (self.fruitless // DOUBTS)

    def take(self, record: Record) -> None:
        """Let a record count."""
        self.tried += 1
        self.fruitless += 1
        self.traces.add(record.trace)
        decided = self.space.decided(record.trace) if record.ratio is not None else {}
        if decided and record.ratio is not None:
            self.measured.append(Measured(record.trace, decided, record.ratio[0]))
        if record.error:
            self.failed += 1
        elif self.is_better(record):
            self.best, self.fruitless = record, 0

    def is_better(self, record: Record) -> bool:
        """Whether a record is a gain beyond doubt that is surer than the best so far."""
        if record.ratio is None or not record.is_gain:
            return False
        return self.best is None or self.best.ratio is None or record.ratio[2] < self.best.ratio[2]
