"""A convolution on blocks of channels does not read the lanes of its data that its kernel does not have.

They are what a convolution before it made of weights of zero, which is no number where its own data was infinite.
"""

from __future__ import annotations

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.dialects.relay.nn.conv_blocked import ContribConv2dNCHWcOp
from lamina.interpreters.te_interpreter import run_te_func


@pytest.mark.parametrize(
    ("layout", "weight_shape", "groups"),
    [
        ("OIHW8i32o", (1, 3, 1, 1, 8, 32), 1),
        ("OIHW4i16o", (1, 5, 3, 3, 4, 16), 1),
        ("OIHW16o4i", (1, 5, 1, 1, 16, 4), 1),
        ("OIHW16o4i", (2, 5, 1, 1, 16, 4), 2),
    ],
)
@pytest.mark.parametrize("special", [np.inf, np.nan])
def test_lanes_behind_the_kernels_channels(
    layout: str, weight_shape: tuple[int, ...], groups: int, special: float
) -> None:
    random = np.random.default_rng(0)
    attrs = {"channels": 16 * groups, "groups": groups, "kernel_layout": layout, "padding": [1, 1]}
    channels = weight_shape[1] * min(weight_shape[4:])
    weight = random.standard_normal(weight_shape).astype(np.float32)
    data = random.standard_normal((1, groups, 2, 3, 3, 16)).astype(np.float32)
    data[:, :, 1, :, :, channels - 16 :] = special
    data = data.reshape(1, 2 * groups, 3, 3, 16)
    operands = [TensorInfo(each.shape, "float32") for each in (data, weight)]
    (expected,) = np_results(ContribConv2dNCHWcOp, [data, weight], attrs)
    (found,) = run_te_func(te_func(ContribConv2dNCHWcOp, operands, attrs), [data, weight])
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
