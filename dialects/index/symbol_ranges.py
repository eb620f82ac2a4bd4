"""Ranges of symbols: as users write them, and the smaller ones in which guards hold.

n=1..64, k=16..512:16, b=8, m=?     from 1 to 64; the multiples of 16 from 16 to 512; 8; any
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import gcd, lcm

from lamina.dialects.index.symbol_forms import symbols_of
from lamina.dialects.index.symbol_range import ANY, MOST, SymbolRange
from lamina.dialects.index.symbols import Guard, Symbols
from lamina.errors import InputError, UnsupportedError, UsageError

_RANGE = re.compile(r"\s*(\d+)(?:\s*\.\.\s*(\d+))?(?:\s*:\s*(\d+))?\s*")
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(.*)", re.DOTALL)


def parse_ranges(text: str) -> dict[str, SymbolRange]:
    """The ranges of `n=1..64, k=16..512:16, b=8`. Raises UsageError."""
    found: dict[str, SymbolRange] = {}
    for part in filter(str.strip, text.split(",")):
        match = _NAMED.fullmatch(part)
        if match is None:
            raise _mistake(part)
        found[match[1]] = parse_range(match[2], part)
    return found


def parse_range(text: str, whole: str = "") -> SymbolRange:
    """The range of `1..64`, `16..512:16`, `8` or `?`, which stands in a `whole` text. Raises UsageError."""
    if text.strip() == "?":
        return ANY
    match = _RANGE.fullmatch(text)
    if match is None:
        raise _mistake(whole or text)
    least, most, divisor = match.groups()
    known = SymbolRange(int(least), int(most or least), int(divisor or 1))
    problem = range_problem(known)
    if problem is not None:
        raise UsageError(f"{(whole or text).strip()!r}: {problem}")
    return known


def _mistake(part: str) -> UsageError:
    return UsageError(f"{part.strip()!r} gives no values of an extent", hint="write n=1..64, n=16..512:16, n=?")


def range_problem(known: SymbolRange) -> str | None:
    """The mistake in the range of a symbol, None when there is none."""
    if known.min < 0 or known.divisor < 1:
        return f"a symbol from {known.min} on with divisor {known.divisor}: extents are not negative, divisors positive"
    if known.max // known.divisor < -(-known.min // known.divisor):
        return f"no value from {known.min} to {known.max} has the divisor {known.divisor}"
    return None


def narrowed(symbols: Symbols, declared: Mapping[str, SymbolRange], guards: Sequence[Guard]) -> Symbols:
    """The symbols with less values, or under conditions, for which guards hold.

    Those `declared` keep their values. Raises UnsupportedError for a guard that neither can say, InputError for one
    that takes values from these.
    """
    ranges, conditions = dict(symbols.known), list(symbols.conditions)
    for guard in guards:
        smaller = range_under(guard, ranges)
        if smaller is not None:
            name, range_ = smaller
            if name in declared:
                what = f"needs {guard}, the values are {range_text(name, declared[name])}"
                raise InputError(what, hint="give fewer")
            ranges[name] = range_
        elif guard.kind == "ge" and len(symbols_of(guard.form)) > 1:
            conditions.append(guard.form)
        else:
            what = f"counts with {guard}" if guard.taken else f"needs {guard}, which no range of sizes says"
            raise UnsupportedError(what, hint="give the sizes that occur one by one")
    return Symbols(ranges, conditions=conditions)


def range_text(name: str, known: SymbolRange) -> str:
    """A range as users write it."""
    return f"{name}={known.min}..{known.max}" + (f":{known.divisor}" if known.divisor > 1 else "")


def values_text(name: str, known: SymbolRange) -> str:
    """A range in words, where it may have no end."""
    if known.max < MOST:
        return range_text(name, known)
    return f"{name} from {known.min} on" + (f" by {known.divisor}" if known.divisor > 1 else "")


def range_under(guard: Guard, ranges: Mapping[str, SymbolRange]) -> tuple[str, SymbolRange] | None:
    """The range of a symbol for which a condition holds: `n - 3 >= 0`, `-n + 9 >= 0` or `n mod 8 == 0`."""
    found = None if guard.taken else _smaller(guard, ranges)
    # One value only is no range: who wants it says so.
    if found is None or range_problem(found[1]) is not None:
        return None
    before, after = ranges[found[0]], found[1]
    return None if after.min == after.max and before.min != before.max else found


def _smaller(guard: Guard, ranges: Mapping[str, SymbolRange]) -> tuple[str, SymbolRange] | None:
    form = guard.form
    if len(form.terms) != 1:
        return None
    ((atom, coef),) = form.terms.items()
    if isinstance(atom, str) and atom in ranges and guard.kind == "ge":
        known = ranges[atom]
        if coef > 0:
            return atom, known._replace(min=max(known.min, -(form.const // coef)))
        return atom, known._replace(max=min(known.max, form.const // -coef))
    if isinstance(atom, tuple) and atom[0] == "floordiv" and guard.kind == "ge":
        _, inner, divisor = atom
        # x floordiv d >= q is x >= q d, and x floordiv d <= q is x < (q + 1) d.
        least, most = -(form.const // coef) if coef > 0 else 0, form.const // -coef if coef < 0 else 0
        return _smaller(Guard(inner - least * divisor if coef > 0 else (most + 1) * divisor - 1 - inner, "ge"), ranges)
    # What is left over is never less than 0: at most 0 is 0.
    none_left = guard.kind == "eq" or (guard.kind == "ge" and coef < 0)
    if isinstance(atom, tuple) and none_left and atom[0] == "mod" and not form.const:
        _, inner, divisor = atom
        if len(inner.terms) == 1 and not inner.const:
            ((name, times),) = inner.terms.items()
            if isinstance(name, str) and name in ranges:
                return name, ranges[name]._replace(divisor=lcm(ranges[name].divisor, divisor // gcd(times, divisor)))
    return None
