"""Groups of stages that move together: the consumers first, then what they read, into the same loop."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.schedule.nest.attachment import Attachment, attach
from lamina.dialects.schedule.nest.edits import ScheduleError, blocks_of, stage_block
from lamina.dialects.tir.ops import ForOp, FuncOp


def check_group(func: FuncOp, name: str, stages: Sequence[str]) -> None:
    """Raises ScheduleError where a group cannot be: of no stage, of one twice, or under the name of one."""
    what = f"create_group of {name!r}"
    if not stages:
        raise ScheduleError(f"{what}: it has no stage")
    if len(set(stages)) != len(stages):
        raise ScheduleError(f"{what}: a stage is named twice")
    if name in blocks_of(func):
        raise ScheduleError(f"{what}: there is a stage of that name")
    for stage in stages:
        stage_block(func, stage)


def compute_group_at(
    func: FuncOp, stages: Sequence[str], loop: ForOp, attached: dict[str, Attachment | None]
) -> list[ForOp]:
    """compute_at of each stage, the last one first. Returns their loops, in the order in which stages are given."""
    position = {name: n for n, name in enumerate(blocks_of(func))}
    for stage in stages:
        stage_block(func, stage)
    order = sorted(stages, key=lambda s: position[s], reverse=True)
    # A later stage may be refused when earlier ones have moved: all of it is tried on a copy first.
    copy = func.clone()
    same = next(v for v in copy.walk() if type(v) is ForOp and v.axis == loop.axis)
    tried: dict[str, Attachment | None] = {}
    for stage in order:
        attach(copy, stage, same, tried)
    found = {stage: attach(func, stage, loop, attached) for stage in order}
    return [v for stage in stages for v in found[stage]]
