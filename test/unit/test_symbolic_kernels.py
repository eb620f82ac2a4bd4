"""Default schedules of kernels whose extents only a run tells: right for every size, with constant tiles inside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from symbolic_programs import PROGRAMS, SymbolicProgram  # noqa: E402

SIZES = (1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 97, 128, 131)
"""One, primes, powers of two, and what is one more or less than tiles of 8, 16 and 48."""
TOLERANCE = 2e-6


def drawn(program: SymbolicProgram, count: int) -> Iterator[dict[str, int]]:
    """All sizes for one open extent; for several, the same for all and `count` draws."""
    names = program.open
    yield from ({n: size for n in names} for size in SIZES)
    random = np.random.default_rng(len(names))
    for _ in range(count if len(names) > 1 else 0):
        yield {n: int(random.choice(SIZES)) for n in names}


def check(program: SymbolicProgram, target: str, count: int) -> None:
    kernel = program.kernel(target=target)
    for sizes in drawn(program, count):
        arrays = program.arrays(sizes, seed=count)
        kernel(*arrays)
        assert program.difference(arrays) < TOLERANCE, sizes


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_size_is_right(name: str) -> None:
    check(PROGRAMS[name], "llvm", 24)
