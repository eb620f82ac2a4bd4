"""Cells of recurrent networks as TensorFlow's block kernels compute them."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE

MOST_STEPS = 1024
"""Steps of a sequence: each is code of its own."""


def _cell(
    b: NodeBuilder, node: NetworkNode, x: Value, cell: Value, h: Value, weights: Sequence[Value], forget: float,
    clip: float,
) -> list[Value]:  # fmt: skip
    """i, cs, f, o, ci, co, h of one step. The product of [x, h] has the gates in the order i, ci, f, o."""
    w, wci, wcf, wco, bias = weights
    peephole = bool(node.attr("use_peephole", False))
    gates = b.op("nn.bias_add", b.op("nn.matmul", b.op("concatenate", x, h, axis=1), w), bias, axis=1)
    order = ("i", "f", "ci", "o") if node.op == "BlockLSTMV2" else ("i", "ci", "f", "o")
    part = dict(zip(order, b.ops("split", gates, indices_or_sections=4, axis=1), strict=True))

    def gate(z: Value, seen: Value, weight: Value) -> Value:
        return b.op("sigmoid", b.add(z, b.mul(seen, weight)) if peephole else z)

    i = gate(part["i"], cell, wci)
    f = gate(b.add(part["f"], forget) if forget else part["f"], cell, wcf)
    ci = b.op("tanh", part["ci"])
    cs = b.add(b.mul(ci, i), b.mul(cell, f))
    if clip > 0:
        cs = b.op("clip", cs, a_min=-clip, a_max=clip)
    o = gate(part["o"], cs, wco)
    co = b.op("tanh", cs)
    return [i, cs, f, o, ci, co, b.mul(co, o)]


@TABLE.op("LSTMBlockCell")
def lstm_cell(b: NodeBuilder, node: NetworkNode, x: Value, cell: Value, h: Value, *weights: Value) -> Sequence[Value]:
    """One step. Raises InputError where there are not five weights."""
    return _cell(b, node, x, cell, h, weights, float(node.attr("forget_bias", 1.0)), float(node.attr("cell_clip", 3.0)))


@TABLE.op("BlockLSTM", "BlockLSTMV2")
def lstm(
    b: NodeBuilder, node: NetworkNode, length: Value, x: Value, cell: Value, h: Value, *weights: Value
) -> Sequence[Value]:
    """Steps along the first axis; those from `length` on are zero."""
    many = int(b.number(length, "the number of steps"))
    if x.rank != 3 or not 0 < many <= min(x.shape[0], MOST_STEPS):
        raise b.unsupported(f"{many} steps of {x} are not supported")
    old = node.op == "BlockLSTM"
    forget, clip = (
        (float(node.attr("forget_bias", 1.0)) if old else 0.0),
        float(node.attr("cell_clip", 3.0 if old else 0.0)),
    )
    steps: list[list[Value]] = []
    for t in range(many):
        now = b.reshape(b.slice(x, 0, t, t + 1), x.shape[1:])
        steps.append(_cell(b, node, now, cell, h, weights, forget, clip))
        cell, h = steps[-1][1], steps[-1][6]
    none = [b.zeros(h.shape, h.dtype)] * (x.shape[0] - many)
    return [b.op("stack", *column, *none, axis=0) for column in zip(*steps, strict=True)]


@TABLE.op("GRUBlockCell")
def gru_cell(b: NodeBuilder, node: NetworkNode, x: Value, h: Value, *weights: Value) -> Sequence[Value]:
    """r, u, c and the next state: u * h + (1 - u) * c."""
    w_ru, w_c, b_ru, b_c = weights
    gates = b.op("nn.bias_add", b.op("nn.matmul", b.op("concatenate", x, h, axis=1), w_ru), b_ru, axis=1)
    r, u = b.ops("split", b.op("sigmoid", gates), indices_or_sections=2, axis=1)
    inner = b.op("concatenate", x, b.mul(r, h), axis=1)
    c = b.op("tanh", b.op("nn.bias_add", b.op("nn.matmul", inner, w_c), b_c, axis=1))
    return [r, u, c, b.add(b.mul(u, h), b.mul(b.sub(b.tensor(1.0, u.dtype), u), c))]
