"""The quantised operators that onnxruntime adds to ONNX's (com.microsoft), as its static and dynamic quantisers write.

A QLinear operator is ONNX's float operator between dequantized tensors and the quantized result; tensors come with a
scale and a zero point behind each, one number for all their elements, and a zero point may be missing.
Source: onnxruntime, docs/ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import (
    FLOAT,
    FLOATS,
    INT,
    INTS,
    STANDARD,
    STRING,
    STRINGS,
    contributed,
    given,
    standard,
    standards,
)
from lamina.frontends.onnx.convert_quant import (
    convolution_of_integers,
    number,
    product_of_integers,
    requantized,
)

_WINDOW = {"auto_pad": STRING, "kernel_shape": INTS, "pads": INTS, "strides": INTS, "channels_last": INT}
_UNARY = "X X_scale X_zero_point? Y_scale Y_zero_point?"


def _one(n: Node, b: Builder, i: int) -> Value | None:
    """A scale or zero point of a whole tensor, None for one that is missing."""
    if not n.has(i):
        return None
    v = n.input(i)
    if v.shape not in ((), (1,)):
        raise n.unsupported(
            f"a scale or zero point of shape {list(v.shape)} is not supported", "use one for the tensor"
        )
    return b.reshape(v, ())


def _real(n: Node, b: Builder, i: int) -> Value:
    """Input `i` as the numbers that it stands for: its scale and its zero point are the next inputs."""
    return standard(n, b, "DequantizeLinear", [n.input(i), _one(n, b, i + 1), _one(n, b, i + 2)])


def _quantized(n: Node, b: Builder, x: Value, i: int, dtype: str) -> Value:
    """Numbers as integers of a dtype; the scale and the zero point are input `i` and the next."""
    zero = _one(n, b, i + 1) or b.constant(np.zeros((), dtype))
    return standard(n, b, "QuantizeLinear", [x, _one(n, b, i), zero])


def _scale_and_zero(n: Node, b: Builder, i: int) -> tuple[Value, Value]:
    """Input `i`, a scale, and the zero point behind it as a float."""
    zero = _one(n, b, i + 1)
    scale = _one(n, b, i)
    assert scale is not None
    return scale, number(b, zero, "float32") if zero is not None else b.constant(np.float32(0))


def _parts(n: Node, b: Builder, i: int) -> tuple[Value, Value, Value]:
    """The integers of input `i`, its scale and its zero point, all as floats."""
    return number(b, n.input(i), "float32"), *_scale_and_zero(n, b, i + 1)


def _rounded(b: Builder, x: Value, dtype: str) -> Value:
    """Floats as integers of a dtype, halves to the even ones, saturated."""
    info = np.iinfo(dtype)
    return b.cast(b.op("clip", b.op("round", x), a_min=float(info.min), a_max=float(info.max)), dtype)


def _float_op(n: Node, b: Builder, inputs: Sequence[Value], version: int = STANDARD) -> Value:
    """The operator that a QLinear one is named after, with its attributes."""
    return standard(n, b, n.op_type.removeprefix("QLinear"), inputs, version, **n.attrs)


def _channels_first(n: Node, b: Builder, x: Value) -> Value:
    """The tensor with its channels at axis 1, where the node has them last."""
    return b.op("transpose", x, axes=[0, x.rank - 1, *range(1, x.rank - 1)]) if n.attr("channels_last", 0) else x


def _channels_back(n: Node, b: Builder, x: Value) -> Value:
    return b.op("transpose", x, axes=[0, *range(2, x.rank), 1]) if n.attr("channels_last", 0) else x


@contributed("QLinearAdd", "QLinearMul", inputs="A A_scale A_zero? B B_scale B_zero? C_scale C_zero?")
def qlinear_binary(n: Node, b: Builder) -> Value:
    """C_zero + what the operator gives in steps of C_scale, rounded as a whole: a half goes to the even integer there.

    In float32, in onnxruntime's order: products of integers times the ratio of the scales, sums from the constants on.
    """
    (x, x_scale, x_zero), (y, y_scale, y_zero) = _parts(n, b, 0), _parts(n, b, 3)
    scale, zero = _scale_and_zero(n, b, 6)
    if n.op_type == "QLinearMul":
        product = b.op("multiply", b.op("subtract", x, x_zero), b.op("subtract", y, y_zero))
        ratio = b.op("divide", b.op("multiply", x_scale, y_scale), scale)
        made = b.op("add", b.op("multiply", product, ratio), zero)
    else:
        x_ratio, y_ratio = b.op("divide", x_scale, scale), b.op("divide", y_scale, scale)
        zeros = b.op("add", b.op("multiply", x_ratio, x_zero), b.op("multiply", y_ratio, y_zero))
        made = b.op("add", b.op("subtract", zero, zeros), b.op("multiply", x, x_ratio))
        made = b.op("add", made, b.op("multiply", y, y_ratio))
    return _rounded(b, made, n.input(0).dtype)


@contributed("QLinearSigmoid", inputs=_UNARY)
@contributed("QLinearLeakyRelu", inputs=_UNARY, alpha=FLOAT)
@contributed("QLinearReduceMean", inputs=_UNARY, required=("axes", "keepdims"), axes=INTS, keepdims=INT)
def qlinear_unary(n: Node, b: Builder) -> Value:
    made = _float_op(n, b, [_real(n, b, 0)])
    return _quantized(n, b, made, 3, n.input(0).dtype)


@contributed("QLinearSoftmax", inputs=_UNARY, required=("opset",), axis=INT, opset=INT)
def qlinear_softmax(n: Node, b: Builder) -> Value:
    """Convert QLinearSoftmax; `axis` means what it meant in the opset that the attribute names."""
    made = _float_op(n, b, [_real(n, b, 0)], n.attr("opset", 13))
    return _quantized(n, b, made, 3, n.input(0).dtype)


@contributed(
    "QLinearAveragePool",
    inputs=_UNARY,
    required=("kernel_shape",),
    ceil_mode=INT,
    count_include_pad=INT,
    **_WINDOW,
)
@contributed("QLinearGlobalAveragePool", inputs=_UNARY, channels_last=INT)
def qlinear_pool(n: Node, b: Builder) -> Value:
    """A mean in steps of Y_scale; onnxruntime adds the zero point before it rounds, but to means of whole images."""
    x = _float_op(n, b, [_channels_first(n, b, _real(n, b, 0))])
    if n.op_type == "QLinearGlobalAveragePool":
        return _channels_back(n, b, _quantized(n, b, x, 3, n.input(0).dtype))
    scale, zero = _scale_and_zero(n, b, 3)
    made = b.op("add", b.op("divide", x, scale), zero)
    return _channels_back(n, b, _rounded(b, made, n.input(0).dtype))


@contributed("QLinearConcat", inputs="Y_scale Y_zero_point inputs*", required=("axis",), axis=INT)
def qlinear_concat(n: Node, b: Builder) -> Value:
    """The result's scale and zero point come first, then the tensors with theirs."""
    count, rest = divmod(len(n.inputs) - 2 + (len(n.inputs) % 3 == 1), 3)  # the last zero point may be missing
    if count < 1 or rest:
        raise n.fail(f"{len(n.inputs)} inputs, expects two and three for each tensor")
    parts = [_real(n, b, 2 + 3 * k) for k in range(count)]
    return _quantized(n, b, _float_op(n, b, parts), 0, n.input(2).dtype)


@contributed("QLinearWhere", inputs="condition X X_scale X_zero? Y Y_scale Y_zero? Z_scale Z_zero?")
def qlinear_where(n: Node, b: Builder) -> Value:
    made = _float_op(n, b, [n.input(0), _real(n, b, 1), _real(n, b, 4)])
    return _quantized(n, b, made, 7, n.input(1).dtype)


@contributed(
    "QLinearConv",
    inputs="x x_scale x_zero w w_scale w_zero y_scale y_zero B?",
    dilations=INTS,
    group=INT,
    **_WINDOW,
)
def qlinear_conv(n: Node, b: Builder) -> Value:
    """ONNX's, or of tensors whose channels come last; weights have their output channels first all the same."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (n.input(i) for i in range(8))
    sums = convolution_of_integers(n, b, _channels_first(n, b, x), w, x_zero, w_zero)
    if n.has(8):
        sums = b.op("nn.bias_add", sums, n.input(8), axis=1)
    return _channels_back(n, b, requantized(n, b, sums, (x_scale, w_scale, y_scale), (1, 1), y_zero))


@contributed(
    "QGemm",
    inputs="A a_scale a_zero B b_scale b_zero C? y_scale? y_zero?",
    alpha=FLOAT,
    transA=INT,
    transB=INT,
)
def qgemm(n: Node, b: Builder) -> Value:
    """alpha * A B + C: C is int32 of the scale of the products, alpha * a_scale * b_scale; floats without y_scale."""
    x, a_scale, a_zero, w, b_scale, b_zero = (n.input(i) for i in range(6))
    if x.rank != 2 or w.rank != 2:
        raise n.fail("A and B must be matrices")
    if n.attr("transA", 0):
        x = b.op("transpose", x, axes=[1, 0])
    sums = product_of_integers(n, b, x, w, a_zero, b_zero, by_rows=bool(n.attr("transB", 0)))
    if n.has(6):
        c = n.input(6)
        per_unit = c.shape in ((sums.shape[1],), (1, sums.shape[1]))
        made = b.op("nn.bias_add", sums, b.reshape(c, c.shape[-1:]), axis=1) if per_unit else b.op("add", sums, c)
        if made.shape != sums.shape:
            raise n.fail(f"C of shape {list(c.shape)} does not broadcast to {list(sums.shape)}")
        sums = made
    a_scale = b.op("multiply", a_scale, b.constant(np.float32(n.attr("alpha", 1.0))))
    if n.has(7):
        zero = n.input(8) if n.has(8) else b.constant(np.zeros((), x.dtype))
        return requantized(n, b, sums, (a_scale, b_scale, n.input(7)), (-1, -1), zero)
    return _scaled(b, sums, a_scale, b_scale)


def _scaled(b: Builder, sums: Value, a_scale: Value, b_scale: Value, bias: Value | None = None) -> Value:
    """Sums of products as floats, plus a bias: scales are numbers, or that of B one for each column."""
    one = b.reshape(b_scale, ()) if b_scale.shape == (1,) else b_scale
    made = b.op("multiply", b.cast(sums, "float32"), b.op("multiply", b.reshape(a_scale, ()), one))
    return made if bias is None else b.op("add", made, bias)


@contributed("MatMulIntegerToFloat", inputs="A B a_scale b_scale a_zero? b_zero? bias?")
def matmul_integer_to_float(n: Node, b: Builder) -> Value:
    a_zero, b_zero, bias = (given(n, i) for i in (4, 5, 6))
    sums = product_of_integers(n, b, n.input(0), n.input(1), a_zero, b_zero)
    return _scaled(b, sums, n.input(2), n.input(3), bias)


@contributed("DynamicQuantizeMatMul", inputs="A B b_scale b_zero? bias?")
def dynamic_quantize_matmul(n: Node, b: Builder) -> Value:
    """The product with A as uint8 of a scale and zero point by which its least and greatest number, and 0, fit."""
    x = n.input(0)
    b_zero, bias = (given(n, i) for i in (3, 4))
    zero = b.scalar(0, x)
    most, least = b.op("maximum", b.op("max", x), zero), b.op("minimum", b.op("min", x), zero)
    scale = b.op("divide", b.op("subtract", most, least), b.scalar(255, x))
    scale = b.op("where", b.op("equal", scale, zero), b.scalar(1, x), scale)
    start = b.op("clip", b.op("round", b.op("divide", b.op("subtract", zero, least), scale)), a_min=0.0, a_max=255.0)
    whole = b.op("add", b.op("round", b.op("divide", x, scale)), start)
    whole = b.cast(b.op("clip", whole, a_min=0.0, a_max=255.0), "uint8")
    sums = product_of_integers(n, b, whole, n.input(1), b.cast(start, "uint8"), b_zero)
    return _scaled(b, sums, scale, n.input(2), bias)


@contributed("QuantizeLinear", "DequantizeLinear", inputs="X scale zero?", axis=INT)
def linear(n: Node, b: Builder) -> Value:
    """As ONNX's, of 16-bit integers since before ONNX had them."""
    return standard(n, b, n.op_type, [given(n, i) for i in range(3)], **n.attrs)


@contributed(
    "DynamicQuantizeLSTM",
    inputs="X W R B? sequence_lens? initial_h? initial_c? P? W_scale W_zero_point R_scale R_zero_point",
    outputs="Y? Y_h? Y_c?",
    activations=STRINGS,
    direction=STRING,
    **dict.fromkeys(("hidden_size", "input_forget"), INT),
    **dict.fromkeys(("activation_alpha", "activation_beta"), FLOATS),
    clip=FLOAT,
)
def dynamic_quantize_lstm(n: Node, b: Builder) -> list[Value]:
    """ONNX's LSTM with the weights that the bytes stand for, [directions, width, 4 * hidden]. The input and the states
    stay floats: that onnxruntime rounds them to bytes before each product is its way to be fast."""
    weights: list[Value] = []
    for i, at in ((1, 8), (2, 10)):
        w = n.input(i)
        if w.rank != 3:
            raise n.fail("weights must be [directions, width, 4 * hidden]")
        scale, zero = (_by_direction(n, b, b.cast(n.input(k), "float32"), w) for k in (at, at + 1))
        real = b.op("multiply", b.op("subtract", b.cast(w, "float32"), zero), scale)
        weights.append(b.op("transpose", real, axes=[0, 2, 1]))
    rest = [given(n, i) for i in range(3, 8)]
    return standards(n, b, "LSTM", [n.input(0), *weights, *rest], 14, **n.attrs)


def _by_direction(n: Node, b: Builder, v: Value, w: Value) -> Value:
    """One number a direction, or one a column, as it broadcasts to the weights."""
    directions, _, columns = w.shape
    if v.shape not in ((directions,), (directions, columns)):
        raise n.fail(f"a scale or zero point of shape {list(v.shape)} for weights of {list(w.shape)}")
    return b.reshape(v, (directions, 1, columns if v.rank == 2 else 1))
