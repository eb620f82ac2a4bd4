"""Figures of runs as tvmc prints them: times of repeats in a table, and the largest elements of an output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from lamina.errors import UsageError


class BenchmarkResult:
    """Seconds of runs."""

    def __init__(self, results: Sequence[float]) -> None:
        self.results = list(results)

    @property
    def mean(self) -> float:
        return float(np.mean(self.results))

    @property
    def median(self) -> float:
        return float(np.median(self.results))

    @property
    def min(self) -> float:
        return float(np.min(self.results))

    @property
    def max(self) -> float:
        return float(np.max(self.results))

    @property
    def std(self) -> float:
        return float(np.std(self.results))

    def __str__(self) -> str:
        names = ("mean (ms)", "median (ms)", "max (ms)", "min (ms)", "std (ms)")
        values = (self.mean, self.median, self.max, self.min, self.std)
        return (
            "Execution time summary:\n"
            + "".join(f" {n:^12} " for n in names)
            + "\n"
            + "".join(f" {v * 1000:^12.4f} " for v in values)
        )

    __repr__ = __str__


def timed(run: Callable[[], object], number: int, repeat: int, min_repeat_ms: float | None = None) -> BenchmarkResult:
    """The mean time of `number` runs, of more where these take less than `min_repeat_ms`, `repeat` times."""
    times: list[float] = []
    for _ in range(repeat):
        count, spent = 0, 0.0
        while count < number or spent * 1000 < (min_repeat_ms or 0):
            start = perf_counter()
            run()
            spent += perf_counter() - start
            count += 1
        times.append(spent / count)
    return BenchmarkResult(times)


def check_counts(**counts: int | None) -> None:
    """Raise UsageError for an option of that name whose number is below 1; None is one that was not given."""
    for name, given in counts.items():
        if given is not None and given < 1:
            raise UsageError(f"--{name.replace('_', '-')} is at least 1, not {given}")


def top_elements(output: Any, count: int) -> np.ndarray[Any, np.dtype[Any]]:
    """The places and the values of the largest elements in the first of a batch: [2, count] or fewer.

    Places count its elements as they lie: classes of [1, 1000, 1, 1] are those of [1, 1000].
    """
    output = np.asarray(output)
    row = (output[0] if output.ndim > 1 else output).reshape(-1)
    # The largest first, of equal ones the first.
    places = len(row) - 1 - np.argsort(row[::-1], kind="stable")[::-1][:count]
    return np.array([places, row[places]])
