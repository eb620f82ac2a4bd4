"""Extents that are known only when a program runs, as numbers: forms over named symbols.

    symbols = Symbols({"n": SymbolRange(1, 4096)})
    n = symbols.extent("n")
    n * 2 + 1, n * 512 // n, (n + 7) // 8     # a form, 512, a quotient
    n >= 1                                    # True: the range says so
    n == 512                                  # decided by the hint of n, and recorded: symbols.guards

A `SymbolicExtent` is no int. What the ranges and divisors of the symbols decide is decided; whatever else is asked (a
comparison, a truth, a hash, the number itself) is answered for the hint, one value that the symbol may have, and the
answer is recorded as a `Guard`. What was computed therefore holds for all values that satisfy the guards: a function
that was written for numbers cannot use an extent as a number unheard.

Products of symbols are symbols of their own (`b*s`). Quotients have constant divisors, unless they are exact.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import gcd, prod
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, Range, constant, floordiv, mod
from lamina.dialects.index.symbol_forms import (
    evaluate,
    extent_text,
    factors_of,
    form_of,
    product_name,
    product_of,
    quotient_of,
    symbols_of,
)
from lamina.dialects.index.symbol_range import MOST as MOST
from lamina.dialects.index.symbol_range import SymbolRange as SymbolRange
from lamina.dialects.infos import TypeMismatch

USUAL = (47, 11, 3)
"""The value for which an open question about a symbol is answered first: below the rows of a table of positions, above
the extents at which an op is another (1 broadcasts), and a prime, so that no division comes out by chance. The smaller
ones are for symbols that together have to be less."""

Kind: TypeAlias = Literal["ge", "eq", "ne"]
_SIGNS: dict[Kind, str] = {"ge": ">=", "eq": "==", "ne": "!="}


class Guard(NamedTuple):
    """A condition over symbols under which an answer was given: `form >= 0`, `== 0` or `!= 0`."""

    form: Linear
    kind: Kind
    taken: bool = False
    """Whether the value itself was asked for, so that the symbols are bound to one number."""

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds for values of the symbols."""
        value = evaluate(self.form, values)
        return value >= 0 if self.kind == "ge" else (value == 0) == (self.kind == "eq")

    def negated(self) -> Guard:
        """The condition that holds where this one does not."""
        if self.kind == "ge":
            return Guard(-self.form - 1, "ge")
        return Guard(self.form, "ne" if self.kind == "eq" else "eq")

    def __str__(self) -> str:
        # Terms with the sign that they have on their own side, as people write conditions.
        left = Linear({a: c for a, c in self.form.terms.items() if c > 0}, max(self.form.const, 0))
        right = Linear({a: -c for a, c in self.form.terms.items() if c < 0}, max(-self.form.const, 0))
        if left.is_constant and not right.is_constant:
            sign = "<=" if self.kind == "ge" else _SIGNS[self.kind]
            return f"{extent_text(right)} {sign} {extent_text(left)}"
        return f"{extent_text(left)} {_SIGNS[self.kind]} {extent_text(right)}"


class Symbols:
    """Named extents: what is known of each, and under which conditions questions about them were answered."""

    def __init__(
        self,
        known: Mapping[str, SymbolRange],
        hints: Mapping[str, int] | None = None,
        conditions: Sequence[Linear] = (),
    ) -> None:
        """`conditions` are forms that are never negative."""
        self.known = dict(known)
        self.conditions = tuple(conditions)
        self.hints: dict[str, int] = {}
        for usual in USUAL:
            self.hints = {}
            for name, range_ in self.known.items():
                given = hints.get(name) if hints else None
                self.hints[name] = given if given is not None else _hint(range_, self.hints.values(), usual)
            if all(evaluate(c, self.hints) >= 0 for c in self.conditions):
                break
        for name in reversed(self.known):
            if all(evaluate(c, self.hints) >= 0 for c in self.conditions):
                break
            self.hints[name] = _first_value(self.known[name])
        self.guards: list[Guard] = []
        self.general = False
        """Whether an extent that may be 0 or 1 counts as one that is neither. What is done with any extent is right for
        these as well; only what is done because an extent is 1 is not."""
        self.takes_guards = False
        """Whether types are inferred under guards as well: whoever has made the symbols looks at them afterwards."""
        self._fixed: dict[Atom, Linear] = {n: constant(r.min) for n, r in self.known.items() if r.min == r.max}
        self._facts: Facts | None = None

    @property
    def key(self) -> Hashable:
        """Equal for symbols of which the same is said."""
        return tuple(self.known.items()), tuple(self.hints.items()), self.conditions

    def assume(self) -> None:
        """Take the guards so far, which are all `>= 0`, for conditions that hold."""
        self.conditions = (*self.conditions, *(g.form for g in self.guards))
        self.guards.clear()
        self._facts = None

    def least(self) -> dict[str, int]:
        """The least value of each symbol."""
        return {n: _first_value(r) for n, r in self.known.items()}

    def fresh(self) -> Symbols:
        """The same symbols, of which nothing has been asked yet."""
        return Symbols(self.known, self.hints, self.conditions)

    # -- numbers -----------------------------------------------------------------------------------

    def extent(self, name: str) -> int:
        """The number of a symbol, or of a text over symbols such as `n + 1`."""
        return self.number(form_of(name))

    def number(self, form: Linear) -> int:
        """The number of a form over symbols: an int where that is known, else a `SymbolicExtent`.

        It stands where ints do: whoever asks for its value is answered, and heard. Raises KeyError for a symbol that
        is none of these.
        """
        for name in symbols_of(form):
            if name not in self.known:
                raise KeyError(name)
        if self._fixed:
            form = self._substituted(form)
        if any(type(a) is tuple for a in form.terms):
            form = self._reduced(form)
        return form.const if form.is_constant else cast(int, SymbolicExtent(form, self))

    def _substituted(self, form: Linear) -> Linear:
        """The form without symbols that have one value only."""
        mapping = dict(self._fixed)
        for atom in form.dims():
            names = factors_of(atom)
            if len(names) > 1 and any(n in self._fixed for n in names):
                factor = prod(self._fixed[n].const for n in names if n in self._fixed)
                left = [n for n in names if n not in self._fixed]
                mapping[atom] = Linear({product_name(left): factor}) if left and factor else constant(0 if left else 1)
                if not left:
                    mapping[atom] = constant(factor)
        return form.substitute(mapping)

    def _reduced(self, form: Linear) -> Linear:
        """The form with the divisions resolved that ranges and divisors decide."""
        form = self.facts.simplify(form)
        for atom, coef in list(form.terms.items()):
            if type(atom) is tuple and atom[0] == "floordiv" and coef % atom[2] == 0:
                _, inner, divisor = atom
                coefficient, base = self.facts.modulus(inner)
                if coefficient % divisor == 0:  # what is left over is known: x floordiv d * d = x - rest
                    rest = Linear({a: c for a, c in form.terms.items() if a != atom}, form.const)
                    form = rest + (inner - base % divisor) * (coef // divisor)
        return form

    # -- what is known -----------------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        """The ranges, the divisors and the guards so far."""
        if self._facts is None:
            conditions = [
                Condition(mod(Linear.dim(n), r.divisor), True) for n, r in self.known.items() if r.divisor > 1
            ]
            conditions += [Condition(c) for c in self.conditions]
            conditions += [Condition(g.form, g.kind == "eq") for g in self.guards if g.kind != "ne"]
            self._facts = Facts(self.range, conditions)
        return self._facts

    def range(self, atom: Atom) -> Range | None:
        """The bounds of a symbol, or of a product of symbols."""
        found = [self.known[n] for n in factors_of(atom)]
        return prod(r.min for r in found), prod(r.max for r in found)

    def decided(self, guard: Guard) -> bool | None:
        """Whether a condition always holds, or never does; None where that depends on the symbols."""
        form, facts = guard.form, self.facts
        if form.is_constant:
            return guard.holds({})
        if guard.kind == "ge":
            return True if facts.at_least(form) else False if facts.at_least(-form - 1) else None
        equal: bool | None = None
        if facts.at_least(form - 1) or facts.at_least(-form - 1) or self._never_zero(form):
            equal = False
        elif facts.at_least(form) and facts.at_least(-form):
            equal = True
        return equal if equal is None or guard.kind == "eq" else not equal

    def _never_zero(self, form: Linear) -> bool:
        coefficient, base = self.facts.modulus(form)
        if coefficient and base % coefficient:
            return True
        return any(g.kind == "ne" and g.form in (form, -form) for g in self.guards)

    def holds(self, guard: Guard) -> bool:
        """Whether a condition holds; where that depends, whether it does for the hints, which is recorded."""
        found = self.decided(guard)
        if found is None and self.general and (guard.kind != "ge" or abs(guard.form.const) <= 2):
            found = self._of_general(guard)
        if found is None:
            found = guard.holds(self.hints)
            self._record(guard if found else guard.negated())
        return found

    def _of_general(self, guard: Guard) -> bool | None:
        """Whether a condition holds that asks whether an extent is 0 or 1; None for another."""
        terms = guard.form.terms
        if any(not isinstance(a, str) for a in terms) or (guard.kind == "ge" and [*map(abs, terms.values())] != [1]):
            return None
        low = high = guard.form.const
        for atom, coef in terms.items():
            ranges = [r._replace(min=max(r.min, 2)) for r in (self.known[n] for n in factors_of(atom))]
            if any(r.min > r.max for r in ranges):
                return None
            ends = sorted((coef * prod(r.min for r in ranges), coef * prod(r.max for r in ranges)))
            low, high = low + ends[0], high + ends[1]
        if guard.kind == "ge":
            return True if low >= 0 else False if high < 0 else None
        return None if low <= 0 <= high else guard.kind == "ne"

    def _record(self, guard: Guard) -> None:
        if guard.kind == "ne":
            # At the end of a range a value less is a smaller range.
            if self.facts.at_least(guard.form):
                guard = Guard(guard.form - 1, "ge")
            elif self.facts.at_least(-guard.form):
                guard = Guard(-guard.form - 1, "ge")
        divisor = gcd(*guard.form.terms.values())
        if divisor > 1 and (guard.kind == "ge" or guard.form.const % divisor == 0):
            terms = {a: c // divisor for a, c in guard.form.terms.items()}
            guard = guard._replace(form=Linear(terms, guard.form.const // divisor))
        if guard not in self.guards:
            self.guards.append(guard)
            self._facts = None

    def forget(self, count: int) -> None:
        """Answers after the first `count` guards were not used."""
        if len(self.guards) > count:
            del self.guards[count:]
            self._facts = None

    def value(self, form: Linear) -> int:
        """The value of a form: where that is not known, the one for the hints, and the form is bound to it."""
        found = evaluate(form, self.hints)
        if self.decided(Guard(form - found, "eq")) is not True:
            self._record(Guard(form - found, "eq", taken=True))
        return found


# -- numbers ---------------------------------------------------------------------------------------


class SymbolicExtent:
    """A number that depends on symbols: see the module's docstring. Never one that is known, which is an int."""

    __slots__ = ("form", "symbols")

    form: Linear
    symbols: Symbols

    def __init__(self, form: Linear, symbols: Symbols) -> None:
        self.form = form
        self.symbols = symbols

    @property
    def hint(self) -> int:
        """The value for the hints of the symbols, for choices that change no result."""
        return evaluate(self.form, self.symbols.hints)

    @property
    def least(self) -> int:
        """A value that it is never less than, the value for the hints where none is known."""
        bounds = self.symbols.facts.bounds(self.form)
        return self.hint if bounds is None else bounds[0]

    def is_always(self, value: int) -> bool:
        """Whether it is a value for all values of the symbols. Records nothing."""
        return self.symbols.decided(Guard(self.form - value, "eq")) is True

    def exact_quotient(self, divisor: int) -> int:
        """The number whose product with a divisor it is, which is not 0; a quotient where there is none."""
        form = _form(divisor)
        found = quotient_of(self.form, form) if form is not None and not form.is_constant else None
        return self // divisor if found is None else self._of(found)

    def at_least(self, value: int) -> bool:
        """Whether it is no less than a value for all values of the symbols. Records nothing."""
        return self.symbols.decided(Guard(self.form - value, "ge")) is True

    # -- arithmetic --------------------------------------------------------------------------------

    def _of(self, form: Linear) -> int:
        return self.symbols.number(form)

    def _with(self, other: Any, on_forms: Callable[[Linear, Linear], Any], operator: Callable[[Any, Any], Any]) -> Any:
        """The result of an operator: on forms where the other is a whole number, else on the value, which is heard."""
        form = _form(other)
        if form is not None:
            return on_forms(self.form, form)
        return operator(int(self), other) if isinstance(other, float) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._of(a + b), operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._of(a - b), operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._of(b - a), lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, self._times, operator.mul)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._divided(a, b)[0], lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._divided(b, a)[0], lambda a, b: b // a)

    def __mod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._divided(a, b)[1], operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._divided(b, a)[1], lambda a, b: b % a)

    def __divmod__(self, other: Any) -> Any:
        return self._with(other, self._divided, divmod)

    def __rdivmod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: self._divided(b, a), lambda a, b: divmod(b, a))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        return self._of(-self.form)

    def __pos__(self) -> Any:
        return self

    __trunc__ = __floor__ = __ceil__ = __pos__

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None or digits >= 0 else round(int(self), digits)

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def _times(self, a: Linear, b: Linear) -> int:
        found = product_of(a, b)
        # A product with a quotient is no form: one of the two is taken as a number.
        return self._of(a * self.symbols.value(b) if found is None else found)

    def __pow__(self, other: Any) -> Any:
        return prod([self] * int(other)) if int(other) >= 0 else int(self) ** int(other)

    def __rpow__(self, other: Any) -> Any:
        return other ** int(self)

    def __truediv__(self, other: Any) -> Any:
        return int(self) / (int(other) if isinstance(other, SymbolicExtent) else other)

    def __rtruediv__(self, other: Any) -> Any:
        return other / int(self)

    def _divided(self, dividend: Linear, divisor: Linear) -> tuple[Any, Any]:
        """Quotient and remainder."""
        symbols = self.symbols
        if not divisor.is_constant:
            positive = symbols.holds(Guard(divisor - 1, "ge"))
            exact = quotient_of(dividend, divisor) if positive else None
            if exact is not None:
                return self._of(exact), 0
            if (
                positive
                and symbols.decided(Guard(dividend, "ge"))
                and symbols.decided(Guard(divisor - 1 - dividend, "ge"))
            ):
                return 0, self._of(dividend)
            divisor = constant(symbols.value(divisor))
        number = divisor.const
        if number <= 0:
            return divmod(symbols.value(dividend), number)
        if dividend.is_constant:
            return divmod(dividend.const, number)
        facts = symbols.facts
        coefficient, base = facts.modulus(dividend)
        if coefficient % number == 0:
            rest = base % number
            whole = dividend - rest
            if not whole.const % number and not any(c % number for c in whole.terms.values()):
                terms = {a: c // number for a, c in whole.terms.items()}
                return self._of(Linear(terms, whole.const // number)), rest
            return self._of(_floordiv(dividend, number, facts)), rest
        return self._of(_floordiv(dividend, number, facts)), self._of(mod(dividend, number, facts))

    # -- questions ---------------------------------------------------------------------------------

    def _asked(
        self, other: Any, kind: Kind, operator: Callable[[Any, Any], Any], sign: int = 1, offset: int = 0
    ) -> Any:
        def ask(a: Linear, b: Linear) -> bool:
            return self.symbols.holds(Guard((a - b) * sign + offset, kind))

        return self._with(other, ask, operator)

    def __eq__(self, other: object) -> Any:
        return self._asked(other, "eq", operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._asked(other, "ne", operator.ne)

    def __ge__(self, other: Any) -> Any:
        return self._asked(other, "ge", operator.ge)

    def __gt__(self, other: Any) -> Any:
        return self._asked(other, "ge", operator.gt, 1, -1)

    def __le__(self, other: Any) -> Any:
        return self._asked(other, "ge", operator.le, -1)

    def __lt__(self, other: Any) -> Any:
        return self._asked(other, "ge", operator.lt, -1, -1)

    def __bool__(self) -> bool:
        return self.symbols.holds(Guard(self.form, "ne"))

    def __int__(self) -> int:
        return self.symbols.value(self.form)

    __index__ = __int__

    def __hash__(self) -> int:
        return hash(int(self))

    def __float__(self) -> float:
        return float(int(self))

    def __getattr__(self, name: str) -> Any:
        """An attribute that only ints have, `bit_length`: of the value, which is heard."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(int(self), name)

    def __repr__(self) -> str:
        return extent_text(self.form)

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else repr(self)


def _floordiv(form: Linear, divisor: int, facts: Facts) -> Linear:
    """The quotient, rounded down. What falls is divided as what rises: a quotient that is rounded up has one form."""
    if all(c < 0 for c in form.terms.values()):
        return -floordiv(divisor - 1 - form, divisor, facts)
    return floordiv(form, divisor, facts)


def _form(value: Any) -> Linear | None:
    if type(value) is SymbolicExtent:
        return value.form
    if isinstance(value, (int, _integers())):
        return constant(int(value))
    return None


@cache
def _integers() -> type:
    import numpy as np

    return np.integer


def _first_value(known: SymbolRange) -> int:
    return -(-known.min // known.divisor) * known.divisor


def _hint(known: SymbolRange, taken: Iterable[int], usual: int) -> int:
    """A value of a symbol: no small one where there is another, and not one of others."""
    first = -(-known.min // known.divisor)
    last = known.max // known.divisor
    wanted = max(-(-usual // known.divisor), first)
    others = set(taken)
    for k in range(len(others) + 1):
        value = min(wanted + 9 * k, last) * known.divisor
        if value not in others:
            return value
    return min(wanted, last) * known.divisor


# -- the symbols that types are about --------------------------------------------------------------

_active: list[Symbols] = []


@contextmanager
def with_symbols(symbols: Symbols) -> Generator[Symbols]:
    """While it lasts, names in types are these symbols."""
    _active.append(symbols)
    try:
        yield symbols
    finally:
        _active.pop()


def numbers_of(texts: Sequence[str]) -> tuple[int, ...]:
    """The numbers of forms over the current symbols. Raises TypeMismatch where these are none."""
    symbols = current_symbols()
    if symbols is None:
        raise NoSymbolsError(f"<{', '.join(texts)}> depends on symbols, of which nothing is said here")
    try:
        return tuple(symbols.number(form_of(t)) for t in texts)
    except KeyError as e:
        raise NoSymbolsError(f"<{', '.join(texts)}>: the module has no symbol {e.args[0]}") from None


class NoSymbolsError(TypeMismatch):
    """A number depends on a symbol of which nothing is said."""

    decided: ClassVar[bool] = False


def current_symbols() -> Symbols | None:
    """The symbols that names in types are; None where they are names only."""
    return _active[-1] if _active else None
