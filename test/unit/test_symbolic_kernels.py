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


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_extents_of_nothing_are_those_of_kernels_made_for_them(name: str) -> None:
    program, found = PROGRAMS[name], PROGRAMS[name].kernel()
    for extent in program.open:
        sizes = {**dict.fromkeys(program.open, 20), extent: 0}
        ours, expected = program.arrays(sizes), program.arrays(sizes)
        found(*ours)
        program.kernel(sizes)(*expected)
        assert np.array_equal(ours[-1], expected[-1]), sizes


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_kernel_reads_or_writes_beyond_its_arrays(name: str) -> None:
    kernel = PROGRAMS[name].kernel(target="llvm -mcpu=x86-64-v2 -num-cores=2", sanitize=True)
    for size in (1, 7, 48, 67):
        arrays = PROGRAMS[name].arrays(dict.fromkeys(PROGRAMS[name].open, size))
        kernel(*arrays)
        assert PROGRAMS[name].difference(arrays) < TOLERANCE, size


@pytest.mark.slow
@pytest.mark.parametrize("processor", ("x86-64-v3", "x86-64-v2"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_other_processors(name: str, processor: str) -> None:
    check(PROGRAMS[name], f"llvm -mcpu={processor} -num-cores=2", 2)
