"""The search of one kernel so far: its space, what was measured of it, the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.records import Record
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.inspection.print_space import configurations
from lamina.passes.te.draw_decisions import decisions
from lamina.tuning.kernel_task import KernelTask

DOUBTS = 24
"""A kernel for which so many candidates in a row gave nothing counts for half of its share, and so on."""


class Measured(NamedTuple):
    """A configuration that ran and was right."""

    trace: str
    """Its schedule."""
    decided: dict[str, list[int]]
    """Its decisions by their knobs' names."""
    cost: float
    """Its time over the default's."""


@dataclass
class Progress:
    """The search of one kernel so far."""

    task: KernelTask
    space: str
    """Its own schedule, opened."""
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

    @cached_property
    def size(self) -> int:
        """The number of the space's configurations, the refused ones included."""
        (size,) = configurations(parse_text(LaminaContext(), self.task.program(self.space), "space"), LaminaContext())
        return size

    def take(self, record: Record) -> None:
        """Let a record count."""
        self.tried += 1
        self.fruitless += 1
        self.traces.add(record.trace)
        decided = decided_in(record.trace) if record.ratio is not None else {}
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


def opened(task: KernelTask) -> str:
    """The space around the schedule of a task (`te-open-space`)."""
    module = parse_text(LaminaContext(), task.program(task.schedule), "task")
    run_pipeline(module, LaminaContext(), parse_pipeline("te-open-space"))
    return str(next(op for op in module.ops if isinstance(op, ScheduleOp)))


def decided_in(trace: str) -> dict[str, list[int]]:
    """The decisions of a te.schedule's text by their knobs' names; none where it is of a time with other primitives."""
    try:
        return decisions(parse_text(LaminaContext(), trace, "schedule"))
    except LaminaError:
        return {}
