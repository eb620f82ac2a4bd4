"""Heads of detectors. They give what Darknet's layers give, [N, anchors * (5 + classes), H, W]: not yet boxes."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.darknet.convert_layers import bounded, flat, image, refuse, section_of
from lamina.frontends.darknet.reader import HEAD, TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder


def _parts(b: NodeBuilder, x: Value, anchors: int, length: int) -> Value:
    """[N, anchors, length, H, W]."""
    if image(b, x).shape[1] != anchors * length:
        raise b.fail(f"{x} has not the {anchors} x {length} channels of the anchors")
    return b.reshape(x, (x.shape[0], anchors, length, *x.shape[2:]))


@TABLE.op("yolo")
def yolo(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The places in a cell, the objectness and the classes under the logistic function, the sizes as they are.

    With `new_coords` the layer before did that; `scale_x_y` widens the places in either case.
    """
    s = section_of(node)
    masks = s.ints("mask")
    anchors = len(masks) or bounded(b, s, "num", 1)
    y = _parts(b, x, anchors, 5 + bounded(b, s, "classes", 20))
    places, sizes, rest = b.slice(y, 2, 0, 2), b.slice(y, 2, 2, 4), b.slice(y, 2, 4, y.shape[2])
    if not s.int("new_coords"):
        places, rest = b.op("sigmoid", places), b.op("sigmoid", rest)
    scale = s.float("scale_x_y", 1.0)
    if scale != 1:
        places = b.sub(b.mul(places, scale), 0.5 * (scale - 1))
    return b.reshape(b.op("concatenate", places, sizes, rest, axis=2), x.shape)


@TABLE.op("region")
def region(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """As a yolo layer; classes are a softmax unless `softmax` is 0, the objectness stays with `background`."""
    s = section_of(node)
    refuse(b, s, "tree", "map")
    anchors, coords = bounded(b, s, "num", 1), bounded(b, s, "coords", 4)
    y = _parts(b, x, anchors, coords + 1 + bounded(b, s, "classes", 20))
    if coords < 2:
        raise b.fail(f"coords = {coords} is out of range")
    places, sizes = b.op("sigmoid", b.slice(y, 2, 0, 2)), b.slice(y, 2, 2, coords)
    objectness, classes = b.slice(y, 2, coords, coords + 1), b.slice(y, 2, coords + 1, y.shape[2])
    if not s.int("background"):
        objectness = b.op("sigmoid", objectness)
    if s.int("softmax"):
        classes = b.op("nn.softmax", classes, axis=2)
    kept = [p for p in (places, sizes, objectness, classes) if p.shape[2]]
    return b.reshape(b.op("concatenate", *kept, axis=2), x.shape)


@TABLE.op("detection")
def detection(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The classes of each cell, then objectness and boxes; the classes are a softmax where `softmax` is set."""
    s = section_of(node)
    if not s.int("softmax"):
        return x
    side, classes = bounded(b, s, "side", 7), bounded(b, s, "classes", 1)
    row = flat(b, x)
    count = side * side * classes
    if row.shape[1] < count:
        raise b.fail(f"{row.shape[1]} elements have no {count} classes")
    head = b.reshape(b.slice(row, 1, 0, count), (row.shape[0], side * side, classes))
    head = b.reshape(b.op("nn.softmax", head, axis=-1), (row.shape[0], count))
    return b.op("concatenate", head, b.slice(row, 1, count, row.shape[1]), axis=1)


@TABLE.op(HEAD)
def head(b: NodeBuilder, node: NetworkNode, x: Value) -> list[Value]:
    """The masks (of a yolo layer), the anchors, and the counts and extents of a head, as constants."""
    s = section_of(node)
    total = bounded(b, s, "num", 1)
    anchors = np.full(2 * total, 0.5, np.float32)
    given = s.floats("anchors" if "anchors" in s.options else "biases")[: 2 * total]
    anchors[: len(given)] = given
    masks = s.ints("mask")
    if any(m < 0 or m >= total for m in masks):
        raise b.fail(f"a mask is not among the {total} anchors")
    is_yolo = len(node.outputs) == 3
    extents = x.shape[1:]
    if is_yolo:
        numbers = [len(masks) or total, *extents, bounded(b, s, "classes", 20), total]
    else:
        numbers = [total, *extents, bounded(b, s, "classes", 20), s.int("coords", 4), s.int("background")]
    found = [b.constant(anchors), b.constant(numbers, "int32")]
    return [b.constant(masks or list(range(total)), "int32"), *found] if is_yolo else found
