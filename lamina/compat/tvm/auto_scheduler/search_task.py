"""Tasks of the auto-scheduler: a tensor program of one's own, or a kernel of a network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lamina.backends.cpu.processors import available_threads
from lamina.compat.tvm.auto_scheduler.log import RecordToFile
from lamina.compat.tvm.autotvm.measure import LocalBuilder, LocalRunner, measure_option
from lamina.compat.tvm.autotvm.task.kernels import Task as KernelOfProgram
from lamina.compat.tvm.autotvm.task.kernels import extract_from_program
from lamina.compat.tvm.composite_targets import compile_target
from lamina.dialects.schedule.records import Record, best_records, read_records
from lamina.dialects.target import TARGET
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.te.tensor import Tensor
from lamina.tensor.found_schedule import FoundSchedule
from lamina.tensor.program import te_module
from lamina.tuning.kernel_search import Budget, search
from lamina.tuning.kernel_task import KernelTask, tasks_of
from lamina.tuning.progress import Progress
from lamina.tuning.spaces import ScheduleSpace, Space, sketched

WORKLOADS: dict[str, Callable[..., Sequence[Tensor]]] = {}
"""Functions that return the tensors of a program, arguments and results, by their names."""


def register_workload(func_name: Any, f: Callable[..., Any] | None = None, override: bool = False) -> Any:
    """Register a function that returns the tensors of a program: a decorator, with or without a name.

    Raises UsageError for a name that is taken, unless it is to be overridden.
    """
    if callable(func_name):
        return _registered(func_name.__name__, func_name, override)
    if f is not None:
        return _registered(str(func_name), f, override)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        return _registered(str(func_name), function, override)

    return register


def _registered(name: str, function: Callable[..., Any], override: bool) -> Callable[..., Any]:
    known = WORKLOADS.get(name)
    if known is not None and known is not function and not override:
        raise UsageError(f"a workload is called {name!r} already", hint="override=True")
    WORKLOADS[name] = function
    return function


def make_workload_key(func: Any, args: Sequence[Any]) -> str:
    """The key of a workload with arguments. Raises UsageError for a function that is not registered."""
    name = func if isinstance(func, str) else func.__name__
    if name not in WORKLOADS:
        raise UsageError(f"no workload is called {name!r}", hint=did_you_mean(name, list(WORKLOADS)))
    return json.dumps([name, *args])


@dataclass(frozen=True)
class TuningOptions:
    """The budget of a search, and who is told of each candidate.

    `num_measures_per_round` is of TVM's search and changes nothing. Raises UsageError for callbacks that are none.
    """

    num_measure_trials: int = 0
    early_stopping: int | None = None
    num_measures_per_round: int = 64
    verbose: int = 1
    builder: Any = "local"
    runner: Any = "local"
    measure_callbacks: Sequence[RecordToFile] = ()

    def __post_init__(self) -> None:
        option = measure_option(self.builder, self.runner)
        object.__setattr__(self, "builder", option["builder"])
        object.__setattr__(self, "runner", option["runner"])
        for callback in self.measure_callbacks:
            if not isinstance(callback, RecordToFile):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"measure_callbacks: {callback!r}", hint="auto_scheduler.RecordToFile(file)")

    def run(
        self, tasks: Sequence[SearchTask], works: Sequence[KernelTask], known: Sequence[Record] = ()
    ) -> list[Progress]:
        """Search the kernels of tasks; `known` are records of before.

        Raises UsageError where no candidate is asked for.
        """
        if self.num_measure_trials < 1:
            raise UsageError(f"TuningOptions: num_measure_trials is at least 1, not {self.num_measure_trials}")
        builder, runner = self.builder, self.runner
        assert isinstance(builder, LocalBuilder) and isinstance(runner, LocalRunner)
        by_key = {task.work.key: task for task in tasks}

        def keep(record: Record) -> None:
            task = by_key[record.task]
            for callback in self.measure_callbacks:
                callback.add(task.workload_key, task.target, record)

        budget = Budget(trials=self.num_measure_trials)
        if self.early_stopping is not None:
            budget = Budget(trials=self.num_measure_trials, early_stopping=self.early_stopping)
        threads = max(available_threads() // works[0].threads, 1)
        limit = builder.timeout + runner.timeout

        def space(work: KernelTask) -> Space:
            return by_key[work.key].space(work)

        workers = min(builder.n_parallel or threads, threads)
        return search(works, budget, keep, workers=workers, known=known, limit=limit, space=space)


class SearchTask:
    """A program whose schedule is searched for."""

    def __init__(
        self,
        func: Any = None,
        args: Sequence[Any] = (),
        compute_dag: Sequence[Tensor] | None = None,
        workload_key: str | None = None,
        target: Any = "llvm",
        target_host: Any = None,
        hardware_params: Any = None,
        layout_rewrite_option: Any = None,
        task_inputs: Any = None,
        task_inputs_overwrite: bool = False,
        task_inputs_save_to_file: bool = False,
        desc: str = "",
    ) -> None:
        """The program is that of a registered function, or of a workload's key, or tensors (`compute_dag`).

        Raises LaminaError for a function that is not registered, and a program that has no schedule by default.
        """
        if hardware_params is not None:
            raise UnsupportedError("hardware_params: figures of the processor", hint="lamina calibrate measures them")
        if task_inputs is not None:
            raise UnsupportedError("task_inputs: candidates are measured on random numbers")
        self.target, self.desc = target, desc
        if compute_dag is not None:
            self.tensors, self.workload_key = list(compute_dag), desc or "tensors"
        else:
            key = workload_key if workload_key is not None else make_workload_key(func, args)
            name, *given = json.loads(key)
            self.tensors, self.workload_key = list(WORKLOADS[name](*given)), key
        self._machine = compile_target(target)

    @cached_property
    def _kernel(self) -> KernelOfProgram:
        outputs = [t.op for t in self.tensors if t.op.input_tensors]
        module, _ = te_module(outputs, self.tensors, "task")
        module.attributes[TARGET] = self._machine
        run_pipeline(module, LaminaContext(), parse_pipeline("cpu-schedule"))
        found = tasks_of(module, self._machine)
        if not found:
            raise UnsupportedError("the program gets no schedule by default, around which one could be searched for")
        return KernelOfProgram(found[0].with_share({"task": 1.0}), self.target)

    @property
    def work(self) -> KernelTask:
        """The kernel."""
        return self._kernel.work

    def space(self, work: KernelTask) -> Space:
        """The sketches of the program."""
        return ScheduleSpace(work, sketched(work))

    @property
    def flop(self) -> float:
        """Operations of one run."""
        return self._kernel.flop

    def tune(self, tuning_options: TuningOptions, search_policy: Any = None) -> None:
        """Measure candidates; `search_policy` is TVM's and changes nothing."""
        tuning_options.run([self], [self.work])

    def best(self, log_file: str | os.PathLike[str]) -> Record:
        """The surest gain of a log. Raises InputError where it holds none."""
        found = best_records(read_records(log_file)[0]).get(self.work.place)
        if found is None:
            raise InputError(
                "holds no schedule that is faster than the default", where=os.fspath(log_file), hint="task.tune(...)"
            )
        return found

    def apply_best(
        self, log_file: str | os.PathLike[str], include_compatible: bool = False, layout_rewrite_option: Any = None
    ) -> tuple[FoundSchedule, list[Tensor]]:
        """The fastest schedule of a log, the default where it holds none that is faster, and the program's tensors.

        `tvm.lower` and `tvm.build` take both. Raises InputError for a file that cannot be read.
        """
        found = best_records(read_records(log_file)[0]).get(self.work.place)
        trace = self.work.schedule if found is None else found.trace
        return FoundSchedule([t.op for t in self.tensors if t.op.input_tensors], trace), self.tensors

    def print_best(self, log_file: str | os.PathLike[str], print_mode: str = "schedule") -> str:
        """The text of the fastest schedule of a log. Raises InputError where it holds none."""
        if print_mode != "schedule":
            raise UnsupportedError(f"print_best: print_mode {print_mode!r}", hint='print_mode="schedule"')
        return self.best(log_file).trace


class NetworkTask(SearchTask):
    """A kernel of a network."""

    def __init__(self, kernel: KernelOfProgram) -> None:
        self.target, self.desc, self.tensors = kernel.target, kernel.name, []
        self.workload_key = json.dumps([kernel.name, kernel.work.key])
        self.__dict__["_kernel"] = kernel

    def space(self, work: KernelTask) -> Space:
        """The space around the schedule that the kernel has."""
        return ScheduleSpace(work)

    def apply_best(
        self, log_file: str | os.PathLike[str], include_compatible: bool = False, layout_rewrite_option: Any = None
    ) -> tuple[FoundSchedule, list[Tensor]]:
        """Raises UnsupportedError: a kernel of a network has no tensors of a tensor program."""
        raise UnsupportedError(
            f"apply_best of {self.desc}: it is a kernel of a network",
            hint="with auto_scheduler.ApplyHistoryBest(log): relay.build(...)",
        )


def extract_tasks(
    mod: Any,
    params: Mapping[str, Any] | None,
    target: Any,
    target_host: Any = None,
    hardware_params: Any = None,
    include_simple_tasks: bool = False,
    dump_workload_to_dag_log: Any = None,
    opt_level: int = 3,
    other_targets: Any = None,
) -> tuple[list[SearchTask], list[int]]:
    """The tasks of a module or a function, and how often each runs in an inference. Raises LaminaError.

    Kernels that sum no products are tasks with `include_simple_tasks`.
    """
    from lamina.transform import PassContext

    if hardware_params is not None:
        raise UnsupportedError("hardware_params: figures of the processor", hint="lamina calibrate measures them")
    context = PassContext.active()
    with context or PassContext(opt_level):
        found = extract_from_program(mod, params, target, everything=include_simple_tasks)
    return [NetworkTask(t) for t in found], [t.work.calls for t in found]
