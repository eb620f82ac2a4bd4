"""Quantised operators: ONNX's, and those that onnxruntime's quantisers write."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import MICROSOFT, CannotDraw, OnnxGraph, Tensor
from lamina.debugging.generators.operators.table import row

BYTES = ("uint8", "int8")


def scale(g: OnnxGraph, shape: tuple[int, ...] = (), any_scale: bool = False, dtype: str = "float32") -> Tensor:
    """A scale: a power of two, or any where values need not be exact."""
    exponents = g.draw.integers(shape, -6, -2)
    array = 2.0**exponents if g.exact and not any_scale else g.draw.numpy.uniform(0.01, 0.2, shape)
    return g.constant(np.asarray(array), dtype)


def zero_point(g: OnnxGraph, dtype: str, shape: tuple[int, ...] = (), symmetric: bool = False) -> Tensor:
    """A zero point of a type."""
    least, most = (0, 255) if dtype == "uint8" else (-128, 127)
    return g.constant(np.zeros(shape) if symmetric else g.draw.integers(shape, least, most), dtype)


def codes(g: OnnxGraph, dtype: str, shape: tuple[int, ...]) -> Tensor:
    """A quantised tensor: one that there is, or a new input."""
    if g.draw.chance(0.5):
        found = g.find(lambda t: t.dtype == dtype and t.shape == shape)
        if found is not None:
            return found
    least, most = (0, 255) if dtype == "uint8" else (-128, 127)
    return g.given(g.draw.integers(shape, least, most), dtype)


def coded(g: OnnxGraph, rank: int | tuple[int, int], share: int = 1) -> Tensor:
    """Any quantised tensor of a rank."""
    dtype = g.draw.choice(BYTES)
    ranks = (rank, rank) if isinstance(rank, int) else rank
    found = g.find(lambda t: t.dtype == dtype and ranks[0] <= t.rank <= ranks[1]) if g.draw.chance(0.5) else None
    return found if found is not None else codes(g, dtype, g.draw.shape(rank, max(16, g.draw.elements // share)))


@row("DynamicQuantizeLinear")
def dynamic_quantize_linear(g: OnnxGraph, name: str) -> None:
    g.since(name)
    # Of zeros alone the scale is 0, to onnxruntime 1.
    results = g.node(name, [g.fresh_input("float32", g.draw.shape((1, 3), least=2), 32)], 3)
    for result in results:
        result.bound = 255


@row("ConvInteger")
def conv_integer(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = codes(g, "uint8", g.draw.shape(4, g.draw.elements // 4))
    assert x.shape is not None
    k = g.draw.choice((1, 3))
    w = g.constant(g.draw.integers((g.draw.extent(most=32), x.shape[1], k, k), -100, 100 if g.draw.chance(0.5) else 60),
                   "int8")  # fmt: skip
    zero = zero_point(g, "uint8") if g.draw.chance(0.6) else None
    g.node(name, [x, w, zero], kernel_shape=[k, k], pads=[k // 2] * 4)


@row("QLinearConv")
def qlinear_conv(g: OnnxGraph, name: str) -> None:
    g.since(name)
    qconv(g, name, "")


@row("QLinearConv", domain=MICROSOFT)
def microsoft_conv(g: OnnxGraph, name: str) -> None:
    qconv(g, name, MICROSOFT)


def qconv(g: OnnxGraph, name: str, domain: str) -> None:
    """A quantised convolution, by channel of its results or not."""
    dtype = g.draw.choice(BYTES)
    n, c, h, w = g.draw.shape(4, g.draw.elements // 4)
    x = codes(g, dtype, (n, c, h, w))
    k = g.draw.choice((1, 3))
    groups = c if g.draw.chance(0.3) else 1
    o = c if groups > 1 else g.draw.extent(most=64)
    weights = g.draw.integers((o, c // groups, k, k), -60, 60)
    along = (o,) if g.draw.chance(0.5) else ()
    kernel = g.constant(weights, "int8")
    bias = g.constant(g.draw.integers((o,), -500, 500), "int32") if g.draw.chance(0.6) else None
    operands = [x, scale(g), zero_point(g, dtype), kernel, scale(g, along), zero_point(g, "int8", along, True)]
    result = (dtype, (n, o, h, w))
    g.node(name, [*operands, output_scale(g), zero_point(g, dtype), bias], domain=domain, bound=255,
           types=[result] if domain else None, kernel_shape=[k, k], pads=[k // 2] * 4,
           group=groups if groups > 1 else None)  # fmt: skip


def output_scale(g: OnnxGraph) -> Tensor:
    """A scale of what sums of products come to."""
    array = 2.0 ** g.draw.integer(-3, 1) if g.exact else g.draw.numpy.uniform(0.1, 1.5)
    return g.constant(np.asarray(array), "float32")


@row("QLinearMatMul")
def qlinear_matmul(g: OnnxGraph, name: str) -> None:
    g.since(name)
    dtype = g.draw.choice(BYTES)
    most = {Sizes.TINY: 4, Sizes.ODD: 33, Sizes.REAL: 256}[g.draw.sizes]
    m, k, n = (g.draw.extent(most=most) for _ in range(3))
    batch = (g.draw.integer(1, 3),) if g.draw.chance(0.3) else ()
    a = codes(g, dtype, (*batch, m, k))
    second = g.draw.choice(BYTES) if dtype == "uint8" else "int8"
    b = codes(g, second, (*batch, k, n)) if g.draw.chance(0.4) else g.constant(
        g.draw.integers((*batch, k, n), 0 if second == "uint8" else -90, 90), second)  # fmt: skip
    operands = [a, scale(g), zero_point(g, dtype), b, scale(g), zero_point(g, second), output_scale(g)]
    g.node(name, [*operands, zero_point(g, dtype)], bound=255)


# -- com.microsoft -------------------------------------------------------------------------------------------------


@row("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def qlinear_binary(g: OnnxGraph, name: str) -> None:
    x = coded(g, (1, 4))
    assert x.shape is not None
    shape = list(x.shape)
    if g.draw.chance(0.4):
        for axis in g.draw.axes(x.rank):
            shape[axis] = 1
    y = codes(g, x.dtype, tuple(shape))
    # Where products of powers of two end in a half, onnxruntime rounds after it has added the zero point.
    scales = [scale(g, any_scale=True) for _ in range(3)]
    operands = [x, scales[0], zero_point(g, x.dtype), y, scales[1], zero_point(g, x.dtype), scales[2]]
    g.node(name, [*operands, zero_point(g, x.dtype)], domain=MICROSOFT, bound=255, types=[(x.dtype, x.shape)])


@row("QLinearLeakyRelu", "QLinearSigmoid", domain=MICROSOFT)
def qlinear_unary(g: OnnxGraph, name: str) -> None:
    x = coded(g, (1, 4))
    operands = [x, scale(g), zero_point(g, x.dtype), scale(g), zero_point(g, x.dtype)]
    alpha = g.draw.choice((0.125, 0.25)) if name == "QLinearLeakyRelu" else None
    g.node(name, operands, domain=MICROSOFT, bound=255, types=[(x.dtype, x.shape)], alpha=alpha)


@row("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(g: OnnxGraph, name: str) -> None:
    x = coded(g, (1, 4))
    if x.shape is None or x.shape[-1] == 1:
        raise CannotDraw("onnxruntime's table gives zero for one class")
    out = g.constant(np.asarray(1 / 256), "float32")
    zero = g.constant(np.asarray(0 if x.dtype == "uint8" else -128), x.dtype)
    g.node(name, [x, scale(g), zero_point(g, x.dtype), out, zero], domain=MICROSOFT, bound=255,
           types=[(x.dtype, x.shape)], axis=-1, opset=13)  # fmt: skip


@row("QLinearReduceMean", domain=MICROSOFT)
def qlinear_reduce_mean(g: OnnxGraph, name: str) -> None:
    x = coded(g, (2, 4))
    assert x.shape is not None
    axes = sorted(g.draw.axes(x.rank))
    shape = tuple(1 if n in axes else e for n, e in enumerate(x.shape))
    operands = [x, scale(g), zero_point(g, x.dtype), scale(g), zero_point(g, x.dtype)]
    g.node(name, operands, domain=MICROSOFT, bound=255, types=[(x.dtype, shape)], axes=axes, keepdims=1)


@row("QLinearAveragePool", domain=MICROSOFT)
def qlinear_average_pool(g: OnnxGraph, name: str) -> None:
    x = coded(g, 4)
    assert x.shape is not None
    n, c, h, w = x.shape
    k = min(g.draw.integer(1, 3), h, w)
    if k == h == w:
        g.alone.append("onnxruntime takes a window of the whole image for its global kernel, where ties fall otherwise")
    operands = [x, scale(g), zero_point(g, x.dtype), scale(g), zero_point(g, x.dtype)]
    g.node(name, operands, domain=MICROSOFT, bound=255, types=[(x.dtype, (n, c, h - k + 1, w - k + 1))],
           kernel_shape=[k, k])  # fmt: skip


@row("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_global_average_pool(g: OnnxGraph, name: str) -> None:
    x = coded(g, 4)
    assert x.shape is not None
    operands = [x, scale(g), zero_point(g, x.dtype), scale(g), zero_point(g, x.dtype)]
    g.node(name, operands, domain=MICROSOFT, bound=255, types=[(x.dtype, (*x.shape[:2], 1, 1))])


@row("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(g: OnnxGraph, name: str) -> None:
    x = coded(g, (1, 4))
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    parts = [x, codes(g, x.dtype, x.shape)]
    operands = [scale(g), zero_point(g, x.dtype)]
    for part in parts:
        operands += [part, scale(g), zero_point(g, x.dtype)]
    shape = tuple(2 * e if n == axis else e for n, e in enumerate(x.shape))
    g.node(name, operands, domain=MICROSOFT, bound=255, types=[(x.dtype, shape)], axis=axis)


@row("QLinearWhere", domain=MICROSOFT)
def qlinear_where(g: OnnxGraph, name: str) -> None:
    x = coded(g, (1, 3))
    assert x.shape is not None
    y = codes(g, x.dtype, x.shape)
    condition = g.some("bool", shape=x.shape)
    operands = [condition, x, scale(g), zero_point(g, x.dtype), y, scale(g), zero_point(g, x.dtype)]
    g.node(name, [*operands, scale(g), zero_point(g, x.dtype)], domain=MICROSOFT, bound=255,
           types=[(x.dtype, x.shape)])  # fmt: skip


@row("QGemm", domain=MICROSOFT)
def qgemm(g: OnnxGraph, name: str) -> None:
    most = {Sizes.TINY: 4, Sizes.ODD: 33, Sizes.REAL: 256}[g.draw.sizes]
    m, k, n = (g.draw.extent(most=most) for _ in range(3))
    dtype = "uint8"
    a = codes(g, dtype, (m, k))
    transposed = g.draw.integer(0, 1)
    b = g.constant(g.draw.integers((n, k) if transposed else (k, n), -90, 90), "int8")
    bias = g.constant(g.draw.integers((n,), -500, 500), "int32") if g.draw.chance(0.6) else None
    operands = [a, scale(g), zero_point(g, dtype), b, scale(g), zero_point(g, "int8", (), True), bias]
    as_codes = g.draw.chance(0.6)
    more: list[Any] = [output_scale(g), zero_point(g, dtype)] if as_codes else []
    g.node(name, [*operands, *more], domain=MICROSOFT, bound=255, types=[(dtype if as_codes else "float32", (m, n))],
           transB=transposed, alpha=1.0)  # fmt: skip


@row("DynamicQuantizeMatMul", "MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_to_float(g: OnnxGraph, name: str) -> None:
    most = {Sizes.TINY: 4, Sizes.ODD: 33, Sizes.REAL: 256}[g.draw.sizes]
    m, k, n = (g.draw.extent(most=most) for _ in range(3))
    b = g.constant(g.draw.integers((k, n), -90, 90), "int8")
    bias = g.weight((n,), scale=1.0) if g.draw.chance(0.5) else None
    if name == "DynamicQuantizeMatMul":
        if not g.draw.chance(0.9):
            raise CannotDraw(name)
        a = g.some("float32", shape=(m, k), bound=8)
        operands: list[Tensor | None] = [a, b, scale(g), zero_point(g, "int8", (), True), bias]
    else:
        a = codes(g, "uint8", (m, k))
        operands = [a, b, scale(g), scale(g), zero_point(g, "uint8"), zero_point(g, "int8", (), True), bias]
    g.node(name, operands, domain=MICROSOFT, types=[("float32", (m, n))])
