"""`autotvm.template`: tensor programs whose schedule has knobs, written in Python.

    @autotvm.template("tutorial/matmul")
    def matmul(n, l, m, dtype):
        ...
        cfg = autotvm.get_config()
        cfg.define_split("tile_y", s[C].op.axis[0], num_outputs=2)
        yo, yi = cfg["tile_y"].apply(s, C, s[C].op.axis[0])
        return s, [A, B, C]

A template runs once to tell its knobs, and once for each configuration that is measured: what it returns is the text of
a te.schedule. Called within `apply_history_best` it gets the fastest configuration of a log.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any

import numpy as np

from lamina.compat.tvm.autotvm.task.kernels import KernelTaskBase
from lamina.compat.tvm.autotvm.task.space import ConfigEntity, ConfigSpace
from lamina.compat.tvm.composite_targets import compile_target
from lamina.dialects.schedule.canonical import TASK, canonical_names, canonical_text, renamed
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.te.ops import FuncOp
from lamina.errors import LaminaError, UnsupportedError, UsageError, did_you_mean
from lamina.tensor.program import te_module
from lamina.tuning.boosted_trees import Ranker, rows_of
from lamina.tuning.kernel_task import KernelTask, tasks_of
from lamina.tuning.runner import Candidate
from lamina.tuning.spaces import ALL, DRAWS, Measured, Space

Program = Callable[..., Any]
TEMPLATES: dict[str, Program] = {}
"""The functions of templates by the names of their tasks, undecorated."""

_config: ContextVar[ConfigSpace | ConfigEntity | None] = ContextVar("config", default=None)
FOUND: ContextVar[Callable[[tuple[Any, ...]], ConfigEntity | None] | None] = ContextVar("found", default=None)
"""Looks a workload up in the log of the `with` around."""


def get_config() -> ConfigSpace | ConfigEntity:
    """The configuration of the template that runs. Raises UsageError outside of all."""
    found = _config.get()
    if found is None:
        raise UsageError("get_config: no template runs", hint="@autotvm.template(name)")
    return found


@contextmanager
def configured(config: ConfigSpace | ConfigEntity) -> Generator[None]:
    """While it lasts, templates run with a configuration, or tell their knobs to a space."""
    before = _config.set(config)
    try:
        yield
    finally:
        _config.reset(before)


def template(task_name: Any, func: Program | None = None) -> Any:
    """Make a function a template: a decorator, with the name of its tasks.

    The function returns a schedule and the arguments of the kernel.
    """
    if func is not None:
        return _template(str(task_name), func)
    if callable(task_name):
        return _template(task_name.__name__, task_name)

    def decorate(function: Program) -> Program:
        return _template(str(task_name), function)

    return decorate


def _template(name: str, function: Program) -> Program:
    TEMPLATES[name] = function

    @wraps(function)
    def run(*args: Any) -> Any:
        if _config.get() is not None:
            return function(*args)
        lookup = FOUND.get()
        found = lookup((name, *args)) if lookup is not None else None
        if found is None:
            sys.stderr.write(
                f"warning: no configuration of {name} for {args} is known; the first of each knob is taken\n"
            )
            found = _first(name, args)
        with configured(found):
            return function(*args)

    return run


def space_of(name: str, args: Sequence[Any]) -> ConfigSpace:
    """The knobs that a template declares. Raises UsageError for a name that is none."""
    if name not in TEMPLATES:
        raise UsageError(f"no template is called {name!r}", hint=did_you_mean(name, list(TEMPLATES)))
    space = ConfigSpace()
    with configured(space):
        TEMPLATES[name](*args)
    return space


def _first(name: str, args: Sequence[Any]) -> ConfigEntity:
    space = space_of(name, args)
    return ConfigEntity(0, {knob: choices[0] for knob, choices in space.space_map.items()}, is_fallback=True)


@dataclass(frozen=True, eq=False, repr=False)
class TemplateTask(KernelTaskBase):
    """A template with arguments, and its space."""

    name: str
    args: tuple[Any, ...]
    target: Any
    configs: dict[str, ConfigEntity] = field(default_factory=dict[str, ConfigEntity])
    """The configurations that were asked for, by their te.schedule."""

    @cached_property
    def config_space(self) -> ConfigSpace:
        """The knobs that the template declares."""
        return space_of(self.name, self.args)

    @property
    def work(self) -> KernelTask:
        """The kernel, with the first choice of each knob as its schedule."""
        return self._work

    @cached_property
    def _work(self) -> KernelTask:
        func, schedule = self._scheduled(_first(self.name, self.args))
        module, machine = func.parent_op(), compile_target(self.target)
        assert module is not None
        if schedule is None:
            raise UnsupportedError(f"the template {self.name} schedules nothing with the first choice of each knob")
        (found,) = tasks_of(module, machine)  # type: ignore[arg-type]
        return found.with_share(dict.fromkeys(found.names, 1.0))

    def _scheduled(self, config: ConfigEntity) -> tuple[FuncOp, ScheduleOp | None]:
        with configured(config):
            s, tensors = TEMPLATES[self.name](*self.args)
        module, function = te_module(s, tensors, TASK)
        return function.func, next((op for op in module.ops if isinstance(op, ScheduleOp)), None)

    def trace(self, config: ConfigEntity) -> str:
        """The te.schedule of a configuration. Raises LaminaError where the template refuses it."""
        func, schedule = self._scheduled(config)
        if canonical_text(func) != self.work.kernel:
            raise UnsupportedError(f"the template {self.name} computes in another way with other knobs")
        if schedule is None:
            raise UnsupportedError(f"the template {self.name} schedules nothing with {config}")
        found = str(renamed(schedule, TASK, canonical_names(func)))
        self.configs[found] = config
        return found

    def config_of(self, trace: str) -> ConfigEntity:
        """The configuration that a te.schedule is of."""
        return self.configs.get(trace, ConfigEntity(-1, {}))

    @property
    def space(self) -> Callable[[KernelTask], Space]:
        """The space as a search takes it."""
        return lambda _: TemplateSpace(self)


class TemplateSpace(Space):
    """The configurations of a template."""

    def __init__(self, template_task: TemplateTask) -> None:
        self.task = template_task.work
        self._template = template_task
        self._knobs = template_task.config_space

    @property
    def size(self) -> int:
        """The number of configurations, the refused ones included."""
        return len(self._knobs)

    def numbered(self, index: int) -> Candidate:
        """The configuration of a number."""
        try:
            return Candidate(self.task, self._template.trace(self._knobs.get(index)))
        except LaminaError as e:
            return Candidate(self.task, "", refusal=f"configuration {index}: {e}")

    def drawn(self, r: random.Random, knobs: float = ALL, near: str = "", ranking: Any = None) -> Candidate:
        """A configuration that is drawn."""
        known = self._template.configs.get(near)
        base = self._knobs.digits(known.index if known is not None else 0)
        draws = [self._knobs.redrawn(base, knobs, r) for _ in range(DRAWS if ranking is not None else 1)]
        found = [self._knobs.index_of(d) for d in draws]
        if ranking is not None:
            columns, trees = ranking
            rows = rows_of([self._knobs.get(n).decided for n in found], columns)
            found = [found[int(np.argmin(Ranker.of_json(trees).scores(rows)))]]
        return self.numbered(found[0])

    def crossed(self, mother: Measured, father: Measured, mutated: float, r: random.Random) -> Candidate:
        """A child of two configurations."""
        a, b = (self._knobs.digits(self._template.config_of(p.trace).index) for p in (mother, father))
        child = [x if r.random() < 0.5 else y for x, y in zip(a, b, strict=True)]
        if mutated:
            child = self._knobs.redrawn(child, mutated * len(child), r)
        return self.numbered(self._knobs.index_of(child))

    def decided(self, trace: str) -> dict[str, list[int]]:
        """The numbers of the choices by the knobs' names; none for one of another search."""
        known = self._template.configs.get(trace)
        return known.decided if known is not None else {}


def create(task_name: str, args: Sequence[Any], target: Any, target_host: Any = None) -> TemplateTask:
    """The task of a template with arguments. Raises LaminaError for a name that is none."""
    space_of(task_name, args)
    return TemplateTask(task_name, tuple(args), target)
