"""The tasks of a network searched together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lamina.compat.tvm.auto_scheduler.log import load_records
from lamina.compat.tvm.auto_scheduler.search_task import SearchTask, TuningOptions
from lamina.errors import UnsupportedError, UsageError
from lamina.measure.timing import columns, duration
from lamina.tuning.progress import Progress


class TaskScheduler:
    """Gives the candidates of a budget to the tasks that matter most.

    A task counts by its operations and its weight, as long as it gives something. `load_log_file` is a log whose
    records count; `load_model_file`, `strategy` and TVM's other parameters of its gradients change nothing.
    """

    def __init__(
        self,
        tasks: Sequence[SearchTask],
        task_weights: Sequence[float] | None = None,
        objective_func: Any = None,
        strategy: str = "gradient",
        load_model_file: Any = None,
        load_log_file: Any = None,
        **others: Any,
    ) -> None:
        """Raises UsageError where there is not a weight for each task, InputError for a log that cannot be read."""
        if objective_func is not None:
            raise UnsupportedError("objective_func: the objective is the weighted sum of the tasks' times")
        weights = list(task_weights) if task_weights is not None else [1.0] * len(tasks)
        if len(weights) != len(tasks) or not tasks:
            raise UsageError(f"{len(weights)} weights for {len(tasks)} tasks")
        self.tasks, self.task_weights = list(tasks), weights
        self._known = list(load_records(load_log_file)) if load_log_file is not None else []

    def tune(self, tune_option: TuningOptions, search_policy: Any = "default", **others: Any) -> None:
        """Measure candidates; with `verbose` there is a table of the tasks in the end."""
        parts = [w * t.flop for t, w in zip(self.tasks, self.task_weights, strict=True)]
        works = [replace(t.work, share=part / max(sum(parts), 1.0)) for t, part in zip(self.tasks, parts, strict=True)]
        found = tune_option.run(self.tasks, works, self._known)
        if tune_option.verbose:
            sys.stdout.write(f"{self._table(found)}\n")

    def _table(self, found: Sequence[Progress]) -> str:
        rows: list[tuple[str, ...]] = [("task", "latency", "GFLOPS", "trials", "best / default")]
        tasks = {t.work.key: t for t in self.tasks}
        for kernel in found:
            best = kernel.best
            task = tasks[kernel.task.key]
            seconds = best.seconds if best is not None else None
            ratio = best.ratio if best is not None else None
            rows.append(
                (
                    task.desc or task.workload_key,
                    duration(seconds) if seconds is not None else "-",
                    f"{task.flop / seconds / 1e9:.2f}" if seconds is not None else "-",
                    str(kernel.tried),
                    f"{ratio[0]:.3f}" if ratio is not None else "the default",
                )
            )
        return columns(rows)
