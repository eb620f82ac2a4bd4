"""Resizing and sampling on random shapes and attributes: equations against the oracles, places against fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.image.crop import CropAndResizeOp
from lamina.dialects.relay.image.grid import GridSampleOp
from lamina.dialects.relay.image.resize import Resize1dOp, Resize2dOp, Resize3dOp
from lamina.dialects.relay.image.sampling import METHODS, ROUNDINGS, TRANSFORMATIONS, places
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.dialects.relay.nn.deformable import DeformableConv2dOp
from lamina.dialects.relay.vision.roi import RoiAlignOp, RoiPoolOp
from lamina.interpreters.te_interpreter import run_te_func

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize("mode", ["pytorch_half_pixel", "align_corners", "half_pixel"])
@pytest.mark.parametrize("extent", [1, 2])
def test_an_axis_that_stays_spreads_no_infinity(mode: str, extent: int) -> None:
    """The places of one element have no slope: the axis stays all the same."""
    x = np.array([[1, -np.inf]] * extent, np.float32).reshape(1, 1, extent, 2)
    attrs = {"size": [extent, 3], "method": "linear", "coordinate_transformation_mode": mode}
    (found,) = np_results(Resize2dOp, [x], attrs)
    assert np.isneginf(found[..., 1]).all()
    check(Resize2dOp, [x], attrs)


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


def test_samples_outside_of_an_image_are_0_whatever_it_holds() -> None:
    image = np.full((1, 1, 1, 1), np.nan, np.float32)
    region = np.array([[0, 0, 0.375, 0.5, 0.875]], np.float32)
    for mode in ("avg", "max", "max_part"):
        attrs = {"pooled_size": [4, 1], "spatial_scale": 1.0, "sample_ratio": -1, "layout": "NCHW", "mode": mode}
        check(RoiAlignOp, [image, region], attrs | {"aligned": False})
        (found,) = np_results(RoiAlignOp, [image, region], attrs | {"aligned": False})
        np.testing.assert_array_equal(found[0, 0, :, 0], [np.nan, np.nan, np.nan, 0])


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


def test_a_part_of_zero_of_an_infinite_pixel_is_no_number() -> None:
    """The place before the first pixel is made from nothing but a part of zero of it. numpy's dot leaves that out."""
    image = np.ones((1, 2, 3, 3), np.float32)
    image[:, 0, 1, 0] = np.inf
    grid = np.array([-2, 0], np.float32).reshape(1, 2, 1, 1)
    (found,) = np_results(GridSampleOp, [image, grid], {})
    np.testing.assert_array_equal(found.reshape(-1), [np.nan, 0])
    check(GridSampleOp, [image, grid], {})


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


@pytest.mark.parametrize("axis", [0, 1])
def test_a_deformed_tap_beside_the_image_is_a_part_of_its_border(axis: int) -> None:
    moves = np.array([-9, -1, -0.75, -0.25, 0, 0.5, 1, 1.25, 2, 2.5, 2.75, 3, 9, np.inf, np.nan])
    image = np.array([5.0, 2.0, 7.0])
    # Each element is a tent that ends at its neighbours: also the first one and the last.
    tents = np.maximum(0, 1 - np.abs(moves[:, None] - np.arange(3))) @ image
    data = np.broadcast_to(image, (len(moves), 1, 3)).reshape(-1, 1, *((3, 1) if axis == 0 else (1, 3)))
    offset = np.zeros((len(moves), 2, 1, 1))
    offset[:, axis, 0, 0] = moves
    attrs = {"strides": [3, 1] if axis == 0 else [1, 3]}
    for dtype in ("float32", "float64"):
        arrays = [a.astype(dtype) for a in (data, offset, np.ones((1, 1, 1, 1)))]
        infos = [TensorInfo(a.shape, dtype) for a in arrays]
        (found,) = run_te_func(te_func(DeformableConv2dOp, infos, attrs), arrays)
        (oracle,) = np_results(DeformableConv2dOp, arrays, attrs)
        for result in (found, oracle):
            np.testing.assert_allclose(result[:, 0, 0, 0], np.nan_to_num(tents, nan=0.0), rtol=1e-6)


def test_between_an_infinity_and_a_number_is_an_infinity() -> None:
    """Of a difference of the two a part would be taken off the first: no number."""
    image = np.array([np.inf, 2, -np.inf, 1], np.float32).reshape(1, 1, 1, 4)
    offset = np.zeros((1, 2, 1, 4), np.float32)
    offset[0, 1, 0] = [0.5, 0.25, -0.5, -0.75]
    check(DeformableConv2dOp, [image, offset, np.ones((1, 1, 1, 1), np.float32)], {})
    (found,) = np_results(DeformableConv2dOp, [image, offset, np.ones((1, 1, 1, 1), np.float32)], {})
    assert found.ravel().tolist() == [np.inf, -np.inf, -np.inf, -np.inf]


def test_random_deformed_convolutions() -> None:
    ort = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(6)
    for n in range(8):
        groups, moves, size, kernel, pads = 1 + n % 2, 1 + n // 2 % 2, (5 + n, 4), (1 + n % 3, 2), [n % 3, 1, 0, 2]
        outs = [extent + pads[d] + pads[d + 2] - kernel[d] + 1 for d, extent in enumerate(size)]
        shapes = {
            "x": (2, 4, *size),
            "w": (2, 4 // groups, *kernel),
            "offset": (2, 2 * moves * kernel[0] * kernel[1], *outs),
        }
        ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        node = helper.make_node("DeformConv", list(shapes), ["y"], pads=pads, group=groups, offset_group=moves)
        result = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        graph = helper.make_graph([node], "g", ports, result)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        feeds = {name: random.uniform(-3, 3, shape).astype(np.float32) for name, shape in shapes.items()}
        (expected,) = ort.InferenceSession(model.SerializeToString()).run(None, feeds)
        attrs = {"padding": pads, "groups": groups, "deformable_groups": moves}
        (found,) = np_results(DeformableConv2dOp, [feeds["x"], feeds["offset"], feeds["w"]], attrs)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        if n == 0:
            compiled = lamina.compile(model, threads=1, cache=False).run(feeds)["y"]
            np.testing.assert_allclose(compiled, expected, rtol=1e-4, atol=1e-4)
