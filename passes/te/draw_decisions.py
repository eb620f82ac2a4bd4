"""Draw what schedules leave open: each sampling primitive gets the decision that applying the schedule makes.

The decisions follow from the `seed` of each te.schedule. What is printed afterwards replays: it gives the same loops
whatever the seed. Nothing else changes. A schedule that cannot be applied is an error, as it is for `te-to-tir`.

Before:
    te.schedule @f attributes {seed = 7 : i64} {
      %i, %j = te.loops "C" [2]
      %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 8
      %jo, %ji = te.split %j [%f0, %f1] }
After:
    te.schedule @f attributes {seed = 7 : i64} {
      %i, %j = te.loops "C" [2]
      %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 8 decision [8, 4]
      %jo, %ji = te.split %j [%f0, %f1] }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects import edit
from lamina.dialects.schedule.families import SamplingBase
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.passes.base import Context, ModulePass
from lamina.passes.te_to_tir.te_to_tir import TeToTirPass


@dataclass(frozen=True)
class DrawDecisionsPass(ModulePass):
    name = "te-draw-decisions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        schedules = [s for s in op.ops if isinstance(s, ScheduleOp)]
        if not any(isinstance(p, SamplingBase) for s in schedules for p in s.body.block.ops):
            return
        copy = op.clone()
        drawn = [p for s in copy.ops if isinstance(s, ScheduleOp) for p in s.body.block.ops]
        kept = [dict(p.properties) for p in drawn]
        # Applying takes the schedules out of the copy; their ops keep the properties that it gave them.
        with edit.counted_elsewhere():
            TeToTirPass().apply(ctx, copy)
        mine = [p for s in schedules for p in s.body.block.ops]
        for primitive, theirs, before in zip(mine, drawn, kept, strict=True):
            if isinstance(primitive, SamplingBase) and "decision" not in before:
                edit.change(primitive)
                primitive.properties["decision"] = theirs.properties["decision"]
