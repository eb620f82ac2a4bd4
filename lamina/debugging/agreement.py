"""The distance between two results, and whether a step of the compiler may have moved them so.

Integers and booleans are the same to the bit. A float may be off by what rounding in another order does: a part of the
largest value of the array, as `comparison.py` has it, and by what other roundings change where results differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.comparison import SPREAD, TOLERANCES
from lamina.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

OF_ITSELF = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "float64": 1e-9}
"""The most that one step may move a number, as a part of itself, or of 1 where that is more."""
PERTURBATION = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 2e-6, "float64": 2e-14}
"""Change of the inputs, as a part of themselves, made to see how much the results then move."""
RUNS = 4
"""The number of such runs, with other digits each time."""

Decided = Callable[[int, Any, Any, Any], Any]
"""The elements of a result that roundings decide, of those that are wrong: by the result's number, an array of booleans
that says which are wrong, what was got and what was expected."""


@dataclass(frozen=True)
class Apart:
    """The element of a result that is furthest off, and by what part of the largest expected value."""

    name: str
    index: tuple[int, ...]
    expected: Any
    got: Any
    error: float
    """Infinite where one is NaN and the other is not, and for integers."""

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"result {self.name!r}{place} is {self.got}, expected {self.expected}"


def first_difference(expected: Array, got: Array) -> tuple[int, ...] | None:
    """The index of the first element that is too far off; None where all are near enough.

    Raises InputError where the arrays differ in type or shape.
    """
    _same_type(expected, got)
    tolerance = OF_ITSELF.get(str(expected.dtype))
    if tolerance is None:
        wrong = expected != got
    else:
        a, b, error = _errors(expected, got)
        near = error <= tolerance * np.maximum(np.abs(a), 1)
        near |= error <= TOLERANCES[str(expected.dtype)] * _largest(a)
        wrong = ~(near | _equal(a, b))
    if not wrong.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


def furthest(expected: Mapping[str, Array], got: Mapping[str, Array], decided: Decided | None = None) -> Apart | None:
    """The element that is furthest off among results in the same order; None where all are near enough.

    `decided` tells of elements that roundings decide, which may be anything.
    Raises InputError where results differ in number, type or shape.
    """
    if len(expected) != len(got):
        raise InputError(f"{len(got)} results, expected {len(expected)}")
    worst: Apart | None = None
    for n, ((name, a), b) in enumerate(zip(expected.items(), got.values(), strict=True)):
        found = _furthest(name, np.asarray(a), np.asarray(b), partial(decided, n) if decided is not None else None)
        if found is not None and (worst is None or found.error > worst.error):
            worst = found
    return worst


def _furthest(
    name: str, expected: Array, got: Array, decided: Callable[[Array, Array, Array], Array] | None
) -> Apart | None:
    _same_type(expected, got)
    if not expected.size:
        return None
    part = TOLERANCES.get(str(expected.dtype))
    if part is None:
        off = (expected != got).astype(np.float64)
        allowed, scale = np.zeros(off.shape), 0.0
    else:
        off = _far(expected, got)
        scale = _largest(expected.astype(np.float64))
        allowed = np.full(off.shape, part * scale)
    off = np.where(off > allowed, off, 0.0)
    if decided is not None and off.any():
        off = np.where(decided(off > 0, got, expected), 0.0, off)
    if not off.any():
        return None
    index = np.unravel_index(int(np.argmax(off)), off.shape)
    error = float(off[index]) / scale if scale else np.inf
    return Apart(name, tuple(int(i) for i in index), expected[index], got[index], error)


def within(noise: Sequence[Array]) -> Decided:
    """The elements that are off by no more than what roundings make of them, `noise_of` some runs, allows."""
    return lambda n, wrong, got, expected: wrong & (_far(expected, got) <= SPREAD * noise[n])


def noise_of(runs: Sequence[Sequence[Array]]) -> list[Array]:
    """By how much each element of each result differs between runs; infinitely where one is a number in some alone.

    Integers that differ at all, such as the index of the largest of equal values, are infinitely far off.
    """
    return [_spread([np.asarray(r) for r in results]) for results in zip(*runs, strict=True)]


def _spread(arrays: Sequence[Array]) -> Array:
    if str(arrays[0].dtype) not in TOLERANCES:
        return np.where(np.any([a != arrays[0] for a in arrays], axis=0), np.inf, 0.0)
    wide = np.stack([a.astype(np.float64) for a in arrays])
    finite = np.isfinite(wide)
    with np.errstate(all="ignore"):
        found = np.asarray(np.where(finite, wide, -np.inf).max(0) - np.where(finite, wide, np.inf).min(0))
    found[~finite.any(0)] = 0.0
    found[finite.any(0) & ~finite.all(0)] = np.inf
    return found


def perturbed_runs(
    run: Callable[[Mapping[str, Array]], Mapping[str, Array]], inputs: Mapping[str, Array], results: Sequence[Array]
) -> list[Sequence[Array]]:
    """The results, and those of runs with every float among the inputs changed in its last digits."""
    runs: list[Sequence[Array]] = [results]
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        moved = run({name: _perturbed(np.asarray(a), generator) for name, a in inputs.items()})
        runs.append([np.asarray(a) for a in moved.values()])
    return runs


def _perturbed(array: Array, generator: np.random.Generator) -> Array:
    part = PERTURBATION.get(str(array.dtype))
    if part is None:
        return array
    return (array.astype(np.float64) * (1 + part * generator.uniform(-1, 1, array.shape))).astype(array.dtype)


def _same_type(expected: Array, got: Array) -> None:
    if expected.shape != got.shape or expected.dtype != got.dtype:
        raise InputError(f"a result is {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}")


def _errors(expected: Array, got: Array) -> tuple[Array, Array, Array]:
    """Both as f64, and how far they are apart."""
    a, b = expected.astype(np.float64), got.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return a, b, np.asarray(np.abs(a - b))  # numpy makes numbers of arrays without axes


def _far(expected: Array, got: Array) -> Array:
    """Distances of elements: 0 where they are equal or both NaN, infinitely where one alone is no number."""
    a, b, off = _errors(expected, got)
    off = np.where(_equal(a, b), 0.0, off)
    return np.where(np.isfinite(off), off, np.inf)


def _equal(a: Array, b: Array) -> Array:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _largest(a: Array) -> float:
    """The largest finite value, 0 where there is none."""
    finite = np.abs(a[np.isfinite(a)])
    return float(finite.max()) if finite.size else 0.0
