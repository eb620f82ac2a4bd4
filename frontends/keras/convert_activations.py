"""Activations as layers of their own."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.keras.activations import activated, elu, leak_of, relu, softmax
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.network import NodeBuilder


@layer("Activation", passes=True)
def activation(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    return activated(b, x, layer.get("activation"))


@layer("ReLU", passes=True)
def relu_layer(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    slope, most, threshold = layer.get("negative_slope", 0.0), layer.get("max_value"), layer.get("threshold", 0.0)
    return relu(b, x, float(slope), None if most is None else float(most), float(threshold))


@layer("LeakyReLU", passes=True)
def leaky_relu(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    return relu(b, x, leak_of(layer.config))


@layer("ThresholdedReLU", passes=True)
def thresholded_relu(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x above a threshold, else 0: a layer of Keras 2."""
    return b.choose(b.op("greater", x, b.scalar(float(layer.get("theta", 1.0)), x)), x, 0.0)


@layer("PReLU", passes=True)
def prelu(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x, below 0 times a weight of its own for each element; on shared axes the weight has one element."""
    alpha = b.op("expand_dims", layer.weight("alpha"), axis=0)
    return b.sub(b.op("nn.relu", x), b.mul(alpha, b.op("nn.relu", b.op("negative", x))))


@layer("ELU", passes=True)
def elu_layer(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    return elu(b, x, float(layer.get("alpha", 1.0)))


@layer("Softmax", masked=True, passes=True)
def softmax_layer(b: NodeBuilder, layer: Layer, x: Value, mask: Value | None = None) -> Value:
    """A softmax; what a mask leaves out gets a number that is far below the others."""
    if isinstance(mask, Value):
        far = -3e4 if x.dtype == "float16" else -1e9
        x = b.add(x, b.mul(b.sub(b.tensor(1.0, x.dtype), b.cast(mask, x.dtype)), far))
    return softmax(b, x, layer.get("axis", -1))
