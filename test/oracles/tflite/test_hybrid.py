"""Floats with weights of 8 bits give the results of LiteRT's reference kernels."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check, draw  # noqa: E402
from tflite_build import T, one  # noqa: E402

WINDOW: dict[str, Any] = {"padding": "SAME", "stride_h": 2, "stride_w": 1}


def weights(*shape: int, per_axis: int | None = None) -> T:
    scale = 0.013 if per_axis is None else draw((shape[per_axis],), seed=9, low=0.005, high=0.03)
    return T.of(draw(shape, "int8", seed=1, low=-127, high=127), scale=scale, axis=per_axis or 0)


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_fully_connected(asymmetric: bool, bias: bool) -> None:
    extra = T.of(draw((5,), seed=2)) if bias else None
    data = one("FULLY_CONNECTED", [T((4, 8)), weights(5, 8), extra], [T((4, 5))],
               asymmetric_quantize_inputs=asymmetric, fused_activation_function="RELU")  # fmt: skip
    for x in (draw((4, 8)), draw((4, 8), seed=3) * [[1], [0], [-50], [1e-3]]):
        check(data, [x.astype(np.float32)])


def test_conv_2d() -> None:
    data = one("CONV_2D", [T((2, 6, 5, 4)), weights(8, 3, 3, 4, per_axis=0), T.of(draw((8,), seed=2))],
               [T((2, 3, 5, 8))], **WINDOW)  # fmt: skip
    check(data, [draw((2, 6, 5, 4))])


def test_depthwise_conv_2d() -> None:
    data = one("DEPTHWISE_CONV_2D", [T((2, 6, 5, 4)), weights(1, 3, 3, 4, per_axis=3), T.of(draw((4,), seed=2))],
               [T((2, 3, 5, 4))], depth_multiplier=1, **WINDOW)  # fmt: skip
    check(data, [draw((2, 6, 5, 4))])


@pytest.mark.parametrize("per_axis", [None, 0])
def test_embedding_lookup(per_axis: int | None) -> None:
    data = one("EMBEDDING_LOOKUP", [T((3,), "int32"), weights(6, 4, per_axis=per_axis)], [T((3, 4))])
    check(data, [np.array([5, 0, 2], np.int32)])
