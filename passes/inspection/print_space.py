"""print-space: the knobs of each schedule and how many ways there are to decide them, on stderr.

Before: te.schedule @f {
          %i, %j = te.loops "C" [2]
          %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 16 knob "tile_j" decision [2, 16]
          %jo, %ji = te.split %j [%f0, %f1]
          te.sample_annotation %ji ["none", "vectorize"] knob "inner" }
After:  the same; on stderr

        @f: 10 configurations
          tile_j  te.sample_perfect_tile   5  [2, 16]
          inner   te.sample_annotation     2  1

The last column is the decision that there is, or the one that the schedule's seed draws. A sampling primitive without a
knob is no part of the space once it is decided; until then it has no name. The numbers are those of the schedule as it
is decided: of a te.choose only the knobs of the piece that is taken count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from lamina.dialects.schedule.sampling import SamplingBase, samplings
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.te.draw_decisions import applied_samplings, schedules


@dataclass(frozen=True)
class PrintSpace(ModulePass):
    """The knobs of each schedule, and the size of its space."""

    name = "print-space"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for name, knobs in _spaces(op, ctx):
            size = prod(o.options for o in knobs)
            sys.stderr.write(f"@{name}: {size} configuration{'s' if size != 1 else ''}\n{_table(knobs)}")


def configurations(module: ModuleOp, ctx: Context) -> list[int]:
    """The numbers of configurations of a module's schedules. Raises InputError where a schedule cannot be applied."""
    return [prod(o.options for o in knobs) for _, knobs in _spaces(module, ctx)]


def _spaces(module: ModuleOp, ctx: Context) -> Iterator[tuple[str, list[SamplingBase]]]:
    """The functions that schedules are for, each with the knobs that are asked, applied."""
    applied = dict(applied_samplings(module, ctx))
    for schedule in schedules(module):
        open_ = [applied[o] for o in samplings(schedule) if o.knob is not None or "decision" not in o.properties]
        yield schedule.func.root_reference.data, [o for o in open_ if o.options]


def _table(knobs: list[SamplingBase]) -> str:
    """A line for each knob."""
    rows = [(o.knob.data if o.knob is not None else "", o.name, str(o.options), o.decision_text()) for o in knobs]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
    return "".join(
        f"  {knob:<{widths[0]}}  {name:<{widths[1]}}  {options:>{widths[2]}}  {decision}\n"
        for knob, name, options, decision in rows
    )
