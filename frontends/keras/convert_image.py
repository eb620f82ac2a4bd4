"""Preprocessing of images and of numbers: sizes, crops, scales."""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.keras.images import resized
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.keras.tensors import array_of, listed
from lamina.frontends.network import NodeBuilder


def _axes(layer: Layer, x: Value) -> tuple[int, int]:
    """The axes of the height and of the width, of an image or of a batch of them."""
    return (x.rank - 2, x.rank - 1) if layer.channels_first else (x.rank - 3, x.rank - 2)


@layer("Resizing")
def resizing(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """An image in another size; its sides may first be cut or padded to the ratio of that."""
    if x.rank not in (3, 4):
        raise b.fail(f"{x} is no image")
    axes = _axes(layer, x)
    size = int(layer.get("height", 0)), int(layer.get("width", 0))
    if min(size) < 1:
        raise b.fail(f"the size is {list(size)}")
    method, dtype = str(layer.get("interpolation", "bilinear")).lower(), x.dtype
    if not is_float(dtype) and method != "nearest":
        x = b.cast(x, "float32")
    if layer.flag("crop_to_aspect_ratio"):
        x = _cropped(b, x, axes, size)
    elif layer.flag("pad_to_aspect_ratio"):
        x = _padded(b, x, axes, size, float(layer.get("fill_value", 0.0)))
    y = resized(b, x, axes, size, method, layer.flag("antialias"))
    if y.dtype == dtype:
        return y
    limits = np.iinfo(dtype)
    return b.cast(b.op("clip", b.op("round", y), a_min=float(limits.min), a_max=float(limits.max)), dtype)


def _cropped(b: NodeBuilder, x: Value, axes: tuple[int, int], size: tuple[int, int]) -> Value:
    """The largest middle part with the ratio of a size."""
    height, width = (x.shape[a] for a in axes)
    parts = int(float(width * size[0]) / size[1]), int(float(height * size[1]) / size[0])
    for axis, extent, part in zip(axes, (height, width), parts, strict=True):
        kept = max(min(extent, part), 1)
        start = int(float(extent - kept) / 2)
        x = b.slice(x, axis, start, start + kept)
    return x


def _padded(b: NodeBuilder, x: Value, axes: tuple[int, int], size: tuple[int, int], fill: float) -> Value:
    """The image in the middle of a frame with the ratio of a size."""
    height, width = (x.shape[a] for a in axes)
    parts = int(float(width * size[0]) / size[1]), int(float(height * size[1]) / size[0])
    widths = [0] * 2 * x.rank
    for axis, extent, part in zip(axes, (height, width), parts, strict=True):
        more = int(float(max(extent, part) - extent) / 2)
        widths[2 * axis : 2 * axis + 2] = more, more
    return b.op("nn.pad", x, pad_width=widths, pad_value=fill) if any(widths) else x


@layer("CenterCrop")
def center_crop(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The middle of an image; of a smaller one the largest part with the ratio, in the size of it."""
    axes = _axes(layer, x)
    size = int(layer.get("height", 0)), int(layer.get("width", 0))
    if min(size) < 1 or x.rank not in (3, 4):
        raise b.fail(f"the size is {list(size)}, the image {x}")
    if any(x.shape[a] < s for a, s in zip(axes, size, strict=True)):
        return resized(b, _cropped(b, x, axes, size), axes, size, "bilinear")
    for axis, extent in zip(axes, size, strict=True):
        start = (x.shape[axis] - extent) // 2
        x = b.slice(x, axis, start, start + extent)
    return x


def _numbers(given: Any) -> np.ndarray[Any, Any]:
    """Numbers of a configuration: one, a list, or a serialised array."""
    if isinstance(given, dict):
        return array_of(cast("dict[str, Any]", given)["config"])
    return np.asarray(given)


@layer("Rescaling", casts=False, passes=True)
def rescaling(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x scale + offset, in the type of the layer."""
    scale, offset = (_numbers(layer.get(k, d)).astype(np.float64) for k, d in (("scale", 1.0), ("offset", 0.0)))
    x = b.cast(x, layer.dtype)
    y = b.op("multiply", x, b.constant(scale.astype(layer.dtype)))
    return b.op("add", y, b.constant(offset.astype(layer.dtype))) if offset.any() else y


@layer("Normalization", casts=False, passes=True)
def normalization(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """(x - mean) / max(deviation, 1e-7), with moments of their own along some axes."""
    x = b.cast(x, layer.dtype)
    given = layer.get("axis", -1 if "axis" not in layer.config else ())
    axes = sorted(b.axis(int(a), x.rank) for a in listed(given))
    shape = [x.shape[a] if a in axes else 1 for a in range(x.rank)]
    moments: list[Value] = []
    for key in ("mean", "variance"):
        own = layer.config.get(key)
        value = layer.weight(key) if own is None else b.constant(_numbers(own).astype(layer.dtype))
        if prod(value.shape) == prod(shape):
            value = b.reshape(value, shape)
        elif value.rank:
            kept = [1] * x.rank
            for axis, extent in zip(reversed(axes), reversed(value.shape), strict=False):
                kept[axis] = extent
            value = b.reshape(value, kept)
        moments.append(value)
    mean, variance = moments
    deviation = b.one("maximum", b.op("sqrt", variance), 1e-7)
    y = b.div(b.sub(x, mean), deviation)
    if layer.flag("invert"):
        y = b.add(b.mul(x, deviation), mean)
    return y
