"""Attention and what language models have beside it, as ONNX has them since operator set 23."""

from __future__ import annotations

from typing import Any

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import OnnxGraph
from lamina.debugging.generators.operators.table import row


def heads(g: OnnxGraph) -> tuple[int, int, int, int, int]:
    """Batches, heads, queries, keys, and the extent of a head."""
    most = {Sizes.TINY: 4, Sizes.ODD: 17, Sizes.REAL: 128}[g.draw.sizes]
    batch, count = g.draw.integer(1, 2), g.draw.integer(1, 4)
    return batch, count, g.draw.extent(most=most), g.draw.extent(most=most), g.draw.extent(most=min(64, most))


@row("Attention")
def attention(g: OnnxGraph, name: str) -> None:
    g.since(name)
    b, h, q, k, d = heads(g)
    kv = g.draw.choice([n for n in range(1, h + 1) if h % n == 0])
    four = g.draw.chance(0.6)
    shapes = [(b, h, q, d), (b, kv, k, d), (b, kv, k, d)] if four else [(b, q, h * d), (b, k, kv * d), (b, k, kv * d)]
    operands: list[Any] = [g.some("float32", shape=s, bound=4) for s in shapes]
    if g.draw.chance(0.4):
        if g.draw.chance(0.5):
            mask = g.draw.integers((q, k), 0, 1).astype(bool)
            mask[:, 0] = True
            operands.append(g.either(mask))
        else:
            operands.append(g.some("float32", shape=(q, k), bound=4))
    attributes: dict[str, Any] = {} if four else {"q_num_heads": h, "kv_num_heads": kv}
    if g.draw.chance(0.3):
        attributes["is_causal"] = 1
    if g.draw.chance(0.3):
        attributes["scale"] = 0.25
    if g.draw.chance(0.2):
        attributes["softcap"] = 4.0
    g.node(name, operands, bound=4, **attributes)


@row("RotaryEmbedding")
def rotary_embedding(g: OnnxGraph, name: str) -> None:
    g.since(name)
    b, h, q, _, d = heads(g)
    d += d % 2
    x = g.some("float32", shape=(b, h, q, d), bound=4)
    tables = [g.given(g.draw.eighths((b, q, d // 2), 1), "float32") for _ in range(2)]
    g.node(name, [x, *tables], bound=8, interleaved=g.draw.choice((0, 1)))


@row("TensorScatter")
def tensor_scatter(g: OnnxGraph, name: str) -> None:
    g.since(name)
    b, h, q, k, d = heads(g)
    k = max(k, q)
    past, update = g.some("float32", shape=(b, h, k, d)), g.some("float32", shape=(b, h, q, d))
    places = g.given(g.draw.integers((b,), 0, k - q), "int64") if g.draw.chance(0.7) else None
    g.node(name, [past, update, places], bound=4, axis=-2, mode=g.draw.choice(("linear", "circular")))


@row("CausalConvWithState")
def causal_conv(g: OnnxGraph, name: str) -> None:
    g.since(name)
    b, c, length, k = g.draw.integer(1, 2), g.draw.extent(most=16), g.draw.extent(most=33), g.draw.integer(2, 4)
    x = g.some("float32", shape=(b, c, length), bound=4)
    w = g.weight((c, 1, k))
    bias = g.weight((c,), scale=1.0) if g.draw.chance(0.5) else None
    past = g.some("float32", shape=(b, c, k - 1), bound=4) if g.draw.chance(0.5) else None
    activation = g.draw.choice((None, "silu"))
    g.node(name, [x, w, bias, past], 2, bound=16, activation=activation)


@row("LinearAttention")
def linear_attention(g: OnnxGraph, name: str) -> None:
    g.since(name)
    b, h, q, _, d = heads(g)
    operands = [g.some("float32", shape=(b, q, h * d), bound=1) for _ in range(3)]
    g.node(name, operands, 2, bound=64, update_rule="linear", q_num_heads=h, kv_num_heads=h)


@row("SwiGLU")
def swiglu(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some("float32", rank=(2, 3), bound=4)
    g.node(name, [x, g.like(x, 4)], bound=16)
