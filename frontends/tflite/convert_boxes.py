"""Boxes that are chosen by their scores so that they do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.convert_arithmetic import real
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.schema import flexible

DETECTION = "custom TFLite_Detection_PostProcess"


def _below(number: float) -> np.float32:
    """The next number below: `>` it is `>=` the number."""
    return np.nextafter(np.float32(number), np.float32(-np.inf))


def chosen_boxes(
    b: TfliteBuilder, boxes: Value, scores: Value, most: int, overlap: np.float32, least: np.float32
) -> tuple[Value, Value]:
    """The places [most] of the boxes [B, 4] that are chosen by their scores [B], zeros behind them, and how many.

    Those with a score above `least` are, which overlap none chosen before by more than `overlap`.
    """
    count = scores.shape[0] if scores.rank == 1 else 0
    if boxes.shape != (count, 4) or not count or most < 1:
        raise b.fail(f"boxes {boxes} and scores {scores}, of which {most} are to be chosen")
    limit = b.constant(np.int64(most))
    found, total = b.ops(
        "vision.all_class_non_max_suppression", b.reshape(boxes, (1, count, 4)), b.reshape(scores, (1, 1, count)),
        limit, b.constant(overlap), b.constant(least), output_format="onnx",
    )  # fmt: skip
    places = b.reshape(b.slice(found, 1, 2, 3), (count,))
    places = b.slice(places, 0, 0, min(most, count))
    if most > count:
        places = b.op("nn.pad", places, pad_width=[0, most - count])
    return places, b.reshape(total, ())


def _within(b: TfliteBuilder, total: Value, most: int) -> Value:
    return b.op("less", b.constant(np.arange(most)), total)


@TABLE.op("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(
    b: TfliteBuilder, node: TfliteNode, boxes: Value, scores: Value, most: Value, overlap: Value, least: Value,
    sigma: Value | None = None,
) -> Sequence[Value]:  # fmt: skip
    """The places of the chosen boxes, their scores (V5), and how many they are; the rest is zero."""
    if sigma is not None and float(b.number(sigma, "sigma")):
        raise b.unsupported("soft suppression is not supported")
    count = int(b.number(most, "the number of boxes"))
    bounds = float(b.number(overlap, "the overlap")), float(b.number(least, "the score"))
    places, total = chosen_boxes(b, boxes, scores, count, _below(bounds[0]), np.float32(bounds[1]))
    inside = _within(b, total, count)
    index = b.op("where", inside, places, b.scalar(0, places))
    results = [b.cast(index, "int32"), b.cast(total, "int32")]
    if node.op.endswith("V5"):
        taken = b.op("take", scores, index, axis=0, mode="clip")
        results.insert(1, b.op("where", inside, taken, b.scalar(0, taken)))
    return results


@TABLE.op(DETECTION, f"quantized {DETECTION}")
def detection_postprocess(
    b: TfliteBuilder, node: TfliteNode, encodings: Value, scores: Value, anchors: Value
) -> Sequence[Value]:
    """The best boxes of an image, their classes, their scores, and how many they are, as floats.

    Boxes are decoded from their distances to anchors (W. Liu et al., SSD: single shot multibox detector, 2016).
    """
    encodings, scores, anchors = (real(b, node, k, v) for k, v in enumerate((encodings, scores, anchors)))
    options = flexible(
        node.custom_options, "max_detections", "max_classes_per_detection", "detections_per_class", "use_regular_nms",
        "nms_score_threshold", "nms_iou_threshold", "num_classes", "y_scale", "x_scale", "h_scale", "w_scale",
    )  # fmt: skip
    if encodings.rank != 3 or scores.rank != 3 or encodings.shape[0] != 1 or encodings.shape[2] < 4:
        raise b.unsupported(f"encodings {encodings} and scores {scores} are not supported")
    classes, most = int(options.get("num_classes", 0)), int(options.get("max_detections", 0))
    if not 1 <= classes <= scores.shape[2] or most < 1:
        raise b.fail(f"{classes} classes of {scores.shape[2]}, at most {most} boxes")
    boxes = _decoded(b, encodings, anchors, options)
    least, overlap = (float(options.get(f"nms_{n}_threshold", 0.0)) for n in ("score", "iou"))
    if options.get("use_regular_nms", False):
        *found, total = b.ops(
            "vision.regular_non_max_suppression", boxes, scores, num_classes=classes, max_detections=most,
            max_detections_per_class=int(options.get("detections_per_class", 100)), score_threshold=least,
            iou_threshold=overlap,
        )  # fmt: skip
        return [*found, b.cast(total, "float32")]
    if int(options.get("max_classes_per_detection", 1)) != 1:
        raise b.unsupported("more than one class for each box is not supported")
    rows = b.reshape(b.slice(scores, 2, scores.shape[2] - classes, scores.shape[2]), (scores.shape[1], classes))
    best = b.op("max", rows, axis=[1], keepdims=False)
    kind = b.cast(b.op("argmax", rows, axis=[1], keepdims=False), "float32")
    rows_of_boxes = b.reshape(boxes, boxes.shape[1:])
    places, total = chosen_boxes(b, rows_of_boxes, best, most, np.float32(overlap), _below(least))
    inside = _within(b, total, most)
    results = [b.op("take", v, places, axis=0, mode="clip") for v in (rows_of_boxes, kind, best)]
    masks = [b.reshape(inside, (most, 1)), inside, inside]
    results = [b.op("where", m, v, b.scalar(0, v)) for m, v in zip(masks, results, strict=True)]
    return [*(b.reshape(v, (1, *v.shape)) for v in results), b.reshape(b.cast(total, "float32"), (1,))]


def _decoded(b: TfliteBuilder, encodings: Value, anchors: Value, options: dict[str, Any]) -> Value:
    """Boxes [1, B, 4] as two corners, of centres and sizes relative to anchors [B, 4]."""
    code = b.reshape(b.slice(encodings, 2, 0, 4), (encodings.shape[1], 4))
    scales = [float(options.get(f"{a}_scale", 1.0)) or 1.0 for a in "yxhw"]
    code = b.div(code, b.constant(np.asarray(scales, np.float32)))
    middles, sizes = b.slice(anchors, 1, 0, 2), b.slice(anchors, 1, 2, 4)
    centre = b.add(b.mul(b.slice(code, 1, 0, 2), sizes), middles)
    half = b.mul(b.mul(b.op("exp", b.slice(code, 1, 2, 4)), 0.5), sizes)
    corners = b.op("concatenate", b.sub(centre, half), b.add(centre, half), axis=1)
    return b.reshape(corners, (1, *corners.shape))
