"""Resize as relay.image.resize1d, 2d or 3d, which passes know and kernels compute at once, where it is such an op."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.dialects.relay.image.sampling import FARTHEST, LARGEST_EXTENT
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder

_LAYOUTS = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
_METHODS = {"nearest": "nearest_neighbor", "linear": "linear", "cubic": "cubic"}


def resized_image(
    b: Builder,
    x: Value,
    sizes: Sequence[int],
    scales: Sequence[float],
    windows: Sequence[tuple[float, float]] | None,
    *,
    mode: str,
    coordinates: str,
    rounding: str,
    cubic: float,
    exclude_outside: bool,
    outside: float,
) -> Value | None:
    """The resized image; None where batch or channels are resized, a scale is not that of whole sizes, or the two
    disagree on what to do."""
    if x.rank not in _LAYOUTS or tuple(sizes[:2]) != x.shape[:2] or tuple(sizes) == x.shape or x.dtype == "bool":
        return None
    if windows is not None and any(w != (0.0, 1.0) for w in windows[:2]):
        return None
    spatial = list(zip(x.shape[2:], sizes[2:], scales[2:], strict=True))
    if any(abs(scale * extent - size) > 1e-6 * size for extent, size, scale in spatial):
        return None
    if max(*x.shape[2:], *sizes[2:]) > LARGEST_EXTENT or (exclude_outside and mode == "linear"):
        return None
    roi = [w[end] for end in (0, 1) for w in windows[2:]] if windows is not None else None
    if roi is not None and max(map(abs, roi)) > FARTHEST:
        return None
    return b.op(
        f"image.resize{x.rank - 2}d",
        x,
        size=list(sizes[2:]),
        roi=roi,
        layout=_LAYOUTS[x.rank],
        method=_METHODS[mode],
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding if mode == "nearest" else None,
        cubic_alpha=float(cubic),
        cubic_exclude=int(exclude_outside),
        extrapolation_value=float(outside),
    )
