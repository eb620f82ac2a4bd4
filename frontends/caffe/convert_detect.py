"""Boxes of a single-shot detector: PriorBox lays them out, DetectionOutput chooses among them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.caffe.convert_conv import parameters
from lamina.frontends.caffe.reader import TABLE
from lamina.frontends.caffe.text_format import TextMessage
from lamina.frontends.network import NetworkNode, NodeBuilder

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 1 << 20
"""Detections of an image."""


@TABLE.op("PriorBox")
def prior_box(b: NodeBuilder, node: NetworkNode, x: Value, image: Value) -> Value:
    """The boxes of a single-shot detector and their variances, [1, 2, 4 boxes]: a constant (SSD's prior_box_layer).

    At each pixel: each smallest size, its geometric mean with the largest, and the smallest at each ratio.
    """
    p = parameters(node, "prior_box_param")
    if x.rank != 4 or image.rank != 4:
        raise b.fail(f"takes images, {x} and {image} are given")
    smallest, largest = p.floats("min_size"), p.floats("max_size")
    ratios = [1.0]
    for ratio in p.floats("aspect_ratio"):
        if ratio <= 0:
            raise b.fail(f"aspect_ratio = {ratio} is out of range")
        for r in (ratio, 1 / ratio) if p.bool("flip", True) else (ratio,):
            if all(abs(r - known) >= 1e-6 for known in ratios):
                ratios.append(r)
    if not smallest or min(smallest) <= 0 or largest and len(largest) != len(smallest):
        raise b.fail(f"{len(smallest)} sizes min_size and {len(largest)} of max_size")
    extents = np.asarray([*image.shape[2:]], np.float64)
    if p.words("img_size") or p.words("img_h"):
        extents = np.asarray([p.int("img_h", p.int("img_size")), p.int("img_w", p.int("img_size"))], np.float64)
    steps = extents / np.asarray(x.shape[2:])
    if p.words("step") or p.words("step_h"):
        steps = np.asarray([p.float("step_h", p.float("step")), p.float("step_w", p.float("step"))])
    if min(extents) <= 0 or min(steps) <= 0:
        raise b.fail("an extent or step is out of range")
    sides: list[tuple[float, float]] = []
    for k, size in enumerate(smallest):
        sides.append((size, size))
        if largest:
            middle = float(np.sqrt(size * largest[k]))
            sides.append((middle, middle))
        sides += [(size / float(np.sqrt(r)), size * float(np.sqrt(r))) for r in ratios[1:]]
    return _laid_out(b, node, x.shape[2:], extents, steps, sides)


def _laid_out(
    b: NodeBuilder, node: NetworkNode, grid: tuple[int, ...], extents: NDArray[Any], steps: NDArray[Any],
    sides: list[tuple[float, float]],
) -> Value:  # fmt: skip
    """The corners of boxes of sides (height, width) at each pixel, as parts of the image, and the variances."""
    p = parameters(node, "prior_box_param")
    count = grid[0] * grid[1] * len(sides)
    b.check_size([1, 2, 4 * count], "float32")
    offset = p.float("offset", 0.5)
    y = (np.arange(grid[0]) + offset) * steps[0]
    x = (np.arange(grid[1]) + offset) * steps[1]
    halves = np.asarray(sides) / 2
    boxes = np.empty((*grid, len(sides), 4))
    for k, centre, half, extent in ((0, x[None, :, None], halves[:, 1], extents[1]),
                                    (1, y[:, None, None], halves[:, 0], extents[0])):  # fmt: skip
        boxes[..., k] = (centre - half) / extent
        boxes[..., k + 2] = (centre + half) / extent
    if p.bool("clip", True):
        boxes = boxes.clip(0, 1)
    variances = p.floats("variance") or [0.1]
    variances = variances * 4 if len(variances) == 1 else variances
    if len(variances) != 4:
        raise b.fail(f"{len(variances)} numbers of variance, expects 1 or 4")
    made = np.stack([boxes.reshape(-1), np.tile(variances, count)])[None]
    return b.constant(made.astype(np.float32), name=node.name)


def _boxes(b: NodeBuilder, p: TextMessage, moves: Value, priors: Value, count: int) -> Value:
    """Corners [N, boxes, 4]: the prior boxes, moved by the network."""
    batch = moves.shape[0]
    d = b.reshape(moves, (batch, count, 4))
    both = b.reshape(priors, (2, count, 4))
    prior = b.reshape(b.slice(both, 0, 0, 1), (1, count, 4))
    if not p.bool("variance_encoded_in_target"):
        d = b.mul(d, b.reshape(b.slice(both, 0, 1, 2), (1, count, 4)))
    kind = p.word("code_type", "CORNER")
    if kind in ("CORNER", "1"):
        made = b.add(prior, d)
    elif kind in ("CENTER_SIZE", "2"):
        low, high = b.slice(prior, 2, 0, 2), b.slice(prior, 2, 2, 4)
        size = b.sub(high, low)
        centre = b.add(b.mul(b.add(low, high), 0.5), b.mul(b.slice(d, 2, 0, 2), size))
        half = b.mul(b.mul(b.op("exp", b.slice(d, 2, 2, 4)), size), 0.5)
        made = b.op("concatenate", b.sub(centre, half), b.add(centre, half), axis=2)
    else:
        raise b.unsupported(f"code_type: {shown(kind)} is not supported")
    return b.op("clip", made, a_min=0.0, a_max=1.0) if p.bool("clip") else made


@TABLE.op("DetectionOutput")
def detection_output(b: NodeBuilder, node: NetworkNode, moves: Value, scores: Value, priors: Value, *_: Value) -> Value:
    """Rows (image, class, score, x0, y0, x1, y1) [1, 1, N * keep_top_k, 7], the best of each image first.

    Caffe gives as many rows as it finds; here those behind the last have -1 for an image.
    """
    p = parameters(node, "detection_output_param")
    classes, count = p.int("num_classes"), prod(priors.shape) // 8
    nms, keep = p.message("nms_param"), p.int("keep_top_k", -1)
    if not p.bool("share_location", True):
        raise b.unsupported("share_location: false is not supported")
    batch = moves.shape[0]
    fits = prod(moves.shape) == batch * count * 4 and prod(scores.shape) == batch * count * classes
    if classes < 1 or not count or prod(priors.shape) != 8 * count or not fits:
        raise b.fail(f"takes {moves}, {scores}, {priors} for {classes} classes")
    s = b.transpose(b.reshape(scores, (batch, count, classes)), (0, 2, 1))
    background = p.int("background_label_id")
    is_object = (np.arange(classes) != background).reshape(1, classes, 1)
    s = b.op("where", b.constant(is_object), s, b.filled(-1.0, (), s.dtype))
    candidates = nms.int("top_k", -1)
    if 0 < candidates < count:  # only the best of each class may overlap others
        best = b.ops("topk", s, k=candidates, axis=-1, ret_type="both", is_ascend=False, dtype="int32")[0]
        least = b.slice(best, 2, candidates - 1, candidates)
        s = b.op("where", b.op("greater_equal", s, least), s, b.filled(-1.0, (), s.dtype))
    boxes = _boxes(b, p, moves, priors, count)
    keep = classes * count if keep < 1 else min(keep, classes * count)
    if keep > MOST:
        raise b.fail(f"keep_top_k = {keep} is out of range")
    limits = (b.constant(np.int32(candidates if candidates > 0 else count)),
              b.constant(np.float32(nms.float("nms_threshold", 0.3))),
              b.constant(np.float32(max(p.float("confidence_threshold", 0.0), 0.0))))  # fmt: skip
    rows, values, found = b.ops("vision.all_class_non_max_suppression", boxes, s, *limits, output_format="tensorflow")
    return _rows(b, boxes, rows, values, found, keep)


def _rows(b: NodeBuilder, boxes: Value, rows: Value, values: Value, found: Value, keep: int) -> Value:
    """The best detections of each image, of all classes, with their boxes."""
    batch, count = rows.shape[:2]
    order = b.constant(np.arange(count, dtype=np.int32).reshape(1, count))
    is_there = b.op("less", order, b.reshape(b.cast(found, "int32"), (batch, 1)))
    values = b.op("where", is_there, b.reshape(values, (batch, count)), b.filled(-1.0, (), values.dtype))
    best, at = b.ops("topk", values, k=keep, axis=-1, ret_type="both", is_ascend=False, dtype="int32")
    rows = b.op("gather", b.cast(rows, "int32"), b.broadcast(b.reshape(at, (batch, keep, 1)), (batch, keep, 2)), axis=1)
    corners = b.op("gather", boxes, b.broadcast(b.slice(rows, 2, 1, 2), (batch, keep, 4)), axis=1)
    image = b.constant(np.arange(batch, dtype=np.float32).reshape(batch, 1, 1))
    label, score = b.cast(b.slice(rows, 2, 0, 1), boxes.dtype), b.reshape(best, (batch, keep, 1))
    made = b.op("concatenate", b.broadcast(image, (batch, keep, 1)), label, score, corners, axis=2)
    none = b.constant(np.asarray([-1, 0, 0, 0, 0, 0, 0], np.float32))
    return b.reshape(b.op("where", b.one("greater", score, 0.0), made, none), (1, 1, batch * keep, 7))
