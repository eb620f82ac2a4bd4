"""Images of other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.dialects.infos import is_symbolic, surely_equal
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value
from lamina.frontends.interpolation import along_axis, weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LAYOUTS = ("NCW", "NCHW", "NCDHW")
MOST_FACTOR = 17
"""Factors that are tried for an extent that only a run tells are less."""
CUBIC = -0.75
"""The parameter of torch's cubic interpolation (Keys, 1981)."""
CUBIC_ANTIALIASED = -0.5
"""The same where torch widens the kernel, as Pillow does."""


def _sizes(b: AtenBuilder, x: Value, output_size: Any, factors: Any) -> tuple[list[int], list[float]]:
    """The new extents, and the step in the image from one new element to the next, of each axis."""
    extents = x.shape[2:]
    listed: list[Any] = [] if factors is None else list(factors)
    if len(listed) == 1 and isinstance(listed[0], (list, tuple)):
        listed = list(listed[0])  # pyright: ignore[reportUnknownArgumentType]  # a call of a script, without overload
    given = [None if f is None else float(f) for f in listed]
    scales = [*given, *[None] * (len(extents) - len(given))]
    if output_size is not None and list(output_size):
        sizes = b.ints(output_size, len(extents))
    else:
        known = [(e, f) for e, f in zip(extents, scales, strict=True) if f is not None]
        sizes = [e * int(f) if f == int(f) else int(e * f) for e, f in known]
    steps = [_step(e, s) if f is None or f <= 0 else 1 / f for e, s, f in zip(extents, sizes, scales, strict=True)]
    return sizes, steps


def _step(extent: int, size: int) -> float:
    if is_symbolic(extent):
        for factor in range(1, MOST_FACTOR):
            if surely_equal(extent * factor, size):
                return 1 / factor
    return extent / size


def _is_exact(x: Value, sizes: Sequence[int], steps: Sequence[float]) -> bool:
    """Whether the steps are those of the sizes."""
    return all(
        surely_equal(e * round(1 / t), s) if is_symbolic(e) else abs(s * t - e) <= 1e-6 * e
        for e, s, t in zip(x.shape[2:], sizes, steps, strict=True)
    )


def _nearest(b: AtenBuilder, x: Value, sizes: list[int], steps: list[float], middle: bool) -> Value:
    """The element that a place lies on, or its middle does; places as torch's kernel rounds them."""
    if any(map(is_symbolic, x.shape[2:])) and _is_exact(x, sizes, steps):
        factors = [round(1 / t) for t in steps]
        if all(surely_equal(e * f, s) for e, f, s in zip(x.shape[2:], factors, sizes, strict=True)):
            for axis, factor in enumerate(factors, 2):
                x = b.op("repeat", x, repeats=factor, axis=axis)
            return x
    if not middle and all(s % e == 0 for e, s in zip(x.shape[2:], sizes, strict=True)) and _is_exact(x, sizes, steps):
        return b.op(
            f"image.resize{x.rank - 2}d", x, size=sizes, layout=_LAYOUTS[x.rank - 3], method="nearest_neighbor",
            coordinate_transformation_mode="asymmetric", rounding_method="floor",
        )  # fmt: skip
    for axis, (size, step) in enumerate(zip(sizes, steps, strict=True), 2):
        places = (np.arange(size, dtype=np.float32) + np.float32(0.5 if middle else 0)) * np.float32(step)
        index = np.minimum(np.floor(places).astype(np.int64), x.shape[axis] - 1)
        x = b.op("take", x, b.constant(index), axis=axis, mode="clip")
    return x


def _matrix(extent: int, size: int, step: float, cubic: bool, corners: bool) -> NDArray[np.float64]:
    """The part that each element has in each new one: [new, old]."""
    at = np.arange(size, dtype=np.float64)
    at = at * (extent - 1) / max(size - 1, 1) if corners else (at + 0.5) * step - 0.5
    return weights(at if cubic else np.maximum(at, 0), extent, cubic=CUBIC if cubic else None)


def _antialiased(extent: int, size: int, step: float, cubic: bool, corners: bool) -> NDArray[np.float64]:
    """The same by a kernel as wide as a step, of what is inside (ATen, UpSampleKernel.cpp, `_aa`)."""
    if corners:
        step = (extent - 1) / (size - 1) if size > 1 else 0.0
    at = (np.arange(size, dtype=np.float64) + 0.5) * step - 0.5
    stretch = min(1 / step, 1.0) if step > 0 else 1.0
    return weights(at, extent, cubic=CUBIC_ANTIALIASED if cubic else None, stretch=stretch, exclude_outside=True)


def _interpolated(
    b: AtenBuilder, x: Value, sizes: list[int], steps: list[float], method: str, corners: bool, antialias: bool = False
) -> Value:
    if not is_float(x.dtype):
        raise b.unsupported(f"interpolation of {x.dtype} is not supported: torch rounds on the way")
    wide = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
    y = b.tensor(x, wide)
    if not antialias and (corners or _is_exact(x, sizes, steps)):
        y = b.op(
            f"image.resize{x.rank - 2}d", y, size=sizes, layout=_LAYOUTS[x.rank - 3], method=method, cubic_alpha=CUBIC,
            coordinate_transformation_mode="align_corners" if corners else "half_pixel",
        )  # fmt: skip
        return b.tensor(y, x.dtype)
    for axis, (size, step) in enumerate(zip(sizes, steps, strict=True), 2):
        matrix = (_antialiased if antialias else _matrix)(x.shape[axis], size, step, method == "cubic", corners)
        y = along_axis(b, y, axis, matrix)
    return b.tensor(y, x.dtype)


@aten_op("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec", "_upsample_nearest_exact1d.vec",
         "_upsample_nearest_exact2d.vec", "_upsample_nearest_exact3d.vec")  # fmt: skip
def upsample_nearest_vec(b: AtenBuilder, input: Value, output_size: Any, scale_factors: Any) -> Value:
    assert b.call is not None
    return _nearest(b, input, *_sizes(b, input, output_size, scale_factors), "exact" in b.call.packet)


@aten_op("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
         "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")  # fmt: skip
def upsample_nearest(b: AtenBuilder, self: Value, output_size: Any, *scales: Any, **named: Any) -> Value:
    assert b.call is not None
    factors = scales or tuple(named.get(f"scales_{a}") for a in "dhw"[-(self.rank - 2) :])
    return _nearest(b, self, *_sizes(b, self, output_size, factors), "exact" in b.call.packet)


def _method(b: AtenBuilder) -> str:
    assert b.call is not None
    return "cubic" if "bicubic" in b.call.packet else "linear"


@aten_op("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec", "upsample_bicubic2d.vec")
def upsample_vec(b: AtenBuilder, input: Value, output_size: Any, align_corners: bool, scale_factors: Any) -> Value:
    return _interpolated(b, input, *_sizes(b, input, output_size, scale_factors), _method(b), align_corners)


@aten_op("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d")
def upsample(b: AtenBuilder, self: Value, output_size: Any, align_corners: bool, *scales: Any, **named: Any) -> Value:
    factors = scales or tuple(named.get(f"scales_{a}") for a in "dhw"[-(self.rank - 2) :])
    return _interpolated(b, self, *_sizes(b, self, output_size, factors), _method(b), align_corners)


@aten_op("_upsample_bilinear2d_aa.vec", "_upsample_bicubic2d_aa.vec")
def upsample_antialiased_vec(
    b: AtenBuilder, input: Value, output_size: Any, align_corners: bool, scale_factors: Any
) -> Value:
    sizes = _sizes(b, input, output_size, scale_factors)
    return _interpolated(b, input, *sizes, _method(b), align_corners, antialias=True)


@aten_op("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
def upsample_antialiased(
    b: AtenBuilder, self: Value, output_size: Any, align_corners: bool, scales_h: float | None = None,
    scales_w: float | None = None,
) -> Value:  # fmt: skip
    sizes = _sizes(b, self, output_size, (scales_h, scales_w))
    return _interpolated(b, self, *sizes, _method(b), align_corners, antialias=True)
