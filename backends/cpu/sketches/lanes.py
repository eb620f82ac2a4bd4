"""Lanes: reductions of what lies side by side in memory, each lane of a vector for itself (rfactor), then those."""

from __future__ import annotations

from lamina.backends.cpu.schedules.line_reductions import is_line_reduction, schedule_line_reduction
from lamina.backends.cpu.stages import Stage
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr


def applies(stage: Stage, target: TargetAttr) -> bool:
    """Whether a stage reduces rows of memory."""
    return stage.is_reduction and is_line_reduction(stage, target)


def place(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Reduce the lanes, rows in parallel."""
    schedule_line_reduction(s, stage, follower, target)
