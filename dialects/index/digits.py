"""Index forms read as digits: which of them say where they came from, and the way back.

    x = i * 4 + j, y = k    with j in 0..3:    i = x floordiv 4, j = x mod 4, k = y

A form is decomposed into digits `(base floordiv low) mod extent` of a variable (or of a fused form), each with a
coefficient that exceeds all that the smaller ones can add up to. The digits of a base, put together, give it back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from lamina.dialects.index.linear import Atom, Linear, Range, Ranges, floordiv, mod

Extents: TypeAlias = "Mapping[Atom, int | None]"
"""The extent of each variable, None for one that is known only when a program runs."""


class Digit(NamedTuple):
    """`(base floordiv low) mod extent`; the last digit of a base of unknown extent has none itself."""

    base: Linear
    low: int
    extent: int | None


def inverse(forms: Sequence[Linear], extents: Extents, values: Sequence[Linear]) -> dict[Atom, Linear] | None:
    """Each variable over the values that the forms have, or None where the forms do not tell (or not provably).

    The variables are those of `extents` with more than one value, each from 0; all others in the forms count as fixed.
    """
    found: dict[Atom, Linear] = {}
    waiting: list[tuple[Linear, Linear]] = list(zip(forms, values, strict=True))
    parts: dict[Linear, list[tuple[Digit, Linear]]] = {}
    while waiting:
        for form, value in waiting:
            digits = _decode(form, value, extents)
            if digits is None:
                return None
            for digit, part in digits:
                parts.setdefault(digit.base, []).append((digit, part))
        waiting = []
        for base in list(parts):
            whole = _assembled(base, parts[base], extents)
            if whole is None:
                continue
            del parts[base]
            atom = _variable(base)
            if atom is None:
                waiting.append((base, whole))
            else:
                found.setdefault(atom, whole)
    wanted = [v for v, e in extents.items() if e is None or e > 1]
    return {v: found[v] for v in wanted} if all(v in found for v in wanted) else None


def is_injective(forms: Sequence[Linear], extents: Extents) -> bool:
    """Whether the forms are provably different for different values of the variables."""
    return inverse(forms, extents, [Linear.dim(n) for n in range(len(forms))]) is not None


def _ranges(extents: Extents) -> Ranges:
    def ranges(atom: Atom) -> Range | None:
        extent = extents.get(atom)
        return None if extent is None else (0, max(extent - 1, 0))

    return ranges


def _variable(base: Linear) -> Atom | None:
    if base.const or len(base.terms) != 1:
        return None
    ((atom, coef),) = base.terms.items()
    return atom if coef == 1 and not isinstance(atom, tuple) else None


def _decode(form: Linear, value: Linear, extents: Extents) -> list[tuple[Digit, Linear]] | None:
    """The digits of a form and what each is, given the value of the form."""
    terms: list[tuple[int, Digit]] = []
    for atom, coef in form.terms.items():
        if not any(d in extents for d in Linear({atom: 1}).dims()):
            value = value - Linear({atom: coef})
            continue
        digit = _digit(Linear({atom: 1}), extents)
        if digit is None:
            return None
        if digit.extent == 1:
            continue
        terms.append((coef, digit))
    value = value - form.const
    shifts: list[int | None] = []
    terms.sort(key=lambda t: abs(t[0]))
    reach = 1  # one more than what the digits below can add up to
    for n, (coef, digit) in enumerate(terms):
        if abs(coef) < reach or (digit.extent is None and (n + 1 < len(terms) or coef < 0)):
            return None
        last = 0 if digit.extent is None else digit.extent - 1
        reach += abs(coef) * last
        if coef < 0:  # c * d is |c| * (last - d) + c * last
            value = value - coef * last
        shifts.append(last if coef < 0 else None)
    digits: list[tuple[Digit, Linear]] = []
    for n, (coef, digit) in enumerate(terms):
        part = floordiv(_lower(value, [abs(c) for c, _ in terms[n + 1 :]]), abs(coef))
        last = shifts[n]
        digits.append((digit, part if last is None else last - part))
    return digits


def _lower(value: Linear, coefficients: Sequence[int]) -> Linear:
    """The sum of the digits below some others: less than the least coefficient, and the rest multiples of them."""
    for n, c in reversed(list(enumerate(coefficients))):
        if n and c % coefficients[n - 1] == 0:
            continue  # (x mod ab) mod a = x mod a
        value = mod(value, c)
    return value


def _digit(form: Linear, extents: Extents) -> Digit | None:
    """A form as one digit of a base; a sum is a base of its own. None where it is not known to be at least 0."""
    if form.const == 0 and len(form.terms) == 1:
        ((atom, coef),) = form.terms.items()
        if coef == 1 and not isinstance(atom, tuple):
            return Digit(form, 1, extents[atom]) if atom in extents else None
        if coef == 1 and isinstance(atom, tuple):
            kind, inner, divisor = atom
            digit = _digit(inner, extents)
            if digit is None:
                return None
            base, low, extent = digit
            if not _is_last(digit, extents) and (extent is None or extent % divisor):
                base, low = inner, 1  # no digit of the base, but one of what is divided
            if kind == "floordiv":
                return Digit(base, low * divisor, None if extent is None else -(-extent // divisor))
            return digit if extent is not None and extent <= divisor else Digit(base, low, divisor)
    if not all(d in extents for d in form.dims()):
        return None
    bounds = form.range(_ranges(extents))
    if bounds is None:
        return None if form.const < 0 or any(c < 0 for c in form.terms.values()) else Digit(form, 1, None)
    return None if bounds[0] < 0 else Digit(form, 1, bounds[1] + 1)


def _extent_of(base: Linear, extents: Extents) -> int | None:
    digit = _digit(base, extents)
    return None if digit is None else digit.extent


def _is_last(digit: Digit, extents: Extents) -> bool:
    """Whether a digit is all that its base has from `low` up."""
    if digit.extent is None:
        return True
    whole = _extent_of(digit.base, extents)
    return whole is not None and digit.low * digit.extent >= whole


def _assembled(base: Linear, parts: Sequence[tuple[Digit, Linear]], extents: Extents) -> Linear | None:
    """A base from its digits; None where some are missing."""
    whole = _extent_of(base, extents)
    total = Linear()
    reached: int | None = 1
    for digit, value in sorted(parts, key=lambda p: p[0].low):
        if reached is None or (whole is not None and reached >= whole):
            break
        if digit.low < reached:
            continue  # what is known already
        if digit.low != reached:
            return None
        total = total + value * digit.low
        reached = None if digit.extent is None else digit.low * digit.extent
    complete = reached is None or (whole is not None and reached >= whole)
    return total if complete else None
