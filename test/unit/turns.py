"""Parameters of tests that take turns: what is left out at one value is met at another, and all of it is `long`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def by_turns(*columns: Sequence[Any]) -> list[Any]:
    """All combinations of the columns' values, each of the others' with one of the last column's, by turns."""
    return [
        pytest.param(*row, marks=[] if sum(at) % len(columns[-1]) == 0 else pytest.mark.long)
        for at, row in zip(product(*map(range, map(len, columns))), product(*columns), strict=True)
    ]


def each_second(values: Iterable[Any]) -> list[Any]:
    """The values; each second is `long`."""
    return [pytest.param(v, marks=pytest.mark.long if turn % 2 else []) for turn, v in enumerate(values)]
