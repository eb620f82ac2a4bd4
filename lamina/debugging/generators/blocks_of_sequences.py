"""Blocks of language models: attention in its spellings, LayerNorm-MLP-Gelu, recurrent stacks."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from lamina.debugging.generators.blocks_of_images import shape_of
from lamina.debugging.generators.onnx_graph import MICROSOFT, OnnxGraph, Tensor

FLOAT, HALF = int(TensorProto.FLOAT), int(TensorProto.FLOAT16)


def linear(g: OnnxGraph, x: Tensor, columns: int) -> Tensor:
    """A product with a weight, and a bias as often as not."""
    (y,) = g.node("MatMul", [x, g.weight((shape_of(x)[-1], columns))])
    return g.node("Add", [y, g.weight((columns,), scale=0.5)])[0] if g.draw.chance(0.7) else y


def layer_norm(g: OnnxGraph, x: Tensor) -> Tensor:
    """LayerNormalization, or the nodes that exports write for it."""
    width = shape_of(x)[-1]
    scale, shift = g.weight((width,), scale=1.0), g.weight((width,), scale=0.5)
    if g.opset >= 17 and g.draw.chance(0.6):
        return g.node("LayerNormalization", [x, scale, shift], axis=-1, epsilon=1e-5)[0]
    return layer_norm_by_nodes(g, x, scale, shift)


def layer_norm_by_nodes(g: OnnxGraph, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Mean, variance, quotient, scale and shift as nodes of their own."""

    def mean(value: Tensor) -> Tensor:
        if g.opset < 18:
            return g.node("ReduceMean", [value], axes=[-1], keepdims=1)[0]
        return g.node("ReduceMean", [value, g.constant([-1], "int64")], keepdims=1)[0]

    (centred,) = g.node("Sub", [x, mean(x)])
    (square,) = g.node("Pow", [centred, g.constant(np.asarray(2.0), "float32")])
    (variance,) = g.node("Add", [mean(square), g.constant(np.asarray(1e-5), "float32")])
    (y,) = g.node("Div", [centred, *g.node("Sqrt", [variance])])
    (y,) = g.node("Mul", [y, scale])
    return g.node("Add", [y, shift])[0]


def gelu(g: OnnxGraph, x: Tensor) -> Tensor:
    """Gelu as an operator, by Erf, or by Tanh."""
    spelling = g.draw.choice(("operator", "erf", "tanh", "Relu"))
    if spelling == "Relu":
        return g.node("Relu", [x])[0]
    if spelling == "operator" and g.opset >= 20:
        return g.node("Gelu", [x], approximate=g.draw.choice(("none", "tanh")))[0]

    def number(value: float) -> Tensor:
        return g.constant(np.asarray(value), "float32")

    if spelling == "tanh":
        (cube,) = g.node("Pow", [x, number(3.0)])
        (inner,) = g.node("Add", [x, *g.node("Mul", [cube, number(0.044715)])])
        (inner,) = g.node("Tanh", g.node("Mul", [inner, number(0.7978845608)]))
    else:
        (inner,) = g.node("Erf", g.node("Div", [x, number(1.4142135)]))
    (y,) = g.node("Mul", [x, *g.node("Add", [inner, number(1.0)])])
    return g.node("Mul", [y, number(0.5)])[0]


def attention(g: OnnxGraph, x: Tensor) -> Tensor:
    """Attention over heads, as torch exports it or as one operator, with what came in added."""
    batch, length, width = shape_of(x)
    heads = g.draw.choice([n for n in (1, 2, 4) if width % n == 0])
    y = layer_norm(g, x) if g.draw.chance(0.5) else x
    queries, keys, values = (linear(g, y, width) for _ in range(3))
    spelling = g.draw.choice(("nodes", "nodes", "MultiHeadAttention", "Attention"))
    if spelling == "MultiHeadAttention":
        (y,) = g.node(spelling, [queries, keys, values], domain=MICROSOFT, types=[("float32", (batch, length, width))],
                      num_heads=heads)  # fmt: skip
    elif spelling == "Attention" and g.opset >= 23:
        (y,) = g.node(spelling, [queries, keys, values], q_num_heads=heads, kv_num_heads=heads,
                      is_causal=g.draw.choice((None, 1)))  # fmt: skip
    else:
        y = attention_by_nodes(g, queries, keys, values, heads)
    return g.node("Add", [x, linear(g, y, width)])[0]


def attention_by_nodes(g: OnnxGraph, queries: Tensor, keys: Tensor, values: Tensor, heads: int) -> Tensor:
    """MatMul-Softmax-MatMul between the transposes of an export; the mask is additive, the scale before or behind."""
    batch, length, width = shape_of(queries)
    size = width // heads
    factor = g.constant(np.asarray(size**-0.5), "float32")
    early = g.draw.chance(0.4)

    def headed(t: Tensor, perm: list[int]) -> Tensor:
        (t,) = g.node("Reshape", [t, g.constant([batch, length, heads, size], "int64")])
        return g.node("Transpose", [t], perm=perm)[0]

    q, k, v = headed(queries, [0, 2, 1, 3]), headed(keys, [0, 2, 3, 1]), headed(values, [0, 2, 1, 3])
    if early:
        (q,) = g.node("Mul", [q, factor])
    (scores,) = g.node("MatMul", [q, k])
    if not early:
        (scores,) = g.node("Mul", [scores, factor])
    kind = g.draw.choice(("none", "causal", "padding"))
    if kind == "causal":
        mask = np.triu(np.full((1, 1, length, length), g.draw.choice((-1e4, -3.4e38))), 1)
        (scores,) = g.node("Add", [scores, g.either(mask, "float32")])
    elif kind == "padding":
        hidden = np.arange(length) >= g.draw.integer(1, length)
        mask = np.broadcast_to(np.where(hidden, -1e4, 0.0), (batch, 1, 1, length))
        (scores,) = g.node("Add", [scores, g.either(mask, "float32")])
    (weights,) = g.node("Softmax", [scores], axis=-1)
    (y,) = g.node("MatMul", [weights, v])
    (y,) = g.node("Transpose", [y], perm=[0, 2, 1, 3])
    return g.node("Reshape", [y, g.constant([batch, length, width], "int64")])[0]


def mlp(g: OnnxGraph, x: Tensor) -> Tensor:
    """LayerNorm, a product to more columns, Gelu, a product back, what came in added."""
    width = shape_of(x)[-1]
    y = gelu(g, linear(g, layer_norm(g, x), width * g.draw.choice((1, 2, 4))))
    (y,) = g.node("Add", [x, linear(g, y, width)])
    return y if g.draw.chance(0.5) else layer_norm(g, y)


def recurrent(g: OnnxGraph, x: Tensor) -> Tensor:
    """An LSTM or GRU over the positions, one way or both, its directions side by side."""
    draw = g.draw
    batch, length, width = shape_of(x)
    name, gates = draw.choice((("LSTM", 4), ("GRU", 3)))
    direction = draw.choice(("forward", "reverse", "bidirectional"))
    ways, hidden = 1 + (direction == "bidirectional"), min(width, draw.choice((4, 17, 64, 128, 256)))
    (y,) = g.node("Transpose", [x], perm=[1, 0, 2])
    operands: list[Tensor | None] = [y, g.weight((ways, gates * hidden, width), scale=width**-0.5),
                                     g.weight((ways, gates * hidden, hidden), scale=hidden**-0.5)]  # fmt: skip
    if draw.chance(0.7):
        operands.append(g.weight((ways, 2 * gates * hidden), scale=0.5))
    reset = draw.choice((0, 1)) if name == "GRU" else None
    y = g.node(name, operands, 1, hidden_size=hidden, direction=direction, linear_before_reset=reset)[0]
    (y,) = g.node("Transpose", [y], perm=[2, 0, 1, 3])
    return g.node("Reshape", [y, g.constant([batch, length, ways * hidden], "int64")])[0]


def similarity(g: OnnxGraph, x: Tensor) -> Tensor:
    """Each position as a mixture of those like it: products with a transposed matrix, as retrieval has them."""
    width = shape_of(x)[-1]
    queries = linear(g, x, width) if g.draw.chance(0.5) else x
    (turned,) = g.node("Transpose", [x], perm=[0, 2, 1])
    (scores,) = g.node("MatMul", [queries, turned])
    (scores,) = g.node("Mul", [scores, g.constant(np.asarray(width**-0.5), "float32")])
    (weights,) = g.node("Softmax", [scores], axis=-1)
    if g.draw.chance(0.5):
        return g.node("MatMul", [weights, x])[0]
    # A column each, not a row: what a position gives to the others.
    (weights,) = g.node("Transpose", [weights], perm=[0, 2, 1])
    return g.node("MatMul", [weights, x])[0]


def pooled(g: OnnxGraph, x: Tensor) -> Tensor:
    """The mean of the positions that a mask leaves, as sentence embeddings have it."""
    batch, length, _ = shape_of(x)
    shown = np.arange(length) < np.asarray([[g.draw.integer(1, length)] for _ in range(batch)])
    mask = g.given(shown, g.draw.choice(("bool", "bool", "int8", "int64")))
    (columns,) = g.node("Unsqueeze", [mask, g.constant([2], "int64")])
    (columns,) = g.node("Expand", [columns, g.constant(shape_of(x), "int64")])
    (columns,) = g.node("Cast", [columns], to=FLOAT)
    (kept,) = g.node("Mul", [x, columns])
    axes = g.constant([1], "int64")
    (total,) = g.node("ReduceSum", [kept, axes], keepdims=0)
    (count,) = g.node("ReduceSum", [columns, axes], keepdims=0)
    (count,) = g.node("Clip", [count, g.constant(np.asarray(1e-9), "float32")])
    return g.node("Div", [total, count])[0]


def half_precision(g: OnnxGraph, x: Tensor) -> Tensor:
    """LayerNorm by nodes, in single precision of what is stored in half precision, as mixed precision leaves it."""
    (narrow,) = g.node("Cast", [x], to=HALF)
    (wide,) = g.node("Cast", [narrow], to=FLOAT)
    width = shape_of(x)[-1]
    y = layer_norm_by_nodes(g, wide, g.weight((width,), scale=1.0), g.weight((width,), scale=0.5))
    return g.node("Cast", [y], to=HALF)[0] if g.draw.chance(0.3) else y


BLOCKS = (attention, attention, mlp, recurrent, recurrent, similarity, pooled, half_precision)
