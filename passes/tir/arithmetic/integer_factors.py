"""One factor for each integer of an expression, such that its rounded numbers stay what they are: all are tried.

0.28 * a + 0.12 * b, divided by 0.29     a and b of 0 to 255
fma(b, 0.41379312, 0.9655173 * a)        rounds to the same integer for each of the 65,536 pairs
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from lamina.dialects.lazy import np

NEIGHBOURS = 6
"""Floats on each side of a quotient that are tried for a factor."""
WIDEST = 2.0**16
"""The largest ratio of two factors: sums of their products are exact in f64, and then rounded once."""
INFINITY = float("inf")
SMALL = 2.0**20
"""Integers below, and a zero point more, are exact in f32."""

Term = tuple[Any, ...]
"""('leaf', index) or ('number', f) or (step, term, term): the arithmetic of an expression."""


class Bounds(NamedTuple):
    """The bounds within which the readers of a rounded number keep it."""

    low: float = -INFINITY
    high: float = INFINITY


def evaluated(term: Term, leaves: list[Any]) -> Any:
    """An expression in the precision of its leaves."""
    head, *parts = term
    if head == "leaf":
        return leaves[parts[0]]
    if head == "number":
        return leaves[0].dtype.type(parts[0])
    return getattr(np, head)(*(evaluated(p, leaves) for p in parts))


def slopes_of(term: Term, count: int) -> tuple[list[float], float] | None:
    """The factor of each leaf, and what is added, in f64; None where an expression is no sum of multiples."""
    head, *parts = term
    if head == "leaf":
        return [float(i == parts[0]) for i in range(count)], 0.0
    if head == "number":
        return [0.0] * count, parts[0]
    sides = [slopes_of(p, count) for p in parts]
    left, right = sides
    if left is None or right is None:
        return None
    if head in ("add", "subtract"):
        sign = 1.0 if head == "add" else -1.0
        return [x + sign * y for x, y in zip(left[0], right[0], strict=True)], left[1] + sign * right[1]
    if head == "multiply" and not any(left[0]):
        left, right = right, left
    if any(right[0]) or (head == "divide" and right[1] == 0):
        return None
    factor = right[1] if head == "multiply" else 1 / right[1]
    return [x * factor for x in left[0]], left[1] * factor


@lru_cache(maxsize=256)
def factors(term: Term, ranges: tuple[tuple[float, float, float], ...], bounds: Bounds) -> tuple[float, ...] | None:
    """The factors that give all rounded numbers of an expression of integers, each `low` to `high` and then moved.

    None where it is no sum of multiples, or where no factors near the quotients do.
    """
    linear = slopes_of(term, len(ranges))
    if linear is None or linear[1] != 0:
        return None
    slopes, _ = linear
    sizes = [
        abs(s) * (max(abs(low), abs(high)) + abs(moved)) for s, (low, high, moved) in zip(slopes, ranges, strict=True)
    ]
    least, most = min(map(abs, slopes)), max(map(abs, slopes))
    if not (0 < least and most < INFINITY and most / least < WIDEST and sum(sizes) < SMALL):
        return None
    # One axis for each integer.
    leaves = [
        (np.arange(low, high + 1) + moved).reshape([-1 if i == at else 1 for i in range(len(ranges))])
        for at, (low, high, moved) in enumerate(ranges)
    ]
    with np.errstate(all="ignore"):
        exact = evaluated(term, [leaf.astype(np.float32) for leaf in leaves])
    if not np.isfinite(exact).all():
        return None
    rounded = np.rint(exact)
    wanted = np.clip(rounded, *bounds)
    # Far from halves all candidates round alike; those near tell which are worth trying on all.
    near = np.nonzero(np.abs(exact - rounded) > 0.5 - 4e-6 * sum(sizes))
    few = [np.broadcast_to(leaf, wanted.shape)[near] for leaf in leaves]
    tried = [_neighbours(s)[steps] for s, steps in zip(slopes, _nearest_first(len(slopes)), strict=True)]
    agree = (rounded_sums([f[:, None] for f in tried], few, bounds) == wanted[near]).all(axis=1)
    for at in np.flatnonzero(agree):
        found = [f[at] for f in tried]
        if np.array_equal(rounded_sums(found, leaves, bounds), wanted):
            return tuple(float(f) for f in found)
    return None


def rounded_sums(multiples: list[Any], leaves: list[Any], bounds: Bounds) -> Any:
    """The value of the new expression: the first product, rounded, and the second one added to it, rounded once."""
    total = (multiples[0] * leaves[0]).astype(np.float32)
    for factor, leaf in zip(multiples[1:], leaves[1:], strict=True):
        total = (total + factor * leaf).astype(np.float32)
    return np.clip(np.rint(total), *bounds)


def _neighbours(number: float) -> Any:
    """The floats next to a number, in f64: the nearest one in the middle."""
    near = np.float32(number)
    return (near + np.arange(-NEIGHBOURS, NEIGHBOURS + 1, dtype=np.float32) * np.spacing(near)).astype(np.float64)


@lru_cache(maxsize=2)
def _nearest_first(count: int) -> list[Any]:
    """The numbers of the neighbours that candidates take for each factor, those fewest steps away first."""
    steps = product(range(2 * NEIGHBOURS + 1), repeat=count)
    return list(np.asarray(sorted(steps, key=lambda s: sum(abs(k - NEIGHBOURS) for k in s))).T)
