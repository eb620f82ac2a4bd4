"""Extents that only a run tells, as schedules see them: a large number that no tile divides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.linear import Linear

ASSUMED = 1021
"""The extent that stands for all that are not known: large, so that costs are those of whole tiles, and a prime, so
that no tile divides it."""


class OpenExtent(int):
    """An extent that only a run tells, as the number that costs are estimated with.

    `n * 8` counts as eight times a prime: it has the divisors that it has in each run. Two of them are equal where
    they are in each run, and none is equal to a number.
    """

    form: Linear

    @staticmethod
    def of(form: Linear) -> int:
        """The extent that a form gives: a number as it is."""
        if form.is_constant:
            return form.const
        factor, rest = Facts(RangeCache()).modulus(form)
        extent = OpenExtent(factor * ASSUMED + (rest % factor if factor else 0))
        extent.form = form
        return extent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenExtent) and self.form == other.form

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.form)


def is_open(extent: int) -> TypeGuard[OpenExtent]:
    """Whether only a run tells an extent."""
    return isinstance(extent, OpenExtent)


def has_open(extents: Sequence[int]) -> bool:
    """Whether only a run tells one of some extents."""
    return any(map(is_open, extents))
