"""Whether two ways to compute the results of a program agree.

Integers and booleans agree exactly, floats within 1e-4 of the largest value of their tensor, NaN and infinities
stand in the same places. What differs more is looked at again with the roundings that a program may have
(`precise.py`): an element whose value depends on them is not compared, or within what they change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4, "float64": 1e-4}
"""Differences relative to the largest value of a tensor, by the narrowest type that its program computes in."""
TINY = 2.0**-126
"""The least normal float32. What is below it may underflow, or not, in another order."""
SPREAD = 32.0
"""The most that a result may be off, in multiples of what random roundings change it by."""
RUNS = 9
"""Runs with roundings, made where results differ: six that are directed, and some at random."""
MORE_RUNS = 24
"""So many where these do not explain a difference: errors of values that follow from one another hide some."""
MOST_RUNS = 4 * MORE_RUNS
"""At most so many, doubled for as long as they explain more elements: few show what a sum of many ties may be."""
MISSED = 1 / 500
"""Of the elements that roundings decide, the share that no run shows, at most: where a sum has many ties behind it. Of
so many elements of a tensor it may be one, where a maximum is one of many that are alike."""
IN_CHAINS = 1 / 4
"""The same where another program has rounded to steps on the way: each may decide many behind it."""
IN_CHOICES = 1.0
"""The same where another program has chosen one of many that are alike: of the two elements that then differ, runs show
the one that was chosen here, but the other may be any."""

Noisy = Callable[[int | None], Sequence[Any]]
"""The results with the roundings of a seed, or exact ones."""


@dataclass
class Comparer:
    """Compares the results of one program; runs with roundings are made once, when first wanted."""

    names: Sequence[str]
    tolerance: float = TOLERANCES["float32"]
    noisy: Noisy | None = None
    """None where nobody can tell how well conditioned the results are: then they are as they are."""
    missed: float = MISSED
    """The share of the elements that roundings decide which no run need show."""
    persistent: bool = True
    """Whether more runs are made also where the first ones explain nothing."""
    doubtful: int = 0
    """Elements that roundings decide, seen so far."""
    _runs: list[Sequence[Any]] = field(default_factory=list[Sequence[Any]])

    def difference(self, got: Mapping[str, Any], expected: Mapping[str, Any], floor: float = TINY) -> str:
        """The first difference, in one line; empty where nothing does. Floats may always be `floor` off."""
        for n, name in enumerate(self.names):
            if name in expected:
                said = self._difference(n, name, np.asarray(got[name]), np.asarray(expected[name]), floor)
                if said:
                    return said
        return ""

    def _difference(self, n: int, name: str, got: Any, expected: Any, floor: float) -> str:
        where = f"output {name!r}"
        if got.dtype != expected.dtype:
            return f"{where} is {got.dtype}, expected {expected.dtype}"
        if got.shape != expected.shape:
            shapes = {np.asarray(run[n]).shape for run in self.runs()}
            return "" if len(shapes) > 1 else f"{where} has the shape {got.shape}, expected {expected.shape}"
        if not got.size:
            return ""
        is_float = got.dtype.kind not in "iub"
        wrong = self._wrong_floats(got, expected, floor) if is_float else got != expected
        if not wrong.any():
            return ""
        doubtful = self.decided(n, wrong, got, expected)
        self.doubtful += int(np.count_nonzero(doubtful))
        wrong &= ~doubtful
        count = int(np.count_nonzero(wrong))
        if not count:
            return ""
        place = tuple(int(i) for i in np.argwhere(wrong)[0]) if got.ndim else ()
        return (
            f"{where}{list(place)} is {got[place]}, expected {expected[place]} "
            f"({count} of {got.size} elements; the largest is {_largest(expected):.4g})"
        )

    def _wrong_floats(self, got: Any, expected: Any, floor: float) -> Any:
        a, b = got.astype(np.float64), expected.astype(np.float64)
        with np.errstate(all="ignore"):
            near = np.abs(a - b) <= max(self.tolerance * _largest(expected), floor)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isfinite(a) & np.isfinite(b) & near)
        return ~same

    def runs(self, count: int = RUNS) -> list[Sequence[Any]]:
        """The exact results, and so many with roundings: all of these may differ from an exact tie."""
        if self.noisy is not None:
            self._runs += [self.noisy(n - 1 if n else None) for n in range(len(self._runs), count + 1)]
        return self._runs[: count + 1]

    def decided(self, n: int, wrong: Any, got: Any, expected: Any) -> Any:
        """Those of the wrong elements that roundings decide: all of them where runs miss no more than they may."""
        found = wrong & self._decided(self.runs(), n, got, expected)
        if self.noisy is None or np.array_equal(found, wrong) or not (self.persistent or found.any()):
            return found
        total, count, decided = np.count_nonzero(wrong), MORE_RUNS, np.count_nonzero(found)
        while count <= MOST_RUNS:
            before, found = decided, wrong & self._decided(self.runs(count), n, got, expected)
            decided = np.count_nonzero(found)
            if decided and total - decided <= max(self.missed * decided, MISSED * got.size >= 1):
                return wrong
            if decided == before:
                break
            count *= 2
        return found

    def _decided(self, results: Sequence[Sequence[Any]], n: int, got: Any, expected: Any) -> Any:
        """The elements that roundings decide, as far as these results show."""
        runs = [np.asarray(run[n]) for run in results]
        if not runs:
            return np.zeros(got.shape, bool)
        if any(r.shape != got.shape for r in runs):
            return np.ones(got.shape, bool)
        if got.dtype.kind in "iub":
            found = np.any([r != runs[0] for r in runs], axis=0)
        else:
            wide = np.stack([r.astype(np.float64) for r in runs])
            with np.errstate(all="ignore"):
                spread = np.nanmax(wide, 0) - np.nanmin(wide, 0) if wide.size else wide[0]
                near = np.abs(got.astype(np.float64) - expected.astype(np.float64)) <= SPREAD * spread
            # Finite, an infinity of either sign, or no number.
            patterns = np.isnan(wide) + 2 * np.isposinf(wide) + 3 * np.isneginf(wide)
            found = near | np.any(patterns != patterns[0], axis=0)
        return found


def _largest(array: Any) -> float:
    """The largest finite magnitude."""
    wide = np.abs(array.astype(np.float64))
    return float(np.max(wide, where=np.isfinite(wide), initial=0.0))
