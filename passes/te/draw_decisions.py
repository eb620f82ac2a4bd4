"""Draw what schedules leave open: each sampling primitive gets the decision that applying the schedule makes.

The decisions follow from the `seed` of each te.schedule. With the option `seed` they follow from that, and every knob
is decided anew, or, with `share`, so many of them: its decision is a default. With `index` all knobs are decided as the
configuration of that number has them (`print-space` tells how many there are). What is printed afterwards replays: it
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from lamina.dialects import edit
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.sampling import INDEX, SEED, SamplingBase, decision_attr, samplings
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
    index: int | None = None
    """The number of a configuration, from 0, for all schedules; in the place of a seed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"te-draw-decisions: a share is above 0 and at most 1, not {self.share}")
        if self.index is not None and (self.index < 0 or self.seed is not None):
            raise UsageError("te-draw-decisions: an index is at least 0, and there is no seed beside it")
        for primitive, applied in applied_samplings(op, ctx, self.seed, self.share, self.index):
            decision = applied.properties.get("decision")
            # One in a piece of a te.choose that is not taken is not asked.
            if decision is not None and decision != primitive.properties.get("decision"):
                edit.change(primitive)
                primitive.properties["decision"] = decision


def applied_samplings(
    module: ModuleOp, ctx: Context, seed: int | None = None, share: float = 1.0, index: int | None = None
) -> list[tuple[SamplingBase, SamplingBase]]:
    """The sampling primitives of a module's schedules, each with that of a copy whose schedules were applied.

    With a `seed` a share of the copy's knobs was decided anew, with an `index` all of them. Raises InputError where a
    schedule cannot be applied, UsageError where it has no configuration of that number.
    """
    mine = samplings_of(module)
    if not mine:
        return []
    copy = module.clone()
    copies = samplings_of(copy)
    if seed is not None:
        for schedule in schedules(copy):
            schedule.attributes[SEED] = IntegerAttr(seed, i64)
        knobs, r = [each for each in copies if each.knob is not None], random.Random(f"which {seed}")
        for each in [k for k in knobs if r.random() < share] or (r.choice(knobs) for _ in knobs[:1]):
            each.properties.pop("decision", None)
    spaces = [(s.func.root_reference.data, list(samplings(s))) for s in schedules(copy)] if index is not None else []
    if index is not None:
        for schedule in schedules(copy):
            schedule.attributes[INDEX] = IntegerAttr(index, i64)
        for each in copies:
            if each.knob is not None:
                each.properties.pop("decision", None)
    # Applying takes the schedules out of the copy; their ops keep the properties that it gave them.
    with edit.counted_elsewhere():
        TeToTirPass().apply(ctx, copy)
    for name, knobs in spaces:
        count = prod(each.base for each in knobs)
        if index is not None and index >= count:
            s = "" if count == 1 else "s"
            raise UsageError(f"te-draw-decisions: @{name} has {count} configuration{s}, and none of the number {index}")
    return list(zip(mine, copies, strict=True))


def decisions(module: ModuleOp) -> dict[str, list[int]]:
    """The numbers that the knobs of a module's schedules are decided by, as far as they are, by the knobs' names."""
    decided = [each for each in samplings_of(module) if "decision" in each.properties]
    return {each.knob.data: each.decided() for each in decided if each.knob is not None}


def with_decisions(module: ModuleOp, decided: Mapping[str, Sequence[int]]) -> ModuleOp:
    """A copy of a module whose knobs of these names are decided so, where they are decided at all."""
    copy = module.clone()
    for each in samplings_of(copy):
        if each.knob is not None and each.knob.data in decided and "decision" in each.properties:
            numbers = list(decided[each.knob.data])
            single = isinstance(each.properties["decision"], IntegerAttr)
            each.properties["decision"] = decision_attr(numbers[0] if single else numbers)
    return copy


def schedules(module: ModuleOp) -> Iterator[ScheduleOp]:
    """The schedules of a module, in the order of the text."""
    return (op for op in module.ops if isinstance(op, ScheduleOp))


def samplings_of(module: ModuleOp) -> list[SamplingBase]:
    """The sampling primitives of a module's schedules, in the order of the text."""
    return [op for schedule in schedules(module) for op in samplings(schedule)]
