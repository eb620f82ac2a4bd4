"""Operators on floats, integers and booleans give LiteRT's results."""

from __future__ import annotations

import numpy as np
import pytest
from litert import check, draw
from tflite_build import T, one


@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"])
def test_add(activation: str) -> None:
    data = one("ADD", [T((2, 3)), T((3,))], [T((2, 3))], fused_activation_function=activation)
    check(data, [draw((2, 3)), draw((3,), seed=1)])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv_2d(padding: str) -> None:
    w, bias = T.of(draw((4, 3, 3, 2), seed=1)), T.of(draw((4,), seed=2))
    y = T((1, 4, 4, 4) if padding == "SAME" else (1, 3, 3, 4))
    check(
        one("CONV_2D", [T((1, 8, 7, 2)), w, bias], [y], padding=padding, stride_h=2, stride_w=2), [draw((1, 8, 7, 2))]
    )


def test_reshape() -> None:
    data = one("RESHAPE", [T((2, 6)), T.of(np.array([3, -1]))], [T((3, 4))], new_shape=[3, -1])
    check(data, [draw((2, 6))])
