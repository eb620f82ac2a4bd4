"""Blocks of models of speech and of volumes: dilated and strided convolutions of sequences, down and up in volumes."""

from __future__ import annotations

from lamina.debugging.generators.blocks_of_images import activated, normalised, shape_of
from lamina.debugging.generators.onnx_graph import OnnxGraph, Tensor


def convolution(
    g: OnnxGraph, x: Tensor, filters: int, kernel: int, stride: int = 1, dilation: int = 1, group: int = 1
) -> Tensor:
    """A convolution over one or three axes that keeps the extents, but for its stride."""
    axes = x.rank - 2
    operands = [x, g.weight((filters, shape_of(x)[1] // group, *(kernel,) * axes))]
    if g.draw.chance(0.5):
        operands.append(g.weight((filters,), scale=0.5))
    return g.node("Conv", operands, kernel_shape=[kernel] * axes, pads=[dilation * (kernel // 2)] * (2 * axes),
                  strides=[stride] * axes, dilations=[dilation] * axes, group=group)[0]  # fmt: skip


def transposed(g: OnnxGraph, x: Tensor, filters: int) -> Tensor:
    """A transposed convolution over one or three axes that doubles the extents."""
    axes = x.rank - 2
    kernel = g.draw.choice((2, 4)) if axes == 1 else 2
    weight = g.weight((shape_of(x)[1], filters, *(kernel,) * axes))
    return g.node("ConvTranspose", [x, weight], kernel_shape=[kernel] * axes, strides=[2] * axes,
                  pads=[(kernel - 2) // 2] * (2 * axes))[0]  # fmt: skip


def dilated(g: OnnxGraph, x: Tensor) -> Tensor:
    """Two dilated convolutions of a sequence, gated or activated, and what came in added, as in WaveNet."""
    channels = shape_of(x)[1]
    dilation = g.draw.choice((1, 2, 4, 8))
    if g.draw.chance(0.5):
        (y,) = g.node("Tanh", [convolution(g, x, channels, 3, dilation=dilation)])
        (gate,) = g.node("Sigmoid", [convolution(g, x, channels, 3, dilation=dilation)])
        (y,) = g.node("Mul", [y, gate])
    else:
        y = activated(g, normalised(g, convolution(g, x, channels, g.draw.choice((3, 5)), dilation=dilation)))
    return g.node("Add", [x, convolution(g, y, channels, 1)])[0]


def separable(g: OnnxGraph, x: Tensor) -> Tensor:
    """A convolution for each channel of a sequence, then one over the channels, as in Conformer and QuartzNet."""
    channels = shape_of(x)[1]
    y = convolution(g, x, channels, g.draw.choice((5, 9, 11)), g.draw.choice((1, 1, 2)), group=channels)
    return activated(g, normalised(g, convolution(g, y, channels, 1)))


def down_and_up(g: OnnxGraph, x: Tensor) -> Tensor:
    """A strided convolution, one at the low resolution, a transposed one back: of sequences or volumes."""
    channels, filters = shape_of(x)[1], 2 * shape_of(x)[1]
    y = activated(g, convolution(g, x, filters, 3, 2))
    y = activated(g, normalised(g, convolution(g, y, filters, 3)))
    return transposed(g, y, channels)


def volumetric(g: OnnxGraph, x: Tensor) -> Tensor:
    """Two convolutions of a volume, what came in added, and a pool now and then."""
    channels = shape_of(x)[1]
    y = activated(g, normalised(g, convolution(g, x, channels, 3)))
    (y,) = g.node("Add", [x, normalised(g, convolution(g, y, channels, g.draw.choice((1, 3))))])
    y = activated(g, y)
    if g.draw.chance(0.3) and min(shape_of(y)[2:]) >= 2:
        (y,) = g.node("MaxPool", [y], kernel_shape=[2] * 3, strides=[2] * 3)
    return y


OF_SEQUENCES = (dilated, dilated, separable, down_and_up)
OF_VOLUMES = (volumetric, volumetric, down_and_up)
