"""One attempt to match: goals that are worked off, bindings that are taken back, choices that are taken up.

A match is a list of goals, each a pattern's step at a value; a step binds slots, adds the goals of its parts, or
fails. Choices (alternatives, swapped operands, the parent of a dominator) are put on a stack with the length of the
trail of bindings; a failure takes up the latest one. So a choice made early is taken back when something later
fails, guards included, and a chain of ten thousand ops takes memory but no Python stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Block, SSAValue

Goals: TypeAlias = Any
"""A linked list `(step, value, rest)`, None at its end, or FAIL."""
Step: TypeAlias = "Callable[[Any, Goals, Attempt], Goals]"
UNBOUND: Any = object()
FAIL: Any = object()
LIMIT = 100_000
"""Steps of one attempt for each slot of its pattern: beyond, the choices multiply and the attempt is given up."""


class Attempt:
    """One attempt to match: the slots, what was bound in order, and the choices left."""

    __slots__ = ("env", "trail", "choices", "observer", "fuel", "block")

    def __init__(self, slots: int, fuel: int) -> None:
        self.env: list[Any] = [UNBOUND] * slots
        self.trail: list[tuple[int, Any, Any]] = []
        self.choices: list[tuple[Goals, int]] = []
        self.observer: Callable[[Goals, Attempt], None] | None = None
        self.fuel = fuel
        self.block: Block | None = None
        """The block of the root."""

    def bind(self, slot: int, value: Any) -> None:
        self.trail.append((slot, self.env[slot], value))
        self.env[slot] = value

    def choose(self, goals: Goals) -> None:
        """Keep a choice: what to go on with if the way taken now fails."""
        self.choices.append((goals, len(self.trail)))

    def run(self, goals: Goals) -> bool:
        """Work off the goals, taking back choices on failure: whether all are met."""
        trail, env, choices = self.trail, self.env, self.choices
        while goals is not None:
            here = goals
            goals = here[0](here[1], here[2], self)
            if goals is FAIL:
                if self.observer is not None:
                    self.observer(here, self)
                self.fuel -= 1
                if not choices or self.fuel < 0:
                    return False
                goals, length = choices.pop()
                while len(trail) > length:
                    slot, old, _new = trail.pop()
                    env[slot] = old
        return True


def all_of(steps: Sequence[Step], values: Sequence[SSAValue], rest: Goals) -> Goals:
    """The goals of several patterns at several values, in order; FAIL where their numbers differ."""
    if len(steps) != len(values):
        return FAIL
    for step, value in zip(reversed(steps), reversed(values), strict=True):
        rest = (step, value, rest)
    return rest


def bind_same(m: Attempt, slot: int, value: Any) -> bool:
    """Bind a slot that is unbound; whether it now stands for the value."""
    bound = m.env[slot]
    if bound is UNBOUND:
        m.bind(slot, value)
        return True
    return bound is value
