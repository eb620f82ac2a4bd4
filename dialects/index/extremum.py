"""The least or the greatest of several index forms: what bounds a loop with a tail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lamina.dialects.index import rules as index_rules
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.linear import Atom, Linear, Ranges, constant, floordiv, unknown_ranges
from lamina.dialects.index.matching import Bindings


class Extremum:
    """The least or the greatest of some forms. Arithmetic goes inside."""

    __slots__ = ("head", "forms")

    def __init__(self, head: str, forms: Sequence[Linear]) -> None:
        if not forms:
            raise ValueError(f"the {head} of nothing")
        self.head = head
        self.forms = tuple(forms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Extremum) and (self.head, self.forms) == (other.head, other.forms)

    def __hash__(self) -> int:
        return hash((self.head, self.forms))

    def __repr__(self) -> str:
        return f"{self.head}({', '.join(map(repr, self.forms))})"

    def _each(
        self, lhs: str, members: Bindings, alone: Callable[[Linear], Linear], ranges: Ranges = unknown_ranges
    ) -> Extremum:
        first, *rest = self.forms
        if not rest:
            return Extremum(self.head, [alone(first)])
        return _EXTREMA_OF[lhs]({"x": first, "y": Extremum(self.head, rest), **members}, ranges)

    def __add__(self, other: Linear | int) -> Extremum:
        z = constant(other) if isinstance(other, int) else other
        return self._each(f"{self.head}(x, y) + z", {"z": z}, lambda x: x + z)

    def __sub__(self, other: Linear | int) -> Extremum:
        return self + (-other)

    def __rsub__(self, other: int) -> Extremum:
        opposite = "greatest" if self.head == "least" else "least"
        negated = Extremum(opposite, [-self.forms[0]])
        if len(self.forms) > 1:
            members = {"x": self.forms[0], "y": Extremum(self.head, self.forms[1:])}
            negated = _EXTREMA_OF[f"0 - {self.head}(x, y)"](members, unknown_ranges)
        return negated + other if other else negated

    def __mul__(self, factor: int) -> Extremum:
        if factor < 0:
            return (0 - self) * -factor
        if factor == 0:
            return Extremum(self.head, [constant(0)])
        return self._each(f"g * {self.head}(x, y)", {"g": factor}, lambda x: x * factor)

    __rmul__ = __mul__

    def floordiv(self, divisor: int, ranges: Ranges = unknown_ranges) -> Extremum:
        """floor(self / divisor), for a positive divisor."""
        return self._each(
            f"floordiv({self.head}(x, y), d)", {"d": divisor}, lambda x: floordiv(x, divisor, ranges), ranges
        )

    def simplify(self, facts: Facts) -> Extremum:
        """Without the forms that are never it."""
        return Extremum(self.head, facts.minimum(self.forms) if self.head == "least" else facts.maximum(self.forms))

    def evaluate(self, values: Mapping[Atom, int]) -> int:
        found = [f.evaluate(values) for f in self.forms]
        return min(found) if self.head == "least" else max(found)


def _join(head: str) -> Callable[..., Extremum]:
    def join(_: Any, x: Linear, y: Extremum) -> Extremum:
        return Extremum(head, [x, *y.forms])

    return join


def _floordiv(ranges: Ranges, x: Linear | Extremum, divisor: int) -> Linear | Extremum:
    return x.floordiv(divisor, ranges) if isinstance(x, Extremum) else floordiv(x, divisor, ranges)


_EXTREMA_HEADS: dict[str, Callable[..., Any]] = {
    "floordiv": _floordiv,
    "least": _join("least"),
    "greatest": _join("greatest"),
}
_EXTREMA_OF = {str(r.lhs): r.rhs.compile(_EXTREMA_HEADS) for r in index_rules.EXTREMA_OF}
