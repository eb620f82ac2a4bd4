"""Images read at places that a tensor holds: grids, deformable convolutions, regions."""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.dialects.dtypes import itemsize, numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_nn import matrices, per_axis
from lamina.frontends.onnx.narrow import HELD
from lamina.frontends.onnx.registry import onnx_op


@onnx_op("GridSample")
def grid_sample(n: Node, b: Builder) -> Value:
    """The coordinates stand last in ONNX, and after the batch in relay. Until opset 20 the modes had other names."""
    x, grid = n.input(0), n.input(1)
    methods = {"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}
    method = {**methods, "bicubic": "bicubic"}.get(n.attr("mode", "linear"))
    if method is None:
        raise n.fail(f"mode {n.attr('mode')!r} does not exist")
    if x.rank not in (4, 5) or grid.rank != x.rank:
        raise n.unsupported(f"sampling of {x.rank - 2} axes is not supported, only of 2 and 3")
    if method == "bicubic" and x.rank == 5:
        raise n.unsupported("cubic sampling of volumes is not supported")
    padding, corners = n.attr("padding_mode", "zeros"), bool(n.attr("align_corners", 0))
    if method == "nearest" and padding == "reflection":
        grid = _at_pixels(b, grid, x.shape[:1:-1], corners)
    places = b.op("transpose", grid, axes=[0, grid.rank - 1, *range(1, grid.rank - 1)])
    return b.op(
        "image.grid_sample",
        x,
        places,
        method=method,
        layout="NCHW" if x.rank == 4 else "NCDHW",
        padding_mode=padding,
        align_corners=corners,
    )


def _at_pixels(b: Builder, grid: Value, extents: tuple[int, ...], corners: bool) -> Value:
    """The grid at the nearest pixels. ONNX's reference mirrors what is nearest to a place; relay, as TVM and PyTorch,
    takes what is nearest to the mirrored place: of places between two pixels these are different ones."""
    wide = np.array(extents, numpy_dtype(grid.dtype))
    length, start = (np.maximum(wide - 1, 1), 0.0) if corners else (wide, 1.0)
    half, one, first = (b.constant(np.asarray(v, wide.dtype)) for v in (length / 2, 1.0, start / 2))
    at = b.op("subtract", b.op("multiply", b.op("add", grid, one), half), first)
    return b.op("subtract", b.op("divide", b.op("add", b.op("round", at), first), half), one)


@onnx_op("AffineGrid")
def affine_grid(n: Node, b: Builder) -> Value:
    """The places of a grid from -1 to 1 - the middles of its cells, or its corners - after a matrix for each batch.

    An axis of one corner has it at -1, as the step of ONNX's function for the depth and its reference have it.
    """
    theta, size = n.input(0), n.ints(1, "the size")
    spatial = size[2:]
    rank = len(spatial)
    if rank not in (2, 3) or theta.shape != (size[0], rank, rank + 1):
        raise n.fail(f"theta must be a matrix of {rank} rows for each of {size[:1]}")
    b.check_size([size[0], *spatial, rank], theta.dtype)
    corners = bool(n.attr("align_corners", 0))
    lines = [np.linspace(-1, 1, e) if corners else (2 * np.arange(e) + 1) / e - 1 for e in spatial]
    grids = np.meshgrid(*lines, indexing="ij")[::-1]
    points = np.stack([*grids, np.ones(spatial)], -1).reshape(1, -1, rank + 1)
    grid = b.constant(points.astype(numpy_dtype(theta.dtype)))
    moved = matrices(n, b, grid, b.op("transpose", theta, axes=[0, 2, 1]))
    return b.reshape(moved, (size[0], *spatial, rank))


@onnx_op("DeformConv")
def deform_conv(n: Node, b: Builder) -> Value:
    """With a mask the taps are read by a convolution with one tap a channel, weighted, and then summed."""
    x, w, offset = n.input(0), n.input(1), n.input(2)
    if x.rank != 4 or w.rank != 4:
        raise n.unsupported("only 2-D deformable convolution is supported")
    strides, dilations = per_axis(n, "strides", 2), per_axis(n, "dilations", 2)
    groups, moves = n.attr("group", 1), n.attr("offset_group", 1)
    common = {
        "strides": strides,
        "padding": list(n.attr("pads", (0, 0, 0, 0))),
        "dilation": dilations,
        "deformable_groups": moves,
        "kernel_size": list(w.shape[2:]),
    }
    if not n.has(4):
        y = b.op("nn.deformable_conv2d", x, offset, w, groups=groups, channels=w.shape[0], **common)
    else:
        channels, taps = x.shape[1], prod(w.shape[2:])
        one_each = np.tile(np.eye(taps), (channels, 1)).reshape(channels * taps, 1, *w.shape[2:])
        picked = b.constant(one_each.astype(x.dtype))
        columns = b.op("nn.deformable_conv2d", x, offset, picked, groups=channels, channels=channels * taps, **common)
        batch, _, height, width = columns.shape
        parts = (batch, moves, channels // moves, taps, height, width)
        mask = b.reshape(n.input(4), (batch, moves, 1, taps, height, width))
        weighted = b.reshape(b.op("multiply", b.reshape(columns, parts), mask), columns.shape)
        flat = b.reshape(w, (w.shape[0], w.shape[1] * taps, 1, 1))
        y = b.contraction(
            "nn.conv2d", weighted, flat, groups=groups, channels=w.shape[0], kernel_size=[1, 1], padding=[0, 0, 0, 0]
        )
    return b.op("nn.bias_add", y, n.input(3), axis=1) if n.has(3) else y


@onnx_op("RoiAlign")
def roi_align(n: Node, b: Builder) -> Value:
    """Each region is its image's number and two corners; since opset 16 the corners lie half a pixel further in."""
    x, rois, images = n.input(0), n.input(1), n.input(2)
    numbers = b.reshape(b.cast(images, rois.dtype), (rois.shape[0], 1))
    half = n.version >= 16 and n.attr("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    mode = n.attr("mode", "avg")
    if mode not in ("avg", "max"):
        raise n.fail(f"mode is {mode!r}, expects avg or max")
    return b.op(
        "vision.roi_align",
        x,
        b.op("concatenate", numbers, rois, axis=1),
        pooled_size=[n.attr("output_height", 1), n.attr("output_width", 1)],
        spatial_scale=n.attr("spatial_scale", 1.0),
        sample_ratio=n.attr("sampling_ratio", 0),
        layout="NCHW",
        mode="avg" if mode == "avg" else "max_part",
        aligned=half,
    )


@onnx_op("BitCast")
def bit_cast(n: Node, b: Builder) -> Value:
    """The same bits as elements of another type of the same width."""
    x, to = n.input(0), b.type_of(n.attr("to"))
    if to in HELD:
        raise n.unsupported(f"bits of {to} are not supported")
    if itemsize(x.dtype) != itemsize(to):
        raise n.fail(f"{x.dtype} and {to} differ in width")
    if x.dtype == to:
        return x
    if to == "bool":
        return b.op("not_equal", x, b.scalar(0, x))
    if x.dtype == "bool":
        x = b.cast(x, "uint8")
    return x if x.dtype == to else b.op("reinterpret", x, dtype=to)
