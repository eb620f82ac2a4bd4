"""Images of other sizes."""

from __future__ import annotations

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode


def _sizes(b: TfliteBuilder, x: Value, size: Value) -> list[int]:
    sizes = b.extents(size, "the size")
    if x.rank != 4 or len(sizes) != 2 or min(*sizes, *x.shape[1:3]) < 1:
        raise b.fail(f"{x} cannot have the size {sizes}")
    return sizes


@TABLE.op("RESIZE_BILINEAR")
def resize_bilinear(b: TfliteBuilder, node: TfliteNode, x: Value, size: Value) -> Value:
    """Linear interpolation between the pixels' corners, or their middles with `half_pixel_centers`."""
    if not is_float(x.dtype):
        raise b.unsupported(f"interpolation of {x.dtype} is not supported")
    corners, middles = bool(node.attr("align_corners", False)), bool(node.attr("half_pixel_centers", False))
    mode = "align_corners" if corners else "half_pixel" if middles else "asymmetric"
    return b.op(
        "image.resize2d", x, size=_sizes(b, x, size), layout="NHWC", method="linear",
        coordinate_transformation_mode=mode,
    )  # fmt: skip


@TABLE.op(*moves("RESIZE_NEAREST_NEIGHBOR"))
def resize_nearest_neighbor(b: TfliteBuilder, node: TfliteNode, x: Value, size: Value) -> Value:
    """The pixel that a place lies on; places as the reference kernel rounds them, in floats of 32 bits."""
    corners, middles = bool(node.attr("align_corners", False)), bool(node.attr("half_pixel_centers", False))
    for axis, count in enumerate(_sizes(b, x, size), 1):
        extent = x.shape[axis]
        is_cornered = corners and count > 1
        step = np.float32(extent - 1) / np.float32(count - 1) if is_cornered else np.float32(extent) / np.float32(count)
        at = (np.arange(count, dtype=np.float32) + np.float32(0.5 if middles else 0)) * step
        places = np.floor(at + np.float32(0.5)) if corners else np.floor(at)
        index = np.clip(places.astype(np.int64), 0, extent - 1)
        if not np.array_equal(index, np.arange(extent)):
            x = b.op("take", x, b.constant(index), axis=axis, mode="clip")
    return x
