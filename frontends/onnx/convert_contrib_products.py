"""Products and windows that onnxruntime's optimiser fuses: with transposes, sums and activations, channels last."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import FLOAT, FLOATS, INT, INTS, STRING, contributed, given, single, standard
from lamina.frontends.onnx.convert_nn import product

_ACTIVATIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("", "Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish"), ()),
    **dict.fromkeys(("LeakyRelu", "Elu", "ThresholdedRelu"), ("alpha",)),
    "HardSigmoid": ("alpha", "beta"),
    "Clip": ("min", "max"),
    "Selu": ("alpha", "gamma"),
}
"""Activations that may be applied to a product at once, and the attributes that its parameters stand for."""
_WITH_ATTRIBUTES = 6
"""The opset in which the bounds of Clip are attributes, and all the others mean what they mean today."""


def activated(n: Node, b: Builder, y: Value, parameters: Sequence[float]) -> Value:
    """A result after the node's activation."""
    name = n.attr("activation", "")
    if not name:
        return y
    attrs = dict(zip(_ACTIVATIONS[name], parameters, strict=False))
    return standard(n, b, name, [y], _WITH_ATTRIBUTES, **attrs)


@contributed("FusedMatMul", inputs="A B", alpha=FLOAT, transA=INT, transB=INT, transBatchA=INT, transBatchB=INT)
@contributed("TransposeMatMul", inputs="A B", alpha=FLOAT, transA=INT, transB=INT)
def fused_matmul(n: Node, b: Builder) -> Value:
    """alpha * A B. With transBatch the first axis goes in front of the last; then, with trans, the last two change."""
    factors: list[Value] = []
    for i, which in enumerate("AB"):
        x = single(b, n.input(i))
        axes = list(range(x.rank))
        if n.attr(f"transBatch{which}", 0) and x.rank > 2:
            axes = [*axes[1:-1], 0, axes[-1]]
        if n.attr(f"trans{which}", 0) and x.rank > 1:
            axes[-2:] = axes[:-3:-1]
        factors.append(x if axes == sorted(axes) else b.op("transpose", x, axes=axes))
    y = product(n, b, *factors)
    alpha = n.attr("alpha", 1.0)
    return b.cast(y if alpha == 1.0 else b.op("multiply", y, b.scalar(alpha, y)), n.input(0).dtype)


@contributed(
    "FusedGemm",
    inputs="A B C?",
    only={"activation": tuple(_ACTIVATIONS)},
    activation=STRING,
    **dict.fromkeys(("alpha", "beta", "activation_alpha", "activation_beta", "activation_gamma"), FLOAT),
    **dict.fromkeys(("transA", "transB"), INT),
)
def fused_gemm(n: Node, b: Builder) -> Value:
    attrs = {k: v for k, v in n.attrs.items() if not k.startswith("activation")}
    y = standard(n, b, "Gemm", [n.input(0), n.input(1), given(n, 2)], **attrs)
    named = {k.removeprefix("activation_"): float(v) for k, v in n.attrs.items() if k.startswith("activation_")}
    return activated(n, b, y, [named[k] for k in _ACTIVATIONS[n.attr("activation", "")] if k in named])


@contributed(
    "FusedConv",
    inputs="X W B? Z?",
    only={"activation": tuple(_ACTIVATIONS)},
    activation=STRING,
    activation_params=FLOATS,
    auto_pad=STRING,
    group=INT,
    **dict.fromkeys(("dilations", "kernel_shape", "pads", "strides"), INTS),
)
def fused_conv(n: Node, b: Builder) -> Value:
    """A convolution, plus Z, and its activation."""
    attrs = {k: v for k, v in n.attrs.items() if not k.startswith("activation")}
    y = standard(n, b, "Conv", [n.input(0), n.input(1), given(n, 2)], **attrs)
    if n.has(3):
        y = b.op("add", y, n.input(3))
    return activated(n, b, y, list(n.attr("activation_params", ())))


@contributed(
    "NhwcMaxPool",
    inputs="x",
    outputs="y",
    required=("kernel_shape",),
    auto_pad=STRING,
    ceil_mode=INT,
    **dict.fromkeys(("dilations", "kernel_shape", "pads", "strides"), INTS),
)
def nhwc_max_pool(n: Node, b: Builder) -> Value:
    """MaxPool of tensors whose channels come last."""
    x = n.input(0)
    first = b.op("transpose", x, axes=[0, x.rank - 1, *range(1, x.rank - 1)])
    y = standard(n, b, "MaxPool", [first], **n.attrs)
    return b.op("transpose", y, axes=[0, *range(2, x.rank), 1])


@contributed("MatMulInteger16", inputs="A B")
def matmul_integer16(n: Node, b: Builder) -> Value:
    """The product of 16-bit integers in 32 bits."""
    unsigned = all(n.input(i).dtype == "uint16" for i in (0, 1))
    wide = "uint32" if unsigned else "int32"
    return product(n, b, *(b.cast(n.input(i), wide) for i in (0, 1)))
