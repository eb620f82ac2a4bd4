"""Choices that a module brings along: the candidate that a pass takes where it would else decide by itself.

    builtin.module attributes {lamina.choices = {"tile nn.dense 128x768xf32 over 768 of 128x768xf32" = "14x2"}} ...

A question says what is asked and for what work: shapes and element types; equal work asks the same question. Passes
read the answers from the module attribute `lamina.choices` and nowhere else, so that a text with its choices compiles
to the same program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.listener import listener_of

CHOICES = "lamina.choices"
"""The module attribute that holds the answers."""

MOST_CANDIDATES = 4
"""Among so many a pass lets choose: each is compiled with all of the model when they are timed."""

T = TypeVar("T")


class Estimate(NamedTuple):
    """Expectation of what a candidate takes: all of the work, on one core."""

    cycles: float
    bytes: float
    """Bytes that its loads read."""


class Pick(Protocol):
    """Takes one of some candidates, the first unless the module says otherwise (`Choices.pick`)."""

    def __call__(
        self,
        question: str,
        candidates: Sequence[T],
        *,
        estimate: Callable[[T], Estimate] | None = None,
        why: str = "",
    ) -> T: ...


def first(
    question: str, candidates: Sequence[T], *, estimate: Callable[[T], Estimate] | None = None, why: str = ""
) -> T:
    """The candidate that comes first: where nobody chooses."""
    return candidates[0]


class Question(NamedTuple):
    """A question of a pass: the candidates, its own choice first, and the nodes of the model that it asked for."""

    name: str
    candidates: tuple[str, ...]
    nodes: frozenset[str]
    estimates: tuple[Estimate, ...] = ()
    """Of each candidate, where somebody wants to know and the pass can tell."""
    why: str = ""
    """The reason for the first one beside the estimates."""
    chosen: str = ""
    """The one that was taken."""


class Choices:
    """The answers that a module brings along, and what was asked of them."""

    def __init__(self, answers: Mapping[str, str] | None = None, wants_estimates: bool = False) -> None:
        self.answers = dict(answers or {})
        self.wants_estimates = wants_estimates
        self.asked: dict[str, Question] = {}

    @staticmethod
    def of(module: ModuleOp, ctx: Any) -> Choices:
        """Those of a module. Raises VerifyException where the attribute is something else."""
        attr, wants_estimates = module.attributes.get(CHOICES), listener_of(ctx).wants_estimates
        if attr is None:
            return Choices(wants_estimates=wants_estimates)
        if not isinstance(attr, DictionaryAttr) or not all(isinstance(v, StringAttr) for v in attr.data.values()):
            raise VerifyException(f"the module's {CHOICES} is a dictionary of strings")
        answers = {name: v.data for name, v in attr.data.items() if isinstance(v, StringAttr)}
        return Choices(answers, wants_estimates)

    def pick(
        self,
        question: str,
        candidates: Sequence[T],
        nodes: Iterable[str] = (),
        *,
        estimate: Callable[[T], Estimate] | None = None,
        why: str = "",
    ) -> T:
        """The candidate that the module names, else the first. Raises InputError where it names another one.

        `nodes` are those of the model that the answer is for; `estimate` is what a candidate is expected to take, and
        `why` the reason for the first one where these are not.
        """
        candidates = candidates[:MOST_CANDIDATES]
        spelled = tuple(map(spelling, candidates))
        answer = self.answers.get(question, spelled[0])
        if answer not in spelled:
            from lamina.errors import InputError

            what = f"{CHOICES}: '{question}' is one of {', '.join(spelled)}, not {answer}"
            raise InputError(what, hint="choose anew with `lamina tune`")
        estimates = tuple(map(estimate, candidates)) if estimate is not None and self.wants_estimates else ()
        before = self.asked.get(question)
        concerned = frozenset(nodes) | (before.nodes if before else frozenset[str]())
        self.asked[question] = Question(question, spelled, concerned, estimates, why, answer)
        return candidates[spelled.index(answer)]

    def tell(self, ctx: Any) -> None:
        """Say what was asked to the listener of a context."""
        listener_of(ctx).asked(self.asked.values())


def spelling(candidate: Any) -> str:
    """`14x2` for a tuple, else the value's own text."""
    return "x".join(map(str, cast("tuple[Any, ...]", candidate))) if isinstance(candidate, tuple) else str(candidate)


def attribute(answers: Mapping[str, str]) -> DictionaryAttr:
    """The module attribute of some answers."""
    return DictionaryAttr({name: StringAttr(answer) for name, answer in sorted(answers.items())})
