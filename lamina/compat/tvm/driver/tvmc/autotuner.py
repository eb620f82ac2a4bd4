"""`tvmc.tune`: schedules for the kernels of a model, found by measurement, as a log of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from lamina.compat.tvm import auto_scheduler, autotvm
from lamina.compat.tvm.autotvm.tuner import GATuner, GridSearchTuner, RandomTuner, Tuner, XGBTuner
from lamina.compat.tvm.driver.tvmc.compiler import target_from_cli, with_layout
from lamina.compat.tvm.driver.tvmc.model import TVMCModel
from lamina.compat.tvm.transform import PassContext
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean

_XGB: dict[str, dict[str, Any]] = {
    "xgb": {"loss_type": "reg"},
    "xgb_knob": {"loss_type": "rank", "feature_type": "knob"},
    "xgb-rank": {"loss_type": "rank"},
    "xgb_rank": {"loss_type": "rank"},
}
TUNERS: dict[str, Callable[[Any], Tuner]] = {
    "ga": lambda task: GATuner(task, pop_size=50),
    "gridsearch": GridSearchTuner,
    "random": RandomTuner,
    **{name: (lambda task, how=how: XGBTuner(task, **how)) for name, how in _XGB.items()},
}
"""Tuners by tvmc's names."""


def tune_model(
    tvmc_model: TVMCModel,
    target: Any,
    tuning_records: str | os.PathLike[str] | None = None,
    prior_records: str | os.PathLike[str] | None = None,
    enable_autoscheduler: bool = False,
    rpc_key: str | None = None,
    hostname: str | None = None,
    port: int | str = 9090,
    trials: int = 10000,
    target_host: Any = None,
    tuner: str = "xgb",
    min_repeat_ms: int | None = None,
    early_stopping: int | None = None,
    desired_layout: str | None = None,
    timeout: float = 10,
    repeat: int = 1,
    number: int = 10,
    parallel: int = 4,
    hardware_params: Any = None,
    include_simple_tasks: bool = False,
    log_estimated_latency: bool = False,
) -> str:
    """Measure candidates and write their records; the path of the file, by default one that `TVMCModel.save` keeps.

    `trials` is of each kernel, with `enable_autoscheduler` of all. `prior_records` is a log whose records count.
    `number`, `repeat` and `min_repeat_ms` change nothing: each candidate is measured beside the schedule that the
    kernel has, as often as it takes to tell them apart. Raises LaminaError.
    """
    if not isinstance(tvmc_model, TVMCModel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a model is tuned, not a {type(tvmc_model).__name__}", hint="tvmc.load(path)")
    if hostname is not None or rpc_key is not None:
        raise UnsupportedError("candidates are measured on this machine, not through RPC")
    _check(trials, tuner, prior_records)
    path = str(tuning_records or tvmc_model.default_tuning_records_path())
    mod, chosen = with_layout(tvmc_model.mod, desired_layout), target_from_cli(target)
    builder = autotvm.LocalBuilder(timeout=timeout, n_parallel=parallel)
    runner = autotvm.LocalRunner(timeout=timeout, number=number, repeat=repeat, min_repeat_ms=min_repeat_ms or 0)
    option = autotvm.measure_option(builder, runner)
    if enable_autoscheduler:
        tasks = _tasks_of_scheduler(mod, tvmc_model.params, chosen, hardware_params, include_simple_tasks)
        _tune_together(*tasks, path, trials, early_stopping, option, log_estimated_latency, prior_records)
        return path
    if hardware_params is not None:
        raise UnsupportedError("figures of the processor", hint="`lamina calibrate` measures them")
    with PassContext(opt_level=3):
        found = autotvm.task.extract_from_program(mod, tvmc_model.params, chosen, target_host)
    if not found:
        raise _no_tasks()
    for n, task in enumerate(found, 1):
        _tune_task(task, f"[Task {n:2d}/{len(found):2d}] ", path, tuner, trials, early_stopping, option, prior_records)
    return path


def _check(trials: int, tuner: str, prior_records: str | os.PathLike[str] | None) -> None:
    if trials < 1:
        raise UsageError(f"--trials is at least 1, not {trials}")
    if tuner not in TUNERS:
        hint = did_you_mean(tuner, [*TUNERS]) or f"there are {', '.join(TUNERS)}"
        raise UsageError(f"no tuner {tuner!r}", hint=hint)
    if prior_records is not None and not os.path.exists(prior_records):
        raise InputError("there is no such file of records", where=str(prior_records))


def _tasks_of_scheduler(
    mod: Any, params: Mapping[str, Any], target: Any, hardware_params: Any, include_simple_tasks: bool
) -> tuple[Any, Any]:
    """The tasks of the auto-scheduler, and how often each runs in an inference."""
    with PassContext(opt_level=3):
        found = auto_scheduler.extract_tasks(mod, params, target, None, hardware_params, include_simple_tasks)
    if not found[0]:
        raise _no_tasks()
    return found


def _tune_together(
    tasks: Any,
    weights: Any,
    path: str,
    trials: int,
    early_stopping: int | None,
    option: Mapping[str, Any],
    verbose: bool,
    prior_records: str | os.PathLike[str] | None,
) -> None:
    callbacks = [auto_scheduler.RecordToFile(path)]
    options = auto_scheduler.TuningOptions(
        trials, early_stopping, verbose=int(verbose), measure_callbacks=callbacks, **option
    )
    auto_scheduler.TaskScheduler(tasks, weights, load_log_file=prior_records).tune(options)


def _no_tasks() -> UnsupportedError:
    what = "the model has no kernel that sums products, of which there could be other schedules"
    return UnsupportedError(what, hint="--enable-autoscheduler --include-simple-tasks takes all kernels")


def _tune_task(
    task: Any,
    prefix: str,
    path: str,
    tuner: str,
    trials: int,
    early_stopping: int | None,
    option: Mapping[str, Any],
    prior_records: str | os.PathLike[str] | None,
) -> None:
    found = TUNERS[tuner](task)
    if prior_records is not None:
        found.load_history(autotvm.record.load_from_file(prior_records))
    count = min(trials, max(len(task.config_space), 1), sys.maxsize)
    callbacks = [autotvm.callback.progress_bar(count, prefix=prefix), autotvm.callback.log_to_file(path)]
    found.tune(n_trial=count, early_stopping=early_stopping, measure_option=option, callbacks=callbacks)


__all__ = ["tune_model"]
