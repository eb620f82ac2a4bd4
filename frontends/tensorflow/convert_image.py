"""Images of other sizes, pieces of images, boxes that do not overlap, dilations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.dialects.relay.meaning import np_results
from lamina.dialects.relay.vision.nms import AllClassNonMaxSuppressionOp
from lamina.frontends.builder import Value
from lamina.frontends.interpolation import along_axis, weights
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import MOST_INTEGERS, TABLE, Images, ints, small

MOST_TAPS = 128
"""Elements of a structuring element: each is an addition of its own."""
TABLE_STEPS = 1024
"""TensorFlow tabulates the cubic kernel at so many places between two pixels."""


def _sizes(b: NodeBuilder, x: Value, size: Value) -> list[int]:
    extents = ints(b, size, "the size")
    if x.rank != 4 or len(extents) != 2 or min(extents) < 1 or 0 in x.shape:
        raise b.fail(f"{x} cannot be resized to {extents}")
    b.check_size((x.shape[0], *extents, x.shape[3]), "float32")
    return extents


def _scale(node: NetworkNode, old: int, new: int) -> np.float32:
    """The pixels of the operand for each of the result, in float32 as there."""
    if node.attr("align_corners", False) and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


@TABLE.op("ResizeBilinear")
def bilinear(b: NodeBuilder, node: NetworkNode, x: Value, size: Value) -> Value:
    x = b.cast(x, "float32")
    way = "align_corners" if node.attr("align_corners", False) else "asymmetric"
    way = "half_pixel" if node.attr("half_pixel_centers", False) else way
    extents = _sizes(b, x, size)
    attrs = {"layout": "NHWC", "method": "linear", "coordinate_transformation_mode": way}
    return x if list(x.shape[1:3]) == extents else b.op("image.resize2d", x, size=extents, **attrs)


@TABLE.op("ResizeNearestNeighbor")
def nearest(b: NodeBuilder, node: NetworkNode, x: Value, size: Value) -> Value:
    """The pixel at the place, which is rounded down; up from the middle on with `align_corners`."""
    centres = bool(node.attr("half_pixel_centers", False))
    for axis, (old, new) in enumerate(zip(x.shape[1:3], _sizes(b, x, size), strict=True), 1):
        small(b, new, "pixels of an axis")
        scale, places = _scale(node, old, new), np.arange(new, dtype=np.float32)
        at = (places + np.float32(0.5)) * scale if centres else places * scale
        whole = np.floor(at + np.float32(0.5)) if node.attr("align_corners", False) else np.floor(at)
        index = np.clip(whole.astype(np.int64), 0, old - 1)
        if not np.array_equal(index, np.arange(old)):
            x = b.op("take", x, b.constant(index), axis=axis, mode="clip")
    return x


@TABLE.op("ResizeBicubic")
def bicubic(b: NodeBuilder, node: NetworkNode, x: Value, size: Value) -> Value:
    """Keys' kernel where places are of centres, which leaves out what is outside; else that with a slope of -0.75."""
    centres = bool(node.attr("half_pixel_centers", False))
    extents = _sizes(b, x, size)
    x = b.cast(x, "float32")
    for axis, (old, new) in enumerate(zip(x.shape[1:3], extents, strict=True), 1):
        small(b, old * new, "weights of an axis")
        scale, places = _scale(node, old, new), np.arange(new, dtype=np.float32)
        at = (places + np.float32(0.5)) * scale - np.float32(0.5) if centres else places * scale
        below = np.floor(at)
        steps = np.rint((at - below) * np.float32(TABLE_STEPS)).astype(np.float64) / TABLE_STEPS
        matrix = weights(below + steps, old, cubic=-0.5 if centres else -0.75, exclude_outside=centres)
        x = along_axis(b, x, axis, matrix)
    return x


@TABLE.op("CropAndResize")
def crop_and_resize(b: NodeBuilder, node: NetworkNode, x: Value, boxes: Value, places: Value, size: Value) -> Value:
    method = str(node.attr("method") or "bilinear")
    return b.op(
        "image.crop_and_resize", b.cast(x, "float32"), boxes, places, crop_size=ints(b, size, "the size"),
        layout="NHWC", method={"nearest": "nearest_neighbor"}.get(method, method),
        extrapolation_value=float(node.attr("extrapolation_value", 0.0)),
    )  # fmt: skip


@TABLE.op("Dilation2D")
def dilation(b: NodeBuilder, node: NetworkNode, x: Value, w: Value) -> Value:
    """The maximum over a window of what is in it and the structuring element together; what is outside never wins."""
    images = Images(b, node)
    if x.rank != 4 or w.rank != 3 or x.shape[3] != w.shape[2] or not is_float(x.dtype):
        raise b.fail(f"{x} and {w} are no image and structuring element")
    kernel = list(w.shape[:2])
    if kernel[0] * kernel[1] > MOST_TAPS:
        raise b.unsupported(f"a structuring element of {kernel} is not supported, only {MOST_TAPS} elements are")
    strides, rates = images.spatial(node.attr("strides"), "strides"), images.spatial(node.attr("rates"), "rates")
    pads = images.padding(x.shape[1:3], kernel, strides, rates)
    if any(pads):
        room = [0, 0, pads[0], pads[2], pads[1], pads[3], 0, 0]
        x = b.op("nn.pad", x, pad_width=room, pad_value=-float("inf"))
    counts = [(e - (k - 1) * r - 1) // s + 1 for e, k, r, s in zip(x.shape[1:3], kernel, rates, strides, strict=True)]
    if min(counts) < 1:
        raise b.fail(f"a window of {kernel} does not fit {x}")
    best: Value | None = None
    for i, j in np.ndindex(*kernel):
        first = [i * rates[0], j * rates[1]]
        last = [f + (n - 1) * s + 1 for f, n, s in zip(first, counts, strides, strict=True)]
        part = b.op("strided_slice", x, begin=first, end=last, strides=strides, axes=[1, 2])
        row = b.op("strided_slice", w, begin=[i, j], end=[i + 1, j + 1], strides=[1, 1], axes=[0, 1])
        term = b.add(part, b.reshape(row, (w.shape[2],)))
        best = term if best is None else b.op("maximum", best, term)
    assert best is not None
    return best


# -- boxes -------------------------------------------------------------------------------------------


def _selected(b: NodeBuilder, boxes: Value, scores: Value, *rest: Value) -> tuple[Value, Value, int]:
    """The boxes chosen, padded with zeros, how many they are, and how many they may be."""
    most = max(0, int(b.number(rest[0], "the most boxes")))
    overlap = rest[1]
    least = rest[2] if len(rest) > 2 else b.tensor(-float("inf"), scores.dtype)
    if boxes.rank != 2 or boxes.shape[1:] != (4,) or scores.shape != boxes.shape[:1]:
        raise b.fail(f"expects boxes [N, 4] and scores [N], has {boxes} and {scores}")
    count = boxes.shape[0]
    whole = b.reshape(boxes, (1, count, 4)), b.reshape(scores, (1, 1, count))
    rows, total = b.ops(
        "vision.all_class_non_max_suppression", *whole, b.tensor(most, "int64"), b.cast(overlap, boxes.dtype),
        b.cast(least, boxes.dtype),
    )  # fmt: skip
    places = b.cast(b.reshape(b.slice(rows, 1, 2, 3), (count,)), "int32")
    return places, b.cast(b.reshape(total, ()), "int32"), most


def _padded(b: NodeBuilder, places: Value, most: int) -> Value:
    count = places.shape[0]
    if most > count:
        b.check_size((most,), places.dtype)
        return b.op("nn.pad", places, pad_width=[0, most - count])
    return b.slice(places, 0, 0, most)


@TABLE.op("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(b: NodeBuilder, node: NetworkNode, boxes: Value, scores: Value, *rest: Value) -> Value:
    """The boxes chosen: their number is the result's shape, so boxes and scores must be known."""
    if node.op == "NonMaxSuppression":
        rest = (*rest, b.tensor(float(node.attr("iou_threshold", 0.5)), boxes.dtype))
    for value in (boxes, scores):
        array = b.known(value, "how many boxes are chosen, the result's shape,")
        small(b, array.size, "boxes", 4 * MOST_INTEGERS)
    most = max(0, int(b.number(rest[0], "the most boxes")))
    if not most or 0 in boxes.shape:
        return b.zeros((0,), "int32")
    given = [b.known(v, "a threshold").astype(boxes.dtype) for v in rest[1:]]
    least = given[1] if len(given) > 1 else np.asarray(-np.inf, boxes.dtype)
    arrays = [b.known(boxes, "boxes")[None], b.known(scores, "scores")[None, None], np.asarray(most), given[0], least]
    chosen, total = np_results(AllClassNonMaxSuppressionOp, arrays, {})
    return b.constant(chosen[: int(total[0]), 2].astype(np.int32))


@TABLE.op("CombinedNonMaxSuppression")
def combined(
    b: NodeBuilder, node: NetworkNode, boxes: Value, scores: Value, each: Value, total: Value, overlap: Value,
    least: Value,
) -> Sequence[Value]:  # fmt: skip
    """The best boxes of all classes of each image, their scores, their classes, and how many they are."""
    images, count, of, _ = boxes.shape
    classes = scores.shape[2]
    most, every = int(b.number(total, "the most boxes")), int(b.number(each, "the most boxes of a class"))
    if of not in (1, classes) or scores.shape[:2] != (images, count) or not count or not classes:
        raise b.fail(f"{boxes} and {scores} do not fit")
    if of != 1:
        raise b.unsupported("boxes of each class are not supported, only of all classes")
    if node.attr("pad_per_class", False):
        most = min(most, every * classes)
    every = min(every, count)
    kept, points, many = b.ops(
        "vision.all_class_non_max_suppression", b.reshape(boxes, (images, count, 4)), b.transpose(scores, (0, 2, 1)),
        b.tensor(every, "int64"), b.cast(overlap, boxes.dtype), b.cast(least, boxes.dtype), output_format="tensorflow",
    )  # fmt: skip
    rows = kept.shape[1]
    valid = b.op("less", b.constant(np.arange(rows)[None]), b.cast(b.reshape(many, (images, 1)), "int64"))
    order = b.choose(valid, points, -float("inf"))
    room = max(most - rows, 0)
    best, places = b.ops("topk", order, k=min(most, rows), axis=-1, ret_type="both", dtype="int64")
    chosen = b.op("take", kept, places, axis=1, batch_dims=1, mode="clip")
    label, box = (b.reshape(b.slice(chosen, 2, k, k + 1), chosen.shape[:2]) for k in (0, 1))
    there = b.op("not_equal", best, b.scalar(-np.inf, best))
    found = b.op("take", b.reshape(boxes, (images, count, 4)), box, axis=1, batch_dims=1, mode="clip")
    if node.attr("clip_boxes", True):
        found = b.op("clip", found, a_min=0.0, a_max=1.0)
    found = b.choose(b.op("expand_dims", there, axis=2), found, 0.0)
    results = [found, b.choose(there, best, 0.0), b.choose(there, b.cast(label, boxes.dtype), 0.0)]
    padded = [b.op("nn.pad", v, pad_width=[0, 0, 0, room, *[0, 0] * (v.rank - 2)]) if room else v for v in results]
    return [*padded, b.op("sum", b.cast(there, "int32"), axis=[1])]


@TABLE.op("NonMaxSuppressionV4", "NonMaxSuppressionV5")
def padded_non_max_suppression(
    b: NodeBuilder, node: NetworkNode, boxes: Value, scores: Value, *rest: Value
) -> Sequence[Value]:
    """As many places as there may be boxes, zeros behind those that are chosen; how many these are."""
    if not node.attr("pad_to_max_output_size", False):
        raise b.unsupported("how many boxes are chosen is the result's shape", "pad_to_max_output_size makes it known")
    if len(rest) > 3 and b.number(rest[3], "the sigma"):
        raise b.unsupported("soft suppression is not supported")
    if not boxes.shape[0]:
        raise b.unsupported("a choice among no boxes is not supported")
    places, total, most = _selected(b, boxes, scores, *rest)
    small(b, most, "boxes")
    found = _padded(b, places, most)
    if node.op == "NonMaxSuppressionV4":
        return [found, total]
    kept = b.op("less", b.constant(np.arange(most, dtype=np.int32)), total)
    best = b.op("take", scores, found, axis=0, mode="clip")
    return [found, b.choose(kept, best, 0.0), total]
