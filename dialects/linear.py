"""Index arithmetic: linear forms over dimensions, with floor division and remainder by constants.

A `Linear` is sum(coefficient * atom) + constant. An atom is a dimension (an SSA value in a pass, a position in an
attribute, a name such as `lane`) or a division ("floordiv" | "mod", Linear, divisor).
Simplification uses the ranges of the dimensions: `floordiv(32*a + b, 32)` is `a` when 0 <= b < 32. xDSL's affine
expressions know no ranges, so te, tir and the stairs all use this module instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias

from lamina.dialects import index_rules
from lamina.dialects.index_rules import AtLeast, Divides, Rule, Side, Within

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

Division: TypeAlias = "tuple[str, Linear, int]"
"""("floordiv" | "mod", what is divided, divisor)"""
Atom: TypeAlias = "SSAValue | str | int | Division"
Range: TypeAlias = tuple[int, int]
"""Inclusive bounds of a dimension."""
Ranges: TypeAlias = Callable[[Atom], Range | None]
"""The bounds of a dimension, None where nothing is known."""


MAX_EXTENT = 1 << 40
"""Beyond any size: the bound of an unknown extent, so that ranges stay numbers."""


def unknown_ranges(_: Atom) -> Range | None:
    return None


class Linear:
    """An immutable linear form. Equal forms compare and hash equal whatever the order of their terms."""

    __slots__ = ("terms", "const", "_hash")

    terms: dict[Atom, int]
    const: int

    def __init__(self, terms: dict[Atom, int] | None = None, const: int = 0) -> None:
        self.terms = terms or {}
        self.const = const
        self._hash: int | None = None

    @staticmethod
    def of(value: Linear | int | Atom) -> Linear:
        if isinstance(value, Linear):
            return value
        if isinstance(value, int):
            raise TypeError("an int is ambiguous: Linear.dim(n) or Linear(const=n)")
        return Linear({value: 1})

    @staticmethod
    def dim(atom: Atom) -> Linear:
        return Linear({atom: 1})

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self.terms.items()), self.const))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self.const == other.const and self.terms == other.terms

    def __repr__(self) -> str:
        return linear_text(self, lambda d: f"d{d}" if isinstance(d, int) else str(d))

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.const + other)
        if not other.terms:
            return Linear(self.terms, self.const + other.const)
        terms = dict(self.terms)
        for atom, coef in other.terms.items():
            total = terms.get(atom, 0) + coef
            if total:
                terms[atom] = total
            else:
                del terms[atom]
        return Linear(terms, self.const + other.const)

    __radd__ = __add__

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other)

    def __rsub__(self, other: int) -> Linear:
        return -self + other

    def __mul__(self, factor: int) -> Linear:
        if factor == 0:
            return ZERO
        if factor == 1:
            return self
        return Linear({a: c * factor for a, c in self.terms.items()}, self.const * factor)

    __rmul__ = __mul__

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def dims(self) -> list[Atom]:
        """The dimensions used, each once, in order of appearance, also inside divisions."""
        seen: dict[Atom, None] = {}
        _collect(self, seen)
        return list(seen)

    def range(self, ranges: Ranges) -> Range | None:
        """Inclusive bounds of the value, None when a dimension is unbounded."""
        low = high = self.const
        for atom, coef in self.terms.items():
            bounds = atom_range(atom, ranges) if type(atom) is tuple else ranges(atom)
            if bounds is None:
                return None
            if coef > 0:
                low += bounds[0] * coef
                high += bounds[1] * coef
            else:
                low += bounds[1] * coef
                high += bounds[0] * coef
        return low, high

    def substitute(self, mapping: Mapping[Atom, Linear], ranges: Ranges = unknown_ranges) -> Linear:
        """Replace dimensions by forms; divisions are simplified anew with `ranges` of the new dimensions."""
        result = Linear(const=self.const)
        for atom, coef in self.terms.items():
            if isinstance(atom, tuple):
                kind, inner, divisor = atom
                inner = inner.substitute(mapping, ranges)
                new = floordiv(inner, divisor, ranges) if kind == "floordiv" else mod(inner, divisor, ranges)
            else:
                found = mapping.get(atom)
                new = Linear({atom: 1}) if found is None else found
            result = result + new * coef
        return recombine(result, ranges)

    def simplify(self, ranges: Ranges) -> Linear:
        """The same value with every division that the ranges decide resolved."""
        if not any(isinstance(a, tuple) for a in self.terms):
            return self
        return self.substitute({}, ranges)

    def evaluate(self, values: Mapping[Atom, Any]) -> Any:
        """The value for given dimensions: integers, or numpy arrays that broadcast."""
        total: Any = self.const
        for atom, coef in self.terms.items():
            if isinstance(atom, tuple):
                kind, inner, divisor = atom
                value = inner.evaluate(values)
                value = value // divisor if kind == "floordiv" else value % divisor
            else:
                value = values[atom]
            total = total + value * coef
        return total


ZERO = Linear()


def constant(value: int) -> Linear:
    return Linear(const=value)


def _collect(linear: Linear, seen: dict[Atom, None]) -> None:
    for atom in linear.terms:
        if isinstance(atom, tuple):
            _collect(atom[1], seen)
        else:
            seen[atom] = None


def atom_range(atom: Atom, ranges: Ranges) -> Range | None:
    """Inclusive bounds of an atom."""
    if isinstance(atom, tuple):
        kind, inner, divisor = atom
        bounds = inner.range(ranges)
        if kind == "mod":
            if bounds is not None and bounds[0] // divisor == bounds[1] // divisor:
                return bounds[0] % divisor, bounds[1] % divisor
            return 0, divisor - 1
        return None if bounds is None else (bounds[0] // divisor, bounds[1] // divisor)
    return ranges(atom)


def floordiv(x: Linear, divisor: int, ranges: Ranges = unknown_ranges) -> Linear:
    """floor(x / divisor) for a positive divisor, as far simplified as the ranges allow."""
    if divisor <= 0:
        raise ValueError(f"division by {divisor}: the divisor of an index is positive")
    return _divide("floordiv", x, divisor, ranges)


def mod(x: Linear, divisor: int, ranges: Ranges = unknown_ranges) -> Linear:
    """x - divisor*floor(x / divisor), in [0, divisor), simplified."""
    if divisor <= 0:
        raise ValueError(f"remainder by {divisor}: the divisor of an index is positive")
    return _divide("mod", x, divisor, ranges)


# -- the rules of the table, applied -----------------------------------------------------------------------------

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

    def __init__(self, rule: Rule, match: Callable[..., Iterable[Any]]) -> None:
        self.rule = rule
        self.match = match
        self.checks = [_check(c) for c in rule.conditions]
        self.build = rule.rhs.compile(HEADS)


def _check(side: Side) -> Check:
    """Whether a condition holds for all values of the forms; it may bind the number that makes it hold."""
    terms = [t.compile(HEADS) for t in side]
    if isinstance(side, Within):
        name: str = side.k.args[0]

        def within(found: Bindings, ranges: Ranges) -> bool:
            length = terms[1](found, ranges)
            bounds = terms[0](found, ranges).range(ranges)
            if bounds is None:
                return False
            block = found[name] = bounds[0] // length
            return bounds[1] // length == block

        return within
    if isinstance(side, AtLeast):

        def at_least(found: Bindings, ranges: Ranges) -> bool:
            form = terms[0](found, ranges)
            if isinstance(form, int):
                return form >= 0
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


def _divide(kind: str, x: Linear, divisor: int, ranges: Ranges) -> Linear:
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


def recombine(x: Linear, ranges: Ranges = unknown_ranges) -> Linear:
    """x mod d + (x floordiv d) * d = x: what split an index into digits and put them together again cancels."""
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
            if observer is not None:
                observer(rule.rule, found | {"times": times}, x - rest)
            return rest + as_form(rule.build(found, ranges)) * times
    return None


Addends: TypeAlias = "Iterable[tuple[Bindings, int, Linear]]"
"""What the variables stand for, how often the left side stands in the sum, and what else does."""


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


_SUM_MATCHERS: dict[str, Callable[[Linear, list[Division], Ranges], Addends]] = {
    "d * floordiv(x, d) + mod(x + d * y, d)": _digits,
    "b * floordiv(x, a * b) + mod(floordiv(x, a), b)": _upper_digits,
    "a * mod(floordiv(x, a), b) + mod(x + a * y, a)": _lower_digits,
    "x - d * floordiv(x, d)": _what_is_left("floordiv"),
    "x - mod(x, d)": _what_is_left("mod"),
}
_SUMS = [Applied(r, _SUM_MATCHERS[str(r.lhs)]) for r in index_rules.SUMS]


def linear_text(x: Linear, name: Callable[[Atom], str]) -> str:
    """The form as text: `d0 * 2 + d1 floordiv 32 - 3`, terms in the order they were added."""
    parts: list[str] = []
    for atom, coef in x.terms.items():
        if isinstance(atom, tuple):
            kind, inner, divisor = atom
            simple = not inner.const and len(inner.terms) == 1 and not _needs_parens(inner)
            inner_text = linear_text(inner, name)
            text = f"{inner_text} {kind} {divisor}" if simple else f"({inner_text}) {kind} {divisor}"
        else:
            text = name(atom)
        if coef != 1:
            text = f"{text} * {coef}"
        parts.append(text)
    if x.const or not parts:
        if parts and x.const < 0:
            return " + ".join(parts) + f" - {-x.const}"
        parts.append(str(x.const))
    return " + ".join(parts)


def _needs_parens(inner: Linear) -> bool:
    ((atom, coef),) = inner.terms.items()
    return coef != 1 or isinstance(atom, tuple)


def sum_of(forms: Iterable[Linear]) -> Linear:
    total = ZERO
    for f in forms:
        total = total + f
    return total


def row_major_strides(shape: Sequence[int]) -> list[int]:
    """Element strides of a dense row-major tensor."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return strides
