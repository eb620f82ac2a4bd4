"""Fourier transforms where they are exact: a frequency that meets only 0 and +-1 of its sines gives no rest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.dialects.relay.reduce.spectrum import turns

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contributed_nodes import Nodes  # noqa: E402

LENGTHS = (1, 2, 3, 4, 6, 8, 12, 30, 37, 64)


def real_numbers(length: int) -> Any:
    return np.random.default_rng(length).standard_normal((3, length, 1)).astype(np.float32)


@pytest.mark.parametrize("length", [*LENGTHS, 4095, 4096])
def test_a_table_of_a_turn_is_exact_and_symmetric(length: int) -> None:
    c, s = turns(length)
    angle = 2 * np.pi * np.arange(length) / length
    assert max(abs(c - np.cos(angle)).max(), abs(s - np.sin(angle)).max()) < 2e-15
    assert np.array_equal(c[1:], c[:0:-1]) and np.array_equal(s[1:], -s[:0:-1])
    if length % 2 == 0:
        assert (c[length // 2], s[length // 2]) == (-1, 0)
    if length % 4 == 0:
        assert (c[length // 4], s[length // 4]) == (0, 1)


def test_real_numbers_have_a_real_mean_and_a_real_highest_frequency() -> None:
    """With float32 input the imaginary parts there are 0, not what is left of the sine of pi times a number."""
    g = Nodes()
    for length in LENGTHS:
        for onesided in (0, 1):
            g.add("DFT", [real_numbers(length)], domain="", onesided=onesided)
    for length in (8, 12):
        signal = real_numbers(length * 4)
        g.add("STFT", [signal, np.array(length // 2), None, np.array(length)], domain="")
    for found in (g.imported(), g.compiled()):
        for y in found.values():
            assert np.array_equal(y[..., 0, 1], np.zeros_like(y[..., 0, 1])), y.shape
        for length, y in zip(np.repeat(LENGTHS, 2), found.values(), strict=False):
            if length % 2 == 0:
                assert np.array_equal(y[:, length // 2, 1], np.zeros(3)), length


@pytest.mark.parametrize("length", [2, 8, 12])
def test_dft_of_real_numbers_is_real_where_they_alternate(length: int, tmp_path: Path) -> None:
    kind = f"tensor<3x{length}xf32>"
    source = tmp_path / "dft.mlir"
    source.write_text(f"""func.func @main(%x: {kind}, %z: {kind}) -> ({kind}, {kind}) {{
      %re, %im = relay.dft %x, %z : ({kind}, {kind}) -> ({kind}, {kind})
      return %re, %im : {kind}, {kind}
    }}""")
    x = real_numbers(length)[..., 0]
    _, im = lamina.compile(source, threads=1, cache=False)(x, np.zeros_like(x))
    assert np.array_equal(im[:, [0, length // 2]], np.zeros((3, 2)))
    np.testing.assert_allclose(im, np.fft.fft(x.astype(np.float64)).imag, atol=1e-5)
