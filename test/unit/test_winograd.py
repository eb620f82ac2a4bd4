"""Winograd's convolution is the convolution: its weight transform followed by the rest gives what nn.conv2d gives."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.dialects.relay.nn.winograd import winograd_matrices
from lamina.interpreters.te_interpreter import run_te_func

pytestmark = pytest.mark.slow

TRANSFORM = "relay.nn.contrib_conv2d_winograd_weight_transform"
REST = "relay.nn.contrib_conv2d_winograd_without_weight_transform"


@pytest.mark.parametrize(("m", "k"), [(m, k) for m in range(1, 9) for k in range(1, 8) if 2 <= m + k - 1 <= 12])
def test_matrices_give_a_correlation_exactly(m: int, k: int) -> None:
    out, into, kernel = winograd_matrices(m, k)
    a = m + k - 1
    x = [Fraction(3 * n * n - 7 * n + 2, 5) for n in range(a)]
    w = [Fraction(n * n - 4, n + 2) for n in range(k)]
    tile = [sum(into[r][e] * x[r] for r in range(a)) for e in range(a)]
    weight = [sum(kernel[e][r] * w[r] for r in range(k)) for e in range(a)]
    y = [sum(out[e][i] * tile[e] * weight[e] for e in range(a)) for i in range(m)]
    assert y == [sum(x[i + r] * w[r] for r in range(k)) for i in range(m)]


@pytest.mark.parametrize("m", [2, 4])
def test_float32_holds_the_matrices_of_data_and_result(m: int) -> None:
    """Else every element would be off by a rounding error of the matrix, not only of the arithmetic."""
    out, into, _ = winograd_matrices(m, 3)
    numbers = [n for matrix in (out, into) for row in matrix for n in row]
    assert [Fraction(float(np.float32(float(n)))) for n in numbers] == numbers


@pytest.mark.parametrize("by_te", [False, True])
@pytest.mark.parametrize(
    ("m", "k", "groups", "layout"), [(2, 3, 1, "NCHW"), (4, 3, 2, "NCHW"), (3, 2, 1, "NHWC"), (2, 5, 1, "NCHW")]
)
def test_transform_and_rest_give_the_convolution(m: int, k: int, groups: int, layout: str, by_te: bool) -> None:
    random = np.random.default_rng(m * 10 + k)
    shape = {"N": 2, "C": 4, "H": 9, "W": 11}
    x = random.uniform(-1, 1, [shape[a] for a in layout])
    w = random.uniform(-1, 1, (6, 4 // groups, k, k))
    attrs = {"padding": [1, 0, 2, 1], "groups": groups, "data_layout": layout}

    def run(name: str, *arrays: np.ndarray, **attrs: object) -> np.ndarray:
        op = find_op(name)
        assert op is not None
        if not by_te:
            return np_results(op, arrays, attrs)[0]
        return run_te_func(te_func(op, [TensorInfo(a.shape, str(a.dtype)) for a in arrays], attrs), list(arrays))[0]

    expected = run("relay.nn.conv2d", x, w, **attrs)
    actual = run(REST, x, run(TRANSFORM, w, tile_size=m), tile_size=m, **attrs)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-11)
