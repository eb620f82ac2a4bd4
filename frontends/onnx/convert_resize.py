"""Resize and Upsample: interpolation is separable, so each axis is a product with a matrix known at compile time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lamina.dialects.infos import surely_equal
from lamina.frontends.builder import Value
from lamina.frontends.interpolation import along_axis, weights
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op
from lamina.frontends.onnx.resized_images import resized_image

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclass(frozen=True)
class _Way:
    """The attributes of a node that say how elements are found."""

    mode: str
    coordinates: str
    rounding: str
    cubic: float
    exclude_outside: bool
    antialias: bool


def places(way: _Way, extent: int, size: int, scale: float, roi: tuple[float, float]) -> NDArray[np.float64]:
    """The places of the output's elements on the input axis: float64[size]."""
    x = np.arange(size, dtype=np.float64)
    length = scale * extent
    if way.coordinates == "align_corners":
        return x * (extent - 1) / (length - 1) if length != 1 else np.zeros(size)
    if way.coordinates == "asymmetric":
        return x / scale
    if way.coordinates == "tf_crop_and_resize":
        span = (roi[1] - roi[0]) * (extent - 1)
        return roi[0] * (extent - 1) + (x * span / (length - 1) if length != 1 else np.full(size, span / 2))
    if way.coordinates == "pytorch_half_pixel" and size == 1:
        return np.zeros(size)
    if way.coordinates == "tf_half_pixel_for_nn":
        return (x + 0.5) / scale
    shift = extent / 2 * (1 - size / length) if way.coordinates == "half_pixel_symmetric" else 0.0
    return shift + (x + 0.5) / scale - 0.5


def nearest(way: _Way, at: NDArray[np.float64], extent: int) -> NDArray[np.int64]:
    """The element nearest to each place; outside it is the one at the edge."""
    below = np.floor(at)
    if way.rounding == "ceil":
        found = np.ceil(at)
    elif way.rounding == "floor":
        found = below
    else:
        half = at - below
        up = half > 0.5 if way.rounding == "round_prefer_floor" else half >= 0.5
        found = below + up
    return np.clip(found, 0, extent - 1).astype(np.int64)


def _weights(way: _Way, at: NDArray[np.float64], extent: int, scale: float) -> NDArray[np.float64]:
    """The part that each input element has in each output element: a matrix [output, input]."""
    return weights(
        at, extent, cubic=None if way.mode == "linear" else way.cubic,
        stretch=min(scale, 1.0) if way.antialias else 1.0, exclude_outside=way.exclude_outside,
    )  # fmt: skip


@onnx_op("Upsample")
def upsample(n: Node, b: Builder) -> Value:
    """By whole or broken factors; the scales became an input in opset 9."""
    x = n.input(0)
    if "scales" in n.attrs:
        scales = list(n.attrs["scales"])
    elif n.has(1):
        scales = _floats(n, 1, "scales")
    else:
        scales = [1.0, 1.0, n.attr("height_scale", 1.0), n.attr("width_scale", 1.0)]
    if len(scales) != x.rank or min(scales, default=1.0) <= 0:
        raise n.fail(f"scales {scales} do not fit rank {x.rank}")
    mode = {"nearest": "nearest", "linear": "linear", "bilinear": "linear"}.get(n.attr("mode", "nearest"))
    if mode is None:
        raise n.fail(f"mode is {n.attr('mode')!r}, expects nearest or linear")
    way = _Way(mode, "asymmetric", "floor", -0.75, False, False)
    sizes = [_scaled(e, s) for e, s in zip(x.shape, scales, strict=True)]
    whole = [s for s in scales[2:] if s != int(s)] == [] and scales[:2] == [1.0, 1.0]
    if mode == "nearest" and x.rank == 4 and whole:
        return b.op("nn.upsampling", x, scale_h=float(scales[2]), scale_w=float(scales[3]), method="nearest_neighbor")
    return _resized(n, b, x, way, sizes, scales, None, 0.0)


def _scaled(extent: int, scale: float) -> int:
    """The extent of what is scaled; by a whole number also where it is a symbol."""
    return extent * int(scale) if scale == int(scale) else int(np.floor(extent * scale))


def _floats(n: Node, i: int, what: str) -> list[float]:
    return [float(v) for v in n.array(i, what).reshape(-1)]


@onnx_op("Resize")
def resize(n: Node, b: Builder) -> Value:
    """In opset 10 coordinates were asymmetric and scales came second; now roi comes before them, sizes after."""
    x = n.input(0)
    axes = n.axes(n.attr("axes", range(x.rank)), x.rank)
    if n.version < 11:
        way = _Way(n.attr("mode", "nearest"), "asymmetric", "floor", -0.75, False, False)
        scales, sizes, roi = _floats(n, 1, "scales"), [], []
    else:
        way = _Way(
            n.attr("mode", "nearest"),
            n.attr("coordinate_transformation_mode", "half_pixel"),
            n.attr("nearest_mode", "round_prefer_floor"),
            n.attr("cubic_coeff_a", -0.75),
            bool(n.attr("exclude_outside", 0)),
            bool(n.attr("antialias", 0)),
        )
        scales = _floats(n, 2, "scales") if n.has(2) else []
        sizes = n.ints(3, "sizes") if n.has(3) else []
        roi = _floats(n, 1, "roi") if n.has(1) and way.coordinates == "tf_crop_and_resize" else []
    if way.mode not in ("nearest", "linear", "cubic") or way.rounding not in _ROUNDINGS:
        raise n.fail(f"mode {way.mode!r} or nearest_mode {way.rounding!r} does not exist")
    if len(sizes or scales) != len(axes) or min(sizes or scales, default=1) <= 0:
        raise n.fail(f"scales {scales} or sizes {sizes} do not fit {len(axes)} axes")
    if roi and len(roi) != 2 * len(axes):
        raise n.fail(f"roi has {len(roi)} numbers, expects {2 * len(axes)}")
    old = [x.shape[a] for a in axes]
    if sizes:
        scales = [1.0 if surely_equal(s, e) else s / e for s, e in zip(sizes, old, strict=True)]
        policy = n.attr("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            same = (min if policy == "not_larger" else max)(scales)
            scales, sizes = [same] * len(axes), [int(np.floor(same * e + 0.5)) for e in old]
    else:
        sizes = [_scaled(e, s) for e, s in zip(old, scales, strict=True)]
    full_sizes, full_scales = list(x.shape), [1.0] * x.rank
    windows = [(0.0, 1.0)] * x.rank
    for k, a in enumerate(axes):
        full_sizes[a], full_scales[a] = sizes[k], scales[k]
        if roi:
            windows[a] = (roi[k], roi[len(axes) + k])
    outside = n.attr("extrapolation_value", 0.0)
    return _resized(n, b, x, way, full_sizes, full_scales, windows if roi else None, outside)


def _resized(
    n: Node, b: Builder, x: Value, way: _Way, sizes: list[int], scales: list[float],
    windows: list[tuple[float, float]] | None, outside: float,
) -> Value:  # fmt: skip
    b.check_size(sizes, x.dtype)
    if 0 in x.shape:
        raise n.fail("there is nothing to interpolate")
    if way.coordinates == "tf_crop_and_resize" and windows is None:
        way = replace(way, coordinates="align_corners")
    if not way.antialias:
        image = resized_image(
            b, x, sizes, scales, windows, mode=way.mode, coordinates=way.coordinates, rounding=way.rounding,
            cubic=way.cubic, exclude_outside=way.exclude_outside, outside=outside,
        )  # fmt: skip
        if image is not None:
            return image
    dtype, beyond = x.dtype, np.zeros((1,) * x.rank, np.bool_)
    for axis, (size, scale) in enumerate(zip(sizes, scales, strict=True)):
        extent = x.shape[axis]
        window = windows[axis] if windows is not None else (0.0, 1.0)
        if size == extent and scale == 1.0 and window == (0.0, 1.0):
            continue
        at = places(way, extent, size, scale, window)
        if windows is not None:
            out = ((at < 0) | (at > extent - 1)).reshape([-1 if a == axis else 1 for a in range(x.rank)])
            beyond = beyond | out
        if way.mode == "nearest":
            x = b.op("take", x, b.constant(nearest(way, at, extent)), axis=axis, mode="clip")
        else:
            x = along_axis(
                b, b.cast(x, "float64" if dtype == "float64" else "float32"), axis, _weights(way, at, extent, scale)
            )
    if way.mode != "nearest":
        x = _rounded(b, x, dtype)
    if beyond.any():
        mask = np.ascontiguousarray(np.broadcast_to(beyond, x.shape))
        x = b.op("where", b.constant(mask), b.scalar(outside, x), x)
    return x


def _rounded(b: Builder, x: Value, dtype: str) -> Value:
    if dtype.startswith(("int", "uint")):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = b.op("clip", b.op("trunc", x), a_min=float(low), a_max=float(high))
    return b.cast(x, dtype)
