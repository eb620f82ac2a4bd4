"""Choosing among candidates in place: each is timed inside the whole model, where caches are as they will be.

A kernel that is timed by itself finds its weights in the cache; in the model it finds what the layers before left. So
the whole model is compiled a few times, each time with another candidate for every question, and the programs run by
turns. A question's cost is the time of the kernels of the nodes that it was asked for; a candidate replaces the
default when it is faster by more than the noise. Answers of one kind (tiles; Winograd or not) are taken to be
independent of each other, and the program of all of them is measured in the end against the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from lamina.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from lamina.dialects.choices import Question
    from lamina.dialects.target import TargetAttr
    from lamina.driver.api import Executable, Model
    from lamina.driver.model import Shapes, Source
    from lamina.driver.pipelines import Progress
    from lamina.transform import PassContext

LEAST_GAIN = 0.03
"""The share of its time that a candidate must save: less is noise, and the default needs no file."""


@dataclass
class Row:
    """One question: seconds of its kernels with each candidate, the default first."""

    question: Question
    seconds: tuple[float, ...]
    chosen: str
    kernels: int
    """The number of these."""


@dataclass
class Tuned:
    """The answers that were chosen, and seconds of a whole run before and after."""

    answers: dict[str, str]
    before: float
    after: float
    rows: list[Row] = field(default_factory=list[Row])

    def __str__(self) -> str:
        """The questions whose answer is not the default, and the gain of all of them."""
        from lamina.measure.timing import columns, duration

        lines = [("default", "chosen", "candidates", "question")]
        for row in self.rows:
            if row.chosen != row.question.candidates[0]:
                now = row.seconds[row.question.candidates.index(row.chosen)]
                names = f"{row.question.candidates[0]} -> {row.chosen}"
                lines.append((duration(row.seconds[0]), duration(now), names, row.question.name))
        table = columns(lines) if len(lines) > 1 else "no candidate is faster than the default"
        gain = f"{duration(self.before)} by default, {duration(self.after)} as chosen"
        return f"{table}\n{len(self.rows)} questions; {gain}"


def choose_in_situ(
    model: Model | Source,
    target: str | TargetAttr = "cpu",
    shapes: Shapes | None = None,
    threads: int | None = None,
    opt_level: int | PassContext | None = None,
    inputs: Mapping[str, Any] | None = None,
    rounds: int = 15,
    progress: Progress | None = None,
    cache: bool = True,
    numerics: str | None = None,
) -> Tuned:
    """Time the candidates of each question inside the model, and choose.

    All programs are in memory at once, about six times the model's weights. `inputs` are random where none are
    given. Raises LaminaError: UnsupportedError for a model whose kernels are in no fixed order.
    """
    from lamina.driver import api
    from lamina.measure.timing import random_inputs

    if type(rounds) is not int or rounds < 3:
        raise UsageError(f"rounds is an integer of at least 3, not {rounds!r}")
    loaded = model if isinstance(model, api.Model) else api.load(model, shapes)

    def program(answers: Mapping[str, str]) -> Executable:
        return api.compile(
            loaded, target, None, threads, opt_level, progress, cache, choices=answers, numerics=numerics
        )

    questions = api.questions(loaded, target, threads, opt_level, numerics)
    if not any(len(q.candidates) > 1 for q in questions):
        raise UnsupportedError("no kernel of this model has more than one candidate", where=loaded.label)
    plans: list[dict[str, str]] = [{}]
    for kind in dict.fromkeys(_kind(q) for q in questions):
        asked = [q for q in questions if _kind(q) == kind]
        for n in range(1, max(len(q.candidates) for q in asked)):
            plans.append({q.name: q.candidates[n] for q in asked if n < len(q.candidates)})
    programs = [program(plan) for plan in plans]
    arrays = random_inputs(programs[0].inputs) if inputs is None else inputs
    times = _by_turns(programs, arrays, rounds)
    rows = [_row(q, plans, times) for q in questions]
    answers = {row.question.name: row.chosen for row in rows if row.chosen != row.question.candidates[0]}
    best = program(answers)
    before, after = (sum(t.values()) for t in _by_turns([programs[0], best], arrays, rounds))
    if after >= before:
        # What was faster kernel by kernel is not so together: the default stands.
        rows = [replace(row, chosen=row.question.candidates[0]) for row in rows]
        return Tuned({}, before, before, rows)
    return Tuned(answers, before, after, rows)


def _kind(question: Question) -> str:
    return question.name.split()[0]


def _by_turns(programs: Sequence[Executable], arrays: Mapping[str, Any], rounds: int) -> list[dict[str, float]]:
    """The median seconds of the kernels of each node or group of nodes, for each program."""
    samples: list[dict[str, list[float]]] = [{} for _ in programs]
    for number in range(rounds + 1):
        for found, program in zip(samples, programs, strict=True):
            once: dict[str, float] = {}
            for kernel in program.profile(arrays, repeats=1):
                once[kernel.nodes] = once.get(kernel.nodes, 0.0) + kernel.seconds
            if number:  # the first touches memory
                for nodes, seconds in once.items():
                    found.setdefault(nodes, []).append(seconds)
    return [{nodes: median(s) for nodes, s in found.items()} for found in samples]


def _row(question: Question, plans: Sequence[Mapping[str, str]], times: Sequence[Mapping[str, float]]) -> Row:
    """The cost of each candidate of a question, from the plan that took it."""
    costs, kernels = list[float](), 0
    for candidate in question.candidates:
        plan = next((n for n, p in enumerate(plans) if p.get(question.name) == candidate), 0)
        own = [t for nodes, t in times[plan].items() if not question.nodes.isdisjoint(nodes.split(" + "))]
        costs.append(sum(own))
        kernels = max(kernels, len(own))
    best = min(range(len(costs)), key=costs.__getitem__)
    chosen = best if costs[best] < costs[0] * (1 - LEAST_GAIN) else 0
    return Row(question, tuple(costs), question.candidates[chosen], kernels)
