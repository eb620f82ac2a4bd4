"""Operators of detectors."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder


@TABLE.op("_contrib_MultiBoxPrior")
def multibox_prior(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The boxes of a single-shot detector at each pixel."""
    attrs = TextAttributes(node)
    return b.op(
        "vision.multibox_prior", x, sizes=attrs.floats("sizes", (1.0,)), ratios=attrs.floats("ratios", (1.0,)),
        steps=attrs.floats("steps", (-1.0, -1.0)), offsets=attrs.floats("offsets", (0.5, 0.5)),
        clip=attrs.bool("clip"),
    )  # fmt: skip


@TABLE.op("_contrib_MultiBoxDetection")
def multibox_detection(b: NodeBuilder, node: NetworkNode, scores: Value, moves: Value, anchors: Value) -> Value:
    """Rows (class, score, box) [N, B, 6] of boxes that overlap no better one; the others are -1.

    MXNet leaves score and box of those that overlap, and only their class is -1.
    """
    attrs = TextAttributes(node)
    if attrs.int("background_id"):
        raise b.unsupported(f"background_id = {attrs.int('background_id')} is not supported")
    rows, valid = b.ops(
        "vision.multibox_transform_loc", scores, moves, anchors, clip=attrs.bool("clip", True),
        threshold=attrs.float("threshold", 0.01), variances=attrs.floats("variances", (0.1, 0.1, 0.2, 0.2)),
    )  # fmt: skip
    places = b.constant(np.zeros(rows.shape[:2], np.int32))
    most, overlap = b.constant(-1, "int32"), b.constant(attrs.float("nms_threshold", 0.5), rows.dtype)
    return b.ops(
        "vision.non_max_suppression", rows, valid, places, most, overlap,
        force_suppress=attrs.bool("force_suppress"), top_k=attrs.int("nms_topk", -1), coord_start=2, score_index=1,
        id_index=0, return_indices=False, invalid_to_bottom=False,
    )[0]  # fmt: skip


@TABLE.op("ROIPooling")
def roi_pooling(b: NodeBuilder, node: NetworkNode, x: Value, rois: Value) -> Value:
    """The largest of each cell of a grid over regions."""
    attrs = TextAttributes(node)
    size = list(attrs.ints("pooled_size"))
    return b.op("vision.roi_pool", x, rois, pooled_size=size, spatial_scale=attrs.float("spatial_scale", 1.0))
