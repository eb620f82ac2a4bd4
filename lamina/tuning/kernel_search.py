"""Search for schedules of a model's kernels: spaces around those that they have, drawn, measured and recorded.

The time goes to kernels by their share of an inference, as long as they give something. A tuner says which
configurations of a kernel are measured next. A gain is believed when it was measured twice, the second time in another
process and for longer.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from lamina.dialects.schedule.records import Record, latest_records
from lamina.tuning.kernel_task import KernelTask
from lamina.tuning.progress import Progress
from lamina.tuning.runner import SECONDS, Candidate, Runner
from lamina.tuning.spaces import ScheduleSpace, Space
from lamina.tuning.tuners import BATCH, DEFAULT, TUNERS, Tuner

LEAST_SHARE = 0.005
"""Of an inference: kernels of less are not worth a candidate."""
EXHAUSTED = 48
"""Draws in a row that were known already: then a kernel's space has no more to give."""


@dataclass(frozen=True)
class Budget:
    """The end of a search: whichever comes first."""

    seconds: float = float("inf")
    trials: int = sys.maxsize
    """Candidates in all."""
    early_stopping: int = sys.maxsize
    """Candidates of one kernel in a row that gave nothing: then it is left."""


def tell_nobody(kernel: Progress, record: Record) -> None:
    """Nothing."""


def search(
    tasks: Sequence[KernelTask],
    budget: Budget,
    keep: Callable[[Record], None],
    tell: Callable[[Progress, Record], None] = tell_nobody,
    seed: int = 0,
    workers: int = 1,
    known: Sequence[Record] = (),
    tuner: Callable[[], Tuner] = TUNERS[DEFAULT],
    limit: float = SECONDS,
    space: Callable[[KernelTask], Space] = ScheduleSpace,
) -> list[Progress]:
    """Search until the budget is spent; each candidate's record goes to `keep` as soon as it is there.

    `known` are records of before, whose candidates are not measured again and whose gains are searched around. `tuner`
    makes the tuner of a kernel, `space` its space. A candidate may take `limit` seconds.
    """
    end, r = monotonic() + budget.seconds, random.Random(seed)
    kernels = [Progress(t, space(t)) for t in tasks if t.share >= LEAST_SHARE]
    tuners = {k.task.place: tuner() for k in kernels}
    for record in latest_records(known):
        for kernel in kernels:
            if (record.task, record.machine, record.threads) == kernel.task.place:
                kernel.take(record)
    with Runner(workers, limit) as runner:
        left = budget.trials
        while left > 0 and monotonic() < end:
            open_ = [k for k in kernels if k.known < EXHAUSTED and k.fruitless < budget.early_stopping]
            if not open_:
                break
            kernel = max(open_, key=lambda k: k.weight / (1 + k.tried))
            candidates = tuners[kernel.task.place].candidates(kernel, r, min(BATCH, left))
            if not candidates:
                kernel.known = EXHAUSTED
            for record in runner.measured(candidates, sorted(kernel.traces)):
                # Two of a batch may draw the same. Of what is refused while it is drawn there only is the space.
                if record is None or (not record.error and record.trace in kernel.traces):
                    kernel.known += 1
                    continue
                kernel.known = 0
                left -= 1
                keep(record)
                if kernel.is_better(record):
                    # It was the luckiest of many: once more, in another process, for longer.
                    again = Candidate(kernel.task, record.trace, again=True)
                    for sure in runner.measured([again]):
                        if sure is not None:
                            keep(sure)
                            record = sure
                kernel.take(record)
                tell(kernel, record)
                if monotonic() >= end:
                    break
    return kernels
