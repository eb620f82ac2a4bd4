"""`autotvm.measure`: how candidates are measured, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from lamina.compat.tvm.autotvm.task import ConfigEntity, LoggedTask
    from lamina.compat.tvm.autotvm.task.kernels import KernelTaskBase
    from lamina.dialects.schedule.records import Record


class MeasureErrorNo:
    """The kinds of what became of a candidate, as TVM numbers them."""

    NO_ERROR = 0
    INSTANTIATION_ERROR = 1
    COMPILE_HOST = 2
    COMPILE_DEVICE = 3
    RUNTIME_DEVICE = 4
    WRONG_ANSWER = 5
    BUILD_TIMEOUT = 6
    RUN_TIMEOUT = 7
    UNKNOWN_ERROR = 8


_KINDS = {
    "refusal": MeasureErrorNo.INSTANTIATION_ERROR,
    "wrong": MeasureErrorNo.WRONG_ANSWER,
    "crash": MeasureErrorNo.RUNTIME_DEVICE,
    "hang": MeasureErrorNo.RUN_TIMEOUT,
}
"""By the first word of a record's error."""


class MeasureInput(NamedTuple):
    """A candidate."""

    target: Any
    task: KernelTaskBase | LoggedTask
    config: ConfigEntity
    record: Record
    """Its record, which is kept."""


class MeasureResult(NamedTuple):
    """The outcome of a candidate."""

    costs: tuple[Any, ...]
    """Seconds of a run; in the place of them an error."""
    error_no: int
    all_cost: float
    """Seconds that building and measuring took."""
    timestamp: float
    """Seconds since 1970."""


def result_of(record: Record, all_cost: float, timestamp: float) -> MeasureResult:
    """The outcome that a record tells."""
    if record.seconds is not None:
        return MeasureResult((record.seconds,), MeasureErrorNo.NO_ERROR, all_cost, timestamp)
    kind = _KINDS.get(record.error.partition(":")[0], MeasureErrorNo.UNKNOWN_ERROR)
    return MeasureResult((record.error,), kind, all_cost, timestamp)


@dataclass(frozen=True)
class LocalBuilder:
    """Candidates are compiled on this machine, `n_parallel` at once (by default as many as there are processors).

    `build_kwargs` and `build_func` choose TVM's code generator; here there is one.
    """

    timeout: float = 10
    n_parallel: int | None = None
    build_kwargs: Mapping[str, Any] | None = None
    build_func: str | Callable[..., Any] = "default"
    do_fork: bool = True
    runtime: Any = None

    def __post_init__(self) -> None:
        if self.build_func != "default":
            raise UnsupportedError(f"LocalBuilder: build_func {self.build_func!r}; candidates are built in one way")


@dataclass(frozen=True)
class LocalRunner:
    """Candidates run on this machine, each beside the schedule that the kernel has by default.

    Both are run by turns as often as it takes to tell them apart, with arrays that come from memory and not from the
    caches: `number`, `repeat`, `min_repeat_ms`, `cooldown_interval` and `enable_cpu_cache_flush`, by which a runner of
    TVM's gets steady seconds, change nothing.
    """

    timeout: float = 10
    number: int = 4
    repeat: int = 3
    min_repeat_ms: int = 0
    cooldown_interval: float = 0.1
    enable_cpu_cache_flush: bool = False
    module_loader: Any = None

    def __post_init__(self) -> None:
        if self.module_loader is not None:
            raise UnsupportedError("LocalRunner: a module_loader; candidates are loaded in one way")


class RPCRunner:
    """Candidates on boards. Raises UnsupportedError: they run on this machine."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UnsupportedError("RPCRunner: candidates run on this machine", hint="autotvm.LocalRunner()")


def measure_option(builder: Any, runner: Any) -> dict[str, Any]:
    """Options of a measurement: who builds candidates and who runs them; "local" for a LocalBuilder and a LocalRunner.

    Raises UsageError for others.
    """
    made = {
        "builder": LocalBuilder() if builder == "local" else builder,
        "runner": LocalRunner() if runner == "local" else runner,
    }
    for name, kind in (("builder", LocalBuilder), ("runner", LocalRunner)):
        if not isinstance(made[name], kind):
            raise UsageError(f"measure_option: {name}={made[name]!r}", hint=f"an autotvm.{kind.__name__}, or 'local'")
    return made
