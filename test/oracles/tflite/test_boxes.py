"""Boxes that are chosen by their scores."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from flatbuffers import flexbuffers as _flexbuffers  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
from litert import check, draw, expected, ours  # noqa: E402
from tflite_build import T, one  # noqa: E402

flexbuffers: Any = _flexbuffers


def boxes(count: int) -> Any:
    corners = draw((count, 2), seed=1, low=0, high=1)
    return np.concatenate([corners, corners + draw((count, 2), seed=2, low=0.1, high=0.5)], axis=1).astype(np.float32)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("most", [5, 30])
def test_non_max_suppression(version: int, most: int) -> None:
    numbers = [T.of(np.int32(most)), T.of(np.float32(0.4)), T.of(np.float32(0.2))]
    sigma = [T.of(np.float32(0))] if version == 5 else []
    scores = draw((20,), seed=3, low=0, high=1)
    results = [T((most,), "int32"), *([T((most,))] if version == 5 else []), T((), "int32")]
    data = one(f"NON_MAX_SUPPRESSION_V{version}", [T((20, 4)), T((20,)), *numbers, *sigma], results)
    check(data, [boxes(20), scores])


@pytest.mark.parametrize("regular", [False, True])
def test_detection_postprocess(regular: bool) -> None:
    options = {
        "max_detections": 8, "max_classes_per_detection": 1, "detections_per_class": 4, "use_regular_nms": regular,
        "nms_score_threshold": 0.3, "nms_iou_threshold": 0.5, "num_classes": 3, "y_scale": 10.0, "x_scale": 10.0,
        "h_scale": 5.0, "w_scale": 5.0,
    }  # fmt: skip
    anchors = T.of(np.concatenate([draw((20, 2), seed=4, low=0, high=1), np.full((20, 2), 0.3)], axis=1))
    results = [T((1, 8, 4)), T((1, 8)), T((1, 8)), T((1,))]
    data = one("custom TFLite_Detection_PostProcess", [T((1, 20, 4)), T((1, 20, 4)), anchors], results,
               custom=bytes(flexbuffers.Dumps(options)))  # fmt: skip
    inputs = [draw((1, 20, 4), seed=5), draw((1, 20, 4), seed=6, low=0, high=1)]
    found, wanted = ours(data, inputs), expected(data, inputs)
    count = int(wanted[3][0])
    assert found[3][0] == count > 2
    for y, z in zip(found[:3], wanted[:3], strict=True):  # LiteRT leaves the rest as it is
        np.testing.assert_allclose(y[:, :count], z[:, :count], rtol=1e-5, atol=1e-6)
