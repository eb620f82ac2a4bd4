"""Convolutions, forwards and backwards, in the layout of the graph."""

from __future__ import annotations

from typing import Any

from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE, Images, ints


@TABLE.op("Conv2D", "Conv3D")
def convolution(b: NodeBuilder, node: NetworkNode, x: Value, w: Value) -> Value:
    """Filters are [H, W, I, O]; fewer input channels in them than in the images mean groups."""
    spatial = 2 if node.op == "Conv2D" else 3
    images = _checked(b, node, x, w, spatial)
    channels, taken = x.shape[images.channels], w.shape[-2]
    if not taken or channels % taken:
        raise b.fail(f"{channels} channels do not fit a filter of {taken}")
    return b.contraction(
        f"nn.conv{spatial}d", x, w, groups=channels // taken, kernel_layout=images.kernel,
        **_windows(images, x, w), channels=w.shape[-1],
    )  # fmt: skip


@TABLE.op("DepthwiseConv2dNative")
def depthwise(b: NodeBuilder, node: NetworkNode, x: Value, w: Value) -> Value:
    """Each channel with filters of its own: [H, W, C, M] give channel c * M + m."""
    images = _checked(b, node, x, w, 2)
    rows, columns, channels, many = w.shape
    if channels != x.shape[images.channels]:
        raise b.fail(f"{x.shape[images.channels]} channels do not fit filters for {channels}")
    shape = (rows, columns, 1, channels * many)
    filters = b.reshape(w, shape) if w.array is None else b.constant(w.array.reshape(shape), name=w.name)
    return b.contraction(
        "nn.conv2d", x, filters, groups=channels, kernel_layout=images.kernel, **_windows(images, x, filters),
        channels=channels * many,
    )  # fmt: skip


def _checked(b: NodeBuilder, node: NetworkNode, x: Value, w: Value, spatial: int) -> Images:
    images = Images(b, node, spatial)
    if x.rank != spatial + 2 or w.rank != spatial + 2:
        raise b.fail(f"{x} and {w} are no images and filters")
    if 0 in x.shape or 0 in w.shape:
        raise b.unsupported("a convolution of nothing is not supported")
    return images


def _windows(images: Images, x: Value, w: Value) -> dict[str, Any]:
    """The attributes of a convolution that follow from those of the node."""
    node, kernel = images.node, list(w.shape[: len(images.axes)])
    strides = images.spatial(node.attr("strides"), "strides")
    dilations = images.spatial(node.attr("dilations"), "dilations")
    padding = images.padding([x.shape[a] for a in images.axes], kernel, strides, dilations)
    return {
        "strides": strides, "dilation": dilations, "padding": padding, "kernel_size": kernel,
        "data_layout": images.layout,
    }  # fmt: skip


@TABLE.op("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def transposed(b: NodeBuilder, node: NetworkNode, sizes: Value, w: Value, dy: Value) -> Value:
    """The transposed convolution: what a convolution with these filters would be given to be of dy's size."""
    spatial = 2 if node.op == "Conv2DBackpropInput" else 3
    images = _checked(b, node, dy, w, spatial)
    shape = tuple(ints(b, sizes, "the shape of the result"))
    if len(shape) == spatial:  # without batch and channels
        shape = images_shape(images, dy.shape[0], w.shape[-2], shape)
    if len(shape) != dy.rank:
        raise b.fail(f"{list(shape)} is no shape of images")
    b.check_size(shape, dy.dtype)
    if shape[0] != dy.shape[0] or w.shape[-1] != dy.shape[images.channels]:
        raise b.fail(f"{dy} does not fit the filters {w} and the result {list(shape)}")
    strides = images.spatial(node.attr("strides"), "strides")
    dilations = images.spatial(node.attr("dilations"), "dilations")
    kernel, extents = list(w.shape[:spatial]), [shape[a] for a in images.axes]
    pads = images.padding(extents, kernel, strides, dilations)
    # What the result has beyond the last window comes off the padding behind, and is zero past that.
    steps = zip(images.axes, strides, kernel, dilations, strict=True)
    reached = [(dy.shape[a] - 1) * s + (k - 1) * d + 1 for a, s, k, d in steps]
    ends = [r - first - e for r, first, e in zip(reached, pads, extents, strict=False)]
    channels = shape[images.channels]
    groups = channels // w.shape[-2] if w.shape[-2] else 0
    if not groups or groups * w.shape[-2] != channels:
        raise b.fail(f"{channels} channels do not fit the filters {w}")
    if groups > 1:
        raise b.unsupported("a transposed convolution of groups is not supported")
    layouts = {"data_layout": images.layout, "kernel_layout": f"{images.kernel[:-2]}OI"}
    if spatial == 3:
        # relay's op on volumes takes its filters by the first axis only.
        axes, layouts = [4, 3, 0, 1, 2], {}
        w = b.transpose(w, axes)
        dy = b.transpose(dy, _to_front(images))
    y = b.contraction(
        f"nn.conv{spatial}d_transpose", dy, w, strides=strides, dilation=dilations, kernel_size=kernel,
        padding=[*pads[:spatial], *(max(0, e) for e in ends)], channels=channels, **layouts,
    )  # fmt: skip
    if spatial == 3:
        y = b.transpose(y, _from_front(images))
    room = [0] * 2 * y.rank
    for a, e in zip(images.axes, ends, strict=True):
        room[2 * a + 1] = max(0, -e)
    return b.op("nn.pad", y, pad_width=room) if any(room) else y


def images_shape(images: Images, batch: int, channels: int, extents: tuple[int, ...]) -> tuple[int, ...]:
    """A shape of images from that of their space."""
    shape = [batch] * len(images.layout)
    shape[images.channels] = channels
    for a, e in zip(images.axes, extents, strict=True):
        shape[a] = e
    return tuple(shape)


def _to_front(images: Images) -> list[int]:
    return [0, images.channels, *images.axes]


def _from_front(images: Images) -> list[int]:
    """The order of axes that takes [N, C, space] to the layout."""
    return ["NC".find(c) if c in "NC" else 2 + images.axes.index(a) for a, c in enumerate(images.layout)]
