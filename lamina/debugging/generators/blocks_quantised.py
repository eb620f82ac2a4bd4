"""Quantised blocks: convolutions, products and sums between QuantizeLinear and DequantizeLinear, QLinearConv."""

from __future__ import annotations

import numpy as np

from lamina.debugging.generators.blocks_of_images import shape_of
from lamina.debugging.generators.onnx_graph import OnnxGraph, Tensor

SCALES = ((0.0234871, 0.0307123, 0.0411931), (0.02, 0.03, 0.04), (1 / 32, 1 / 16, 1 / 32))
"""Of what comes in, of a product and of a sum: without ties, with ties that roundings decide, with exact ones."""
SCALE = 0.0234871
"""Of what comes into a block."""


def requantised(g: OnnxGraph, x: Tensor, scale: float) -> Tensor:
    """A value between QuantizeLinear and DequantizeLinear, as quantisers leave it."""
    parameters = _parameters(g, scale)
    (q,) = g.node("QuantizeLinear", [x, *parameters])
    return g.node("DequantizeLinear", [q, *parameters])[0]


def _parameters(g: OnnxGraph, scale: float) -> list[Tensor]:
    dtype = g.draw.choice(("uint8", "uint8", "int8"))
    zero = 0 if dtype == "int8" else g.draw.choice((0, 100, 128))
    return [g.constant(np.asarray(scale), "float32"), g.constant(np.asarray(zero), dtype)]


def _weights(g: OnnxGraph, shape: tuple[int, ...], axis: int) -> tuple[Tensor, Tensor, Tensor, int | None]:
    """Weights of 8 bits, their scales and zero points, for the whole tensor or along an axis."""
    draw = g.draw
    weights = g.constant(draw.integers(shape, -127, 127), "int8")
    along = draw.chance(0.6)
    count = (shape[axis],) if along else ()
    fan = float(np.prod(shape) / shape[axis])
    scales = (1 + draw.integers(count, 0, 7) / 8) / (64 * fan**0.5)
    return weights, g.constant(scales, "float32"), g.constant(np.zeros(count), "int8"), axis if along else None


def _bias(g: OnnxGraph, filters: int, scale: float, weight_scales: Tensor) -> list[Tensor]:
    """A bias more often than none: integers of the products' scale, as quantisers write it, or floats."""
    draw = g.draw
    if not draw.chance(0.6):
        return []
    if draw.chance(0.3):
        return [g.weight((filters,), scale=0.25)]
    steps = g.constant(draw.integers((filters,), -3000, 3000), "int32")
    scales = g.constant(np.float32(scale) * weight_scales.array, "float32")
    return g.node("DequantizeLinear", [steps, scales], axis=0 if weight_scales.rank else None)


def convolution(g: OnnxGraph, x: Tensor) -> Tensor:
    """A convolution of dequantised values, its result quantised again; what came in added now and then."""
    draw, channels = g.draw, shape_of(x)[1]
    kernel, (before, behind, end) = draw.choice((1, 3, 3)), draw.choice(SCALES)
    x = requantised(g, x, before)
    weights, scales, zeros, axis = _weights(g, (channels, channels, kernel, kernel), 0)
    (w,) = g.node("DequantizeLinear", [weights, scales, zeros], axis=axis)
    operands = [x, w, *_bias(g, channels, before, scales)]
    (y,) = g.node("Conv", operands, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)
    if draw.chance(0.6):
        (y,) = g.node("Relu", [y])
    y = requantised(g, y, behind)
    if draw.chance(0.5):
        (y,) = g.node("Add", [x, y])
        y = requantised(g, y, end)
    return y


def product(g: OnnxGraph, x: Tensor) -> Tensor:
    """A product over the columns of an image, its weight dequantised."""
    width, (before, behind, _) = shape_of(x)[-1], g.draw.choice(SCALES)
    x = requantised(g, x, before)
    weights, scales, zeros, axis = _weights(g, (width, width), 1)
    (w,) = g.node("DequantizeLinear", [weights, scales, zeros], axis=axis)
    (y,) = g.node("MatMul", [x, w])
    return requantised(g, y, behind)


def qlinear_convolution(g: OnnxGraph, x: Tensor) -> Tensor:
    """QLinearConv between a QuantizeLinear and a DequantizeLinear."""
    channels, (first, second, _) = shape_of(x)[1], g.draw.choice(SCALES)
    before, behind = _parameters(g, first), _parameters(g, second)
    behind[1] = g.constant(np.asarray(3), before[1].dtype)
    (q,) = g.node("QuantizeLinear", [x, *before])
    weights, scales, zeros, _ = _weights(g, (channels, channels, 3, 3), 0)
    (y,) = g.node("QLinearConv", [q, *before, weights, scales, zeros, *behind], kernel_shape=[3, 3], pads=[1] * 4)
    return g.node("DequantizeLinear", [y, *behind])[0]


def _convolved(g: OnnxGraph, x: Tensor, scale: float, filters: int, kernel: int, stride: int = 1) -> Tensor:
    """A convolution of a value dequantised by `scale` and dequantised weights."""
    weights, scales, zeros, axis = _weights(g, (filters, shape_of(x)[1], kernel, kernel), 0)
    operands = [x, *g.node("DequantizeLinear", [weights, scales, zeros], axis=axis)]
    operands += _bias(g, filters, scale, scales)
    return g.node("Conv", operands, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4, strides=[stride, stride])[0]


def branches(g: OnnxGraph, x: Tensor) -> Tensor:
    """Two convolutions and a projection of what came in, each quantised, added: where ResNet's stages begin."""
    draw, channels = g.draw, shape_of(x)[1]
    stride = draw.choice((1, 2))
    filters = channels * stride
    x = requantised(g, x, SCALE)
    (y,) = g.node("Relu", [_convolved(g, x, SCALE, filters, 1)])
    y = requantised(g, y, 0.0271113)
    y = requantised(g, _convolved(g, y, 0.0271113, filters, 3, stride), 0.0307123)
    beside = requantised(g, _convolved(g, x, SCALE, filters, 1, stride), 0.0293117)
    (y,) = g.node("Add", [y, beside] if draw.chance(0.5) else [beside, y])
    if draw.chance(0.6):
        (y,) = g.node("Relu", [y])
    return requantised(g, y, 0.0411931)


def up(g: OnnxGraph, x: Tensor) -> Tensor:
    """A transposed convolution of dequantised values that doubles the extents, as quantised decoders have it."""
    draw, channels = g.draw, shape_of(x)[1]
    kernel = draw.choice((2, 2, 4))
    x = requantised(g, x, SCALE)
    weights, scales, zeros, axis = _weights(g, (channels, channels, kernel, kernel), 1)
    operands = [x, *g.node("DequantizeLinear", [weights, scales, zeros], axis=axis)]
    operands += _bias(g, channels, SCALE, scales)
    (y,) = g.node("ConvTranspose", operands, kernel_shape=[kernel] * 2, strides=[2, 2], pads=[(kernel - 2) // 2] * 4)
    if draw.chance(0.5):
        (y,) = g.node("Relu", [y])
    return requantised(g, y, 0.0307123)


def concatenated(g: OnnxGraph, x: Tensor) -> Tensor:
    """Convolutions of several kernels side by side, their bytes brought to one scale, as in quantised Inceptions."""
    draw, channels = g.draw, shape_of(x)[1]
    x = requantised(g, x, SCALE)
    parts: list[Tensor] = []
    for kernel in draw.sample((1, 3, 5), draw.integer(2, 3)):
        (y,) = g.node("Relu", [_convolved(g, x, SCALE, channels, kernel)])
        parts.append(requantised(g, y, draw.choice((0.0307123, 0.0193301, 0.0271113))))
    (y,) = g.node("Concat", parts, axis=1)
    return requantised(g, y, 0.0307123)


BLOCKS = (convolution, convolution, product, qlinear_convolution, branches, branches, up, concatenated)
