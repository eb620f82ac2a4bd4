"""Spaces of schedules as a tuner sees them: configurations by number, drawn near others, crossed.

A space of a kernel is its te.schedule with open decisions. Another form of space, such as a template in Python, is a
class with the same methods.
"""

from __future__ import annotations

import abc
import math
import random
from functools import cached_property
from typing import Any, NamedTuple

from lamina.dialects.schedule.ops import ScheduleOp
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.inspection.print_space import configurations
from lamina.passes.te.draw_decisions import decisions, with_decisions
from lamina.tuning.kernel_task import KernelTask
from lamina.tuning.runner import Candidate

DRAWS = 4
"""Draws from which a ranking chooses one: a draw takes a tenth of what the measurement of a candidate does."""
ALL = math.inf
"""Knobs that are drawn: all of them."""


class Measured(NamedTuple):
    """A configuration that ran and was right."""

    trace: str
    """Its schedule."""
    decided: dict[str, list[int]]
    """Its decisions by their knobs' names."""
    cost: float
    """Its time over the default's."""


class Space(abc.ABC):
    """The configurations of a kernel's schedule."""

    task: KernelTask

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number of configurations, the refused ones included."""

    @abc.abstractmethod
    def numbered(self, index: int) -> Candidate:
        """The configuration of a number."""

    @abc.abstractmethod
    def drawn(self, r: random.Random, knobs: float = ALL, near: str = "", ranking: Any = None) -> Candidate:
        """A configuration in which so many knobs are drawn, on average; the others are as in the schedule `near`, or
        as by default. A ranking, the columns and trees of a Ranker in JSON, chooses among some draws."""

    @abc.abstractmethod
    def crossed(self, mother: Measured, father: Measured, mutated: float, r: random.Random) -> Candidate:
        """The mother's configuration in which about half of the knobs are as the father's, a share of them drawn."""

    @abc.abstractmethod
    def decided(self, trace: str) -> dict[str, list[int]]:
        """The decisions of a configuration's schedule by their knobs' names; none where they are not known."""


class ScheduleSpace(Space):
    """A te.schedule with open decisions: candidates are drawn where they are measured.

    It is around the schedule of the task, or of another text, such as a sketch.
    """

    def __init__(self, task: KernelTask, text: str | None = None) -> None:
        self.task = task
        self.text = opened(task) if text is None else text
        """The te.schedule with open decisions; those that there are, are the defaults."""

    @property
    def size(self) -> int:
        """The number of configurations, the refused ones included."""
        return self._size

    @cached_property
    def _size(self) -> int:
        (size,) = configurations(parse_text(LaminaContext(), self.task.program(self.text), "space"), LaminaContext())
        return size

    def numbered(self, index: int) -> Candidate:
        """The configuration of a number."""
        return Candidate(self.task, self.text, index=index)

    def drawn(self, r: random.Random, knobs: float = ALL, near: str = "", ranking: Any = None) -> Candidate:
        """A configuration that is drawn of some seeds."""
        seeds = tuple(r.randrange(2**31) for _ in range(DRAWS if ranking is not None else 1))
        share = min(knobs / max(self.text.count(" knob "), 1), 1.0)
        return Candidate(self.task, near or self.text, seeds, share, ranking=ranking)

    def crossed(self, mother: Measured, father: Measured, mutated: float, r: random.Random) -> Candidate:
        """A child of two configurations."""
        taken = {name: decided for name, decided in father.decided.items() if r.random() < 0.5}
        (child,) = with_decisions(parse_text(LaminaContext(), mother.trace, "schedule"), taken).ops
        return Candidate(self.task, str(child), (r.randrange(2**31),) if mutated else (), mutated or 1.0)

    def decided(self, trace: str) -> dict[str, list[int]]:
        """The decisions of a schedule; none where it is of a time with other primitives."""
        return decided_in(trace)


def opened(task: KernelTask) -> str:
    """The space around the schedule of a task (`te-open-space`)."""
    module = parse_text(LaminaContext(), task.program(task.schedule), "task")
    run_pipeline(module, LaminaContext(), parse_pipeline("te-open-space"))
    return str(next(op for op in module.ops if isinstance(op, ScheduleOp)))


def sketched(task: KernelTask) -> str:
    """The space that the structure of a task's kernel gives, whatever schedule it has (`cpu-sketch`)."""
    module = parse_text(LaminaContext(), task.program(""), "task")
    run_pipeline(module, LaminaContext(), parse_pipeline("cpu-sketch"))
    return str(next(op for op in module.ops if isinstance(op, ScheduleOp)))


def decided_in(trace: str) -> dict[str, list[int]]:
    """The decisions of a te.schedule's text by their knobs' names; none where it cannot be read."""
    try:
        return decisions(parse_text(LaminaContext(), trace, "schedule"))
    except LaminaError:
        return {}
