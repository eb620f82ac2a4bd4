"""Default schedules of kernels whose extents only a run tells: right for every size, with constant tiles inside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from symbolic_programs import PROGRAMS, SymbolicProgram  # noqa: E402

SIZES = (0, 1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 97, 128, 131)
"""None, one, primes, powers of two, and what is one more or less than tiles of 8, 16 and 48."""
TOLERANCE = 2e-6


def drawn(program: SymbolicProgram, count: int) -> Iterator[dict[str, int]]:
    """All sizes for one open extent; for several, the same for all and `count` draws."""
    names = program.open
    yield from ({n: size for n in names} for size in SIZES)
    random = np.random.default_rng(len(names))
    for _ in range(count if len(names) > 1 else 0):
        yield {n: int(random.choice(SIZES)) for n in names}


def check(name: str, target: str, count: int) -> None:
    program = PROGRAMS[name]
    kernel = program.kernel(target=target)
    for sizes in drawn(program, count):
        arrays = program.arrays(sizes, seed=count)
        kernel(*arrays)
        assert program.difference(arrays) < TOLERANCE, sizes


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_size_is_right(name: str) -> None:
    check(name, "llvm", 24)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("product of open rows", "x86-64-v3"),
        ("product all open", "x86-64-v3"),
        ("product of packed weights", "x86-64-v3"),
        ("products of open columns", "x86-64-v3"),
        ("softmax", "x86-64-v3"),
        ("product all open", "x86-64-v2"),
        ("products of probabilities and values", "x86-64-v2"),
        ("transpose", "x86-64-v2"),
    ],
)
def test_other_processors(name: str, target: str) -> None:
    check(name, f"llvm -mcpu={target} -num-cores=2", 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["product all open", "products of open rows", "softmax", "transpose"])
def test_no_kernel_reads_or_writes_beyond_its_arrays(name: str) -> None:
    kernel = PROGRAMS[name].kernel(target="llvm -mcpu=x86-64-v2 -num-cores=2", sanitize=True)
    for size in (1, 7, 48, 67):
        arrays = PROGRAMS[name].arrays(dict.fromkeys(PROGRAMS[name].open, size))
        kernel(*arrays)
        assert PROGRAMS[name].difference(arrays) < TOLERANCE, size


def test_static_products_of_nothing() -> None:
    program = PROGRAMS["product of open rows"]
    for sizes in ({"m": 0}, {"n": 0}):
        arrays = program.arrays(sizes)
        program.kernel(sizes)(*arrays)
        assert arrays[-1].size == 0
