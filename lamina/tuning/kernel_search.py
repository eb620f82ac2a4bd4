"""Search for schedules of a model's kernels: spaces around those that they have, drawn, measured and recorded.

The time goes to kernels by their share of an inference, as long as they give something. Half of a kernel's candidates
are drawn anew, half are the best so far with a few knobs decided otherwise. Trees that have learnt the order of those
that were measured choose each of some draws. A gain is believed when it was measured twice, the second time in another
process and for longer.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np

from lamina.dialects.schedule.records import Record, latest_records
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.te.draw_decisions import decisions
from lamina.tuning.boosted_trees import Ranker, flat, rows_of
from lamina.tuning.kernel_task import KernelTask
from lamina.tuning.runner import Candidate, Runner

FEW = 0.15
"""The share of the knobs in which a candidate differs from the best so far."""
BATCH = 8
"""Candidates of one kernel before the next kernel is chosen."""
LEAST_SHARE = 0.005
"""Of an inference: kernels of less are not worth a candidate."""
LEARNT = 24
"""Measured candidates from which on their order is learnt."""
REMEMBERED = 300
"""The latest measured candidates are learnt of: all pairs of them are compared, a fifth of a second for so many."""
DRAWS = 4
"""Draws from which the trees choose one: a draw takes a tenth of what the measurement of a candidate does."""
UNGUIDED = 4
"""One of so many candidates is not chosen, so that the trees hear of what they would never have tried."""
EXHAUSTED = 48
"""Draws in a row that were known already: then a kernel's space has no more to give."""
DOUBTS = 24
"""A kernel for which so many candidates in a row gave nothing counts for half of its share, and so on."""


@dataclass
class Progress:
    """The search of one kernel so far."""

    task: KernelTask
    space: str
    """Its own schedule, opened."""
    best: Record | None = None
    """The surest gain that was measured twice."""
    tried: int = 0
    fruitless: int = 0
    """Candidates since the last gain."""
    failed: int = 0
    known: int = 0
    """Draws in a row whose schedules were known."""
    traces: set[str] = field(default_factory=set[str])

    measured: list[tuple[dict[str, list[int]], float]] = field(default_factory=list[tuple[dict[str, list[int]], float]])
    """Decisions, and the time that they led to."""
    ranking: tuple[list[str], Any] | None = None
    """The order that was learnt of them, as a Candidate takes it."""

    def learn(self) -> None:
        """Learn the order of what was measured."""
        latest = self.measured[-REMEMBERED:]
        if len(latest) >= LEARNT:
            knobs = [decided for decided, _ in latest]
            columns = sorted({column for decided in knobs for column in flat(decided)})
            costs = np.array([cost for _, cost in latest])
            self.ranking = columns, Ranker.fit(rows_of(knobs, columns), costs).json()

    @property
    def weight(self) -> float:
        """The worth of another candidate."""
        now = self.best.ratio[0] if self.best is not None and self.best.ratio is not None else 1.0
        return self.task.share * now * 0.5 ** (self.fruitless // DOUBTS)


def opened(schedule: str) -> str:
    """The space of a te.schedule's text (`te-open-space`)."""
    module = parse_text(LaminaContext(), schedule, "schedule")
    run_pipeline(module, LaminaContext(), parse_pipeline("te-open-space"))
    (space,) = module.ops
    return str(space)


def decided_in(trace: str) -> dict[str, list[int]]:
    """The decisions of a te.schedule's text by their knobs' names; none where it is of a time with other primitives."""
    try:
        return decisions(parse_text(LaminaContext(), trace, "schedule"))
    except LaminaError:
        return {}


def tell_nobody(kernel: Progress, record: Record) -> None:
    """Nothing."""


def search(
    tasks: Sequence[KernelTask],
    seconds: float,
    keep: Callable[[Record], None],
    tell: Callable[[Progress, Record], None] = tell_nobody,
    seed: int = 0,
    workers: int = 1,
    known: Sequence[Record] = (),
    trials: int | None = None,
) -> list[Progress]:
    """Search for so many seconds, or `trials` candidates; each one's record goes to `keep` as soon as it is there.

    `known` are records of before, whose candidates are not measured again and whose gains are searched around.
    """
    end, r = monotonic() + seconds, random.Random(seed)
    kernels = [Progress(t, opened(t.schedule)) for t in tasks if t.share >= LEAST_SHARE]
    for record in latest_records(known):
        for kernel in kernels:
            if (record.task, record.machine, record.threads) == kernel.task.place:
                take(kernel, record)
    with Runner(workers) as runner:
        left = trials if trials is not None else sys.maxsize
        while left > 0 and monotonic() < end:
            open_ = [k for k in kernels if k.known < EXHAUSTED]
            if not open_:
                break
            kernel = max(open_, key=lambda k: k.weight / (1 + k.tried))
            for record in _batch(runner, kernel, r, min(BATCH, left)):
                # Two of a batch may draw the same. Of what is refused while it is drawn there only is the space.
                if record is None or (not record.error and record.trace in kernel.traces):
                    kernel.known += 1
                    continue
                kernel.known = 0
                left -= 1
                keep(record)
                if record.is_gain and _is_better(record, kernel.best):
                    # It was the luckiest of many: once more, in another process, for longer.
                    again = Candidate(kernel.task, record.trace, again=True)
                    for sure in runner.measured([again]):
                        if sure is not None:
                            keep(sure)
                            record = sure
                take(kernel, record)
                tell(kernel, record)
                if monotonic() >= end:
                    break
    return kernels


def _batch(runner: Runner, kernel: Progress, r: random.Random, count: int) -> list[Record | None]:
    """The records of some candidates."""
    drawn: list[Candidate] = []
    kernel.learn()
    for n in range(count):
        near = n % 2 == 0 and (kernel.best is not None or kernel.tried < BATCH)
        space = kernel.best.trace if near and kernel.best is not None else kernel.space
        ranking = kernel.ranking if n % UNGUIDED != UNGUIDED - 1 else None
        seeds = tuple(r.randrange(2**31) for _ in range(DRAWS if ranking is not None else 1))
        drawn.append(Candidate(kernel.task, space, seeds, FEW if near else 1.0, ranking=ranking))
    return list(runner.measured(drawn, sorted(kernel.traces)))


def take(kernel: Progress, record: Record) -> None:
    """Let a record count."""
    kernel.tried += 1
    kernel.fruitless += 1
    kernel.traces.add(record.trace)
    decided = decided_in(record.trace) if record.ratio is not None else {}
    if decided and record.ratio is not None:
        kernel.measured.append((decided, record.ratio[0]))
    if record.error:
        kernel.failed += 1
    elif record.is_gain and _is_better(record, kernel.best):
        kernel.best, kernel.fruitless = record, 0


def _is_better(record: Record, best: Record | None) -> bool:
    return record.ratio is not None and (best is None or best.ratio is None or record.ratio[2] < best.ratio[2])
