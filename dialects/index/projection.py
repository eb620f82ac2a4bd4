"""Systems of linear inequalities over integers: elimination of variables after Fourier and Motzkin.

A row says that a form is at least 0. Eliminating a variable combines each row that bounds it from below with each that
bounds it from above. Every row is divided by the common factor of its coefficients and its constant rounded down, which
keeps the integer solutions, so that a contradiction found is one over the integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import NamedTuple

from lamina.dialects.index.linear import Atom, Linear

MOST_ROWS = 120
"""Larger systems are given up: elimination may square the number of rows."""


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


def _tightest(rows: Sequence[Row]) -> list[Row]:
    """Of rows with equal terms the one that says most, without those that always hold. Raises Contradiction."""
    best: dict[frozenset[tuple[Atom, int]], Row] = {}
    for row in rows:
        if not row.terms:
            if row.const < 0:
                raise Contradiction
            continue
        key = frozenset(row.terms.items())
        known = best.get(key)
        if known is None or row.const < known.const:
            best[key] = row
    return list(best.values())


def _solved(rows: list[Row], gone: Callable[[Atom], bool]) -> list[Row]:
    """Rows after equations have been solved for variables that have the coefficient 1 or -1 in them.

    That loses nothing, unlike eliminating the variables of an equation one inequality at a time.
    """
    while True:
        by_terms = {frozenset(r.terms.items()): r for r in rows}
        for row in rows:
            opposite = by_terms.get(frozenset((a, -c) for a, c in row.terms.items()))
            if opposite is None or opposite.const != -row.const:
                continue
            variable = next((a for a, c in row.terms.items() if abs(c) == 1 and gone(a)), None)
            if variable is not None:
                lower, upper = (row, opposite) if row.terms[variable] > 0 else (opposite, row)
                break
        else:
            return rows
        new: list[Row] = []
        for r in rows:
            coef = r.terms.get(variable, 0)
            if coef == 0:
                new.append(r)
            elif r is not lower and r is not upper:
                new.append(_combine(r, upper, variable) if coef > 0 else _combine(lower, r, variable))
        rows = _tightest(new)


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
        rows = _tightest([*kept, *(_combine(a, b, variable) for a in lower for b in upper)])
        if len(rows) > MOST_ROWS:
            return None


def eliminate(rows: list[Row], gone: Callable[[Atom], bool]) -> list[Row] | None:
    """Project rows to the variables that are not `gone`. None where that is given up, or where no values fit."""
    try:
        return _eliminated(rows, gone)
    except Contradiction:
        return None


def infeasible(rows: list[Row]) -> bool:
    """Whether no integers satisfy all rows; False also where that is given up."""
    try:
        _eliminated(rows, lambda _: True)
    except Contradiction:
        return True
    return False
