"""Application of the rules of `rules.py`: finding their left sides in forms, and checking conditions.

A matcher reads a form as the left side of a rule. One for `floordiv(d * q + r, d)` gives d, q and r such that the form
is this; often there is one way, sometimes several. `divide` and `recombine` are what forms are simplified by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Any, TypeAlias

from lamina.dialects.index import rules as index_rules
from lamina.dialects.index.linear import Atom, Division, Linear, Range, Ranges, floordiv, mod, simplify_by
from lamina.dialects.index.rules import AtLeast, Divides, Rule, Side, Within

Bindings: TypeAlias = "dict[str, Any]"
"""Forms and numbers by the names that a rule gives them."""
Check: TypeAlias = "Callable[[Bindings, Ranges], bool]"


def _floordiv_head(ranges: Ranges, x: Linear, divisor: int) -> Linear:
    return floordiv(x, divisor, ranges)


def _mod_head(ranges: Ranges, x: Linear, divisor: int) -> Linear:
    return mod(x, divisor, ranges)


HEADS: dict[str, Callable[..., Any]] = {"floordiv": _floordiv_head, "mod": _mod_head}
observer: Callable[[Rule, Bindings, Linear], None] | None = None
"""Tests look on: called with a rule that fires, what its variables stand for, and the form that it replaces."""


class Applied:
    """A rule with what finds its left side in a form."""

    __slots__ = ("rule", "match", "checks", "build")

    def __init__(
        self, rule: Rule, match: Callable[..., Iterable[Any]], heads: Mapping[str, Callable[..., Any]] = HEADS
    ) -> None:
        self.rule = rule
        self.match = match
        self.checks = [_check(c) for c in rule.conditions]
        self.build = rule.rhs.compile(heads)

    def applies(self, found: Bindings, ranges: Ranges) -> bool:
        """Whether all conditions hold; numbers that they determine are bound."""
        for check in self.checks:
            if not check(found, ranges):
                return False
        return True


def _check(side: Side) -> Check:
    """Whether a condition holds for all values of the forms; it may bind the number that makes it hold."""
    terms = [t.compile(HEADS) for t in side]
    if isinstance(side, Within):
        name: str = side.k.args[0]

        def within(found: Bindings, ranges: Ranges) -> bool:
            length = terms[1](found, ranges)
            form = terms[0](found, ranges)
            bounds = form.range(ranges)
            if bounds is not None and bounds[0] // length == bounds[1] // length:
                found[name] = bounds[0] // length
                return True
            narrower: Callable[[Linear], Range | None] | None = getattr(ranges, "bounds", None)
            if narrower is None or (bounds := narrower(form)) is None:
                return False
            found[name] = bounds[0] // length
            return bounds[0] // length == bounds[1] // length

        return within
    if isinstance(side, AtLeast):

        def at_least(found: Bindings, ranges: Ranges) -> bool:
            form = terms[0](found, ranges)
            if isinstance(form, int):
                return form >= 0
            proved: Callable[[Linear], bool] | None = getattr(ranges, "at_least", None)
            if proved is not None:
                return proved(form)
            bounds = form.range(ranges)
            return bounds is not None and bounds[0] >= 0

        return at_least
    if isinstance(side, Divides):
        return lambda found, ranges: terms[1](found, ranges) % terms[0](found, ranges) == 0
    remainder: str = side.k.args[0]

    def congruent(found: Bindings, ranges: Ranges) -> bool:
        modulus: Callable[[Linear], tuple[int, int]] | None = getattr(ranges, "modulus", None)
        if modulus is None:
            return False
        (coefficient, base), divisor = modulus(terms[0](found, ranges)), terms[1](found, ranges)
        found[remainder] = base % divisor
        return coefficient % divisor == 0

    return congruent


def divide(kind: str, x: Linear, divisor: int, ranges: Ranges) -> Linear:
    """`x floordiv divisor` or `x mod divisor`, as `kind` says, simplified for a positive divisor.

    The first rule applies whose left side is found and whose conditions the ranges prove; without one the division
    itself is an atom of the form.
    """
    for atom in x.terms:
        if type(atom) is tuple:
            x = recombine(x, ranges)
            break
    for rule in _DIVISION[kind]:
        for found in rule.match(x, divisor):
            for check in rule.checks:
                if not check(found, ranges):
                    break
            else:
                if observer is not None:
                    observer(rule.rule, found, Linear({(kind, x, divisor): 1}))
                value = rule.build(found, ranges)
                return value if type(value) is Linear else Linear(const=value)
    return Linear({(kind, x, divisor): 1})


def as_form(value: Linear | int) -> Linear:
    """A number as the constant form; a form as it is."""
    return value if isinstance(value, Linear) else Linear(const=value)


# Matchers: the ways in which `form, divisor` can be read as the left side. One that reads it as d * q + r, say, gives
# d, q and r such that this is the form.


def split_multiples(x: Linear, divisor: int) -> tuple[Linear, Linear]:
    """(q, r) with x = divisor*q + r; r keeps only what is no multiple of the divisor."""
    q: dict[Atom, int] = {}
    r: dict[Atom, int] = {}
    for atom, coef in x.terms.items():
        if coef % divisor == 0:
            q[atom] = coef // divisor
        else:
            r[atom] = coef
    const_q, const_r = divmod(x.const, divisor)
    return Linear(q, const_q), Linear(r, const_r)


def _multiples(x: Linear, divisor: int) -> Iterable[Bindings]:
    q, r = split_multiples(x, divisor)
    return ({"d": divisor, "q": q, "r": r},) if q.terms or q.const else ()


def _split_coefficients(x: Linear, divisor: int, nearest: bool) -> tuple[Linear, Linear]:
    """(q, r) with x = divisor*q + r; coefficients of r lie nearest to 0, or keep their sign."""
    q: dict[Atom, int] = {}
    r: dict[Atom, int] = {}
    for atom, coef in x.terms.items():
        times = (2 * coef + divisor) // (2 * divisor) if nearest else abs(coef) // divisor * (1 if coef > 0 else -1)
        if times:
            q[atom] = times
        if coef != times * divisor:
            r[atom] = coef - times * divisor
    const_q, const_r = divmod(x.const, divisor)
    return Linear(q, const_q), Linear(r, const_r)


def _remainder_multiples(x: Linear, divisor: int) -> Iterable[Bindings]:
    """A remainder keeps no coefficient as large as its divisor. The sign stays: dividing what is negative is dear."""
    if 0 <= x.const < divisor:
        for coef in x.terms.values():
            if not -divisor < coef < divisor:
                break
        else:
            return ()
    q, r = _split_coefficients(x, divisor, False)
    return ({"d": divisor, "q": q, "r": r},)


def _spilled(x: Linear, divisor: int) -> Iterable[Bindings]:
    """17*a + b = 16*a + (a + b): coefficients beside a multiple of the divisor."""
    for coef in x.terms.values():
        if not -divisor <= 2 * coef <= divisor:
            split = [_split_coefficients(x, divisor, nearest) for nearest in (False, True)]
            return [{"d": divisor, "q": q, "s": s} for q, s in split if q.terms]
    return ()


def _whole(x: Linear, divisor: int) -> Iterable[Bindings]:
    return ({"x": x, "d": divisor},)


def _blocks(x: Linear, divisor: int) -> Iterable[Bindings]:
    factors: list[int] = []
    for coef in x.terms.values():
        shared = gcd(coef, divisor)
        if shared > 1 and shared not in factors:
            factors += [f for f in {gcd(f, shared) for f in factors} if f > 1 and f not in factors]
            if shared not in factors:
                factors.append(shared)
    if not factors:
        return ()
    found: list[Bindings] = []
    for g in sorted(factors, reverse=True):
        y, s = split_multiples(x, g)
        found.append({"g": g, "d": divisor // g, "y": y, "s": s})
    return found


def _without(x: Linear, *atoms: Atom) -> Linear:
    return Linear({a: c for a, c in x.terms.items() if a not in atoms}, x.const)


def _nested(x: Linear, divisor: int) -> Iterable[Bindings]:
    for atom, coef in x.terms.items():
        if coef == 1 and type(atom) is tuple and atom[0] == "floordiv":
            return ({"x": atom[1], "a": atom[2], "y": _without(x, atom), "b": divisor},)
    return ()


def _remainder_of_remainder(x: Linear, divisor: int) -> Iterable[Bindings]:
    found: list[Bindings] = []
    for atom, coef in x.terms.items():
        if type(atom) is tuple and atom[0] == "mod":
            found.append({"x": atom[1], "a": atom[2], "c": coef, "y": _without(x, atom), "b": divisor})
    return found


def _middle_digit(x: Linear, divisor: int) -> Iterable[Bindings]:
    inner = _single(x, "mod")
    if inner is None or inner[2] % divisor:
        return ()
    return ({"x": inner[1], "a": divisor, "b": inner[2] // divisor},)


_MATCHERS: dict[str, Callable[[Linear, int], Iterable[Bindings]]] = {
    "floordiv(d * q + r, d)": _multiples,
    "mod(d * q + r, d)": _remainder_multiples,
    "floordiv(x, d)": _whole,
    "mod(x, d)": _whole,
    "floordiv(g * y + s, g * d)": _blocks,
    "mod(g * y + s, g * d)": _blocks,
    "floordiv(d * q + s, d)": _spilled,
    "mod(d * q + s, d)": _spilled,
    "floordiv(floordiv(x, a) + y, b)": _nested,
    "mod(c * mod(x, a) + y, b)": _remainder_of_remainder,
    "floordiv(mod(x, a * b), a)": _middle_digit,
}
_DIVISION = {
    kind: [Applied(r, _MATCHERS[str(r.lhs)]) for r in index_rules.DIVISION if r.lhs.head == kind]
    for kind in ("floordiv", "mod")
}


# -- sums --------------------------------------------------------------------------------------------------------


def recombine(x: Linear, ranges: Ranges) -> Linear:
    """The sum with every rule of sums applied."""
    while True:  # each rule that fires makes the sum smaller
        divisions: list[Division] = [a for a in x.terms if type(a) is tuple]
        if not divisions:
            return x
        new = _recombine_once(x, divisions, ranges)
        if new is None:
            return x
        x = new


def _recombine_once(x: Linear, divisions: list[Division], ranges: Ranges) -> Linear | None:
    for rule in _SUMS:
        for found, times, rest in rule.match(x, divisions, ranges):
            if not rule.applies(found, ranges):
                continue
            if observer is not None:
                observer(rule.rule, found | {"times": times}, x - rest)
            return rest + as_form(rule.build(found, ranges)) * times
    return None


Addends: TypeAlias = "Iterable[tuple[Bindings, int, Linear]]"
"""The bindings of the variables, how often the left side stands in the sum, and what else does."""


def _quotient(x: Linear, divisor: int) -> Linear | None:
    """x / divisor where that has no remainder."""
    if x.const % divisor or any(c % divisor for c in x.terms.values()):
        return None
    return Linear({a: c // divisor for a, c in x.terms.items()}, x.const // divisor)


def _digits(x: Linear, divisions: list[Division], ranges: Ranges) -> Addends:
    for low in divisions:
        if low[0] != "mod":
            continue
        times, d = x.terms[low], low[2]
        for high in divisions:
            if high[0] == "floordiv" and high[2] == d and x.terms[high] == times * d:
                y = _quotient(low[1] - high[1], d)
                if y is not None:
                    yield {"x": high[1], "y": y, "d": d}, times, _without(x, low, high)


def _single(x: Linear, kind: str) -> Division | None:
    """The division that is all of a form."""
    if len(x.terms) == 1 and not x.const:
        ((atom, coef),) = x.terms.items()
        if coef == 1 and isinstance(atom, tuple) and atom[0] == kind:
            return atom
    return None


def _upper_digits(x: Linear, divisions: list[Division], ranges: Ranges) -> Addends:
    for low in divisions:
        inner = _single(low[1], "floordiv") if low[0] == "mod" else None
        if inner is None:
            continue
        times, b = x.terms[low], low[2]
        high: Division = ("floordiv", inner[1], inner[2] * b)
        if x.terms.get(high) == times * b:
            yield {"x": inner[1], "a": inner[2], "b": b}, times, _without(x, low, high)


def _lower_digits(x: Linear, divisions: list[Division], ranges: Ranges) -> Addends:
    for high in divisions:
        inner = _single(high[1], "floordiv") if high[0] == "mod" else None
        if inner is None:
            continue
        a = inner[2]
        for low in divisions:
            if low[0] == "mod" and low[2] == a and x.terms[high] == x.terms[low] * a:
                y = _quotient(low[1] - inner[1], a)
                if y is not None:
                    yield {"x": inner[1], "y": y, "a": a, "b": high[2]}, x.terms[low], _without(x, low, high)


def _what_is_left(kind: str) -> Callable[[Linear, list[Division], Ranges], Addends]:
    def match(x: Linear, divisions: list[Division], ranges: Ranges) -> Addends:
        for atom in divisions:
            head, inner, d = atom
            coef = -x.terms[atom]
            factor = d if kind == "floordiv" else 1
            if head != kind or coef % factor:
                continue
            times = coef // factor
            if all(x.terms.get(a) == c * times for a, c in inner.terms.items()):
                yield {"x": inner, "d": d}, times, _without(x, atom, *inner.terms) - inner.const * times

    return match


def _exact_quotients(x: Linear, divisions: list[Division], ranges: Ranges) -> Addends:
    if not hasattr(ranges, "modulus"):
        return
    for atom in divisions:
        if atom[0] == "floordiv" and x.terms[atom] % atom[2] == 0:
            yield {"x": atom[1], "d": atom[2]}, x.terms[atom] // atom[2], _without(x, atom)


_SUM_MATCHERS: dict[str, Callable[[Linear, list[Division], Ranges], Addends]] = {
    "d * floordiv(x, d) + mod(x + d * y, d)": _digits,
    "b * floordiv(x, a * b) + mod(floordiv(x, a), b)": _upper_digits,
    "a * mod(floordiv(x, a), b) + mod(x + a * y, a)": _lower_digits,
    "x - d * floordiv(x, d)": _what_is_left("floordiv"),
    "x - mod(x, d)": _what_is_left("mod"),
    "d * floordiv(x, d)": _exact_quotients,
}
_SUMS = [Applied(r, _SUM_MATCHERS[str(r.lhs)]) for r in index_rules.SUMS]

simplify_by(divide, recombine)
