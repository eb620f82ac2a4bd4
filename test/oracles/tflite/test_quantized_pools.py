"""Quantised poolings and reductions give LiteRT's integers, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check  # noqa: E402
from quantized_cases import check_whole, integers, q  # noqa: E402
from tflite_build import T, one  # noqa: E402

SIZES = [((1, 8, 8, 5), (2, 2), 2), ((2, 9, 7, 3), (3, 2), 1), ((1, 7, 7, 16), (7, 7), 1), ((1, 10, 5, 4), (5, 3), 3)]


@pytest.mark.parametrize("name", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize(("size", "kernel", "stride"), SIZES)
def test_pools(name: str, padding: str, dtype: str, size: Any, kernel: Any, stride: int) -> None:
    out = [-(-(e if padding == "SAME" else e - k + 1) // stride) for e, k in zip(size[1:3], kernel, strict=True)]
    point = {"int8": -20, "uint8": 108, "int16": 0}[dtype]
    x, y = q(size, 0.03, point, dtype), q((size[0], *out, size[3]), 0.03, point, dtype)
    activation = "RELU6" if padding == "SAME" and dtype != "int16" else "NONE"
    data = one(name, [x], [y], padding=padding, filter_height=kernel[0], filter_width=kernel[1], stride_h=stride,
               stride_w=stride, fused_activation_function=activation)  # fmt: skip
    check_whole(data, x)


AXES = [((1, 2), True), ((1, 2), False), ((3,), True), ((0,), False), ((-1, 1), True)]


def reduction(name: str, dtype: str, axes: Any, keep: bool, points: tuple[int, int]) -> tuple[bytes, T]:
    """A model of a mean or a sum over axes, and its input."""
    size = (3, 7, 5, 17)
    over = sorted(a % 4 for a in axes)
    shape = tuple(1 if a in over else e for a, e in enumerate(size) if keep or a not in over)
    by = 0.4 if name == "MEAN" else 0.4 * int(np.prod([size[a] for a in over]))
    x, y = q(size, 0.03, points[0], dtype), q(shape, 0.03 * by, points[1], dtype)
    return one(name, [x, T.of(np.array(axes))], [y], keep_dims=keep), x


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize(("axes", "keep"), AXES)
def test_mean(dtype: str, axes: Any, keep: bool) -> None:
    data, x = reduction("MEAN", dtype, axes, keep, {"int8": (-20, 3), "uint8": (108, 131), "int16": (0, 0)}[dtype])
    check_whole(data, x)


@pytest.mark.parametrize("count", [3, 7, 49, 300])
def test_many_means(count: int) -> None:
    x, y = q((3000, count), 0.0317, -9), q((3000, 1), 0.0093, 5)
    check_whole(one("MEAN", [x, T.of(np.array([1]))], [y], keep_dims=True), x)


@pytest.mark.parametrize(("axes", "keep"), AXES)
def test_sum(axes: Any, keep: bool) -> None:
    data, x = reduction("SUM", "uint8", axes, keep, (108, 131))
    check_whole(data, x)


@pytest.mark.parametrize(("axes", "keep"), AXES)
def test_sum_of_signed_bytes(axes: Any, keep: bool) -> None:
    # LiteRT 2.3.0's reference kernel reads signed bytes as unsigned ones, and 16 bits as bytes. So the test keeps to
    # bytes from zero up, in the result too, which both readings share.
    data, x = reduction("SUM", "int8", axes, keep, (0, 0))
    check(data, [integers(x.shape, low=0) // 3 + 1])


@pytest.mark.parametrize("name", ["REDUCE_MAX", "REDUCE_MIN"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_extremes(name: str, dtype: str) -> None:
    x, y = q((3, 7, 5), 0.03, 0, dtype), q((3, 5), 0.03, 0, dtype)
    check_whole(one(name, [x, T.of(np.array([1]))], [y], keep_dims=False), x)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize(("size", "out"), [((1, 5, 7, 3), (10, 14)), ((2, 9, 4, 1), (4, 11)), ((1, 1, 3, 2), (4, 7))])
@pytest.mark.parametrize("options", [{}, {"align_corners": True}, {"half_pixel_centers": True}], ids=str)
def test_resize_bilinear(dtype: str, size: Any, out: Any, options: Any) -> None:
    x, y = q(size, 0.03, 0, dtype), q((size[0], *out, size[3]), 0.03, 0, dtype)
    check_whole(one("RESIZE_BILINEAR", [x, T.of(np.array(out))], [y], **options), x)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize(("axes", "keep"), [((1,), True), ((0, 2), False)])
def test_product(dtype: str, axes: Any, keep: bool) -> None:
    size = (2, 3, 4)
    shape = tuple(1 if a in axes else e for a, e in enumerate(size) if keep or a not in axes)
    unit = {"int8": 0.011, "int16": 0.00005}[dtype]
    inner, outer = (-20, 3) if dtype == "int8" else (0, 0)
    x, y = q(size, unit, inner, dtype), q(shape, unit / 3, outer, dtype)
    check_whole(one("REDUCE_PROD", [x, T.of(np.array(axes))], [y], keep_dims=keep), x)
