"""Tiles of convolutions and products: what they are chosen among, on machines with few registers and with many."""

from __future__ import annotations

from itertools import product

import pytest

from lamina.backends.cpu.tiles import RegisterFile, candidates, pixel_counts


@pytest.mark.parametrize(("width", "chunks", "block"), [*product((1, 7, 56), (1, 2, 4, 6, 12), (1, 2, 3, 4))])
def test_tiles_take_whole_blocks_of_weights_or_whole_parts(width: int, chunks: int, block: int) -> None:
    for registers in (RegisterFile(9), RegisterFile(28), RegisterFile(25, row=1)):
        found = candidates(width, chunks, registers, block)
        for pixels, vectors in found:
            assert chunks % vectors == 0
            assert vectors % block == 0 or block % vectors == 0
            assert 1 <= pixels <= min(width, registers.rows(vectors))
        assert len(found) == len(set(found)) and found, "one vector always goes"


def test_rows_of_a_tile_have_registers() -> None:
    """Each accumulator has a register, of 7 rows of 4 vectors 28."""
    assert max(pixel_counts(56, 4, RegisterFile(28))) == 7
    assert max(pixel_counts(56, 4, RegisterFile(28, row=1))) == 5
    assert max(pixel_counts(3, 4, RegisterFile(28))) == 3
    assert pixel_counts(56, 4, RegisterFile(2)) == [1]
