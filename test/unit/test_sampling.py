"""Resizing and sampling on random shapes and attributes: equations against the oracles, places against fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest

from lamina.dialects.relay.base import RelayOp, TensorInfo
from lamina.dialects.relay.image_crop import CropAndResizeOp
from lamina.dialects.relay.image_grid import GridSampleOp
from lamina.dialects.relay.image_resize import Resize1dOp, Resize2dOp, Resize3dOp
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.dialects.relay.sampling import METHODS, ROUNDINGS, TRANSFORMATIONS, places
from lamina.dialects.relay.vision_roi import RoiAlignOp, RoiPoolOp
from lamina.runtime.te_interpreter import run_te_func

Array = np.ndarray[Any, Any]


def check(op: type[RelayOp], arrays: list[Array], attrs: dict[str, Any]) -> None:
    """The equations give what the oracle gives."""
    infos = [TensorInfo(a.shape, str(a.dtype)) for a in arrays]
    with np.errstate(all="ignore"):
        found = run_te_func(te_func(op, infos, attrs), arrays)
    for a, e in zip(found, np_results(op, arrays, attrs), strict=True):
        assert a.dtype == e.dtype and a.shape == e.shape
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-4, err_msg=f"{op.name} {infos} {attrs}")


@pytest.mark.parametrize("op", [Resize1dOp, Resize2dOp, Resize3dOp])
def test_random_resizes(op: type[Resize1dOp]) -> None:
    random = np.random.default_rng(len(op.AXES))
    for _ in range(60):
        rank = len(op.AXES)
        shape = (1, 2, *map(int, random.integers(1, 8, rank)))
        roi = [*random.uniform(-0.5, 0.8, rank), *random.uniform(0.2, 1.5, rank)]
        attrs = {
            "size": [int(n) for n in random.integers(1, 10, rank)],
            "method": str(random.choice(METHODS)),
            "coordinate_transformation_mode": str(random.choice(TRANSFORMATIONS)),
            "rounding_method": str(random.choice(ROUNDINGS)),
            "cubic_exclude": int(random.integers(0, 2)),
            "extrapolation_value": 7.0,
            "roi": [round(float(v), 2) for v in roi],
        }
        check(op, [random.uniform(-1, 1, shape).astype(np.float32)], attrs)


def test_random_grids() -> None:
    random = np.random.default_rng(4)
    for n in range(60):
        rank = 2 + n % 2
        image = random.uniform(-1, 1, (1, 2, *random.integers(1, 6, rank))).astype(np.float32)
        # Further out than any image, and where a place is exact: on pixels, on edges, half way between.
        grid = random.uniform(-4, 4, (1, rank, *random.integers(1, 5, rank)))
        grid = np.where(random.uniform(size=grid.shape) < 0.3, np.round(grid), grid).astype(np.float64)
        attrs = {
            "method": str(random.choice(["bilinear", "nearest", "bicubic"][: 3 if rank == 2 else 2])),
            "padding_mode": str(random.choice(["zeros", "border", "reflection"])),
            "align_corners": bool(random.integers(0, 2)),
            "layout": "NCHW" if rank == 2 else "NCDHW",
        }
        check(GridSampleOp, [image, grid], attrs)


def test_random_regions() -> None:
    random = np.random.default_rng(5)
    for n in range(40):
        image = random.uniform(-1, 1, (2, 3, *random.integers(1, 9, 2)))
        rois = random.uniform(-4, 12, (3, 5))
        pooled = {"pooled_size": [int(e) for e in random.integers(1, 5, 2)], "spatial_scale": 0.75}
        mode = ("avg", "max", "max_part")[n % 3]
        check(RoiAlignOp, [image, rois], {**pooled, "mode": mode, "aligned": n % 2 == 1, "sample_ratio": n % 4 - 1})
        check(RoiPoolOp, [image, rois], pooled)
        boxes, of = random.uniform(-0.3, 1.3, (3, 4)), random.integers(0, 2, 3).astype(np.int32)
        method = ("bilinear", "nearest_neighbor")[n % 2]
        check(CropAndResizeOp, [image, boxes, of], {"crop_size": pooled["pooled_size"], "method": method})


def test_places_that_are_no_numbers_stay_inside() -> None:
    image = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    grid = np.full((1, 2, 1, 3), np.nan, np.float32)
    grid[0, :, 0, 1:] = [[np.inf, -np.inf], [3e38, -3e38]]
    for method in ("bilinear", "nearest", "bicubic"):
        for padding, expected in (("zeros", [0, 0, 0]), ("border", [0, 11, 0])):
            attrs = {"method": method, "padding_mode": padding}
            infos = [TensorInfo(image.shape, "float32"), TensorInfo(grid.shape, "float32")]
            (found,) = run_te_func(te_func(GridSampleOp, infos, attrs), [image, grid])
            np.testing.assert_array_equal(found.reshape(-1), expected, f"{method} {padding}")


@pytest.mark.parametrize("mode", TRANSFORMATIONS[:-1])
def test_places_are_exact(mode: str) -> None:
    half = Fraction(1, 2)
    for extent in range(1, 12):
        for size in range(1, 12):
            at = places(mode, extent, size)
            for x in range(size):
                scaled = Fraction(extent, size) * (x + half)
                expected = {
                    "align_corners": Fraction(extent - 1, max(size - 1, 1)) * x,
                    "asymmetric": Fraction(extent, size) * x,
                    "tf_half_pixel_for_nn": scaled,
                    "pytorch_half_pixel": scaled - half if size > 1 else Fraction(0),
                }.get(mode, scaled - half)
                assert Fraction(at.numerator(x), at.unit) == expected
                assert at.numerator(x) // at.unit == floor(expected)


def test_a_window_is_the_fraction_that_is_meant() -> None:
    # 0.1 is not a double: its third multiple on four elements is to be the fourth element, not beyond it.
    at = places("tf_crop_and_resize", 31, 4, (0.1, 0.4))
    assert [Fraction(at.numerator(x), at.unit) for x in range(4)] == [3, 6, 9, 12]
    at = places("tf_crop_and_resize", 31, 4, tuple(float(np.float32(v)) for v in (0.1, 0.4)))  # type: ignore[arg-type]
    assert [Fraction(at.numerator(x), at.unit) for x in range(4)] == [3, 6, 9, 12]
