"""Times of calls of a kernel, as `time_evaluator` gives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from lamina.measure.timing import Benchmark
from lamina.te.mistakes import checked_number


@dataclass(frozen=True)
class Timing(Benchmark):
    """Seconds of a call, one figure for each repeat: the mean of its runs."""

    @property
    def results(self) -> tuple[float, ...]:
        return self.times

    @property
    def mean(self) -> float:
        return float(np.mean(self.times))

    @property
    def min(self) -> float:
        return min(self.times)

    @property
    def max(self) -> float:
        return max(self.times)

    @property
    def std(self) -> float:
        return float(np.std(self.times))


@dataclass(frozen=True)
class RepeatedRuns:
    """How often a kernel runs: each of `repeat` figures is the mean of `number` runs, of more below `min_repeat_ms`."""

    number: int
    repeat: int
    min_repeat_ms: float

    @staticmethod
    def of(number: int, repeat: int, min_repeat_ms: float) -> RepeatedRuns:
        """Raises LaminaError for what is no number."""
        number = checked_number(number, "the number of runs")
        return RepeatedRuns(number, checked_number(repeat, "the number of repeats"), min_repeat_ms)

    def time(self, run: Callable[[int], None]) -> Timing:
        """The times of a function that runs a kernel so many times."""
        times: list[float] = []
        runs = max(self.number, 1)
        while len(times) < max(self.repeat, 1):
            start = perf_counter()
            run(runs)
            seconds = perf_counter() - start
            if seconds * 1e3 < self.min_repeat_ms:
                runs = max(runs + 1, int(runs * self.min_repeat_ms / max(seconds * 1e3, 1e-3)) + 1)
                continue
            times.append(seconds / runs)
        return Timing(tuple(times))
