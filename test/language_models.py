"""Steps of language models as exporters write them: batch, length and past are open, Shape nodes give shapes.

Weights are random. `gpt` has learned places, layer norms and heads of their own; `llama` rotates, has RMS norms, a
gated layer and fewer heads of keys and values than of queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class Dimensions:
    """The size of a model."""

    layers: int = 1
    heads: int = 4
    width: int = 16
    """Of a head."""
    vocabulary: int = 100
    context: int = 256
    """The most tokens, those of the past among them."""
    shared_by: int = 1
    """Heads of queries for each head of keys and values."""

    @property
    def hidden(self) -> int:
        return self.heads * self.width

    def states(self) -> dict[str, str]:
        """The outputs that go to inputs in the next step, by the names of these."""
        return {f"past_{c}{n}": f"present_{c}{n}" for n in range(self.layers) for c in "kv"}


GPT2_SMALL = Dimensions(layers=12, heads=12, width=64, vocabulary=50257, context=1024)


class _Graph:
    """Nodes and constants, named by their number."""

    def __init__(self, size: Dimensions) -> None:
        self.size = size
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.random = np.random.default_rng(0)
        one, zero = (self.constant(np.array(v, np.int64)) for v in (1, 0))
        self.front = self.numbers(0)
        shape = self.op("Shape", "ids")
        self.batch, self.seq = self.op("Gather", shape, zero), self.op("Gather", shape, one)
        self.past = self.op("Gather", self.op("Shape", "past_k0"), self.constant(np.array(2, np.int64)))
        self.total = self.op("Add", self.past, self.seq)
        self.places = self.op("Unsqueeze", self.op("Range", self.past, self.total, one), self.front)
        mask = self.constant(np.tril(np.ones((1, 1, size.context, size.context), bool)))
        mask = self.op("Slice", mask, self.vector(self.past), self.vector(self.total), self.numbers(2))
        self.mask = self.op("Slice", mask, self.front, self.vector(self.total), self.numbers(3))

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def numbers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape: int) -> str:
        scale = 0.1 if self.size.hidden < 256 else 0.02
        return self.constant(self.random.standard_normal(shape, np.float32) * np.float32(scale))

    def op(self, kind: str, *inputs: str, out: str = "", **attrs: Any) -> str:
        out = out or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], **attrs))
        return out

    def vector(self, value: str) -> str:
        return self.op("Unsqueeze", value, self.front)

    def shape(self, *extents: str | int) -> str:
        return self.op("Concat", *(self.numbers(e) if isinstance(e, int) else self.vector(e) for e in extents), axis=0)

    def linear(self, x: str, rows: int, columns: int, bias: bool = True) -> str:
        y = self.op("MatMul", x, self.weight(rows, columns))
        return self.op("Add", y, self.weight(columns)) if bias else y

    def heads(self, value: str, count: int) -> str:
        split = self.op("Reshape", value, self.shape(self.batch, self.seq, count, self.size.width))
        return self.op("Transpose", split, perm=[0, 2, 1, 3])

    def attention(self, q: str, k: str, v: str) -> str:
        """Queries on keys and values of as many heads, joined again to [batch, seq, hidden]."""
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, self.constant(np.float32(self.size.width**0.5)))
        scores = self.op("Where", self.mask, scores, self.constant(np.float32(-1e9)))
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.op("Reshape", mixed, self.shape(self.batch, self.seq, self.size.hidden))

    def grown(self, name: str, rows: str) -> str:
        return self.op("Concat", f"past_{name}", rows, out=f"present_{name}", axis=2)

    def model(self, name: str, kv_heads: int) -> Any:
        size, nodes = self.size, self.nodes

        def port(name: str, kind: int, *dims: int | str) -> Any:
            return helper.make_tensor_value_info(name, kind, dims)

        inputs = [port("ids", TensorProto.INT64, "batch", "seq")]
        outputs = [port("logits", TensorProto.FLOAT, "batch", "seq", size.vocabulary)]
        for past, present in size.states().items():
            inputs.append(port(past, TensorProto.FLOAT, "batch", kv_heads, "past", size.width))
            outputs.append(port(present, TensorProto.FLOAT, "batch", kv_heads, "total", size.width))
        graph = helper.make_graph(nodes, name, inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        checker: Any = onnx.checker
        checker.check_model(model)
        return model


def gpt(size: Dimensions = Dimensions()) -> Any:  # noqa: B008
    """ids [batch, seq], past_k0, past_v0, ... [batch, heads, past, width] -> logits, present_k0, present_v0, ..."""
    g, hidden = _Graph(size), size.hidden

    def norm(x: str) -> str:
        ones, zeros = (g.constant(np.full(hidden, v, np.float32)) for v in (1, 0))
        return g.op("LayerNormalization", x, ones, zeros, axis=-1, epsilon=1e-5)

    tokens = g.op("Gather", g.weight(size.vocabulary, hidden), "ids")
    x = g.op("Add", tokens, g.op("Gather", g.weight(size.context, hidden), g.places))
    for n in range(size.layers):
        q, k, v = (g.heads(g.linear(y, hidden, hidden), size.heads) for y in [norm(x)] for _ in range(3))
        x = g.op("Add", x, g.linear(g.attention(q, g.grown(f"k{n}", k), g.grown(f"v{n}", v)), hidden, hidden))
        x = g.op("Add", x, g.linear(g.op("Relu", g.linear(norm(x), hidden, 4 * hidden)), 4 * hidden, hidden))
    g.op("MatMul", x, g.weight(hidden, size.vocabulary), out="logits")
    return g.model("gpt", size.heads)


def llama(size: Dimensions = Dimensions(shared_by=2)) -> Any:  # noqa: B008
    """The same, with `shared_by` heads of queries for each of keys and values."""
    g, hidden, kv_heads = _Graph(size), size.hidden, size.heads // size.shared_by
    angles = np.arange(size.context)[:, None] / 10000.0 ** (np.arange(0, size.width, 2) / size.width)
    cosines, sines = (
        g.op("Unsqueeze", g.op("Gather", g.constant(np.tile(f(angles), 2).astype(np.float32)), g.places), g.numbers(1))
        for f in (np.cos, np.sin)
    )

    def norm(x: str) -> str:
        squares = g.op("ReduceMean", g.op("Pow", x, g.constant(np.float32(2))), axes=[-1])
        root = g.op("Sqrt", g.op("Add", squares, g.constant(np.float32(1e-6))))
        return g.op("Mul", g.constant(np.ones(hidden, np.float32)), g.op("Div", x, root))

    def rotated(x: str) -> str:
        half, end, last = size.width // 2, g.numbers(1 << 31), g.numbers(3)
        first, second = (g.op("Slice", x, g.numbers(a), b, last) for a, b in ((0, g.numbers(half)), (half, end)))
        turned = g.op("Concat", g.op("Neg", second), first, axis=-1)
        return g.op("Add", g.op("Mul", x, cosines), g.op("Mul", turned, sines))

    def repeated(x: str) -> str:
        shape = g.shape(g.batch, kv_heads, size.shared_by, g.total, size.width)
        each = g.op("Expand", g.op("Unsqueeze", x, g.numbers(2)), shape)
        return g.op("Reshape", each, g.shape(g.batch, size.heads, g.total, size.width))

    x = g.op("Gather", g.weight(size.vocabulary, hidden), "ids")
    for n in range(size.layers):
        y = norm(x)
        q = rotated(g.heads(g.linear(y, hidden, hidden, bias=False), size.heads))
        k, v = (g.heads(g.linear(y, hidden, kv_heads * size.width, bias=False), kv_heads) for _ in range(2))
        k, v = g.grown(f"k{n}", rotated(k)), g.grown(f"v{n}", v)
        x = g.op("Add", x, g.linear(g.attention(q, repeated(k), repeated(v)), hidden, hidden, bias=False))
        y = norm(x)
        gate, up = (g.linear(y, hidden, 3 * hidden, bias=False) for _ in range(2))
        gated = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        x = g.op("Add", x, g.linear(gated, 3 * hidden, hidden, bias=False))
    g.op("MatMul", norm(x), g.weight(hidden, size.vocabulary), out="logits")
    return g.model("llama", kv_heads)
