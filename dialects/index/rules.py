"""Rules of the simplification of index arithmetic, as equations: one table for `linear.py` and `analyzer.py`.

    rule(floordiv(g * y + s, g * d) >> floordiv(y + k, d), Within(s, g, k))

A rule reads left to right. Its letters say what they stand for: `x y z q r s` are forms of any value, `a b d g`
positive numbers, `c k` numbers. A rule of sums holds under a common factor and beside other terms as well.
`test/unit/test_index_rules.py` proves every rule on all values of a small box, and that no condition can be dropped or
loosened. How a left side is found in a form is the matter of the simplifier, which looks a matcher up by the text of
the left side; a test checks that what it has bound is the form that stood there.

No rule makes a form larger (terms and divisions counted, constants not), so that rewriting ends.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["form", "positive", "number"]
Build: TypeAlias = Callable[[Mapping[str, Any], Any], Any]
"""The value of a term for the values of its variables; the second argument is passed on to every division."""


class Term:
    """A variable, a number, or a head over terms. Python's operators build sums and products."""

    __slots__ = ("head", "args")

    def __init__(self, head: str, *args: Any) -> None:
        self.head = head
        self.args = args

    def __add__(self, other: Term | int) -> Term:
        return Term("+", self, as_term(other))

    def __radd__(self, other: int) -> Term:
        return Term("+", as_term(other), self)

    def __sub__(self, other: Term | int) -> Term:
        return Term("-", self, as_term(other))

    def __rsub__(self, other: int) -> Term:
        return Term("-", as_term(other), self)

    def __mul__(self, other: Term | int) -> Term:
        return Term("*", self, as_term(other))

    def __rmul__(self, other: int) -> Term:
        return Term("*", as_term(other), self)

    def __rshift__(self, other: Term | int) -> Equation:
        return Equation(self, as_term(other))

    def __str__(self) -> str:
        if self.head in ("form", "positive", "number", "constant"):
            return str(self.args[0])
        if self.head in _INFIX:
            left, right = (_in_parentheses(a, self.head) for a in self.args)
            return f"{left} {self.head} {right}"
        return f"{self.head}({', '.join(map(str, self.args))})"

    __repr__ = __str__

    def variables(self) -> dict[str, Kind]:
        """The variables by name, in order of appearance."""
        if self.head in ("form", "positive", "number"):
            return {self.args[0]: self.head}  # type: ignore[dict-item]
        found: dict[str, Kind] = {}
        for a in self.args:
            if isinstance(a, Term):
                found.update(a.variables())
        return found

    def compile(self, heads: Mapping[str, Callable[..., Any]]) -> Build:
        """A function from variables to the value. `heads` computes divisions and the like: f(context, *arguments)."""
        if self.head in ("form", "positive", "number"):
            name = self.args[0]
            return lambda env, _: env[name]
        if self.head == "constant":
            value = self.args[0]
            return lambda env, _: value
        args = [a.compile(heads) for a in self.args]
        if self.head in _INFIX:
            combine, (left, right) = _INFIX[self.head], args
            return lambda env, context: combine(left(env, context), right(env, context))
        head = heads[self.head]
        if len(args) == 1:
            (only,) = args
            return lambda env, context: head(context, only(env, context))
        first, second = args
        return lambda env, context: head(context, first(env, context), second(env, context))


_INFIX: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _in_parentheses(term: Term, outside: str) -> str:
    inside = term.head
    return f"({term})" if inside in "+-" and (outside == "*" or outside == "-") else str(term)


def as_term(value: Term | int) -> Term:
    """A number as the term of that constant; a term as it is."""
    return value if isinstance(value, Term) else Term("constant", value)


def _variables(kind: Kind, names: str) -> list[Term]:
    return [Term(kind, n) for n in names.split()]


def floordiv(x: Term, d: Term | int) -> Term:
    """The term of x / d rounded down, for a positive number d."""
    return Term("floordiv", x, as_term(d))


def mod(x: Term, d: Term | int) -> Term:
    """The term of x - d * floordiv(x, d), between 0 and d - 1, for a positive number d."""
    return Term("mod", x, as_term(d))


def least(x: Term, y: Term) -> Term:
    """The term of the smaller of two forms."""
    return Term("least", x, y)


def greatest(x: Term, y: Term) -> Term:
    """The term of the larger of two forms."""
    return Term("greatest", x, y)


def nonnegative(x: Term) -> Term:
    """The condition x >= 0."""
    return Term("nonnegative", x)


def zero(x: Term) -> Term:
    """The condition x == 0."""
    return Term("zero", x)


TRUE, FALSE = Term("constant", True), Term("constant", False)


# -- side conditions ---------------------------------------------------------------------------------------------


class Within(NamedTuple):
    """All values of s lie in block k of length g: k*g <= s <= k*g + g - 1. The range of s gives k."""

    s: Term
    g: Term
    k: Term

    def meaning(self) -> list[Term]:
        return [self.s - self.k * self.g, self.k * self.g + self.g - 1 - self.s]


class AtLeast(NamedTuple):
    """x >= 0, always."""

    x: Term

    def meaning(self) -> list[Term]:
        return [self.x]


class Divides(NamedTuple):
    """d divides x, both of them numbers."""

    d: Term
    x: Term

    def meaning(self) -> list[Term]:
        return [-1 * mod(self.x, self.d)]


class Congruent(NamedTuple):
    """x leaves the remainder k: x mod d == k. What is known of the moduli of x gives k."""

    x: Term
    d: Term
    k: Term

    def meaning(self) -> list[Term]:
        return [mod(self.x, self.d) - self.k, self.k - mod(self.x, self.d)]


Side: TypeAlias = "Within | AtLeast | Divides | Congruent"


class Equation(NamedTuple):
    """The two sides that `lhs >> rhs` gives; `rule` adds the conditions under which they are equal."""

    lhs: Term
    rhs: Term


class Rule(NamedTuple):
    """lhs = rhs wherever all conditions hold."""

    lhs: Term
    rhs: Term
    conditions: tuple[Side, ...] = ()

    def __str__(self) -> str:
        sides = [f"{t} >= 0" for c in self.conditions for t in c.meaning()]
        return f"{self.lhs} = {self.rhs}" + (f" when {' and '.join(sides)}" if sides else "")

    def variables(self) -> dict[str, Kind]:
        found = self.lhs.variables() | self.rhs.variables()
        for c in self.conditions:
            for t in c.meaning():
                found |= t.variables()
        return found


def rule(equation: Equation, *conditions: Side) -> Rule:
    """A rule of an equation that holds where all conditions do."""
    return Rule(equation.lhs, equation.rhs, conditions)


# -- the table ---------------------------------------------------------------------------------------------------

x, y, z, q, r, s = _variables("form", "x y z q r s")
a, b, d, g = _variables("positive", "a b d g")
c, k = _variables("number", "c k")

DIVISION: Sequence[Rule] = (
    # Multiples of the divisor come out of a quotient, and drop out of a remainder.
    rule(floordiv(d * q + r, d) >> q + floordiv(r, d)),
    rule(mod(d * q + r, d) >> mod(r, d)),
    # What lies within one block of the divisor's length has one quotient.
    rule(floordiv(x, d) >> k, Within(x, d, k)),
    rule(mod(x, d) >> x - k * d, Within(x, d, k)),
    # A remainder that is known.
    rule(mod(x, d) >> k, Congruent(x, d, k)),
    # The digits below a common factor of divisor and coefficients.
    rule(floordiv(g * y + s, g * d) >> floordiv(y + k, d), Within(s, g, k)),
    rule(mod(g * y + s, g * d) >> g * mod(y + k, d) + (s - k * g), Within(s, g, k)),
    # 17*a + b is 16*a + (a + b): coefficients near a multiple of the divisor.
    rule(floordiv(d * q + s, d) >> q + k, Within(s, d, k)),
    rule(mod(d * q + s, d) >> s - k * d, Within(s, d, k)),
    # A quotient of a quotient is one quotient; a remainder of a remainder is one remainder.
    rule(floordiv(floordiv(x, a) + y, b) >> floordiv(x + a * y, a * b)),
    rule(mod(c * mod(x, a) + y, b) >> mod(c * x + y, b), Divides(b, c * a)),
    # One way round for a digit in the middle.
    rule(floordiv(mod(x, a * b), a) >> mod(floordiv(x, a), b)),
)

SUMS: Sequence[Rule] = (
    # Digits put together again are the number.
    rule(d * floordiv(x, d) + mod(x + d * y, d) >> x),
    rule(b * floordiv(x, a * b) + mod(floordiv(x, a), b) >> floordiv(x, a)),
    rule(a * mod(floordiv(x, a), b) + mod(x + a * y, a) >> mod(x, a * b)),
    # What a quotient leaves is the remainder, and the other way round.
    rule(x - d * floordiv(x, d) >> mod(x, d)),
    rule(x - mod(x, d) >> d * floordiv(x, d)),
    # A division that leaves a known remainder is undone.
    rule(d * floordiv(x, d) >> x - k, Congruent(x, d, k)),
)

CONDITIONS: Sequence[Rule] = (
    rule(nonnegative(x) >> TRUE, AtLeast(x)),
    rule(nonnegative(x) >> FALSE, AtLeast(-1 - x)),
    rule(zero(x) >> FALSE, AtLeast(x - 1)),
    rule(zero(x) >> FALSE, AtLeast(-1 - x)),
    rule(zero(x) >> TRUE, AtLeast(x), AtLeast(0 - x)),
    # Zero leaves no remainder.
    rule(zero(x) >> FALSE, AtLeast(mod(x, d) - 1)),
    # A common factor, and what is smaller than it.
    rule(nonnegative(g * y + s) >> nonnegative(y + k), Within(s, g, k)),
    rule(zero(g * y + g * k) >> zero(y + k)),
    # A quotient is compared by what it divides.
    rule(nonnegative(floordiv(x, d) + y) >> nonnegative(x + d * y)),
    rule(nonnegative(y - floordiv(x, d)) >> nonnegative(d * y - x + (d - 1))),
)

EXTREMA: Sequence[Rule] = (
    rule(least(x, y) >> x, AtLeast(y - x)),
    rule(greatest(x, y) >> x, AtLeast(x - y)),
)

EXTREMA_OF: Sequence[Rule] = (
    # Arithmetic goes inside, so that bounds are lists of forms.
    rule(least(x, y) + z >> least(x + z, y + z)),
    rule(greatest(x, y) + z >> greatest(x + z, y + z)),
    rule(g * least(x, y) >> least(g * x, g * y)),
    rule(g * greatest(x, y) >> greatest(g * x, g * y)),
    rule(0 - least(x, y) >> greatest(0 - x, 0 - y)),
    rule(0 - greatest(x, y) >> least(0 - x, 0 - y)),
    rule(floordiv(least(x, y), d) >> least(floordiv(x, d), floordiv(y, d))),
    rule(floordiv(greatest(x, y), d) >> greatest(floordiv(x, d), floordiv(y, d))),
)


def all_rules() -> Iterable[Rule]:
    """The rules of divisions, sums, conditions, extrema and extrema inside of terms."""
    return (*DIVISION, *SUMS, *CONDITIONS, *EXTREMA, *EXTREMA_OF)
