"""The order in which a schedule's stages are written down, whatever the order in which they were added."""

from __future__ import annotations

from collections.abc import Iterator

from lamina.te.relations import CacheRead, CacheWrite, Decomposition, Factoring, Padding
from lamina.te.schedule import Schedule
from lamina.te.stage import Stage


def stage_order(schedule: Schedule) -> list[Stage]:
    """All stages, inputs first, the added ones next to those that they belong to."""
    position = {op: n for n, op in enumerate(schedule.base_order)}

    def rank(stage: Stage) -> int:
        while (owner := _beside(stage)) is not None:
            stage = owner
        if isinstance(stage.made_by, CacheRead):
            return rank(schedule[stage.made_by.source])
        return position[stage.origin_op]

    def expanded(stage: Stage) -> Iterator[Stage]:
        beside = [s for s in schedule.stages if _beside(s) is stage]
        after = [s for s in beside if isinstance(s.made_by, Padding) and s.made_by.source is None]
        for s in beside:
            if s not in after:
                yield from expanded(s)
        yield stage
        for s in after:
            yield from expanded(s)
        copies = [
            (sorted(map(rank, s.made_by.readers)), s.scope, n, s)
            for n, s in enumerate(schedule.stages)
            if isinstance(s.made_by, CacheRead) and schedule[s.made_by.source] is stage
        ]
        for *_, copy in sorted(copies, key=lambda c: c[:3]):
            yield from expanded(copy)

    base = sorted((s for s in schedule.stages if s.made_by is None), key=rank)
    return [s for b in base for s in expanded(b)]


def _beside(stage: Stage) -> Stage | None:
    """The stage that one was made of, next to which it stands."""
    made = stage.made_by
    if isinstance(made, CacheWrite):
        return made.copy
    if isinstance(made, Factoring):
        return made.final
    return made.stage if isinstance(made, (Padding, Decomposition)) else None
