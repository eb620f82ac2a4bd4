"""Blocks of vision models: residual, inverted residual, squeeze-excite, U-Net, detection head."""

from __future__ import annotations

import numpy as np

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import OnnxGraph, Tensor


def shape_of(x: Tensor) -> tuple[int, ...]:
    """The shape of a value of a block, which is always known."""
    assert x.shape is not None
    return x.shape


def convolution(
    g: OnnxGraph, x: Tensor, filters: int, kernel: int = 3, stride: int = 1, group: int = 1, bias: bool | None = None
) -> Tensor:
    """A convolution that keeps the extent, but for its stride."""
    channels = shape_of(x)[1]
    operands = [x, g.weight((filters, channels // group, kernel, kernel))]
    if g.draw.chance(0.5) if bias is None else bias:
        operands.append(g.weight((filters,), scale=0.5))
    return g.node("Conv", operands, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4, strides=[stride, stride],
                  group=group)[0]  # fmt: skip


def normalised(g: OnnxGraph, x: Tensor) -> Tensor:
    """A batch normalisation with moments as training leaves them."""
    draw, channels = g.draw, shape_of(x)[1]
    values = (draw.normal((channels,), 0.2) + 1, draw.normal((channels,), 0.3), draw.normal((channels,), 0.2),
              abs(draw.normal((channels,), 0.3)) + 0.5)  # fmt: skip
    return g.node("BatchNormalization", [x, *(g.constant(v, "float32") for v in values)])[0]


def activated(g: OnnxGraph, x: Tensor, likely: float = 1.0) -> Tensor:
    """One of the activations of vision models, in one of its spellings."""
    if not g.draw.chance(likely):
        return x
    kind = g.draw.choice(("Relu", "Relu6", "HardSwish", "Silu", "LeakyRelu", "PRelu"))
    if kind == "Relu6":
        return g.node("Clip", [x, *(g.constant(np.asarray(v), "float32") for v in (0, 6))])[0]
    if kind == "HardSwish":
        if g.opset >= 14 and g.draw.chance(0.5):
            return g.node("HardSwish", [x])[0]
        (gate,) = g.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)
        return g.node("Mul", [x, gate])[0]
    if kind == "Silu":
        return g.node("Mul", [x, *g.node("Sigmoid", [x])])[0]
    if kind == "PRelu":
        return g.node("PRelu", [x, g.weight((shape_of(x)[1], *(1,) * (x.rank - 2)), scale=0.25)])[0]
    return g.node(kind, [x])[0]


def residual(g: OnnxGraph, x: Tensor) -> Tensor:
    """Conv-BatchNorm-Relu twice, and what came in added; behind a stride it goes through a 1x1 convolution."""
    channels, stride = shape_of(x)[1], g.draw.choice((1, 1, 1, 2))
    filters = channels if stride == 1 else 2 * channels
    y = activated(g, normalised(g, convolution(g, x, filters, 3, stride)))
    y = normalised(g, convolution(g, y, filters, g.draw.choice((3, 3, 1))))
    if stride != 1:
        x = normalised(g, convolution(g, x, filters, 1, stride))
    (total,) = g.node("Add", [y, x] if g.draw.chance(0.5) else [x, y])
    return activated(g, total, 0.8)


def inverted_residual(g: OnnxGraph, x: Tensor) -> Tensor:
    """1x1 to more channels, depthwise, squeeze-excite now and then, 1x1 back, and what came in added."""
    channels, stride = shape_of(x)[1], g.draw.choice((1, 1, 2))
    wide = channels * g.draw.choice((2, 3, 4))
    y = activated(g, normalised(g, convolution(g, x, wide, 1)))
    y = activated(g, normalised(g, convolution(g, y, wide, g.draw.choice((3, 5)), stride, wide)))
    if g.draw.chance(0.4):
        y = squeeze_excite(g, y)
    y = normalised(g, convolution(g, y, channels, 1))
    return y if stride != 1 else g.node("Add", [x, y])[0]


def squeeze_excite(g: OnnxGraph, x: Tensor) -> Tensor:
    """Channels scaled by a gate of their means."""
    channels = shape_of(x)[1]
    (means,) = g.node("GlobalAveragePool", [x])
    narrow = max(1, channels // 4)
    (inner,) = g.node("Relu", [convolution(g, means, narrow, 1, bias=True)])
    gate = convolution(g, inner, channels, 1, bias=True)
    (gate,) = g.node(g.draw.choice(("Sigmoid", "HardSigmoid")), [gate])
    return g.node("Mul", [x, gate])[0]


def u_net(g: OnnxGraph, x: Tensor) -> Tensor:
    """Down by a pool, a convolution, up by a resize or a transposed convolution, concatenated with what came in."""
    channels, height, width = shape_of(x)[1:]
    if height % 2 or width % 2:
        x = g.node("Pad", [x, g.constant([0, 0, 0, 0, 0, 0, height % 2, width % 2], "int64")])[0]
    (low,) = g.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    low = activated(g, convolution(g, low, channels, 3))
    if g.draw.chance(0.5):
        (up,) = g.node("ConvTranspose", [low, g.weight((channels, channels, 2, 2))], kernel_shape=[2, 2],
                       strides=[2, 2])  # fmt: skip
    else:
        up = g.node("Resize", [low, None, g.constant([1, 1, 2, 2], "float32")], mode="nearest",
                    coordinate_transformation_mode="asymmetric", nearest_mode="floor")[0]  # fmt: skip
    (both,) = g.node("Concat", [x, up], axis=1)
    return activated(g, convolution(g, both, channels, 3))


def detection_head(g: OnnxGraph, x: Tensor) -> Tensor:
    """Predictions of two scales, a row for each box: centres and extents decoded, the best by score gathered."""
    draw = g.draw
    anchors, classes = draw.choice((1, 2, 3)), draw.choice((1, 3, 20))
    batch, row = shape_of(x)[0], 4 + classes
    scales: list[Tensor] = []
    for stride in (1, 2):
        y = convolution(g, x, anchors * row, 1, stride, bias=True)
        boxes = anchors * shape_of(y)[2] * shape_of(y)[3]
        height, width = shape_of(y)[2:]
        (y,) = g.node("Reshape", [y, g.constant([batch, anchors, row, height, width], "int64")])
        (y,) = g.node("Transpose", [y], perm=[0, 1, 3, 4, 2])
        scales += g.node("Reshape", [y, g.constant([batch, boxes, row], "int64")])
    (rows,) = g.node("Concat", scales, axis=1)
    (rows,) = g.node("Sigmoid", [rows])

    def part(begin: int, end: int) -> Tensor:
        return g.node("Slice", [rows, *(g.constant([n], "int64") for n in (begin, end, 2))])[0]

    centres, extents, scores = part(0, 2), part(2, 4), part(4, row)
    (half,) = g.node("Mul", [extents, g.constant(np.asarray(0.5), "float32")])
    (low,), (high,) = g.node("Sub", [centres, half]), g.node("Add", [centres, half])
    (corners,) = g.node("Concat", [low, high], axis=2)
    if g.opset < 18:
        (best,) = g.node("ReduceMax", [scores], axes=[2], keepdims=0)
    else:
        (best,) = g.node("ReduceMax", [scores, g.constant([2], "int64")], keepdims=0)
    most = min(shape_of(best)[1], draw.choice((1, 5, 100)))
    _, places = g.node("TopK", [best, g.constant([most], "int64")], 2, axis=1)
    (places,) = g.node("Unsqueeze", [places, g.constant([2], "int64")])
    (places,) = g.node("Expand", [places, g.constant([batch, most, 4], "int64")])
    return g.node("GatherElements", [corners, places], axis=1)[0]


def plain(g: OnnxGraph, x: Tensor) -> Tensor:
    """A convolution of an odd kind: grouped, strided, of another kernel, and a pool."""
    channels = shape_of(x)[1]
    group = g.draw.choice([n for n in (1, 2, 4) if channels % n == 0])
    filters = channels if g.draw.sizes == Sizes.REAL else group * g.draw.extent(8)
    y = activated(g, convolution(g, x, filters, g.draw.choice((1, 3, 5, 7)), g.draw.choice((1, 2)), group))
    return g.node(g.draw.choice(("MaxPool", "AveragePool")), [y], kernel_shape=[3, 3], pads=[1, 1, 1, 1])[0]


def pyramid(g: OnnxGraph, x: Tensor) -> Tensor:
    """Convolutions of several dilations side by side, concatenated and projected, as DeepLab has them."""
    channels = shape_of(x)[1]
    parts = [activated(g, normalised(g, convolution(g, x, channels, 1)))]
    for dilation in g.draw.sample((2, 3, 4, 6), g.draw.integer(1, 3)):
        (y,) = g.node("Conv", [x, g.weight((channels, channels, 3, 3))], kernel_shape=[3, 3], pads=[dilation] * 4,
                      dilations=[dilation] * 2)  # fmt: skip
        parts.append(activated(g, normalised(g, y)))
    (y,) = g.node("Concat", parts, axis=1)
    return activated(g, convolution(g, y, channels, 1))


BLOCKS = (residual, residual, inverted_residual, squeeze_excite, u_net, detection_head, plain, pyramid)
