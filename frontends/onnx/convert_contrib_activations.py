"""Activations that onnxruntime adds to ONNX's, as its optimiser fuses them: GELU in its forms, softmax after a bias."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import FLOAT, INT, contributed, given, single, standard

QUICK = 1.702
"""The factor in x * sigmoid(1.702 x), the coarsest of the approximations of GELU."""


def _biased(n: Node, b: Builder) -> Value:
    """The first input plus the second, if there is one, in at least float32."""
    x, bias = single(b, n.input(0)), given(n, 1)
    return x if bias is None else b.op("add", x, single(b, bias))


@contributed("Gelu", inputs="X")
@contributed("BiasGelu", inputs="A B", outputs="C")
def gelu(n: Node, b: Builder) -> Value:
    return b.cast(standard(n, b, "Gelu", [_biased(n, b)]), n.input(0).dtype)


@contributed("FastGelu", inputs="X bias?")
def fast_gelu(n: Node, b: Builder) -> Value:
    return b.cast(standard(n, b, "Gelu", [_biased(n, b)], approximate="tanh"), n.input(0).dtype)


@contributed("QuickGelu", inputs="X", alpha=FLOAT)
def quick_gelu(n: Node, b: Builder) -> Value:
    x = n.input(0)
    return b.cast(standard(n, b, "Swish", [single(b, x)], alpha=n.attr("alpha", QUICK)), x.dtype)


@contributed(
    "BiasSoftmax",
    inputs="data bias",
    outputs="output",
    required=("is_inner_broadcast",),
    axis=INT,
    is_inner_broadcast=INT,
)
def bias_softmax(n: Node, b: Builder) -> Value:
    """softmax(data + bias) over all axes from `axis` on. `is_inner_broadcast` says which of the bias's axes are 1,
    which its shape says as well."""
    y = standard(n, b, "Softmax", [_biased(n, b)], 11, axis=n.attr("axis", 1))
    if y.shape != n.input(0).shape:
        raise n.fail(f"the bias of shape {list(n.input(1).shape)} does not broadcast to the data")
    return b.cast(y, n.input(0).dtype)
