"""Layers without weights: what joins others, moves or scales elements."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.darknet.activations import activated
from lamina.frontends.darknet.convert_layers import bounded, flat, image, refuse, section_of
from lamina.frontends.darknet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder


@TABLE.op("route")
def route(b: NodeBuilder, node: NetworkNode, *given: Value) -> Value:
    """Layers one after the other along the channels, of each the same part where there are groups."""
    s = section_of(node)
    refuse(b, s, "stream")
    groups, part = bounded(b, s, "groups", 1), bounded(b, s, "group_id", 0, 0)
    if part >= groups or any(x.shape[1] % groups for x in given):
        raise b.fail(f"there is no group {part} of {groups}")
    parts: list[Value] = []
    for x in given:
        width = x.shape[1] // groups
        parts.append(b.slice(x, 1, part * width, (part + 1) * width))
    return parts[0] if len(parts) == 1 else b.op("concatenate", *parts, axis=1)


@TABLE.op("shortcut")
def shortcut(b: NodeBuilder, node: NetworkNode, x: Value, *others: Value) -> Value:
    """alpha x + beta y of other layers; of channels that one lacks only those of x stay."""
    s = section_of(node)
    if s.options.get("weights_type", "none") != "none":
        raise b.unsupported(f"weights_type = {s.options['weights_type'][:40]} is not supported")
    alpha, beta = s.float("alpha", 1.0), s.float("beta", 1.0)
    total = x if alpha == 1 else b.mul(x, alpha)
    for y in others:
        if y.rank != x.rank or y.shape[2:] != x.shape[2:]:
            raise b.unsupported(f"adds {y} to {x}")
        channels = min(x.shape[1], y.shape[1])
        y = b.slice(y, 1, 0, channels)
        if channels < x.shape[1]:
            y = b.op("nn.pad", y, pad_width=[0, 0, 0, x.shape[1] - channels, *[0] * 2 * (x.rank - 2)])
        total = b.add(total, y if beta == 1 else b.mul(y, beta))
    return activated(b, total, s.options.get("activation", "linear"))


@TABLE.op("scale_channels", "sam")
def scaled(b: NodeBuilder, node: NetworkNode, x: Value, y: Value) -> Value:
    """Another layer times this one, which has one number a channel or all of them."""
    s = section_of(node)
    refuse(b, s, "scale_wh")
    if node.op == "sam" and x.shape != y.shape or node.op != "sam" and x.shape[1] != y.shape[1]:
        raise b.fail(f"multiplies {y} by {x}")
    return activated(b, b.mul(y, x), s.options.get("activation", "linear"))


@TABLE.op("activation")
def activation(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """An activation of its own."""
    return activated(b, x, section_of(node).options.get("activation", "linear"))


@TABLE.op("upsample")
def upsample(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Each element `stride` times along both axes, times `scale`."""
    s = section_of(node)
    stride = bounded(b, s, "stride", 2)
    b.check_size([*image(b, x).shape[:2], x.shape[2] * stride, x.shape[3] * stride], x.dtype)
    y = b.op("nn.upsampling", x, scale_h=float(stride), scale_w=float(stride)) if stride > 1 else x
    scale = s.float("scale", 1.0)
    return y if scale == 1 else b.mul(y, scale)


@TABLE.op("reorg", "reorg3d")
def reorg(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Blocks of stride by stride elements as channels (Darknet's reorg_cpu).

    The memory of the input [C, H, W] is looked at as [C/s^2, H, s, W, s], s the stride, and each of the s^2 places in a
    block becomes C/s^2 channels.
    """
    s = section_of(node)
    refuse(b, s, "reverse", "flatten", "extra")
    stride = bounded(b, s, "stride", 1)
    batch, channels, height, width = image(b, x).shape
    depth = stride * stride
    if channels % depth or height % stride or width % stride:
        raise b.unsupported(f"{x} does not divide by a stride of {stride}")
    cells = b.reshape(x, (batch, channels // depth, height, stride, width, stride))
    moved = b.transpose(cells, (0, 3, 5, 1, 2, 4))
    return b.reshape(moved, (batch, channels * depth, height // stride, width // stride))


@TABLE.op("crop")
def crop(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The middle of the image, in [-1, 1] unless `noadjust` is set."""
    s = section_of(node)
    height, width = bounded(b, s, "crop_height", 1), bounded(b, s, "crop_width", 1)
    down, right = (image(b, x).shape[2] - height) // 2, (x.shape[3] - width) // 2
    if down < 0 or right < 0:
        raise b.fail(f"there are no {height}x{width} elements in {x}")
    y = b.slice(b.slice(x, 2, down, down + height), 3, right, right + width)
    return y if s.int("noadjust") else b.sub(b.mul(y, 2.0), 1.0)


@TABLE.op("dropout", "cost", "empty")
def identity(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The input itself: these layers count in training only."""
    return x


@TABLE.op("softmax")
def softmax(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """Softmax of all elements of an image, or of each of so many groups of them."""
    s = section_of(node)
    refuse(b, s, "tree", "noloss", "spatial")
    groups, row = bounded(b, s, "groups", 1), flat(b, x)
    if row.shape[1] % groups:
        raise b.fail(f"{row.shape[1]} elements do not divide into {groups} groups")
    temperature = s.float("temperature", 1.0)
    if temperature != 1:
        row = b.div(row, temperature)
    parts = b.reshape(row, (x.shape[0], groups, row.shape[1] // groups))
    return b.reshape(b.op("nn.softmax", parts, axis=-1), x.shape)
