"""Products of the oracles are those of IEEE arithmetic, also where BLAS libraries leave out factors of zero."""

from __future__ import annotations

import numpy as np
import pytest

from lamina.dialects.relay.contraction import matmul, tensordot


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("shape", [(2, 1, 1), (1, 1, 8), (3, 5, 4), (16, 32, 16)])
def test_zero_times_an_infinity_is_nan(shape: tuple[int, int, int], special: float) -> None:
    rows, depth, columns = shape
    a, b = np.ones((rows, depth)), np.zeros((depth, columns))
    a[0, 0] = special
    for found in (matmul(a, b), tensordot(a, b, ([1], [0]))):
        assert np.isnan(found[0]).all() and (found[1:] == 0).all()


def test_products_of_stacks_and_axes_are_numpys() -> None:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 3, 4, 5)), random.standard_normal((2, 3, 5, 6))
    c = random.standard_normal((4, 3, 7, 5))
    expected = np.matmul(a, b), np.tensordot(a, c, ([1, 3], [1, 3]))
    a[0, 0, 0, 0] = np.inf
    found = matmul(a, b), tensordot(a, c, ([1, 3], [1, 3]))
    np.testing.assert_allclose(found[0][1], expected[0][1], rtol=1e-12)
    np.testing.assert_allclose(found[1][1], expected[1][1], rtol=1e-12)
    assert not np.isfinite(found[0][0, 0, 0]).any() and np.isfinite(found[0][0, 1]).all()
    assert not np.isfinite(found[1][0, 0]).any() and np.isfinite(found[1][0, 1]).all()
