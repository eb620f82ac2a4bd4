"""Kernels of a model as tasks of a search: what is computed, the schedule that it has, and how often it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Region

from lamina.dialects.index.sizes import shape_of
from lamina.dialects.schedule.canonical import TASK, canonical_names, canonical_text, renamed, task_of
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TARGET, machine_of
from lamina.dialects.te.ops import CallOp, FuncOp, ParamOp

if TYPE_CHECKING:
    from lamina.dialects.relay.params import ConstantAttr, ParamStore
    from lamina.dialects.target import TargetAttr

SMALL = 64
"""Elements of a weight that a task carries."""


@dataclass(frozen=True)
class KernelTask:
    """Work that a search finds schedules for, all under canonical names."""

    key: str
    """SHA-256 of the kernel's text."""
    kernel: str
    """The te.func."""
    schedule: str
    """The te.schedule that it has: what candidates are compared with, and searched around."""
    main: str
    """A `@main` that calls it."""
    target: str
    """The attribute of the target."""
    machine: str
    threads: int
    names: tuple[str, ...]
    """The model's functions that do this work."""
    calls: int
    """The number of their calls in one inference."""
    constants: Mapping[int, Any] = field(default_factory=dict[int, Any])
    """Values of small arguments that are weights in the model, as lists, by their positions: a limit or a scale decides
    how far a kernel runs, and random ones would measure what never happens."""
    share: float = 0.0
    """Of an inference's time."""

    @property
    def place(self) -> tuple[str, str, int]:
        """The kernel, machine and threads that a record is for."""
        return self.key, self.machine, self.threads

    def program(self, schedule: str) -> str:
        """The text of a module whose `@main` calls the kernel, with a schedule of it."""
        return f"builtin.module attributes {{{TARGET} = {self.target}}} {{\n{self.kernel}\n{schedule}\n{self.main}\n}}"

    def with_share(self, seconds: Mapping[str, float]) -> KernelTask:
        """The same with its share of an inference, from the seconds of all functions by name."""
        total = sum(seconds.values())
        return replace(self, share=sum(seconds.get(n, 0.0) for n in self.names) / total if total > 0 else 0.0)


def _main(func: FuncOp) -> str:
    """A `@main` that takes and gives what a kernel does."""
    inputs, outputs = (list(types) for types in (func.function_type.inputs, func.function_type.outputs))
    block = Block(arg_types=inputs)
    call = CallOp.create(operands=list(block.args), properties={"callee": SymbolRefAttr(TASK)}, result_types=outputs)
    block.add_ops([call, ReturnOp(*call.results)])
    return str(MainOp("main", (inputs, outputs), Region(block)))


def small_weights(call: CallOp, params: ParamStore) -> dict[int, Any]:
    """The values of arguments of a call that are small weights, as lists, by their positions."""
    found: dict[int, Any] = {}
    for n, operand in enumerate(call.operands):
        weight = operand.owner
        if isinstance(weight, ParamOp) and prod(shape_of(operand.type)) <= SMALL:
            found[n] = params.get(cast("ConstantAttr", weight.param)).tolist()
    return found


def tasks_of(module: ModuleOp, target: TargetAttr, params: ParamStore | None = None) -> list[KernelTask]:
    """The tasks of a module of the te level whose kernels have schedules; equal work is one task.

    Kernels without a schedule, and those of extents that only arrays tell, are none. `params` are the module's weights.
    """
    schedules = {s.func.root_reference.data: s for s in module.ops if isinstance(s, ScheduleOp)}
    calls: dict[str, int] = {}
    constants: dict[str, dict[int, Any]] = {}
    for call in module.walk():
        if isinstance(call, CallOp):
            name = call.callee.root_reference.data
            calls[name] = calls.get(name, 0) + 1
            if params is not None:
                constants.setdefault(name, small_weights(call, params))
    found: dict[str, KernelTask] = {}
    for func in [f for f in module.ops if isinstance(f, FuncOp)]:
        name = func.sym_name.data
        if name not in schedules or "?" in str(func.function_type):
            continue
        key = task_of(func)
        known = found.get(key)
        if known is not None:
            found[key] = replace(known, names=(*known.names, name), calls=known.calls + calls.get(name, 0))
            continue
        found[key] = KernelTask(
            key,
            canonical_text(func),
            str(renamed(schedules[name], TASK, canonical_names(func))),
            _main(func),
            str(target),
            machine_of(target),
            target.threads.data,
            (name,),
            calls.get(name, 0),
            constants.get(name, {}),
        )
    return list(found.values())
