"""`autotvm.tuner`: ways through the space of a task."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic, time
from typing import Any

from lamina.backends.cpu.processors import available_threads
from lamina.compat.tvm.autotvm.measure import LocalBuilder, LocalRunner, MeasureInput, MeasureResult, result_of
from lamina.compat.tvm.autotvm.task import ConfigEntity
from lamina.compat.tvm.autotvm.task.kernels import KernelTaskBase
from lamina.dialects.schedule.records import Record
from lamina.errors import UnsupportedError, UsageError
from lamina.tuning import tuners
from lamina.tuning.kernel_search import Budget, search
from lamina.tuning.progress import Progress

Callback = Callable[["Tuner", Sequence[MeasureInput], Sequence[MeasureResult]], None]

FEATURES = ("knob", "itervar", "curve")
LOSSES = ("reg", "rank", "rank-binary")


class Tuner(abc.ABC):
    """Base of the tuners: measures candidates of one task."""

    def __init__(self, task: KernelTaskBase) -> None:
        self.task = task
        self.n_trial = 0
        self.early_stopping = 0
        self.records: list[Record] = []
        """The records of what was measured, in order."""
        self._known: list[Record] = []
        self.reset()

    def reset(self) -> None:
        """Forget what was found."""
        self.best_config: ConfigEntity | None = None
        self.best_flops = 0.0
        """Operations a second."""
        self.best_measure_pair: tuple[MeasureInput, MeasureResult] | None = None
        self.best_iter = 0
        self.records = []

    def load_history(self, data_set: Iterable[tuple[MeasureInput, MeasureResult]], min_seed_records: int = 0) -> None:
        """Let what an earlier run has measured count, as `autotvm.record.load_from_file` reads it, however few."""
        self._known += [candidate.record for candidate, _ in data_set]

    def tune(
        self,
        n_trial: int,
        measure_option: Mapping[str, Any],
        early_stopping: int | None = None,
        callbacks: Sequence[Callback] = (),
        si_prefix: str = "G",
    ) -> None:
        """Measure `n_trial` candidates, or until `early_stopping` of them in a row have given nothing.

        The callbacks are told of each. Raises LaminaError for options that are none.
        """
        if n_trial < 1:
            raise UsageError(f"tune: n_trial is at least 1, not {n_trial}")
        builder, runner = measure_option.get("builder"), measure_option.get("runner")
        if not isinstance(builder, LocalBuilder) or not isinstance(runner, LocalRunner):
            raise UsageError("tune: measure_option has a builder and a runner", hint="autotvm.measure_option(...)")
        self.n_trial = n_trial
        self.early_stopping = early_stopping or n_trial
        last = monotonic()

        def tell(_: Progress, record: Record) -> None:
            nonlocal last
            now = monotonic()
            self._take(record, now - last, callbacks)
            last = now

        work = self.task.work
        workers = max((builder.n_parallel or available_threads()) // work.threads, 1)
        search(
            [work],
            Budget(trials=n_trial, early_stopping=self.early_stopping),
            lambda _: None,
            tell,
            workers=min(workers, max(available_threads() // work.threads, 1)),
            known=self._known,
            tuner=self.strategy,
            limit=builder.timeout + runner.timeout,
            space=self.task.space,
        )

    def _take(self, record: Record, took: float, callbacks: Sequence[Callback]) -> None:
        self.records.append(record)
        candidate = MeasureInput(self.task.target, self.task, self.task.config_of(record.trace), record)
        pair = candidate, result_of(record, took, time())
        if record.seconds is not None and self.task.flop / record.seconds > self.best_flops:
            self.best_flops = self.task.flop / record.seconds
            self.best_config, self.best_measure_pair, self.best_iter = candidate.config, pair, len(self.records)
        for callback in callbacks:
            callback(self, [pair[0]], [pair[1]])

    @abc.abstractmethod
    def strategy(self) -> tuners.Tuner:
        """The choice of candidates."""


class RandomTuner(Tuner):
    """Draws of the whole space."""

    def __init__(self, task: KernelTaskBase, range_idx: tuple[int, int] | None = None) -> None:
        super().__init__(task)
        if range_idx is not None:
            raise UnsupportedError("RandomTuner: range_idx; draws are of the whole space")

    def strategy(self) -> tuners.Tuner:
        return tuners.RandomTuner()


class GridSearchTuner(Tuner):
    """All configurations in the order of their numbers, or those of a range."""

    def __init__(self, task: KernelTaskBase, range_idx: tuple[int, int] | None = None) -> None:
        super().__init__(task)
        self._range = range_idx

    def strategy(self) -> tuners.Tuner:
        # TVM's range has both of its ends.
        return tuners.GridTuner(*((self._range[0], self._range[1] + 1) if self._range is not None else ()))


class GATuner(Tuner):
    """Children of the fastest so far."""

    def __init__(
        self, task: KernelTaskBase, pop_size: int = 100, elite_num: int = 3, mutation_prob: float = 0.1
    ) -> None:
        """`elite_num` changes nothing: the fastest stay as long as nothing is faster."""
        super().__init__(task)
        if pop_size < 2 or not 0 <= mutation_prob <= 1:
            raise UsageError("GATuner: a population is at least 2, and a probability from 0 to 1")
        self._population, self._mutated = pop_size, mutation_prob

    def strategy(self) -> tuners.Tuner:
        return tuners.GeneticTuner(self._population, self._mutated)


class XGBTuner(Tuner):
    """Draws that boosted trees choose, which learn from what was measured.

    Features are the knobs' decisions, whatever `feature_type` says; `plan_size`, `num_threads`, `optimizer`,
    `diversity_filter_ratio` and `log_interval` are of TVM's search with simulated annealing and change nothing.
    """

    def __init__(
        self,
        task: KernelTaskBase,
        plan_size: int = 64,
        feature_type: str = "itervar",
        loss_type: str = "rank",
        num_threads: int | None = None,
        optimizer: Any = "sa",
        diversity_filter_ratio: float | None = None,
        log_interval: int = 50,
    ) -> None:
        super().__init__(task)
        for name, given, known in (("feature_type", feature_type, FEATURES), ("loss_type", loss_type, LOSSES)):
            if given not in known:
                raise UsageError(f"XGBTuner: {name} {given!r}", hint=f"there are {', '.join(known)}")
        self._loss = loss_type

    def strategy(self) -> tuners.Tuner:
        return tuners.ModelTuner(self._loss)


__all__ = ["GATuner", "GridSearchTuner", "RandomTuner", "Tuner", "XGBTuner"]
