"""Regions of images, and boxes chosen so that they do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.relay.meaning import np_results
from lamina.dialects.relay.vision.nms import AllClassNonMaxSuppressionOp
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, NeedsDataError, Node
from lamina.frontends.onnx.registry import onnx_op

if TYPE_CHECKING:
    from numpy.typing import NDArray


@onnx_op("MaxRoiPool")
def max_roi_pool(n: Node, b: Builder) -> Value:
    return b.op(
        "vision.roi_pool",
        n.input(0),
        n.input(1),
        pooled_size=list(n.attr("pooled_shape", ())),
        spatial_scale=float(n.attr("spatial_scale", 1.0)),
    )


@onnx_op("NonMaxSuppression")
def non_max_suppression(n: Node, b: Builder) -> Value:
    """Choose boxes; their number is the result's shape: boxes and scores must be known, or fixed on first use."""
    boxes, scores = n.input(0), n.input(1)
    if boxes.rank != 3 or scores.rank != 3 or boxes.shape[2] != 4 or scores.shape[::2] != boxes.shape[:2]:
        raise n.fail("expects boxes [N, B, 4] and scores [N, C, B]")

    def number(i: int, what: str, default: float) -> float:
        if not n.has(i):
            return default
        values = n.array(i, what).reshape(-1)
        if len(values) != 1:
            raise n.fail(f"{what} is one number")
        return float(values[0])

    most = int(number(2, "max_output_boxes_per_class", 0))
    iou = number(3, "iou_threshold", 0.0)
    if not 0.0 <= iou <= 1.0:
        raise n.fail(f"iou_threshold is {iou}, expects 0 to 1")
    least = number(4, "score_threshold", 0.0) if n.has(4) else -float("inf")
    given: list[NDArray[Any]] = []
    for value, what in ((boxes, "boxes"), (scores, "scores")):
        if value.array is None:
            raise NeedsDataError(value, f"how many of the {what} are chosen, the result's shape,", where=n.where)
        given.append(value.array)
    if most <= 0 or 0 in scores.shape:
        return b.constant(np.zeros((0, 3), np.int64))
    if n.attr("center_point_box", 0):
        x, y, w, h = np.moveaxis(given[0], 2, 0)
        given[0] = np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], 2)
    thresholds = [np.asarray(v, boxes.dtype) for v in (iou, least)]
    chosen, total = np_results(AllClassNonMaxSuppressionOp, [*given, np.asarray(most), *thresholds], {})
    return b.constant(chosen[: int(total[0])])
