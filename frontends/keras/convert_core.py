"""Dense layers, embeddings, and layers that change nothing at inference."""

from __future__ import annotations

from math import prod

from lamina.frontends.builder import Value
from lamina.frontends.keras.activations import activated
from lamina.frontends.keras.table import Layer, layer, remade
from lamina.frontends.network import NodeBuilder


@layer(
    "Identity", "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout",
    "GaussianNoise", "AlphaDropout", "ActivityRegularization", "StochasticDepth", passes=True,
)  # fmt: skip
def identity(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The tensor itself: only training changes it."""
    return x


@layer("Dense", passes=True)
def dense(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x @ kernel + bias over the last axis; the kernel is [inputs, units]."""
    kernel = layer.weight("kernel")
    y = product(b, x, kernel)
    bias = layer.some_weight("bias")
    if bias is not None:
        y = b.op("nn.bias_add", y, bias, axis=-1)
    return activated(b, y, layer.get("activation"))


def product(b: NodeBuilder, x: Value, kernel: Value) -> Value:
    """The product of the last axis of a tensor with a matrix [inputs, units]."""
    if kernel.rank != 2 or x.rank < 1 or x.shape[-1] != kernel.shape[0]:
        raise b.fail(f"the input {x} and the kernel {kernel} do not fit")
    rows = b.reshape(x, (prod(x.shape[:-1]), x.shape[-1]))
    turned = remade(b, kernel, lambda a: a.T, lambda v: b.transpose(v, (1, 0)))
    y = b.contraction("nn.dense", rows, turned, units=kernel.shape[1])
    return b.reshape(y, (*x.shape[:-1], kernel.shape[1]))


@layer("EinsumDense")
def einsum_dense(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """The sums of products that an equation says, `abc,cd->abd`, with a bias along some axes."""
    kernel = layer.weight("kernel")
    y = _einsum(b, str(layer.get("equation", "")).replace(" ", ""), x, kernel)
    bias = layer.some_weight("bias")
    if bias is not None:
        y = b.add(y, bias)
    return activated(b, y, layer.get("activation"))


def _einsum(b: NodeBuilder, equation: str, x: Value, kernel: Value) -> Value:
    """The equation as a product of matrices where the last axes of the input are those that the kernel begins with."""
    operands, _, result = equation.partition("->")
    first, _, second = operands.partition(",")
    dots = first.startswith("...") and result.startswith("...") and "." not in first[3:] + second + result[3:]
    left, out = first.removeprefix("..."), result.removeprefix("...")
    shared = [c for c in second if c in left]
    count = len(shared)
    plain = "." not in left + second + out and len({*left}) == len(left) and len({*second}) == len(second)
    leads = left[: len(left) - count]
    fits = count and left.endswith(second[:count]) and out == leads + second[count:]
    if not (plain and fits and (dots or x.rank == len(left)) and kernel.rank == len(second)):
        return b.op("einsum", x, kernel, equation=equation)
    kept, rest = x.shape[: x.rank - count], kernel.shape[count:]
    if x.shape[x.rank - count :] != kernel.shape[:count]:
        raise b.fail(f"the input {x} and the kernel {kernel} do not fit")
    inner = prod(kernel.shape[:count])
    y = product(b, b.reshape(x, (*kept, inner)), b.reshape(kernel, (inner, prod(rest))))
    return b.reshape(y, (*kept, *rest))


@layer("LayerScale")
def layer_scale(b: NodeBuilder, layer: Layer, x: Value) -> Value:
    """x gamma: a layer of ConvNeXt."""
    return b.mul(x, layer.weight("gamma"))
