"""Smaller lists for which something still holds: ddmin (Zeller, Simplifying and Isolating Failure-Inducing Input).

Halves are tried first, then what is left without a half, then quarters and so on down to single elements. Asking costs
what the list is long, so that a hundred elements of which three matter take about as long as asking ten times for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimised(
    items: Sequence[T], holds: Callable[[list[T]], bool], over: Callable[[], bool] = lambda: False
) -> list[T]:
    """A part of the list, in its order, for which `holds` is true and no single element can be left out.

    `holds` must be true of the list itself. When `over` says so, what has been reached is the answer.
    """
    kept: list[T] = list(items)
    pieces = 2
    found: list[T] | None
    while len(kept) > 1 and not over():
        pieces = min(pieces, len(kept))
        chunks = _cut(kept, pieces)
        found = next((c for c in chunks if holds(c)), None)
        if found is not None:
            kept, pieces = found, 2
            continue
        rests = [[x for m, c in enumerate(chunks) for x in c if m != n] for n in range(pieces)] if pieces > 2 else []
        found = next((r for r in rests if holds(r)), None)
        if found is not None:
            kept, pieces = found, max(pieces - 1, 2)
            continue
        if pieces == len(kept):
            break
        pieces *= 2
    return kept


def _cut(items: list[T], pieces: int) -> list[list[T]]:
    """The list in pieces of nearly equal length."""
    ends = [len(items) * n // pieces for n in range(pieces + 1)]
    return [items[a:b] for a, b in zip(ends, ends[1:], strict=False)]


def smallest(size: int, holds: Callable[[int], bool]) -> int:
    """The first of 1, 2, 3, ... up to `size` - 1 that does, tried in the order of growing powers of two; else `size`.

    Between two powers nothing is searched for: what depends on the size seldom depends on more than its magnitude,
    and on whether it is odd, or one less than a power.
    """
    tried = [1, 2, 3]
    power = 4
    while power < size:
        tried += [power, power + 1, 2 * power - 1]
        power *= 2
    return next((n for n in tried if n < size and holds(n)), size)
