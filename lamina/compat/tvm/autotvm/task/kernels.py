"""Tasks of a program: its kernels, whose schedules are searched for."""

from __future__ import annotations

import abc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, cast

from lamina.compat.tvm.autotvm.task.space import ConfigEntity, entity_of
from lamina.compat.tvm.composite_targets import compile_target
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.relay.build_module import model_of, with_params
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.index.sizes import shape_of
from lamina.dialects.te.ops import ComputeOp, FuncOp
from lamina.driver import api
from lamina.driver.settings import Settings
from lamina.errors import UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.transform import PassContext
from lamina.tuning.kernel_task import KernelTask, tasks_of
from lamina.tuning.measuring import chosen
from lamina.tuning.spaces import ScheduleSpace, Space, decided_in

PRODUCTS = ("arith.mulf", "arith.muli")
"""A kernel that sums what one of these gives is a task: convolutions, dense layers, products of matrices."""
MOVES = ("te.", "arith.constant", "arith.ext", "arith.trunc", "arith.select")
"""Operations that compute nothing, by how their names begin."""

_OF_PACKED = {
    "contrib_conv2d_NCHWc": "conv2d",
    "contrib_conv2d_winograd_NCHWc": "conv2d",
    "contrib_depthwise_conv2d_NCHWc": "conv2d",
    "contrib_dense_pack": "dense",
    "matmul": "dense",
}
"""Operators whose weights are packed, and what they were made of."""


class ScheduleConfigs:
    """The configurations of a kernel's schedule, by their numbers."""

    def __init__(self, work: KernelTask) -> None:
        self._space = ScheduleSpace(work)

    def __len__(self) -> int:
        """The number of configurations, those included that are refused."""
        return min(self._space.size, sys.maxsize)

    def get(self, index: int) -> ConfigEntity:
        """The configuration of a number. Raises LaminaError for one that is refused, and where there is none."""
        return config_of_trace(self.trace(index), index)

    def trace(self, index: int) -> str:
        """The te.schedule of a number. Raises LaminaError as `get` does."""
        return chosen(self._space.task.program(self._space.text), [], 1.0, [], index=index)[1]


def config_of_trace(trace: str, index: int = 0) -> ConfigEntity:
    """The decisions of a te.schedule as a configuration."""
    decided = decided_in(trace)
    return ConfigEntity(
        index, {name: entity_of(*(("ot", n[0]) if len(n) == 1 else ("sp", n))) for name, n in decided.items()}
    )


class KernelTaskBase(abc.ABC):
    """Base of the tasks: a kernel of ours, and what is asked of it."""

    target: Any

    @property
    @abc.abstractmethod
    def work(self) -> KernelTask:
        """The kernel."""

    @property
    @abc.abstractmethod
    def space(self) -> Callable[[KernelTask], Space]:
        """Makes the space, as a search takes it."""

    @abc.abstractmethod
    def config_of(self, trace: str) -> ConfigEntity:
        """The configuration that a te.schedule is of."""

    @property
    def kwargs(self) -> dict[str, Any]:
        """Arguments by name, of which there are none."""
        return {}

    @cached_property
    def kernel(self) -> FuncOp:
        """The te.func."""
        (kernel,) = parse_text(LaminaContext(), self.work.kernel, "kernel").ops
        assert isinstance(kernel, FuncOp)
        return kernel

    @cached_property
    def flop(self) -> float:
        """Operations of one run: what its stages compute for each element, the sums' additions included."""
        return float(sum(_operations(op) for op in self.kernel.body.walk() if isinstance(op, ComputeOp)))

    @property
    def workload(self) -> tuple[Any, ...]:
        """The name and the inputs."""
        own: Any = self
        return (own.name, *own.args)

    def __repr__(self) -> str:
        name, *args = self.workload
        return f"Task(func_name={name}, args={tuple(args)}, kwargs={{}}, workload={self.workload})"


class Task(KernelTaskBase):
    """A kernel of a program and its space."""

    def __init__(self, work: KernelTask, target: Any) -> None:
        self._work = work
        self.target = target

    @property
    def work(self) -> KernelTask:
        """The kernel."""
        return self._work

    @property
    def space(self) -> Callable[[KernelTask], Space]:
        """Makes the space around the schedule that the kernel has."""
        return ScheduleSpace

    @property
    def name(self) -> str:
        """The function that the kernel is in the compiled program."""
        return self.work.names[0]

    @property
    def args(self) -> tuple[tuple[Any, ...], ...]:
        """Its inputs, as TVM writes them: `("TENSOR", (1, 64, 56, 56), "float32")`."""
        types = cast("Iterable[Any]", self.kernel.function_type.inputs)
        return tuple(("TENSOR", tuple(shape_of(t)), dtype_name(t.element_type)) for t in types)

    @cached_property
    def config_space(self) -> ScheduleConfigs:
        """The configurations of its schedule."""
        return ScheduleConfigs(self.work)

    def config_of(self, trace: str) -> ConfigEntity:
        """The decisions of a te.schedule."""
        return config_of_trace(trace)


@dataclass(frozen=True)
class LoggedTask:
    """A task of which a log knows only the name and the inputs."""

    name: str
    args: tuple[Any, ...]

    @property
    def workload(self) -> tuple[Any, ...]:
        """The name and the inputs."""
        return (self.name, *self.args)


def _operations(stage: ComputeOp) -> int:
    reduced = stage.reduce_shape.get_values() if stage.reduce_shape is not None else ()
    each = sum(not op.name.startswith(MOVES) for op in stage.body.walk()) + bool(reduced)
    return prod(stage.spatial) * prod(int(n) for n in reduced) * each


def extract_from_program(
    mod: Any,
    params: Mapping[str, Any] | None = None,
    target: Any = "llvm",
    target_host: Any = None,
    ops: Sequence[Any] | None = None,
    everything: bool = False,
) -> list[Task]:
    """The tasks of a module or a function: its kernels that sum products; equal work is one task.

    `ops` are Relay operators (or their names): then the tasks are the kernels of those. With `everything` all kernels
    are. The kernels are those that `relay.build` makes in the current PassContext, at level 3 outside of all. Raises
    LaminaError.
    """
    machine = compile_target(target)
    module = with_params(mod if isinstance(mod, IRModule) else IRModule.from_expr(mod), params)
    settings = Settings.of(machine, opt_level=PassContext.active() or PassContext(3))
    source = api.texts(model_of(module), settings).source("te")
    wanted = None if ops is None else {str(getattr(op, "name", op)) for op in ops}
    kernels = {f.sym_name.data: f for f in source.module.ops if isinstance(f, FuncOp)}
    tasks = tasks_of(source.module, machine, source.params)
    found = [t for t in tasks if everything or _is_wanted(kernels[t.names[0]], wanted)]
    return [Task(t.with_share(dict.fromkeys(t.names, 1.0)), target) for t in found]


def extract_from_multiple_program(
    mods: Sequence[Any],
    params: Sequence[Mapping[str, Any] | None],
    target: Any = "llvm",
    target_host: Any = None,
    ops: Sequence[Any] | None = None,
) -> list[Task]:
    """The tasks of several modules; equal work is one task."""
    if len(mods) != len(params):
        raise UsageError(f"{len(mods)} modules, and parameters for {len(params)}")
    found = (t for m, p in zip(mods, params, strict=True) for t in extract_from_program(m, p, target, None, ops))
    return list({t.work.place: t for t in found}.values())


def _is_wanted(kernel: FuncOp, wanted: set[str] | None) -> bool:
    stages = [op for op in kernel.body.walk() if isinstance(op, ComputeOp)]
    if wanted is not None:
        return any(tag in wanted for s in stages for tag in _tags(s))
    return any(s.reduce_shape is not None and any(op.name in PRODUCTS for op in s.body.walk()) for s in stages)


def _tags(stage: ComputeOp) -> Iterator[str]:
    """The Relay operators that a stage is of: `nn.contrib_conv2d_NCHWc` is what becomes of `nn.conv2d`."""
    from xdsl.dialects.builtin import StringAttr

    tag = stage.attributes.get("tag")
    if isinstance(tag, StringAttr):
        yield tag.data
        room, _, name = tag.data.rpartition(".")
        yield f"{room}.{_OF_PACKED.get(name, name)}"
