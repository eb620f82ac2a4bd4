"""A model like mobilenet_v1_0.25_224_quant: its layers, with random weights and scales that use the range of bytes."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np
from tflite_build import Graph, Op, T, build

STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
CHANNELS = (16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256)
SCALE = 6 / 255


class _Layers:
    """Operators one after the other."""

    def __init__(self, size: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.input = self.last = T((1, size, size, 3), "uint8", scale=1 / 128, zero_point=128, name="input")
        self.ops: list[Op] = []

    def weights(self, shape: tuple[int, ...], products: int, bias_length: int) -> tuple[T, T]:
        """Weights whose sums of products spread over the result's range, and a bias."""
        zero = int(self.rng.integers(100, 156))
        values = np.clip(np.rint(self.rng.normal(zero, 40, shape)), 0, 255).astype(np.uint8)
        unit = np.float32(2 / (float(self.last.scale) * 40 * 70 * sqrt(products)))
        bias = self.rng.integers(-9000, 9000, bias_length).astype(np.int32)
        return (
            T(shape, "uint8", values, scale=unit, zero_point=zero),
            T((bias_length,), "int32", bias, scale=np.float32(self.last.scale) * unit),
        )

    def add(self, name: str, w: T, bias: T, channels: int, stride: int, **options: Any) -> None:
        """A convolution, whose result is limited to 0 .. 6."""
        size = -(-self.last.shape[1] // stride)
        y = T((1, size, size, channels), "uint8", scale=SCALE, zero_point=0)
        options = {"padding": "SAME", "stride_h": stride, "stride_w": stride, "fused_activation_function": "RELU6",
                   **options}  # fmt: skip
        self.ops.append(Op(name, [self.last, w, bias], [y], options))
        self.last = y

    def conv(self, kernel: int, channels: int, stride: int) -> None:
        """An ordinary convolution."""
        shape = (channels, kernel, kernel, self.last.shape[3])
        self.add("CONV_2D", *self.weights(shape, prod(shape[1:]), channels), channels, stride)

    def depthwise(self, stride: int) -> None:
        """A window for each channel."""
        channels = self.last.shape[3]
        parts = self.weights((1, 3, 3, channels), 9, channels)
        self.add("DEPTHWISE_CONV_2D", *parts, channels, stride, depth_multiplier=1)

    def finish(self, classes: int) -> bytes:
        """The mean over the image, the classes and their probabilities."""
        size, channels = self.last.shape[1], self.last.shape[3]
        pooled = T((1, 1, 1, channels), "uint8", scale=SCALE, zero_point=0)
        options = {"padding": "VALID", "filter_height": size, "filter_width": size, "stride_h": 2, "stride_w": 2}
        self.ops.append(Op("AVERAGE_POOL_2D", [self.last], [pooled], options))
        self.last = pooled
        w, bias = self.weights((classes, 1, 1, channels), channels, classes)
        logits = T((1, 1, 1, classes), "uint8", scale=0.1, zero_point=100)
        flat = T((1, classes), "uint8", scale=0.1, zero_point=100)
        self.ops.append(Op("CONV_2D", [pooled, w, bias], [logits], {"padding": "SAME", "stride_h": 1, "stride_w": 1}))
        shape = T.of(np.array([1, classes], np.int32))
        self.ops.append(Op("RESHAPE", [logits, shape], [flat], {"new_shape": [1, classes]}))
        result = T((1, classes), "uint8", scale=1 / 256, zero_point=0, name="probabilities")
        self.ops.append(Op("SOFTMAX", [flat], [result], {"beta": 1.0}))
        return build(Graph([self.input], [result], self.ops))


def mobilenet(size: int = 224, classes: int = 1001, seed: int = 0) -> bytes:
    """The file."""
    layers = _Layers(size, seed)
    layers.conv(3, 8, 2)
    for channels, stride in zip(CHANNELS, STRIDES, strict=True):
        layers.depthwise(stride)
        layers.conv(1, channels, 1)
    return layers.finish(classes)
