"""`tvm.autotvm`: schedules of a model's kernels, found by measurement.

    tasks = autotvm.task.extract_from_program(mod["main"], target=target, params=params)
    for task in tasks:
        tuner = autotvm.tuner.XGBTuner(task, loss_type="rank")
        tuner.tune(n_trial=64, measure_option=option, callbacks=[autotvm.callback.log_to_file("log.json")])
    with autotvm.apply_history_best("log.json"):
        lib = relay.build(mod, target=target, params=params)

The spaces are those of our own schedules (`lamina.tuning`), candidates are measured by turns with the schedule that a
kernel has by default, and a log holds what is applied: our records, in lines that TVM's tools read.
"""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.autotvm import callback, measure, record, task, tuner
from lamina.compat.tvm.autotvm.history import ApplyHistoryBest, apply_history_best
from lamina.compat.tvm.autotvm.measure import (
    LocalBuilder,
    LocalRunner,
    MeasureErrorNo,
    MeasureInput,
    MeasureResult,
    measure_option,
)
from lamina.compat.tvm.autotvm.task.template import get_config, template
from lamina.ir.tvm_names import missing

__all__ = [
    "ApplyHistoryBest",
    "LocalBuilder",
    "LocalRunner",
    "MeasureErrorNo",
    "MeasureInput",
    "MeasureResult",
    "apply_history_best",
    "callback",
    "get_config",
    "measure",
    "measure_option",
    "record",
    "task",
    "template",
    "tuner",
]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())
