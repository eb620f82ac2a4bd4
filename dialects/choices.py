"""Choices that a module brings along: the candidate that a pass takes where it would else decide by itself.

    builtin.module attributes {lamina.choices = {"tile nn.dense 128x768xf32 over 768 of 128x768xf32" = "14x2"}} ...

A question says what is asked and for what work: shapes and element types; equal work asks the same question. Passes
read the answers from the module attribute `lamina.choices` and nowhere else, so that a text with its choices compiles
to the same program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.listener import listener_of

CHOICES = "lamina.choices"
"""The module attribute that holds the answers."""

MOST_CANDIDATES = 4
"""Among so many a pass lets choose: each is compiled with all of the model when they are timed."""

T = TypeVar("T")


class Pick(Protocol):
    """Takes one of some candidates, the first unless the module says otherwise (`Choices.pick`)."""

    def __call__(self, question: str, candidates: Sequence[T]) -> T: ...


def first(question: str, candidates: Sequence[T]) -> T:
    """The candidate that comes first: where nobody chooses."""
    return candidates[0]


class Question(NamedTuple):
    """A question of a pass: the candidates, its own choice first, and the nodes of the model that it asked for."""

    name: str
    candidates: tuple[str, ...]
    nodes: frozenset[str]


class Choices:
    """The answers that a module brings along, and what was asked of them."""

    def __init__(self, answers: Mapping[str, str] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: dict[str, Question] = {}

    @staticmethod
    def of(module: ModuleOp) -> Choices:
        """Those of a module. Raises VerifyException where the attribute is something else."""
        attr = module.attributes.get(CHOICES)
        if attr is None:
            return Choices()
        if not isinstance(attr, DictionaryAttr) or not all(isinstance(v, StringAttr) for v in attr.data.values()):
            raise VerifyException(f"the module's {CHOICES} is a dictionary of strings")
        return Choices({name: v.data for name, v in attr.data.items() if isinstance(v, StringAttr)})

    def pick(self, question: str, candidates: Sequence[T], nodes: Iterable[str] = ()) -> T:
        """The candidate that the module names, else the first. Raises InputError where it names another one.

        `nodes` are those of the model that the answer is for.
        """
        candidates = candidates[:MOST_CANDIDATES]
        spelled = tuple(map(spelling, candidates))
        before = self.asked.get(question)
        self.asked[question] = Question(question, spelled, frozenset(nodes) | (before.nodes if before else frozenset()))
        answer = self.answers.get(question)
        if answer is None:
            return candidates[0]
        if answer not in spelled:
            from lamina.errors import InputError

            what = f"{CHOICES}: '{question}' is one of {', '.join(spelled)}, not {answer}"
            raise InputError(what, hint="choose anew with `lamina tune`")
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
