"""Extents that only a run tells, as the importer knows them: by what they would be in a number of draws.

A converter computes with numbers. Where an extent is unknown it is asked once for each draw (`generalise.py`), and
what it makes of an extent `n` - an attribute, an entry of a shape - is found again as an expression of `n` that gives
the right number in every draw: `n`, `2 * n + 1`, `(n - 3) floordiv 2`, `n * m`, `min(n, 100)`.

Most draws are like extents as they are, from a few to tens of thousands; the last ones have many that are 1, 0 or 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod
from random import Random
from typing import TypeAlias

from xdsl.ir import SSAValue

_RANGES = [(3, 97)] * 5 + [(200, 4000)] * 3 + [(20_000, 60_000)] * 2
GENERIC = len(_RANGES)
"""The first draws, of extents as they are."""
DRAWS = GENERIC + 8
FEWEST = 4
"""So many of the first draws have to be understood."""
_SPECIAL = (1, 1, 0, 2)

Draws: TypeAlias = "tuple[int | None, ...]"
"""An extent in each draw; None where it was not found out."""
Taken: TypeAlias = "Mapping[Draws, Draws]"
"""Extents that are taken to be others: two that have to be equal are drawn as one."""


def fresh_draws(seed: int) -> Draws:
    """The draws of an extent of which nothing is known."""
    draw = Random(seed)
    return (
        *(draw.randint(*bounds) for bounds in _RANGES),
        *(draw.choice((*_SPECIAL, draw.randint(3, 9), draw.randint(3, 40))) for _ in range(DRAWS - GENERIC)),
    )


class Extent:
    """The extent of an axis of a tensor that has an SSA value."""

    __slots__ = ("axis", "draws", "source")

    def __init__(self, source: SSAValue, axis: int, draws: Draws) -> None:
        self.source = source
        self.axis = axis
        self.draws = draws

    def at(self, k: int, taken: Taken) -> int | None:
        """The value of the extent in a draw."""
        return taken.get(self.draws, self.draws)[k]


Dim: TypeAlias = "int | Extent"


def dim_at(dim: Dim, k: int, taken: Taken) -> int | None:
    """The value of an extent in a draw, known or not."""
    return dim if isinstance(dim, int) else dim.at(k, taken)


@dataclass(frozen=True)
class Number:
    """(constant + sum of coefficient * product of extents) floordiv divisor, then not below `least`, above `most`."""

    terms: tuple[tuple[int, tuple[Extent, ...]], ...]
    constant: int = 0
    divisor: int = 1
    least: int | None = None
    most: int | None = None

    def at(self, k: int, taken: Taken) -> int | None:
        """The value of the expression in a draw."""
        total = self.constant
        for coefficient, extents in self.terms:
            found = [e.at(k, taken) for e in extents]
            known = [f for f in found if f is not None]
            if len(known) < len(found):
                return None
            total += coefficient * prod(known)
        total //= self.divisor
        if self.least is not None:
            total = max(total, self.least)
        return total if self.most is None else min(total, self.most)

    @property
    def extent(self) -> Extent | None:
        """The extent that it is, where it is just one."""
        plain = (self.constant, self.divisor, self.least, self.most) == (0, 1, None, None)
        if plain and len(self.terms) == 1 and self.terms[0][0] == 1 and len(self.terms[0][1]) == 1:
            return self.terms[0][1][0]
        return None


Entry: TypeAlias = "int | Number"


def entry_at(entry: Entry, k: int, taken: Taken) -> int | None:
    """The value of an entry in a draw."""
    return entry if isinstance(entry, int) else entry.at(k, taken)


def number_of(dim: Dim) -> Entry:
    """An extent as a number."""
    return dim if isinstance(dim, int) else Number(((1, (dim,)),))


def fit(values: Mapping[int, int], extents: Iterable[Extent], taken: Taken) -> Entry | None:
    """The number that has these values in these draws, as an expression of some extents; None where none is found."""
    draws, wanted = list(values), list(values.values())
    if len(set(wanted)) == 1:
        return wanted[0]
    columns: dict[tuple[int, ...], Extent] = {}
    for e in extents:
        column = [e.at(k, taken) for k in draws]
        known = tuple(c for c in column if c is not None)
        if len(known) == len(column) and len(set(known)) > 1:
            columns.setdefault(known, e)
    for column, e in columns.items():
        found = _of_one(wanted, column, e)
        if found is not None:
            return found
    for size in (2, 3, 4):
        for picked in combinations_with_replacement(columns.items(), size):
            product = [prod(row) for row in zip(*(c for c, _ in picked), strict=True)]
            factor = _ratio(wanted, product)
            if factor is not None:
                return Number(((factor, tuple(e for _, e in picked)),))
    return _linear(wanted, columns)


def _of_one(wanted: Sequence[int], column: Sequence[int], e: Extent) -> Number | None:
    """An expression of one extent: itself, within a bound, multiplied and moved, or divided."""
    pairs = list(zip(wanted, column, strict=True))
    if all(v == c for v, c in pairs):
        return Number(((1, (e,)),))
    apart = next(((v, c, w, d) for v, c in pairs[:1] for w, d in pairs if d != c), None)
    if apart is not None:
        v, c, w, d = apart
        slope = Fraction(w - v, d - c)
        if slope.denominator == 1:
            moved = v - int(slope) * c
            if slope and all(v == slope * c + moved for v, c in pairs):
                return Number(((int(slope), (e,)),), moved)
    for bound in {v for v, c in pairs if v != c}:
        if all(v == min(c, bound) for v, c in pairs):
            return Number(((1, (e,)),), most=bound)
        if all(v == max(c, bound) for v, c in pairs):
            return Number(((1, (e,)),), least=bound)
    for divisor in (*range(2, 33), 64, 128):
        low = max(v * divisor - c for v, c in pairs)
        if low < min(v * divisor + divisor - c for v, c in pairs):
            return Number(((1, (e,)),), low, divisor)
    return None


def _ratio(wanted: Sequence[int], product: Sequence[int]) -> int | None:
    """The factor between two columns."""
    pairs = list(zip(wanted, product, strict=True))
    factor = next((Fraction(v, p) for v, p in pairs if p), None)
    if factor is None or factor.denominator != 1 or not factor:
        return None
    return int(factor) if all(v == factor * p for v, p in pairs) else None


def _linear(wanted: Sequence[int], columns: Mapping[tuple[int, ...], Extent]) -> Number | None:
    """A sum of multiples of extents, found by elimination; some rows more than unknowns have to agree."""
    unknowns = len(columns) + 1
    if unknowns < 3 or len(wanted) < unknowns + 2:
        return None
    rows = [[Fraction(c[n]) for c in columns] + [Fraction(1), Fraction(v)] for n, v in enumerate(wanted)]
    for place in range(unknowns):
        pivot = next((n for n in range(place, len(rows)) if rows[n][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        head = rows[place] = [x / rows[place][place] for x in rows[place]]
        for n, row in enumerate(rows):
            if n != place and row[place]:
                rows[n] = [x - row[place] * h for x, h in zip(row, head, strict=True)]
    if any(row[-1] for row in rows[unknowns:]):
        return None
    found = [row[-1] for row in rows[:unknowns]]
    if any(f.denominator != 1 for f in found):
        return None
    terms = ((int(f), (e,)) for f, e in zip(found, columns.values(), strict=False) if f)
    return Number(tuple(terms), int(found[-1]))
