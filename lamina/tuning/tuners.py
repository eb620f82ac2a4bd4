"""Tuners: which configurations of a kernel's space are measured next.

    tuner = TUNERS["genetic"]()
    candidates = tuner.candidates(progress, random.Random(0), 8)

One tuner searches one kernel. A new one is a class here with a line in `TUNERS`.
"""

from __future__ import annotations

import abc
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lamina.tuning.boosted_trees import LOSSES, Ranker, flat, rows_of
from lamina.tuning.progress import Progress
from lamina.tuning.runner import Candidate

NEAR, MIDDLE, FAR = 2.0, 4.0, 10.0
"""The knobs in which a candidate near the best so far differs from it, on average, one farther away, and one far away.
Numbers, not shares: of a Winograd kernel's twenty most changes of six were many times slower, and of all of them a
hundred times (ResNet-50 as x86-64-v3 on a Zen 5)."""
BATCH = 8
"""Candidates of one kernel before the next kernel is chosen."""
LEARNT = 24
"""Measured candidates from which on their order is learnt."""
REMEMBERED = 300
"""The latest measured candidates are learnt of: all pairs of them are compared, a fifth of a second for so many."""
POPULATION = 24
"""The fastest configurations so far that a genetic search draws parents from."""
MUTATED = 0.1
"""The share of the knobs of a child that are drawn anew."""


class Tuner(abc.ABC):
    """A way through the space of one kernel."""

    @abc.abstractmethod
    def candidates(self, kernel: Progress, r: random.Random, count: int) -> list[Candidate]:
        """So many configurations to be measured next; fewer where the space has no more."""


class RandomTuner(Tuner):
    """Draws of the whole space, each as likely as another."""

    def candidates(self, kernel: Progress, r: random.Random, count: int) -> list[Candidate]:
        """Draw some."""
        return [kernel.space.drawn(r) for _ in range(count)]


class GridTuner(Tuner):
    """All configurations in the order of their numbers, or those from a first one up to the end, which is none."""

    def __init__(self, first: int = 0, end: int = sys.maxsize) -> None:
        self._next, self._end = first, end

    def candidates(self, kernel: Progress, r: random.Random, count: int) -> list[Candidate]:
        """The next ones."""
        end = min(self._next + count, kernel.space.size, self._end)
        found = [kernel.space.numbered(n) for n in range(self._next, end)]
        self._next = max(self._next, end)
        return found


class GeneticTuner(Tuner):
    """Children of the fastest so far: each knob as one of two parents has it, and a few drawn anew.

    The parents are drawn by rank: of n, the k-th with a chance of n - k (linear ranking: Baker, Adaptive Selection
    Methods for Genetic Algorithms, ICGA 1985). Until there are enough, candidates are drawn of the whole space.
    """

    def __init__(self, population: int = POPULATION, mutated: float = MUTATED) -> None:
        self._population, self._mutated = population, mutated

    def candidates(self, kernel: Progress, r: random.Random, count: int) -> list[Candidate]:
        """Draw some children."""
        parents = sorted(kernel.measured, key=lambda m: m.cost)[: self._population]
        if len(kernel.measured) < self._population:
            return [kernel.space.drawn(r) for _ in range(count)]
        weights = range(len(parents), 0, -1)
        pairs = (r.choices(parents, weights, k=2) for _ in range(count))
        return [kernel.space.crossed(mother, father, self._mutated, r) for mother, father in pairs]


class ModelTuner(Tuner):
    """Draws that boosted trees choose, which learn from what was measured.

    Of four two are near the best so far, or the default, one is farther from it and one far away: that one the trees do
    not choose, so that they hear of what they would never have tried.
    """

    def __init__(self, loss: str = "rank") -> None:
        if loss not in LOSSES:
            raise ValueError(f"the loss is one of {', '.join(LOSSES)}, not {loss!r}")
        self._loss = loss
        self.ranking: tuple[list[str], Any] | None = None
        """The columns and trees that say which of some draws is the best, as a Candidate takes them."""

    def candidates(self, kernel: Progress, r: random.Random, count: int) -> list[Candidate]:
        """Draw some, each as the trees rank them after all that was measured."""
        self._learn(kernel)
        near = kernel.best.trace if kernel.best is not None else ""
        distances = [(NEAR, MIDDLE, NEAR, FAR)[n % 4] for n in range(count)]
        return [kernel.space.drawn(r, d, near, self.ranking if d != FAR else None) for d in distances]

    def _learn(self, kernel: Progress) -> None:
        """Learn the order of what was measured."""
        latest = kernel.measured[-REMEMBERED:]
        if len(latest) >= LEARNT:
            knobs = [m.decided for m in latest]
            columns = sorted({column for decided in knobs for column in flat(decided)})
            costs = np.array([m.cost for m in latest])
            self.ranking = columns, Ranker.fit(rows_of(knobs, columns), costs, self._loss).json()


TUNERS: Mapping[str, Callable[[], Tuner]] = {
    "model": ModelTuner,
    "genetic": GeneticTuner,
    "random": RandomTuner,
    "grid": GridTuner,
}
"""By the names that `lamina tune --tuner` takes."""
DEFAULT = "model"
TVMS = {
    **dict.fromkeys(("xgb", "xgb_knob", "xgb-rank", "xgb_rank"), "model"),
    "ga": "genetic",
    "gridsearch": "grid",
    "random": "random",
}
"""The tuners by tvmc's names."""
