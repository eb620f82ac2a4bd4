"""Images in other sizes: centres of pixels are matched, kernels that reach over the edge are normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.interpolation import along_axis, weights
from lamina.frontends.network import NodeBuilder

_CUBIC = {"bilinear": None, "linear": None, "bicubic": -0.5, "cubic": -0.5}
"""The parameter of the cubic kernel by the name of a method, None for the linear one."""


def resized(
    b: NodeBuilder, x: Value, axes: Sequence[int], sizes: Sequence[int], method: str, antialias: bool = False
) -> Value:
    """The tensor with other extents of some axes, each element interpolated by `nearest`, `bilinear` or `bicubic`."""
    for axis, size in zip(axes, sizes, strict=True):
        extent = x.shape[axis]
        if size < 1 or extent < 1:
            raise b.fail(f"axis {axis} of {x} cannot have {size} elements")
        if size == extent:
            continue
        b.check_size((size, extent), "float64")
        if method == "nearest":
            places = np.floor((np.arange(size) + 0.5) * extent / size).astype(np.int64)
            x = b.op("take", x, b.constant(places), axis=axis, mode="clip")
            continue
        if method not in _CUBIC:
            raise b.unsupported(f"the interpolation {shown(method)} is not supported")
        at = (np.arange(size) + 0.5) * extent / size - 0.5
        stretch = min(1.0, size / extent) if antialias else 1.0
        x = along_axis(b, x, axis, weights(at, extent, cubic=_CUBIC[method], stretch=stretch, exclude_outside=True))
    return x
