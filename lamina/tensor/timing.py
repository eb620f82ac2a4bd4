"""Kernels by their names, and times of their calls as `time_evaluator` gives them."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np

from lamina.errors import UsageError
from lamina.ir.location import placed
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
    """Numbers of runs: each of `repeat` figures is the mean of `number` runs, of more below `min_repeat_ms`."""

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


class EntryFunction(abc.ABC):
    """A module of one kernel, which is found by its name and timed."""

    entry_name: str

    @abc.abstractmethod
    def timed(self, args: Sequence[Any]) -> AbstractContextManager[Callable[[int], None]]:
        """A function that runs the kernel so many times on some arguments. Raises LaminaError for others."""

    @placed
    def time_evaluator(
        self,
        func_name: str | None = None,
        dev: Any = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        **_: Any,
    ) -> Callable[..., Timing]:
        """Return a function that times calls.

        Each of `repeat` figures is the mean of `number` runs, of more below `min_repeat_ms`.
        """
        self[func_name or self.entry_name]
        plan = RepeatedRuns.of(number, repeat, min_repeat_ms)

        @placed
        def evaluate(*args: Any) -> Timing:
            with self.timed(args) as run:
                return plan.time(run)

        return evaluate

    @placed
    def get_function(self, name: str) -> Self:
        """The kernel by its name."""
        if name not in (self.entry_name, "__tvm_main__", "default_function", "main"):
            raise UsageError(f"no function {name!r}; this module holds {self.entry_name!r}")
        return self

    __getitem__ = get_function

    @property
    def entry_func(self) -> Self:
        return self
