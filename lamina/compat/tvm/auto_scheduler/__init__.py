"""`tvm.auto_scheduler`: schedules of tensor programs and of whole networks, found by measurement.

    @auto_scheduler.register_workload
    def matmul(n, m, l, dtype): ...; return [A, B, C]

    task = auto_scheduler.SearchTask(func=matmul, args=(128, 128, 128, "float32"), target="llvm")
    task.tune(auto_scheduler.TuningOptions(64, measure_callbacks=[auto_scheduler.RecordToFile("log.json")]))
    sch, args = task.apply_best("log.json")

    tasks, weights = auto_scheduler.extract_tasks(mod["main"], params, target)
    auto_scheduler.TaskScheduler(tasks, weights).tune(options)
    with auto_scheduler.ApplyHistoryBest("log.json"):
        lib = relay.build(mod, target=target, params=params)

The space of a tensor program are its sketches (`cpu-sketch`), that of a network's kernel is the schedule that it gets
by default, with its decisions open (`te-open-space`); both are searched as `lamina tune` does.
"""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.auto_scheduler.log import RecordToFile, load_records
from lamina.compat.tvm.auto_scheduler.search_task import (
    SearchTask,
    TuningOptions,
    extract_tasks,
    make_workload_key,
    register_workload,
)
from lamina.compat.tvm.auto_scheduler.task_scheduler import TaskScheduler
from lamina.compat.tvm.autotvm.history import ApplyHistoryBest
from lamina.compat.tvm.autotvm.measure import LocalBuilder, LocalRunner
from lamina.ir.tvm_names import missing

__all__ = [
    "ApplyHistoryBest",
    "LocalBuilder",
    "LocalRunner",
    "RecordToFile",
    "SearchTask",
    "TaskScheduler",
    "TuningOptions",
    "extract_tasks",
    "load_records",
    "make_workload_key",
    "register_workload",
]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())
