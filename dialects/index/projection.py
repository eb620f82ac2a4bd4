"""Systems of linear inequalities over integers: elimination of variables after Fourier and Motzkin.

A row says that a form is at least 0. Eliminating a variable combines each row that bounds it from below with each that
bounds it from above. Every row is divided by the common factor of its coefficients and its constant rounded down, which
keeps the integer solutions, so that a contradiction found is one over the integers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias

from lamina.dialects.index.linear import Atom, Linear

MOST_ROWS = 120
"""Larger systems are given up: elimination may square the number of rows."""
MOST_KNOWN = 4096
"""Systems whose outcome is remembered."""


class Row(NamedTuple):
    """sum(coefficient * variable) + const >= 0."""

    terms: dict[Atom, int]
    const: int

    @staticmethod
    def of(form: Linear) -> Row:
        return _rounded(form.terms, form.const)


def _rounded(terms: dict[Atom, int], const: int) -> Row:
    factor = gcd(*terms.values()) if terms else 0
    if factor > 1:
        return Row({a: c // factor for a, c in terms.items()}, const // factor)
    return Row(terms, const)


def _combine(lower: Row, upper: Row, variable: Atom) -> Row:
    """The row without the variable that follows from two of opposite signs."""
    up, down = lower.terms[variable], -upper.terms[variable]
    factor = gcd(up, down)
    a, b = down // factor, up // factor
    terms = {v: c * a for v, c in lower.terms.items()}
    for v, c in upper.terms.items():
        total = terms.get(v, 0) + c * b
        if total:
            terms[v] = total
        else:
            del terms[v]
    return _rounded(terms, lower.const * a + upper.const * b)


class Contradiction(Exception):
    """The rows have no integer solution."""


_Key: TypeAlias = "frozenset[tuple[Atom, int]]"


def _keep(row: Row, best: dict[_Key, Row]) -> bool:
    """Keep a row unless it always holds, or one with equal terms says as much. Returns whether it is kept.

    Raises Contradiction.
    """
    if not row.terms:
        if row.const < 0:
            raise Contradiction
        return False
    key = frozenset(row.terms.items())
    known = best.get(key)
    if known is not None and known.const <= row.const:
        return False
    best[key] = row
    return True


def _tightest(rows: Iterable[Row]) -> dict[_Key, Row]:
    """Of rows with equal terms the one that says most, without those that always hold. Raises Contradiction."""
    best: dict[_Key, Row] = {}
    for row in rows:
        _keep(row, best)
    return best


def _solved(best: dict[_Key, Row], gone: Callable[[Atom], bool]) -> list[Row]:
    """Rows after equations have been solved for variables that have the coefficient 1 or -1 in them.

    That loses nothing, unlike eliminating the variables of an equation one inequality at a time.
    """
    pending = deque(best.values())
    while pending:
        row = pending.popleft()
        variable = next((a for a, c in row.terms.items() if (c == 1 or c == -1) and gone(a)), None)
        if variable is None or best.get(frozenset(row.terms.items())) is not row:
            continue
        opposite = best.get(frozenset([(a, -c) for a, c in row.terms.items()]))
        if opposite is None or opposite.const != -row.const:
            continue
        lower, upper = (row, opposite) if row.terms[variable] > 0 else (opposite, row)
        changed = [(k, r) for k, r in best.items() if variable in r.terms]
        for key, _ in changed:
            del best[key]
        for _, r in changed:
            if r is not lower and r is not upper:
                new = _combine(r, upper, variable) if r.terms[variable] > 0 else _combine(lower, r, variable)
                if _keep(new, best):
                    pending.append(new)
    return list(best.values())


def _eliminated(rows: list[Row], gone: Callable[[Atom], bool]) -> list[Row] | None:
    rows = _solved(_tightest(rows), gone)
    while True:
        counts: dict[Atom, list[int]] = {}
        for row in rows:
            for v, c in row.terms.items():
                if gone(v):
                    counts.setdefault(v, [0, 0])[c > 0] += 1
        if not counts:
            return rows
        variable = min(counts, key=lambda v: counts[v][0] * counts[v][1] - counts[v][0] - counts[v][1])
        lower = [r for r in rows if r.terms.get(variable, 0) > 0]
        upper = [r for r in rows if r.terms.get(variable, 0) < 0]
        if len(rows) + len(lower) * len(upper) > 4 * MOST_ROWS:
            return None
        kept = [r for r in rows if variable not in r.terms]
        rows = list(_tightest([*kept, *(_combine(a, b, variable) for a in lower for b in upper)]).values())
        if len(rows) > MOST_ROWS:
            return None


def eliminate(rows: list[Row], gone: Callable[[Atom], bool]) -> list[Row] | None:
    """Project rows to the variables that are not `gone`. None where that is given up, or where no values fit."""
    atoms, system = _numbered(rows)
    found = _projected(system, tuple(n for n, a in enumerate(atoms) if not gone(a)))
    return [Row({atoms[n]: c for n, c in terms}, const) for terms, const in found] if found is not None else None


def infeasible(rows: list[Row]) -> bool:
    """Whether no integers satisfy all rows; False also where that is given up."""
    return _is_infeasible(_numbered(rows)[1])


_System: TypeAlias = "tuple[tuple[tuple[tuple[int, int], ...], int], ...]"
"""Rows whose variables are numbers, the terms and the constant of each."""


def _numbered(rows: list[Row]) -> tuple[list[Atom], _System]:
    """The variables of rows in the order in which they come, and the rows by their numbers.

    Loops of one shape, as the pieces of a tail are, have equal systems: each is solved once.
    """
    numbers: dict[Atom, int] = {}
    system = tuple(
        [(tuple([(numbers.setdefault(a, len(numbers)), c) for a, c in r.terms.items()]), r.const) for r in rows]
    )
    return list(numbers), system


def _rows_of(system: _System) -> list[Row]:
    return [Row(dict(terms), const) for terms, const in system]  # type: ignore[arg-type]


@lru_cache(MOST_KNOWN)
def _projected(system: _System, kept: tuple[int, ...]) -> _System | None:
    try:
        found = _eliminated(_rows_of(system), lambda a: a not in kept)
    except Contradiction:
        return None
    return tuple((tuple(r.terms.items()), r.const) for r in found) if found is not None else None  # type: ignore[misc]


@lru_cache(MOST_KNOWN)
def _is_infeasible(system: _System) -> bool:
    try:
        _eliminated(_rows_of(system), lambda _: True)
    except Contradiction:
        return True
    return False
