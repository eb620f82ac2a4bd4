"""Rows of tiles in a block of a Winograd convolution, against times that were measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.backends.cpu.costs import missed_part
from lamina.backends.cpu.jit import named_target
from lamina.backends.cpu.passes.winograd import least_regret
from lamina.backends.cpu.schedules.winograd import choose_rows
from lamina.dialects.target import TargetAttr

AVX512, AVX2 = named_target("znver4"), named_target("x86-64-v3")


def chosen(machine: TargetAttr, tiles: int, chunks: tuple[int, int], least: int = 1) -> int:
    """The rows of a block of an image of as many tiles down as across."""
    return choose_rows(tiles, tiles, 6, chunks, machine.lanes(32), machine, least=least)


@pytest.mark.parametrize(
    "machine, tiles, chunks, milliseconds",
    [
        # Zen 4, one convolution alone.
        (AVX512, 64, (4, 2), {1: 12.8, 2: 14.1, 4: 15.1, 8: 15.6, 16: 15.8, 32: 17.3, 64: 35.1}),
        (AVX512, 56, (4, 4), {1: 16.6, 2: 17.1, 4: 19.1, 7: 18.7, 8: 20.1, 14: 20.7, 28: 21.0, 56: 40.3}),
        (AVX512, 32, (8, 4), {1: 8.95, 2: 8.82, 4: 9.44, 8: 9.65, 16: 10.6, 32: 10.9}),
        (AVX512, 20, (3, 3), {1: 0.83, 2: 0.84, 4: 0.87, 5: 0.87, 10: 0.95, 20: 1.06}),
        (AVX512, 16, (16, 8), {1: 7.04, 2: 7.29, 4: 7.68, 8: 7.64, 16: 8.37}),
        (AVX512, 7, (16, 16), {1: 2.45, 7: 2.54}),
        (AVX512, 7, (32, 32), {1: 11.3, 7: 10.6}),
        (AVX512, 4, (32, 32), {1: 7.69, 2: 4.51, 4: 4.11}),
        # Zen 4 with vectors of 256 bits, in VGG-19: weights and blocks of 7 rows just fit its third-level cache.
        (AVX2, 14, (32, 32), {1: 15.0, 2: 13.3, 7: 21.8, 14: 19.1}),
    ],
)
def test_blocks_take_little_longer_than_the_best(
    machine: TargetAttr, tiles: int, chunks: tuple[int, int], milliseconds: dict[int, float]
) -> None:
    assert milliseconds[chosen(machine, tiles, chunks)] <= 1.05 * min(milliseconds.values())


@given(st.sampled_from((AVX512, AVX2)), st.integers(1, 80), st.tuples(*[st.integers(1, 32)] * 2), st.integers(1, 8))
def test_blocks_are_as_many_as_are_asked_for_or_the_image_is_one(
    machine: TargetAttr, tiles: int, chunks: tuple[int, int], least: int
) -> None:
    rows = chosen(machine, tiles, chunks, least)
    assert tiles % rows == 0
    assert rows == tiles or tiles // rows >= least


def test_a_cache_keeps_what_is_small_and_loses_what_is_large() -> None:
    missed = [missed_part(size, 1 << 20, 8) for size in range(0, 1 << 22, 1 << 16)]
    assert missed == sorted(missed)
    assert missed[0] == 0 and missed[4] < 0.01 and 0.4 < missed[16] < 0.6 and missed[-1] > 0.99


def test_what_is_far_larger_than_a_cache_is_lost() -> None:
    assert missed_part(1 << 40, 1 << 20, 8) == 1


def test_tiles_for_several_batches_are_those_with_the_least_regret() -> None:
    """Tiles of two are never the best, and never much worse than it."""
    one, many = {0: 1.0, 2: 1.2, 4: 2.0}, {0: 4.0, 2: 2.2, 4: 2.0}
    assert least_regret((4, 2, 0), [one.__getitem__]) == 0
    assert least_regret((4, 2, 0), [many.__getitem__]) == 4
    assert least_regret((4, 2, 0), [one.__getitem__, many.__getitem__]) == 2
