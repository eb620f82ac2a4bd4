"""Rows: vectors along the last dimension, the rest in parallel; other reductions with vectors of results."""

from __future__ import annotations

from lamina.backends.cpu.schedules.elementwise import schedule_elementwise
from lamina.backends.cpu.schedules.reduction import schedule_plain_reduction
from lamina.backends.cpu.stages import Stage
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr


def applies(stage: Stage, target: TargetAttr) -> bool:
    """Always."""
    return True


def place(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Schedule a row."""
    if stage.is_reduction:
        schedule_plain_reduction(s, stage, follower, target)
    else:
        schedule_elementwise(s, stage, target)
