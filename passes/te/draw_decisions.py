"""Draw what schedules leave open: each sampling primitive gets the decision that applying the schedule makes.

The decisions follow from the `seed` of each te.schedule. With the option `seed` they follow from that, and every knob
is decided anew, or, with `share`, so many of them: its decision is a default. What is printed afterwards replays: it
gives the same loops whatever the seed. Nothing else changes. A schedule that cannot be applied is an error, as it is
for `te-to-tir`.

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

import random
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from lamina.dialects import edit
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.sampling import SEED, SamplingBase
from lamina.errors import UsageError
from lamina.passes.base import Context, ModulePass
from lamina.passes.te_to_tir.te_to_tir import TeToTirPass


@dataclass(frozen=True)
class DrawDecisionsPass(ModulePass):
    """Draws what schedules leave open."""

    name = "te-draw-decisions"

    seed: int | None = None
    """A seed for all schedules, with which every knob is decided anew."""
    share: float = 1.0
    """The share of the knobs that are, at least one: of a good configuration a few."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"te-draw-decisions: a share is above 0 and at most 1, not {self.share}")
        for primitive, applied in applied_samplings(op, ctx, self.seed, self.share):
            decision = applied.properties.get("decision")
            # One in a piece of a te.choose that is not taken is not asked.
            if decision is not None and decision != primitive.properties.get("decision"):
                edit.change(primitive)
                primitive.properties["decision"] = decision


def applied_samplings(
    module: ModuleOp, ctx: Context, seed: int | None = None, share: float = 1.0
) -> list[tuple[SamplingBase, SamplingBase]]:
    """The sampling primitives of a module's schedules, each with that of a copy whose schedules were applied.

    With a `seed` a share of the copy's knobs was decided anew. Raises InputError where a schedule cannot be applied.
    """
    mine = list(samplings(module))
    if not mine:
        return []
    copy = module.clone()
    copies = list(samplings(copy))
    if seed is not None:
        for schedule in schedules(copy):
            schedule.attributes[SEED] = IntegerAttr(seed, i64)
        knobs, r = [each for each in copies if each.knob is not None], random.Random(f"which {seed}")
        for each in [k for k in knobs if r.random() < share] or (r.choice(knobs) for _ in knobs[:1]):
            each.properties.pop("decision", None)
    # Applying takes the schedules out of the copy; their ops keep the properties that it gave them.
    with edit.counted_elsewhere():
        TeToTirPass().apply(ctx, copy)
    return list(zip(mine, copies, strict=True))


def decisions(module: ModuleOp) -> dict[str, list[int]]:
    """The numbers that the knobs of a module's schedules are decided by, as far as they are, by the knobs' names."""
    decided = [each for each in samplings(module) if "decision" in each.properties]
    return {each.knob.data: each.decided() for each in decided if each.knob is not None}


def schedules(module: ModuleOp) -> Iterator[ScheduleOp]:
    """The schedules of a module, in the order of the text."""
    return (op for op in module.ops if isinstance(op, ScheduleOp))


def samplings(module: ModuleOp) -> Iterator[SamplingBase]:
    """The sampling primitives of a module's schedules, in the order of the text."""
    return (op for schedule in schedules(module) for op in schedule.body.walk() if isinstance(op, SamplingBase))
