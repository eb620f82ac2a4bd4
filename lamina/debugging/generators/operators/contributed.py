"""Operators that onnxruntime adds to ONNX's, in floats: its optimiser and the hubs' models write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import MICROSOFT, OnnxGraph, Tensor
from lamina.debugging.generators.operators.elementwise import positive
from lamina.debugging.generators.operators.table import row

F32 = "float32"


def add(g: OnnxGraph, name: str, operands: list[Tensor | None], shape: Any, bound: float = 64, **more: Any) -> None:
    """A node of one result of float32."""
    g.node(name, operands, domain=MICROSOFT, bound=bound, types=[(F32, shape)], **more)


@row("Gelu", "FastGelu", "QuickGelu", "BiasGelu", domain=MICROSOFT)
def activations(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=(1, 4), bound=16)
    assert x.shape is not None
    biased = name == "BiasGelu" or (name == "FastGelu" and g.draw.chance(0.5))
    alpha = g.draw.choice((None, 0.75)) if name == "QuickGelu" else None
    add(g, name, [x, g.weight(x.shape[-1:], scale=1.0) if biased else None], x.shape, x.bound + 1, alpha=alpha)


@row("BiasSoftmax", domain=MICROSOFT)
def bias_softmax(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=4, bound=16)
    assert x.shape is not None
    inner = g.draw.integer(0, 1)
    a, _, c, d = x.shape
    bias = g.some(F32, shape=(a, 1, 1, d) if inner else (1, 1, c, d), bound=4)
    add(g, name, [x, bias], x.shape, 1, axis=3, is_inner_broadcast=inner)


@row("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_norms(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=3, bound=16)
    assert x.shape is not None
    width = x.shape[-1:]
    skip = g.some(F32, shape=g.draw.choice((x.shape, (1, *x.shape[1:]), x.shape[1:])), bound=16)
    count = g.draw.integer(1, 3 if name == "SkipLayerNormalization" else 2)
    rest = [g.weight(width, scale=1.0) for _ in range(count)]
    add(g, name, [x, skip, *rest], x.shape, epsilon=g.draw.choice((None, 0.125)))


@row("SimplifiedLayerNormalization")
def simplified_layer_normalization(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=(2, 4), bound=16)
    assert x.shape is not None
    # It stands in ONNX's domain, whose list does not have it.
    g.foreign(name, [x, g.weight(x.shape[-1:], scale=1.0)], [(F32, x.shape)], axis=-1, epsilon=0.125)


@row("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(g: OnnxGraph, name: str) -> None:
    most = {Sizes.TINY: 4, Sizes.ODD: 33, Sizes.REAL: 128}[g.draw.sizes]
    batch = g.draw.shape((0, 2), 6)
    m, k, n = (g.draw.extent(most=most) for _ in range(3))
    a, b = (int(g.draw.chance(0.5)) for _ in range(2))
    x = g.some(F32, shape=(*batch, *((k, m) if a else (m, k))), bound=4)
    y = g.some(F32, shape=(*batch, *((n, k) if b else (k, n))), bound=4)
    add(g, name, [x, y], (*batch, m, n), 1024, transA=a, transB=b, alpha=g.draw.choice((None, 0.5)))


@row("FusedGemm", domain=MICROSOFT)
def fused_gemm(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=2, bound=8)
    assert x.shape is not None
    n = g.draw.extent(most=256)
    activation = g.draw.choice(("Relu", "Sigmoid", "Tanh", "LeakyRelu"))
    alpha = 0.25 if activation == "LeakyRelu" else None
    operands = [x, g.weight((n, x.shape[1])), g.weight((n,), scale=1.0)]
    add(g, name, [*operands], (x.shape[0], n), transB=1, activation=activation, activation_alpha=alpha)


@row("FusedConv", domain=MICROSOFT)
def fused_conv(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=4, bound=8, most=g.draw.elements // 4)
    assert x.shape is not None
    n, c, h, w = x.shape
    o, k = g.draw.extent(most=max(1, min(64, g.draw.products // max(1, 9 * x.size)))), g.draw.choice((1, 3))
    residual = g.some(F32, shape=(n, o, h, w), bound=8) if g.draw.chance(0.3) else None
    operands = [x, g.weight((o, c, k, k)), g.weight((o,), scale=1.0), residual]
    kind = "Relu" if residual is not None else g.draw.choice(("Relu", "Tanh", "LeakyRelu"))
    add(g, name, operands, (n, o, h, w), activation=kind, pads=[k // 2] * 4, kernel_shape=[k, k],
        activation_params=[0.25] if kind == "LeakyRelu" else None)  # fmt: skip


@row("ExpandDims", "GatherND", "Pad", "Range", "Trilu", "UnfoldTensor", domain=MICROSOFT)
def other_names(g: OnnxGraph, name: str) -> None:
    if name == "Range":
        count, step = g.draw.integer(1, 32), g.draw.choice((1, 2, 3))
        ends = [g.constant(np.asarray(v), "int32") for v in (1, 1 + count * step, step)]
        g.node(name, [*ends], domain=MICROSOFT, bound=100, types=[("int32", (count,))])
        return
    x = g.some(F32, rank=(2, 4))
    assert x.shape is not None
    shape = list(x.shape)
    if name == "ExpandDims":
        axis = g.draw.integer(0, x.rank)
        add(g, name, [x, g.constant(np.asarray(axis), "int32")], [*shape[:axis], 1, *shape[axis:]], x.bound)
    elif name == "GatherND":
        places = np.stack([g.draw.integers((3,), 0, e - 1) for e in shape[:2]], -1)
        add(g, name, [x, g.either(places, "int64")], [3, *shape[2:]], x.bound)
    elif name == "Pad":
        pads = [g.draw.integer(0, 3) for _ in range(2 * x.rank)]
        found = [e + pads[n] + pads[n + x.rank] for n, e in enumerate(shape)]
        add(g, name, [x, g.constant(np.asarray(pads, np.int64))], found, x.bound)
    elif name == "Trilu":
        k = g.constant(np.asarray(g.draw.integer(-2, 2), np.int64))
        add(g, name, [x, k], shape, x.bound, upper=g.draw.integer(0, 1))
    else:
        size, step = g.draw.integer(1, shape[-1]), g.draw.integer(1, 3)
        add(g, name, [x], [*shape[:-1], (shape[-1] - size) // step + 1, size], x.bound, dim=-1, size=size, step=step)


@row("CDist", domain=MICROSOFT)
def distances(g: OnnxGraph, name: str) -> None:
    m, n, k = (g.draw.extent(most=64) for _ in range(3))
    x, y = g.some(F32, shape=(m, k), bound=4), positive(g, g.some(F32, shape=(n, k), bound=4))
    # Of squares: the root of a difference that is nearly zero is whatever its roundings are.
    add(g, name, [x, y], (m, n), 4096, metric="sqeuclidean")


@row("GridSample", domain=MICROSOFT)
def grid_sample(g: OnnxGraph, name: str) -> None:
    x = g.some(F32, rank=4, bound=16, most=g.draw.elements // 4)
    assert x.shape is not None
    h, w = g.draw.extent(most=16), g.draw.extent(most=16)
    grid = g.given(g.draw.eighths((x.shape[0], h, w, 2), 1.25), F32)
    add(g, name, [x, grid], (*x.shape[:2], h, w), x.bound * 2, mode=g.draw.choice(("bilinear", "nearest")),
        padding_mode=g.draw.choice(("zeros", "border", "reflection")), align_corners=g.draw.integer(0, 1))  # fmt: skip


@row("NhwcMaxPool", domain=MICROSOFT)
def nhwc_max_pool(g: OnnxGraph, name: str) -> None:
    n, h, w, c = g.draw.shape(4, least=2)
    dtype = g.draw.choice(("uint8", "int8"))
    x = g.given(g.draw.integers((n, h, w, c), 0 if dtype == "uint8" else -128, 127), dtype)
    g.node(name, [x], domain=MICROSOFT, bound=255, types=[(dtype, (n, h - 1, w - 1, c))], kernel_shape=[2, 2])


@row("MatMulInteger16", domain=MICROSOFT)
def matmul_integer(g: OnnxGraph, name: str) -> None:
    m, k, n = (g.draw.extent(most=64) for _ in range(3))
    x, y = (g.given(g.draw.integers(s, -2000, 2000), "int16") for s in ((m, k), (k, n)))
    g.node(name, [x, y], domain=MICROSOFT, types=[("int32", (m, n))])


@row("MatMulNBits", domain=MICROSOFT)
def few_bits(g: OnnxGraph, name: str) -> None:
    bits, block = g.draw.choice((4, 4, 8)), g.draw.choice((16, 32))
    rows, depth = g.draw.extent(most=64), g.draw.extent(most=256)
    x = g.some(F32, shape=(g.draw.extent(most=16), depth), bound=4)
    assert x.shape is not None
    blocks = -(-depth // block)
    weight = g.constant(g.draw.integers((rows, blocks, block * bits // 8), 0, 255), "uint8")
    scales = g.constant(g.draw.numpy.uniform(0.01, 0.1, (rows, blocks)), F32)
    add(g, name, [x, weight, scales], (x.shape[0], rows), 1024, K=depth, N=rows, block_size=block, bits=bits)


@row("MatMulBnb4", domain=MICROSOFT)
def four_bit_floats(g: OnnxGraph, name: str) -> None:
    rows, depth, block = g.draw.extent(most=64), g.draw.extent(most=256), g.draw.choice((16, 32, 64, 128))
    shape = (*g.draw.shape((0, 1), 4), g.draw.extent(most=16), depth)
    x = g.some(F32, shape=shape, bound=4)
    weight = g.constant(g.draw.integers(((rows * depth + 1) // 2,), 0, 255), "uint8")
    largest = g.constant(g.draw.integers((-(-rows * depth // block),), 1, 16) / 8, F32)
    add(g, name, [x, weight, largest], (*shape[:-1], rows), 1024, K=depth, N=rows, block_size=block,
        quant_type=g.draw.choice((0, 1)), training_mode=g.draw.choice((None, 0)),
        transB=g.draw.choice((None, 1)))  # fmt: skip


@row("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(g: OnnxGraph, name: str) -> None:
    """Of integers of four bits any axis, of those in bytes the first; scales lie along any axis, or the last."""
    block = g.draw.choice((16, 32, 64))
    packed = g.draw.chance(0.5)
    rank = g.draw.integer(2, 3)
    shape = [g.draw.integer(1, 6) for _ in range(rank)]
    axis, at = (rank - 1, 0) if packed else (g.draw.integer(0, rank - 1), g.draw.integer(0, rank - 1))
    bits = g.draw.choice((4, 8)) if packed else 4
    # Bytes are full.
    shape[axis] = g.draw.extent(most=80) * (2 if packed else 1)
    scaled = [-(-e // block) if n == axis else e for n, e in enumerate(shape)]
    kind = "uint8" if packed else g.draw.choice(("int4", "uint4"))

    def stored(extents: list[int]) -> Tensor:
        if packed:
            last = -(-extents[-1] * bits // 8)
            return g.constant(g.draw.integers((*extents[:-1], last), 0, 255), "uint8")
        return g.constant(g.draw.integers(extents, *((-8, 7) if kind == "int4" else (0, 15))), kind)

    zeros = stored(scaled) if g.draw.chance(0.5) else None
    scales = g.constant(2.0 ** g.draw.integers(scaled, -4, 0), F32)
    wanted = g.draw.shape((0, 2), 12)
    least = -shape[at] if g.draw.chance(0.4) else 0
    indices = g.either(g.draw.integers(wanted, least, shape[at] - 1), g.draw.choice(("int64", "int32")))
    found = (*shape[:at], *wanted, *shape[at + 1 :])
    add(g, name, [stored(shape), indices, scales, zeros], found, 256, block_size=block,
        bits=bits if packed else None, gather_axis=at - g.draw.choice((0, rank)),
        quantize_axis=axis - g.draw.choice((0, rank)))  # fmt: skip


# -- attention -----------------------------------------------------------------------------------------------------


def lengths(g: OnnxGraph) -> tuple[int, int, int, int, int]:
    """Batches, rows, other rows, heads, and the extent of a head."""
    most = {Sizes.TINY: 4, Sizes.ODD: 19, Sizes.REAL: 128}[g.draw.sizes]
    size = g.draw.choice((4, 8, 16, 32, 64) if g.draw.sizes == Sizes.REAL else (2, 4, 6, 8))
    return g.draw.integer(1, 2), g.draw.extent(most=most), g.draw.extent(most=most), g.draw.integer(1, 4), size


@row("Attention", domain=MICROSOFT)
def attention(g: OnnxGraph, name: str) -> None:
    b, rows, _, heads, size = lengths(g)
    width = heads * size
    x = g.some(F32, shape=(b, rows, width), bound=4)
    operands: list[Tensor | None] = [x, g.weight((width, 3 * width), scale=width**-0.5), g.weight((3 * width,))]
    if g.draw.chance(0.4):
        operands.append(g.given(g.draw.integers((b,), 1, rows), "int32"))
    add(g, name, operands, x.shape, num_heads=heads, unidirectional=g.draw.integer(0, 1))


@row("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(g: OnnxGraph, name: str) -> None:
    b, rows, others, heads, size = lengths(g)
    width = heads * size
    x = g.some(F32, shape=(b, rows, width), bound=4)
    keys, values = (g.some(F32, shape=(b, others, width), bound=4) for _ in range(2))
    operands: list[Tensor | None] = [x, keys, values]
    if g.draw.chance(0.4):
        operands += [g.weight((3 * width,), scale=1.0)]
    add(g, name, operands, x.shape, num_heads=heads, scale=g.draw.choice((None, 0.25)))


@row("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(g: OnnxGraph, name: str) -> None:
    b, rows, _, heads, size = lengths(g)
    size = max(8, size)
    shared = g.draw.choice([n for n in range(1, heads + 1) if heads % n == 0])
    operands: list[Tensor | None] = [g.some(F32, shape=(b, rows, n * size), bound=4) for n in (heads, shared, shared)]
    totals = [g.constant(np.full((b,), rows - 1), "int32"), g.constant(np.asarray(rows), "int32")]
    types = [(F32, (b, rows, heads * size)), *[(F32, (b, shared, rows, size))] * 2]
    made = g.node(name, [*operands, None, None, *totals], 3, domain=MICROSOFT, types=types, num_heads=heads,
                  kv_num_heads=shared, local_window_size=g.draw.choice((None, 2)))  # fmt: skip
    for result in made:
        result.bound = 8
