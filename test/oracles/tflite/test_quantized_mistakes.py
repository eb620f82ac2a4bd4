"""Quantised models that are wrong, or not supported, are refused by the operator's name in one line."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from quantized_cases import bias, q, weight  # noqa: E402
from tflite_build import T, one  # noqa: E402

import lamina  # noqa: E402
from lamina.errors import LaminaError  # noqa: E402


def conv(x: T, w: T, y: T, **options: Any) -> bytes:
    more = {"padding": "SAME", "stride_h": 1, "stride_w": 1, **options}
    return one("CONV_2D", [x, w, bias(4, 0.001)], [y], **more)


X, X2, Y = q((1, 5, 5, 3), 0.02, 3), q((1, 5, 5, 3), 0.02, 3), q((1, 5, 5, 4), 0.03, -4)
MODELS: dict[str, tuple[bytes, str]] = {
    "data with many scales": (
        conv(T((1, 5, 5, 3), "int8", scale=[0.1, 0.2, 0.3], axis=3), weight((4, 3, 3, 3), 0.01), Y),
        "data with a scale for each channel are not supported",
    ),
    "activation": (
        conv(X, weight((4, 3, 3, 3), 0.01), Y, fused_activation_function="TANH"),
        "the fused activation function TANH of quantised data is not supported",
    ),
    "weight without scale": (conv(X, T.of(np.zeros((4, 3, 3, 3), np.int8)), Y), "is not quantised"),
    "channels": (conv(X, weight((4, 3, 3, 2), 0.01), Y), "do not fit"),
    "type of the result": (
        conv(X, weight((4, 3, 3, 3), 0.01), q((1, 5, 5, 4), 0.03, 0, "int16")),
        "quantised data of int8 and int16 are not supported",
    ),
    "scale of zero": (one("ADD", [X, X2], [q((1, 5, 5, 3), 0.0)]), "has the scale 0.0"),
    "scale that is no number": (one("MUL", [X, X2], [q((1, 5, 5, 3), float("nan"))]), "has the scale nan"),
    "scale that is negative": (one("ADD", [X, X2], [q((1, 5, 5, 3), -1.0)]), "has the scale -1.0"),
    "other scales side by side": (
        one("CONCATENATION", [X, q((1, 5, 5, 3), 0.03)], [q((1, 5, 10, 3), 0.02, 3)], axis=2),
        "of other scales than the result's are not supported",
    ),
    "images of unsigned bytes resized": (
        one("RESIZE_BILINEAR", [q((1, 2, 2, 1), 0.1, 0, "uint8"), T.of(np.array([4, 4]))],
            [q((1, 4, 4, 1), 0.1, 0, "uint8")]),
        "quantised data of uint8 and uint8 are not supported",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MODELS)
def test_mistakes(case: str) -> None:
    data, text = MODELS[case]
    with pytest.raises(LaminaError) as caught:
        lamina.compile(data, cache=False)
    assert text in str(caught.value) and "\n" not in str(caught.value)
