"""Twelve programs, as people write them in JAX, by Lamina and by jaxlib."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from agreement import agree
from programs import PROGRAMS

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path) -> None:
    function, *args = PROGRAMS[name](jax, np.random.default_rng(3))
    agree(jax, tmp_path, function, *args)


# -- convolutions -----------------------------------------------------------------------------------

ORDERS = [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC"), ("NHWC", "OIHW", "NCHW"), ("CWNH", "IHOW", "HNCW")]
WINDOWS = [
    {"window_strides": (1, 1), "padding": "SAME"},
    {"window_strides": (2, 1), "padding": "VALID"},
    {"window_strides": (1, 2), "padding": ((2, 0), (1, 3)), "rhs_dilation": (2, 1)},
    {"window_strides": (1, 1), "padding": ((2, 1), (0, 2)), "lhs_dilation": (2, 3)},
    {"window_strides": (2, 2), "padding": ((-1, 1), (1, -2)), "lhs_dilation": (1, 2), "rhs_dilation": (1, 2)},
]


def operand(order: str, extents: dict[str, int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=[extents[a] for a in order]).astype(np.float32)


@pytest.mark.parametrize(("order", "window"), list(product(range(len(ORDERS)), range(len(WINDOWS)))))
def test_convolution(order, window, tmp_path) -> None:
    x = operand(ORDERS[order][0], {"N": 2, "C": 4, "H": 9, "W": 8}, 1)
    w = operand(ORDERS[order][1], {"O": 6, "I": 4, "H": 3, "W": 2}, 2)
    agree(
        jax,
        tmp_path,
        lambda x, w: lax.conv_general_dilated(x, w, dimension_numbers=ORDERS[order], **WINDOWS[window]),
        x,
        w,
    )


@pytest.mark.parametrize(("order", "groups"), [(0, 2), (1, 4), (2, 2), (3, 4)])
def test_convolution_in_groups(order, groups, tmp_path) -> None:
    x = operand(ORDERS[order][0], {"N": 4, "C": 4, "H": 7, "W": 6}, 1)
    w = operand(ORDERS[order][1], {"O": 8, "I": 4 // groups, "H": 3, "W": 3}, 2)

    def features(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=ORDERS[order], feature_group_count=groups
        )

    agree(jax, tmp_path, features, x, w)
    w = operand(ORDERS[order][1], {"O": 8, "I": 4, "H": 3, "W": 3}, 2)

    def batches(x, w):
        return lax.conv_general_dilated(x, w, (1, 2), "SAME", dimension_numbers=ORDERS[order], batch_group_count=groups)

    agree(jax, tmp_path, batches, x, w)


def test_gradients_of_a_convolution(tmp_path) -> None:
    x = operand("NHWC", {"N": 2, "C": 4, "H": 7, "W": 6}, 1)
    w = operand("HWIO", {"O": 6, "I": 2, "H": 3, "W": 3}, 2)

    def loss(x, w):
        y = lax.conv_general_dilated(
            x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=2
        )
        return (y**2).sum()

    agree(jax, tmp_path, jax.grad(loss, (0, 1)), x, w)


def test_convolutions_of_one_and_three_dimensions(tmp_path) -> None:
    x, w = operand("NCW", {"N": 2, "C": 3, "W": 11}, 1), operand("OIW", {"O": 4, "I": 3, "W": 3}, 2)
    agree(jax, tmp_path, lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME"), x, w)
    x = operand("NDHWC", {"N": 1, "C": 3, "D": 4, "H": 5, "W": 6}, 1)
    w = operand("DHWIO", {"O": 4, "I": 3, "D": 2, "H": 3, "W": 2}, 2)
    orders = ("NDHWC", "DHWIO", "NDHWC")
    agree(jax, tmp_path, lambda x, w: lax.conv_general_dilated(x, w, (1, 2, 1), "SAME", dimension_numbers=orders), x, w)


def test_transposed_convolution(tmp_path) -> None:
    x, w = operand("NHWC", {"N": 1, "C": 4, "H": 5, "W": 6}, 1), operand("HWIO", {"O": 3, "I": 4, "H": 3, "W": 3}, 2)
    agree(jax, tmp_path, lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), x, w)
