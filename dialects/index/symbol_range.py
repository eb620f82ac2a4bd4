"""Values that a symbol may have, and the names of products of symbols: what programs know of them when they run."""

from __future__ import annotations

from typing import NamedTuple

TIMES = "*"
"""Joins the names in the name of a product of symbols."""
MOST = 1 << 30
"""The greatest value of a symbol of which nothing is said."""


class SymbolRange(NamedTuple):
    """Values that a symbol may have: the multiples of `divisor` from `min` to `max`."""

    min: int = 1
    max: int = MOST
    divisor: int = 1
    default: int | None = None
    """The value of one that no extent of an input is, unless it is given."""

    @property
    def says_nothing(self) -> bool:
        """Whether any number is in it: one more op may take some away, which no user has asked for."""
        return self.max == MOST and self.min <= 1 and self.divisor == 1 and self.default is None

    def numbers(self) -> list[int]:
        """All that it says as numbers."""
        return [self.min, self.max, self.divisor, *([self.default] if self.default is not None else [])]

    def holds(self, value: int) -> bool:
        """Whether a value is one of them."""
        return self.problem(value) is None

    def problem(self, value: int) -> str | None:
        """The reason why a value is none of them, None where it is one."""
        if not self.min <= value <= self.max:
            return f"it is from {self.min} to {self.max}"
        return f"it is a multiple of {self.divisor}" if value % self.divisor else None


ANY = SymbolRange(0)
"""Any size, none included."""
