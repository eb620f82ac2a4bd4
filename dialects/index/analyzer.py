"""Knowledge of index forms at a place in a program: bounds, moduli, and which conditions hold.

`Facts` are the ranges of the dimensions, which may depend on each other through conditions: the bound of a loop that
ends with a tail, the predicate of a block, a size that is known only when the kernel is called.

    facts = Facts(RangeCache(), [Condition(n - io * 64 - ii - 1)])     # inside `for %ii = 0 to 64 min [%n - %io * 64]`
    facts.proves(Condition(n - io * 64 - 1))                           # True

`Facts` can be passed wherever ranges are asked for: a division is then decided by what the conditions say, too. What is
proved holds for all integers. What is not proved may be true all the same: conditions are combined as over the
rationals, with bounds rounded to integers (Fourier and Motzkin's elimination), and large systems are given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd
from typing import Any, TypeAlias

from lamina.dialects.index import matching as index_matching
from lamina.dialects.index import rules as index_rules
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, Range, Ranges, atom_range, floordiv, unknown_ranges
from lamina.dialects.index.matching import HEADS, Applied, Bindings, split_multiples
from lamina.dialects.index.projection import Row, eliminate, infeasible

Modulus: TypeAlias = tuple[int, int]
"""(coefficient, base): the value is base plus a multiple of the coefficient; coefficient 0 says that it is base."""

ANYTHING: Modulus = (1, 0)
_ROUNDS = 3


class Facts:
    """Ranges of dimensions, and conditions on them that hold. Never changed: `given` makes new ones."""

    __slots__ = ("ranges", "conditions", "_limits", "_moduli", "_proved", "_tight", "_infeasible")

    def __init__(self, ranges: Ranges = unknown_ranges, conditions: Iterable[Condition] = ()) -> None:
        self.ranges = ranges
        self.conditions = tuple(conditions)
        self._limits: dict[Atom, tuple[int | None, int | None]] | None = None
        self._moduli: dict[Atom, Modulus] | None = None
        self._proved: dict[Linear, bool] = {}
        self._tight: dict[Linear, Range | None] = {}
        self._infeasible: bool | None = None

    def given(self, conditions: Iterable[Condition]) -> Facts:
        """These facts and more."""
        more = tuple(conditions)
        return Facts(self.ranges, (*self.conditions, *more)) if more else self

    # -- bounds ------------------------------------------------------------------------------------------------

    def __call__(self, atom: Atom) -> Range | None:
        """The bounds of a dimension, narrowed by the conditions."""
        if not self.conditions:
            return self.ranges(atom)
        if self._limits is None:
            self._limits = self._narrow()
        found = self._limits.get(atom)
        if found is None:
            return self.ranges(atom)
        low, high = found
        # Where the conditions exclude each other, nothing runs; a range is one all the same.
        return self.ranges(atom) if low is None or high is None or low > high else (low, high)

    def _narrow(self) -> dict[Atom, tuple[int | None, int | None]]:
        """Each condition bounds each of its dimensions by the bounds of the others, a few times over."""
        limits: dict[Atom, tuple[int | None, int | None]] = {}
        for c in self.conditions:
            for atom in c.form.terms:
                if atom not in limits:
                    known = atom_range(atom, self.ranges)
                    limits[atom] = known if known is not None else (None, None)
        forms = [f for c in self.conditions for f in ((c.form, -c.form) if c.equal else (c.form,))]
        for _ in range(_ROUNDS):
            changed = False
            for form in forms:
                changed |= _narrow_by(form, limits)
            if not changed:
                break
        return limits

    def bounds(self, form: Linear) -> Range | None:
        """Inclusive bounds of a form, as narrow as the conditions make them."""
        bounds = form.range(self)
        if not self.conditions or not form.terms:
            return bounds
        if form not in self._tight:
            self._tight[form] = self._project(form, bounds)
        return self._tight[form]

    def _project(self, form: Linear, bounds: Range | None) -> Range | None:
        rows = self._rows([form], needed=True)
        if rows is None:
            return bounds
        value = ("floordiv", Linear(const=-1), 1)  # an atom that no form has: the value itself
        low, high = bounds if bounds is not None else (None, None)
        difference = form - Linear.dim(value)
        left = eliminate([*rows, Row.of(difference), Row.of(-difference)], lambda a: a != value)
        for row in left or ():
            coef = row.terms.get(value)
            if coef is None:
                continue
            if coef > 0:
                limit = -(row.const // coef)
                low = limit if low is None else max(low, limit)
            else:
                limit = row.const // -coef
                high = limit if high is None else min(high, limit)
        return None if low is None or high is None or low > high else (low, high)

    def symbolic_bounds(self, form: Linear, over: Iterable[Atom]) -> tuple[list[Linear], list[Linear]]:
        """The bounds of a form while the dimensions `over` take all their values: forms of the other dimensions.

        The value is at least the greatest of the first list, at most the least of the second. An empty list says that
        nothing is known.
        """
        gone = set(over)
        value = ("floordiv", Linear(const=-1), 1)
        rows = self._rows([form])
        difference = form - Linear.dim(value)
        system = [*(rows or []), Row.of(difference), Row.of(-difference)]
        left = eliminate(system, lambda a: _mentions(a, gone)) if rows is not None else None
        lows: list[Linear] = []
        highs: list[Linear] = []
        for row in left or ():
            coef = row.terms.get(value)
            if coef is None:
                continue
            rest = Linear({a: c for a, c in row.terms.items() if a != value}, row.const)
            if coef > 0:
                lows.append(-floordiv(rest, coef, self))
            else:
                highs.append(floordiv(rest, -coef, self))
        return self.maximum(lows), self.minimum(highs)

    # -- moduli ------------------------------------------------------------------------------------------------

    def modulus(self, form: Linear) -> Modulus:
        """The known modulus of the form: it is `base` plus a multiple of `coefficient`."""
        coefficient, base = 0, form.const
        for atom, times in form.terms.items():
            c, b = self._atom_modulus(atom)
            coefficient = gcd(coefficient, c * times)
            base += b * times
        return coefficient, base % coefficient if coefficient else base

    def _atom_modulus(self, atom: Atom) -> Modulus:
        if isinstance(atom, tuple):
            kind, inner, divisor = atom
            coefficient, base = self.modulus(inner)
            if coefficient % divisor == 0:
                return (coefficient // divisor, base // divisor) if kind == "floordiv" else (0, base % divisor)
            if kind == "floordiv":
                return ANYTHING
            shared = gcd(coefficient, divisor)
            return shared, base % shared
        if self._moduli is None:
            self._moduli = {}  # while they are found, nothing is known
            for c in self.conditions:
                if c.equal:
                    self._learn_moduli(c.form)
        known = self._moduli.get(atom)
        if known is None:
            bounds = self(atom)
            return (0, bounds[0]) if bounds is not None and bounds[0] == bounds[1] else ANYTHING
        return known

    def _learn_moduli(self, form: Linear) -> None:
        """Record what form == 0 says of its dimensions: `v - 4 * w - 1 == 0` or `v mod 16 == 0`."""
        assert self._moduli is not None
        for atom, times in form.terms.items():
            if abs(times) != 1:
                continue
            coefficient, base = self.modulus((Linear.dim(atom) * times - form) * times)
            if isinstance(atom, tuple):
                kind, inner, divisor = atom
                if kind != "mod" or coefficient or len(inner.terms) != 1:
                    continue
                ((atom, times),) = inner.terms.items()
                if isinstance(atom, tuple) or abs(times) != 1:
                    continue
                coefficient, base = divisor, (base - inner.const) * times
            if coefficient != 1 and self._moduli.get(atom, ANYTHING)[0] < max(coefficient, 2):
                self._moduli[atom] = coefficient, base % coefficient if coefficient else base

    # -- conditions --------------------------------------------------------------------------------------------

    def proves(self, condition: Condition) -> bool:
        """Whether a condition holds wherever the facts do."""
        form = condition.form
        return self.at_least(form) and (not condition.equal or self.at_least(-form))

    def excludes(self, condition: Condition) -> bool:
        """Whether a condition fails wherever the facts hold."""
        return self.condition(condition) is False

    def at_least(self, form: Linear) -> bool:
        """Whether form >= 0 always."""
        bounds = form.range(self)
        if bounds is not None:
            if bounds[0] >= 0:
                return True
            if bounds[1] < 0:
                return False
        if not self.conditions and not any(isinstance(a, tuple) for a in form.terms):
            return False
        known = self._proved.get(form)
        if known is None:
            rows = self._rows([form], needed=True)
            known = self._proved[form] = rows is not None and infeasible([*rows, Row.of(-form - 1)])
        return known

    def contradictory(self) -> bool:
        """Whether the conditions exclude each other, so that nothing here ever runs."""
        if self._infeasible is None:
            rows = self._rows([c.form for c in self.conditions])
            self._infeasible = rows is not None and bool(self.conditions) and infeasible(rows)
        return self._infeasible

    def _rows(self, forms: Sequence[Linear], needed: bool = False) -> list[Row] | None:
        """The inequalities that have to do with forms; None where there are too many, or only those of a box."""
        rows: list[Row] = []
        pending = [a for f in forms for a in f.terms]
        seen: set[Atom] = set()
        waiting = [(c, c.form.atoms) for c in self.conditions]
        while pending:
            atom = pending.pop()
            if atom in seen:
                continue
            seen.add(atom)
            if len(seen) > _MOST_ATOMS:
                return None
            bounds = atom_range(atom, self.ranges)
            x = Linear.dim(atom)
            if bounds is not None:
                rows += [Row.of(x - bounds[0]), Row.of(bounds[1] - x)]
            if isinstance(atom, tuple):
                kind, inner, divisor = atom
                quotient = x if kind == "floordiv" else Linear({("floordiv", inner, divisor): 1})
                rest = inner - quotient * divisor
                rows += [Row.of(rest), Row.of(divisor - 1 - rest)]
                if kind == "mod":
                    rows += [Row.of(rest - x), Row.of(x - rest)]
                pending += [*quotient.terms, *inner.terms]
            for known in list(waiting):
                c, atoms = known
                if atom in atoms:
                    waiting.remove(known)
                    rows.append(Row.of(c.form))
                    if c.equal:
                        rows.append(Row.of(-c.form))
                    pending += c.form.terms
        if needed and len(waiting) == len(self.conditions) and not any(isinstance(a, tuple) for a in seen):
            return None  # the dimensions do not depend on each other: their ranges have said it all
        return rows

    # -- simplification ----------------------------------------------------------------------------------------

    def simplify(self, form: Linear) -> Linear:
        """The same value wherever the facts hold, with every division resolved that they decide."""
        return form.simplify(self)

    def condition(self, condition: Condition) -> Condition | bool:
        """An equal condition, as small as can be; True or False where it is decided."""
        found: Condition | bool = Condition(self.simplify(condition.form), condition.equal)
        while not isinstance(found, bool):
            new = _rewrite_condition(found, self)
            if new is None:
                return found
            found = new
        return found

    def all_of(self, conditions: Iterable[Condition]) -> list[Condition] | None:
        """The conditions that are left of some that all must hold, each simplified; None where one never does."""
        kept: list[Condition] = []
        for c in conditions:
            new = self.condition(c)
            if new is False:
                return None
            if new is not True and new not in kept:
                kept.append(new)
        if len(kept) < 2:
            return kept
        for c in list(kept):
            others = [k for k in kept if k != c]
            if others and self.given(others).proves(c):
                kept = others
        return None if self.given(kept).contradictory() else kept

    def minimum(self, forms: Iterable[Linear]) -> list[Linear]:
        """The forms that can be the least of some."""
        return self._extreme("least", forms)

    def maximum(self, forms: Iterable[Linear]) -> list[Linear]:
        """The forms that can be the greatest of some."""
        return self._extreme("greatest", forms)

    def _extreme(self, head: str, forms: Iterable[Linear]) -> list[Linear]:
        (rule,) = [r for r in _EXTREMA if r.rule.lhs.head == head]
        kept: list[Linear] = []
        for y in forms:
            if any(rule.applies({"x": x, "y": y}, self) for x in kept):
                continue
            kept = [x for x in kept if not rule.applies({"x": y, "y": x}, self)]
            kept.append(y)
        return kept


_MOST_ATOMS = 16


def proves(condition: Condition, facts: Facts) -> bool:
    """Whether a condition holds wherever the facts do."""
    return facts.proves(condition)


def _mentions(atom: Atom, dims: set[Atom]) -> bool:
    return atom in dims or isinstance(atom, tuple) and any(d in dims for d in atom[1].dims())


def _narrow_by(form: Linear, limits: dict[Atom, tuple[int | None, int | None]]) -> bool:
    """Use form >= 0: c * v >= -(the most that the rest can be)."""
    most: int = form.const
    unbounded: Atom | None = None
    for atom, coef in form.terms.items():
        end = limits[atom][1 if coef > 0 else 0]
        if end is None:
            if unbounded is not None:
                return False
            unbounded = atom
        else:
            most += end * coef
    changed = False
    for atom, coef in form.terms.items():
        if unbounded is not None and atom != unbounded:
            continue
        low, high = limits[atom]
        end = high if coef > 0 else low
        rest = most - (0 if end is None else end * coef)
        if coef > 0:
            limit = -(rest // coef)
            if low is None or limit > low:
                limits[atom] = limit, high
                changed = True
        else:
            limit = rest // -coef
            if high is None or limit < high:
                limits[atom] = low, limit
                changed = True
    return changed


# -- rules of conditions -----------------------------------------------------------------------------------------


def _whole(x: Linear, facts: Facts) -> Iterable[Bindings]:
    return ({"x": x, "d": max(facts.modulus(x)[0], 1)},)


def _factors(x: Linear, facts: Facts) -> Iterable[Bindings]:
    for g in sorted({abs(c) for c in x.terms.values()} | {gcd(*x.terms.values())}, reverse=True):
        if g > 1:
            y, s = split_multiples(x, g)
            yield {"g": g, "y": y, "s": s}


def _common_factor(x: Linear, facts: Facts) -> Iterable[Bindings]:
    g = gcd(*x.terms.values())
    if g > 1 and x.const % g == 0:
        yield {"g": g, "y": Linear({a: c // g for a, c in x.terms.items()}), "k": x.const // g}


def _quotients(sign: int) -> Callable[[Linear, Facts], Iterable[Bindings]]:
    def match(x: Linear, facts: Facts) -> Iterable[Bindings]:
        for atom, coef in x.terms.items():
            if coef == sign and isinstance(atom, tuple) and atom[0] == "floordiv":
                yield {"x": atom[1], "d": atom[2], "y": x - Linear({atom: sign})}

    return match


_MATCHERS: dict[str, Callable[[Linear, Facts], Iterable[Bindings]]] = {
    "nonnegative(x)": _whole,
    "zero(x)": _whole,
    "nonnegative(g * y + s)": _factors,
    "zero(g * y + g * k)": _common_factor,
    "nonnegative(floordiv(x, d) + y)": _quotients(1),
    "nonnegative(y - floordiv(x, d))": _quotients(-1),
}


def _nonnegative(_: Facts, x: Linear) -> Condition:
    return Condition(x)


def _zero(_: Facts, x: Linear) -> Condition:
    return Condition(x, True)


_CONDITION_HEADS: dict[str, Callable[..., Any]] = {**HEADS, "nonnegative": _nonnegative, "zero": _zero}
_CONDITIONS = {
    equal: [
        Applied(r, _MATCHERS[str(r.lhs)], _CONDITION_HEADS)
        for r in index_rules.CONDITIONS
        if (r.lhs.head == "zero") == equal
    ]
    for equal in (False, True)
}


def _nothing(*_: Any) -> Iterable[Bindings]:
    return ()


_EXTREMA = [Applied(r, _nothing) for r in index_rules.EXTREMA]


def _rewrite_condition(condition: Condition, facts: Facts) -> Condition | bool | None:
    form = condition.form
    if not form.terms:
        return form.const == 0 if condition.equal else form.const >= 0
    for rule in _CONDITIONS[condition.equal]:
        for found in rule.match(form, facts):
            if rule.applies(found, facts):
                if index_matching.observer is not None:
                    index_matching.observer(rule.rule, found, form)
                new = rule.build(found, facts)
                return new if isinstance(new, bool) else Condition(facts.simplify(new.form), new.equal)
    return None
