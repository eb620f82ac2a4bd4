"""A step of a language model as exporters write it: open batch, length and past, shapes computed from Shape nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS, WIDTH, VOCABULARY, CONTEXT = 4, 16, 100, 256
HIDDEN = HEADS * WIDTH


class _Graph:
    """Nodes and constants, named by their number."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.random = np.random.default_rng(0)

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def numbers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape: int) -> str:
        return self.constant((self.random.standard_normal(shape) * 0.1).astype(np.float32))

    def op(self, kind: str, *inputs: str, out: str = "", **attrs: Any) -> str:
        out = out or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], **attrs))
        return out

    def linear(self, x: str, rows: int, columns: int) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(rows, columns)), self.weight(columns))

    def norm(self, x: str) -> str:
        ones, zeros = (self.constant(np.full(HIDDEN, v, np.float32)) for v in (1, 0))
        return self.op("LayerNormalization", x, ones, zeros, axis=-1, epsilon=1e-5)


def gpt_step() -> Any:
    """ids [batch, seq], past_k and past_v [batch, heads, past, width] -> logits, present_k, present_v."""
    g = _Graph()
    one, zero = (g.constant(np.array(v, np.int64)) for v in (1, 0))
    front = g.numbers(0)
    shape = g.op("Shape", "ids")
    batch, seq = g.op("Gather", shape, zero), g.op("Gather", shape, one)
    past = g.op("Gather", g.op("Shape", "past_k"), g.constant(np.array(2, np.int64)))
    total = g.op("Add", past, seq)
    places = g.op("Unsqueeze", g.op("Range", past, total, one), front)
    tokens = g.op("Gather", g.weight(VOCABULARY, HIDDEN), "ids")
    x = g.op("Add", tokens, g.op("Gather", g.weight(CONTEXT, HIDDEN), places))
    n = g.norm(x)

    def vector(value: str) -> str:
        return g.op("Unsqueeze", value, front)

    def heads(value: str) -> str:
        target = g.op("Concat", vector(batch), vector(seq), g.numbers(HEADS), g.numbers(WIDTH), axis=0)
        return g.op("Transpose", g.op("Reshape", value, target), perm=[0, 2, 1, 3])

    q, k, v = (heads(g.linear(n, HIDDEN, HIDDEN)) for _ in range(3))
    k = g.op("Concat", "past_k", k, out="present_k", axis=2)
    v = g.op("Concat", "past_v", v, out="present_v", axis=2)
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.op("Div", scores, g.constant(np.float32(WIDTH**0.5)))
    mask = g.constant(np.tril(np.ones((1, 1, CONTEXT, CONTEXT), bool)))
    mask = g.op("Slice", mask, vector(past), vector(total), g.numbers(2))
    mask = g.op("Slice", mask, front, vector(total), g.numbers(3))
    weights = g.op("Softmax", g.op("Where", mask, scores, g.constant(np.float32(-1e9))), axis=-1)
    mixed = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    joined = g.op("Reshape", mixed, g.op("Concat", vector(batch), vector(seq), g.numbers(HIDDEN), axis=0))
    x = g.op("Add", x, g.linear(joined, HIDDEN, HIDDEN))
    x = g.op("Add", x, g.linear(g.op("Relu", g.linear(g.norm(x), HIDDEN, 2 * HIDDEN)), 2 * HIDDEN, HIDDEN))
    g.op("MatMul", x, g.weight(HIDDEN, VOCABULARY), out="logits")

    def port(name: str, kind: int, *dims: int | str) -> Any:
        return helper.make_tensor_value_info(name, kind, dims)

    inputs = [port("ids", TensorProto.INT64, "batch", "seq")]
    outputs = [port("logits", TensorProto.FLOAT, "batch", "seq", VOCABULARY)]
    for name in ("k", "v"):
        inputs.append(port(f"past_{name}", TensorProto.FLOAT, "batch", HEADS, "past", WIDTH))
        outputs.append(port(f"present_{name}", TensorProto.FLOAT, "batch", HEADS, "total", WIDTH))
    graph = helper.make_graph(g.nodes, "gpt", inputs, outputs, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker: Any = onnx.checker
    checker.check_model(model)
    return model
