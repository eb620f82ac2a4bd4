"""Decisions made by a seed: sizes of three kinds, types, values.

Sizes are tiny (1 to 4), odd (no multiples of vectors) or as in real models, and the elements of a tensor and the
products of a contraction stay below what a case may cost.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from math import prod
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Sizes(StrEnum):
    """The kinds of extents."""

    TINY = "tiny"
    ODD = "odd"
    REAL = "real"


EXTENTS = {
    Sizes.TINY: (1, 1, 2, 3, 4),
    Sizes.ODD: (1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 15, 17, 18, 19, 21, 23, 25, 27, 29, 31, 33),
    Sizes.REAL: (1, 3, 4, 7, 8, 12, 14, 16, 20, 24, 28, 32, 40, 48, 49, 56, 64, 80, 96, 112, 128, 160, 192, 196, 197,
                 224, 256, 320, 384, 512, 768, 1000, 1024, 3072),
}  # fmt: skip
ELEMENTS = {Sizes.TINY: 128, Sizes.ODD: 8_000, Sizes.REAL: 300_000}
"""The most elements of a tensor."""
PRODUCTS = {Sizes.TINY: 50_000, Sizes.ODD: 3_000_000, Sizes.REAL: 60_000_000}
"""The most products of a contraction."""

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
NUMBERS = (*FLOATS, *INTEGERS)
ANY = (*NUMBERS, "bool")
WEIGHTS = {"float32": 30, "float64": 2, "float16": 2, "bfloat16": 1, "int64": 6, "int32": 4, "int8": 2, "uint8": 2,
           "bool": 3, "int16": 1, "uint16": 1, "uint32": 1, "uint64": 1}  # fmt: skip
"""Weight of each type in a draw where several may stand."""

NAMED, NAMED_OUTER = 0.3, 0.7
"""The probability that an extent stands for a name, where there are any, and that a batch or a length does."""


class Draw:
    """The decisions of one case."""

    def __init__(self, seed: int, sizes: Sizes) -> None:
        self.named: Mapping[str, int] = {}
        """The extents that stand for names, by the name; most cases have none."""
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(self.random.getrandbits(60))
        self.sizes = sizes

    @property
    def elements(self) -> int:
        """The most elements of a tensor."""
        return ELEMENTS[self.sizes]

    @property
    def products(self) -> int:
        """The most products of a contraction."""
        return PRODUCTS[self.sizes]

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely

    def choice(self, of: Sequence[T]) -> T:
        return self.random.choice(of)

    def integer(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return self.random.randint(least, most)

    def sample(self, of: Sequence[T], count: int) -> list[T]:
        return self.random.sample(of, count)

    def shuffled(self, of: Iterable[T]) -> list[T]:
        found = list(of)
        self.random.shuffle(found)
        return found

    def dtype(self, of: Sequence[str]) -> str:
        """A type, float32 rather than the rare ones."""
        return self.random.choices(of, [WEIGHTS.get(d, 1) for d in of])[0]

    def extent(self, most: int | None = None, least: int = 1) -> int:
        """An extent of this case's kind, or one that stands for a name."""
        named = [e for e in self.named.values() if least <= e and (most is None or e <= most)]
        if named and self.chance(NAMED):
            return self.choice(named)
        found = [e for e in EXTENTS[self.sizes] if e >= least and (most is None or e <= most)]
        return self.choice(found) if found else least

    def outer(self, of: Sequence[int], likely: float = NAMED_OUTER) -> int:
        """One of some extents, or likely one that stands for a name where there are any."""
        if self.named and self.chance(likely):
            return self.choice([*self.named.values()])
        return self.choice(of)

    def shape(self, rank: int | tuple[int, int] = (0, 4), most: int | None = None, least: int = 1) -> tuple[int, ...]:
        """Extents of a tensor with at most `most` elements, each at least `least`."""
        rank = rank if isinstance(rank, int) else self.integer(*rank)
        most = min(most or self.elements, self.elements)
        found = [self.extent(least=least) for _ in range(rank)]
        while prod(found) > most and max(found) > least:
            n = max(range(rank), key=lambda k: found[k])
            found[n] = self.extent(most=max(least, found[n] - 1), least=least)
        return tuple(found)

    def axis(self, rank: int, least: int = 0) -> int:
        """An axis, also one that counts from the end."""
        axis = self.integer(least, rank - 1)
        return axis - rank if self.chance(0.3) else axis

    def axes(self, rank: int, least: int = 1) -> list[int]:
        """Some different axes, in any order."""
        return self.sample(range(rank), self.integer(min(least, rank), rank))

    def permutation(self, rank: int) -> list[int]:
        return self.shuffled(range(rank))

    # -- values ----------------------------------------------------------------------------------------------------

    def eighths(self, shape: Sequence[int], bound: float = 4.0) -> Any:
        """Multiples of 1/8: sums and products of a few of them are exact in single precision."""
        most = max(1, int(bound * 8))
        return self.numpy.integers(-most, most + 1, tuple(shape)).astype(np.float64) / 8

    def normal(self, shape: Sequence[int], scale: float = 1.0) -> Any:
        return self.numpy.standard_normal(tuple(shape)) * scale

    def integers(self, shape: Sequence[int], least: int, most: int) -> Any:
        """Whole numbers, both ends included."""
        return self.numpy.integers(least, most, tuple(shape), dtype=np.int64, endpoint=True)
