"""Activation functions of floats."""

from __future__ import annotations

from math import pi, sqrt

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.graph import TfliteNode


@TABLE.op("RELU", "RELU6", "RELU_N1_TO_1")
def relu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x within bounds."""
    return b.activation(x, node.op)


@TABLE.op("RELU_0_TO_1")
def relu_0_to_1(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x between 0 and 1."""
    return b.op("clip", x, a_min=0.0, a_max=1.0)


@TABLE.op("LEAKY_RELU")
def leaky_relu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x where it is positive, else alpha * x."""
    return b.op("nn.leaky_relu", x, alpha=float(node.attr("alpha", 0.0)))


@TABLE.op("PRELU")
def prelu(b: TfliteBuilder, node: TfliteNode, x: Value, alpha: Value) -> Value:
    """x where it is positive, else alpha * x; alpha broadcasts."""
    # As arithmetic that broadcasts it stays in a convolution's blocks of channels, and is fused with it.
    zero = b.scalar(0, x)
    return b.add(b.op("nn.relu", x), b.mul(b.op("minimum", x, zero), alpha))


@TABLE.op("ELU")
def elu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x where it is positive, else exp(x) - 1."""
    return b.choose(b.op("less", x, b.scalar(0, x)), b.sub(b.op("exp", x), 1.0), x)


@TABLE.op("GELU")
def gelu(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x times the normal distribution's cumulative function, or its approximation by tanh (Hendrycks, Gimpel, 2016)."""
    if node.attr("approximate", False):
        cube = b.mul(b.mul(x, x), x)
        part = b.op("tanh", b.mul(b.add(x, b.mul(cube, 0.044715)), sqrt(2 / pi)))
    else:
        part = b.op("erf", b.mul(x, sqrt(0.5)))
    return b.mul(b.mul(x, 0.5), b.add(part, 1.0))


@TABLE.op("HARD_SWISH")
def hard_swish(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """x * min(max(x + 3, 0), 6) / 6."""
    return b.mul(b.mul(x, b.op("clip", b.add(x, 3.0), a_min=0.0, a_max=6.0)), 1 / 6)


@TABLE.op("SOFTMAX")
def softmax(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The softmax of beta * x along the last axis."""
    beta = float(node.attr("beta", 1.0))
    return b.op("nn.softmax", x if beta == 1.0 else b.mul(x, beta), axis=-1)


@TABLE.op("LOG_SOFTMAX")
def log_softmax(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The logarithm of the softmax along the last axis."""
    return b.op("nn.log_softmax", x, axis=-1)
