"""Sketches: spaces of schedules for any te.func, from the structure of its stages alone; no template names the work.

A rule is a file here with `applies(stage, target)` and `place(s, stage, follower, target)`: it schedules a stage, with
decisions left open where a search is to decide, and defaults that are legal. Of `RULES` the first that applies to a
stage places it. What is worth no memory of its own is inlined before, and what goes through a reduction's results
element by element, its follower, is placed with it.

    multi_level_tiling   a register tile of two dimensions over blocks, fused with its consumer     products, windows
    lanes                partial results in the lanes of vectors (rfactor)                          sums along memory
    rows                 vectors along a row                                                        all others
"""

from __future__ import annotations

from typing import Protocol

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.schedules.function import follower_of, inline_stages
from lamina.backends.cpu.sketches import lanes, multi_level_tiling, rows
from lamina.backends.cpu.stages import Stage, should_inline, stages_of
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.ops import FuncOp


class SketchRule(Protocol):
    """A way to schedule a stage."""

    def applies(self, stage: Stage, target: TargetAttr) -> bool:
        """Whether the rule is for the stage."""
        ...

    def place(self, s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
        """Schedule a stage and its follower."""
        ...


RULES: tuple[SketchRule, ...] = (multi_level_tiling, lanes, rows)


def sketch_function(func: FuncOp, target: TargetAttr) -> ScheduleOp:
    """The space of schedules of a function that the rules give."""
    s, costs = Schedule(func), for_target(target)
    done: set[str] = set()
    for stage in inline_stages(s, stages_of(func), lambda stage: should_inline(stage, costs)):
        if stage.name in done or 0 in stage.reduced or 0 in stage.spatial:
            continue
        follower = follower_of(stage) if stage.is_reduction else None
        if follower is not None:
            done.add(follower.name)
        next(rule for rule in RULES if rule.applies(stage, target)).place(s, stage, follower, target)
    return s.build()
