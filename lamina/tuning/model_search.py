"""Search for the schedules of a model: its kernels as tasks, the records of candidates, and the whole in the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from lamina.dialects.schedule.records import Record, read_records
from lamina.driver import api
from lamina.errors import UsageError, did_you_mean
from lamina.ir.targets import target_of
from lamina.measure.timing import columns, duration, random_inputs
from lamina.store.record_file import append_records
from lamina.tuning.kernel_search import Budget, search, tell_nobody
from lamina.tuning.kernel_task import KernelTask, tasks_of
from lamina.tuning.measuring import interval
from lamina.tuning.progress import Progress
from lamina.tuning.tuners import DEFAULT, TUNERS, TVMS

if TYPE_CHECKING:
    from lamina.driver.api import Executable, Model
    from lamina.transform import PassContext

PROFILED = 7
"""Runs that tell which share of an inference a kernel has."""


@dataclass(frozen=True)
class Tuning:
    """The outcome of a search: what became of each kernel, and of the whole model."""

    kernels: list[Progress]
    ratio: tuple[float, float, float] | None
    """The model's time with all records over that without: the median and its 95 % interval, measured by turns; None
    where no kernel has gained."""
    seconds: float
    """Of an inference with them."""

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("kernel", "share", "tried", "failed", "best / default", "")]
        for kernel in sorted(self.kernels, key=lambda k: -k.task.share):
            name = kernel.task.names[0] + (f" and {len(kernel.task.names) - 1} alike" if kernel.task.names[1:] else "")
            best = kernel.best.ratio if kernel.best is not None else None
            said = f"{best[0]:.3f} [{best[1]:.3f}..{best[2]:.3f}]" if best is not None else "the default"
            rows.append((name, f"{kernel.task.share:.1%}", str(kernel.tried), str(kernel.failed), said, ""))
        whole = "no candidate is faster than the default beyond doubt"
        if self.ratio is not None:
            median, low, high = self.ratio
            whole = f"the model takes {duration(self.seconds)}, {median:.3f} [{low:.3f}..{high:.3f}] of what it took"
        return "\n".join(line.rstrip() for line in columns(rows).splitlines()) + f"\n{whole}"


def tune_model(
    model: Model,
    records: str | os.PathLike[str],
    budget: Budget,
    target: str = "cpu",
    threads: int | None = None,
    opt_level: int | PassContext | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: int = 0,
    tell: Callable[[Progress, Record], None] = tell_nobody,
    rounds: int = 31,
    tuner: str = DEFAULT,
) -> Tuning:
    """Search for faster schedules of a model's kernels, and add what is measured to a file of records.

    What the file holds already is not measured again. `threads` are those of the model; a search of one thread uses
    all processors. `tuner` is one of `TUNERS`. Raises LaminaError: UnsupportedError for a model whose kernels are in
    no fixed order.
    """
    if budget.seconds <= 0:
        raise UsageError(f"a search takes some time, not {budget.seconds:g} s")
    tuner = TVMS.get(tuner, tuner)
    if tuner not in TUNERS:
        near = did_you_mean(tuner, [*TUNERS, *TVMS])
        raise UsageError(f"no tuner is called {tuner!r}", hint=near or f"there are {', '.join(TUNERS)}")
    known = read_records(records)[0] if Path(records).exists() else []
    plain = api.compile(model, target, None, threads, opt_level)
    arrays = random_inputs(plain.inputs) if inputs is None else inputs
    tasks = tasks_of_program(plain, arrays, target)
    workers = max(api.available_threads() // plain.threads, 1)
    kernels = search(tasks, budget, lambda r: append_records(records, [r]), tell, seed, workers, known, TUNERS[tuner])
    if not any(k.best is not None for k in kernels):
        return Tuning(kernels, None, 0.0)
    tuned = api.compile(model, target, None, threads, opt_level, records=records)
    ratio, after = by_turns(plain, tuned, arrays, rounds)
    return Tuning(kernels, ratio, after)


def tasks_of_program(program: Executable, arrays: Mapping[str, Any], target: str) -> list[KernelTask]:
    """The tasks of a program, each with its share of an inference."""
    source, profile = program.source("te"), program.profile(arrays, repeats=PROFILED)
    seconds: dict[str, float] = {}
    for row in profile:
        seconds[row.kernel.symbol] = seconds.get(row.kernel.symbol, 0.0) + row.seconds
    tasks = tasks_of(source.module, target_of(target, program.threads), source.params)
    return [t.with_share(seconds) for t in tasks]


def by_turns(
    before: Executable, after: Executable, arrays: Mapping[str, Any], rounds: int
) -> tuple[tuple[float, float, float], float]:
    """The time of a program over that of another, by turns, with its 95 % interval; and its median in seconds."""
    ratios: list[float] = []
    times: list[float] = []
    for n in range(rounds + 1):
        pair: Sequence[Executable] = (before, after) if n % 2 else (after, before)
        took: dict[int, float] = {}
        for program in pair:
            start = perf_counter()
            program.run(arrays)
            took[id(program)] = perf_counter() - start
        if n:  # the first touches memory
            ratios.append(took[id(after)] / took[id(before)])
            times.append(took[id(after)])
    return interval(ratios), sorted(times)[len(times) // 2]
