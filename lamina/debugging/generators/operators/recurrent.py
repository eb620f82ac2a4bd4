"""Recurrent layers, and operators with bodies: loops, scans, branches, sequences, optional values."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import MICROSOFT, CannotDraw, OnnxGraph, Tensor, code
from lamina.debugging.generators.operators.moving import sizes
from lamina.debugging.generators.operators.quantised import BYTES, zero_point
from lamina.debugging.generators.operators.table import row

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": ["Tanh", "Relu", "Sigmoid"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


@row("RNN", "GRU", "LSTM")
def recurrent(g: OnnxGraph, name: str) -> None:
    most = {Sizes.TINY: 4, Sizes.ODD: 19, Sizes.REAL: 128}[g.draw.sizes]
    steps, batch = g.draw.integer(1, 8), g.draw.extent(most=min(8, most))
    inside, hidden = g.draw.extent(most=most), g.draw.extent(most=most)
    direction = g.draw.choice(("forward", "forward", "reverse", "bidirectional"))
    two = 2 if direction == "bidirectional" else 1
    layout = 1 if g.opset >= 14 and g.draw.chance(0.15) else 0
    gates = GATES[name]
    x = g.some("float32", shape=(batch, steps, inside) if layout else (steps, batch, inside), bound=4)
    w = g.weight((two, gates * hidden, inside), scale=inside**-0.5)
    r = g.weight((two, gates * hidden, hidden), scale=hidden**-0.5)
    b = g.weight((two, 2 * gates * hidden), scale=0.5) if g.draw.chance(0.7) else None
    lengths = g.either(g.draw.integers((batch,), 1, steps), "int32") if g.draw.chance(0.25) else None
    if layout and lengths is not None:
        g.alone.append("onnxruntime has no such layout, ONNX's reference no lengths")
    state = (batch, two, hidden) if layout else (two, batch, hidden)
    first = g.some("float32", shape=state, bound=1) if g.draw.chance(0.5) else None
    operands: list[Tensor | None] = [x, w, r, b, lengths, first]
    attributes: dict[str, Any] = {"direction": direction, "hidden_size": hidden, "layout": layout or None}
    if name == "LSTM":
        operands.append(g.some("float32", shape=state, bound=1) if g.draw.chance(0.5) else None)
        operands.append(g.weight((two, 3 * hidden), scale=0.5) if g.draw.chance(0.25) else None)
        attributes["input_forget"] = g.draw.choice((None, None, 1))
    if name == "GRU":
        attributes["linear_before_reset"] = g.draw.choice((0, 1)) if g.opset >= 3 else None
    if g.draw.chance(0.2):
        attributes["clip"] = 2.0
    if name == "RNN" and g.draw.chance(0.4):
        attributes["activations"] = [g.draw.choice(ACTIVATIONS["RNN"]) for _ in range(two)]
    every = (batch, steps, two, hidden) if layout else (steps, two, batch, hidden)
    types = [(x.dtype, every), *[(x.dtype, state)] * (2 if name == "LSTM" else 1)]
    results = g.node(name, operands, len(types), types=types, **attributes)
    for result in results:
        result.bound = 8 if name == "RNN" else 1 if name == "GRU" else 8


@row("DynamicQuantizeLSTM", domain=MICROSOFT)
def lstm_of_bytes(g: OnnxGraph, name: str) -> None:
    most = {Sizes.TINY: 4, Sizes.ODD: 19, Sizes.REAL: 64}[g.draw.sizes]
    steps, batch, inside, hidden = g.draw.integer(1, 6), g.draw.integer(1, 4), *(g.draw.extent(most=most) for _ in "ih")
    direction = g.draw.choice(("forward", "reverse", "bidirectional"))
    two = 2 if direction == "bidirectional" else 1
    x = g.some("float32", shape=(steps, batch, inside), bound=4)
    dtype = g.draw.choice(BYTES)
    along = (two, 4 * hidden) if g.draw.chance(0.4) else (two,)

    def weight(rows: int) -> tuple[Tensor, list[Tensor]]:
        array = g.draw.integers((two, rows, 4 * hidden), *((0, 255) if dtype == "uint8" else (-128, 127)))
        scales = g.constant(2.0 ** g.draw.integers(along, -9, -8), "float32")
        return g.constant(array, dtype), [scales, zero_point(g, dtype, along)]

    (w, of_w), (r, of_r) = weight(inside), weight(hidden)
    b = g.weight((two, 8 * hidden), scale=0.5) if g.draw.chance(0.7) else None
    lengths = g.either(g.draw.integers((batch,), 1, steps), "int32") if g.draw.chance(0.25) else None
    state = (two, batch, hidden)
    states = [g.some("float32", shape=state, bound=1) if g.draw.chance(0.5) else None for _ in "hc"]
    holes = g.weight((two, 3 * hidden), scale=0.5) if g.draw.chance(0.25) else None
    chosen = [g.draw.choice(("Sigmoid", "Tanh", "Relu")) for _ in range(3 * two)] if g.draw.chance(0.3) else None
    types = [("float32", (steps, two, batch, hidden)), *[("float32", state)] * 2]
    made = g.node(name, [x, w, r, b, lengths, *states, holes, *of_w, *of_r], 3, domain=MICROSOFT, types=types,
                  direction=direction, hidden_size=hidden, activations=chosen, clip=g.draw.choice((None, None, 2.0)),
                  input_forget=g.draw.choice((None, None, 1)))  # fmt: skip
    for result in made:
        result.bound = 64 if chosen else 8


def body(
    name: str,
    inputs: list[tuple[str, str, list[int]]],
    outputs: list[tuple[str, str, list[int]]],
    nodes: list[onnx.NodeProto],
) -> onnx.GraphProto:
    """A graph inside an operator: names, types and shapes of what goes in and out."""
    infos = [[helper.make_tensor_value_info(n, code(d), s) for n, d, s in side] for side in (inputs, outputs)]
    return helper.make_graph(nodes, name, infos[0], infos[1])


@row("If")
def branch(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=(0, 3))
    shape = list(x.shape or ())
    ops = g.draw.sample(("Relu", "Neg", "Abs", "Tanh", "Floor"), 2)
    bodies = [body(o.lower(), [], [(g.name("b"), "float32", shape)], []) for o in ops]
    for graph, op in zip(bodies, ops, strict=True):
        graph.node.append(helper.make_node(op, [x.name], [graph.output[0].name]))
    condition = g.either(np.asarray(g.draw.chance(0.5)))
    g.node(name, [condition], bound=x.bound, then_branch=bodies[0], else_branch=bodies[1])
    x.used = True


@row("Loop")
def loop(g: OnnxGraph, name: str) -> None:
    x = g.some("float32", rank=(0, 2), bound=4)
    shape = list(x.shape or ())
    trips = g.constant(np.asarray(g.draw.integer(1, 5), np.int64))
    i, c, v, o, s, d = (g.name("l") for _ in range(6))
    nodes = [
        helper.make_node("Identity", [c], [d]),
        helper.make_node(g.draw.choice(("Tanh", "Abs", "Neg")), [v], [o]),
        helper.make_node("Add", [o, v], [s]),
    ]
    graph = body("loop", [(i, "int64", []), (c, "bool", []), (v, "float32", shape)],
                 [(d, "bool", []), (o, "float32", shape), (s, "float32", shape)], nodes)  # fmt: skip
    keep = g.constant(np.asarray(True)) if g.draw.chance(0.5) else None
    count = int(trips.array)
    types = [("float32", shape), ("float32", [count, *shape])]
    results = g.node(name, [trips, keep, x], 2, types=types, body=graph)
    for result in results:
        result.bound = 8


@row("Scan")
def scan(g: OnnxGraph, name: str) -> None:
    if g.opset < 9:
        raise CannotDraw("the batches of the first Scan")
    x = g.some("float32", rank=(2, 3), bound=4, most=4000, where=lambda t: t.shape is not None and t.shape[0] <= 32)
    assert x.shape is not None
    state = g.some("float32", shape=x.shape[1:], bound=4)
    shape = list(x.shape[1:])
    a, e, n, y = (g.name("s") for _ in range(4))
    nodes = [helper.make_node(g.draw.choice(("Add", "Max", "Sub")), [a, e], [n]), helper.make_node("Tanh", [n], [y])]
    graph = body("scan", [(a, "float32", shape), (e, "float32", shape)],
                 [(n, "float32", shape), (y, "float32", shape)], nodes)  # fmt: skip
    results = g.node(name, [state, x], 2, body=graph, num_scan_inputs=1,
                     scan_input_directions=g.draw.choice((None, [1])))  # fmt: skip
    for result in results:
        result.bound = 64


# -- sequences -----------------------------------------------------------------------------------------------------


def a_sequence(g: OnnxGraph) -> tuple[Tensor, int, tuple[int, ...]]:
    """A sequence of tensors of one shape, and how many."""
    shape = g.draw.shape((1, 3), g.draw.elements // 4)
    count = g.draw.integer(2, 4)
    parts = [g.some("float32", shape=shape) for _ in range(count)]
    (made,) = g.node("SequenceConstruct", parts)
    return made, count, shape


def ended(g: OnnxGraph, sequence: Tensor) -> None:
    """End a sequence in a tensor, which a graph can return."""
    g.node("ConcatFromSequence", [sequence], axis=0, new_axis=g.draw.choice((0, 1)), bound=4)


@row("SequenceConstruct", "ConcatFromSequence")
def sequence(g: OnnxGraph, name: str) -> None:
    g.since(name)
    ended(g, a_sequence(g)[0])


@row("SequenceAt")
def sequence_at(g: OnnxGraph, name: str) -> None:
    g.since(name)
    made, count, _ = a_sequence(g)
    g.node(name, [made, sizes(g, g.draw.integer(-count, count - 1))], bound=4)


@row("SequenceErase", "SequenceInsert")
def sequence_change(g: OnnxGraph, name: str) -> None:
    g.since(name)
    made, count, shape = a_sequence(g)
    place = sizes(g, g.draw.integer(0, count - 1)) if g.draw.chance(0.7) else None
    if name == "SequenceErase":
        (made,) = g.node(name, [made, place])
    else:
        (made,) = g.node(name, [made, g.some("float32", shape=shape), place])
    ended(g, made)


@row("SequenceEmpty")
def sequence_empty(g: OnnxGraph, name: str) -> None:
    g.since(name)
    (made,) = g.node(name, [], dtype=code("float32"))
    shape = g.draw.shape((1, 3))
    for _ in range(2):
        (made,) = g.node("SequenceInsert", [made, g.some("float32", shape=shape)])
    ended(g, made)


@row("SequenceLength")
def sequence_length(g: OnnxGraph, name: str) -> None:
    g.since(name)
    g.node(name, [a_sequence(g)[0]], bound=8)


@row("SplitToSequence")
def split_to_sequence(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some("float32", rank=(1, 3), where=lambda t: t.shape is not None and 2 <= t.shape[0] <= 64)
    assert x.shape is not None
    part = sizes(g, g.draw.integer(1, x.shape[0])) if g.draw.chance(0.7) else None
    (made,) = g.node(name, [x, part], axis=0)
    g.node("SequenceAt", [made, sizes(g, 0)], bound=x.bound)


@row("SequenceMap")
def sequence_map(g: OnnxGraph, name: str) -> None:
    g.since(name)
    made, _, shape = a_sequence(g)
    e, o = g.name("m"), g.name("m")
    op = g.draw.choice(("Neg", "Abs", "Tanh"))
    graph = body("map", [(e, "float32", list(shape))], [(o, "float32", list(shape))], [helper.make_node(op, [e], [o])])
    (made,) = g.node(name, [made], body=graph)
    ended(g, made)


@row("Optional", "OptionalGetElement", "OptionalHasElement")
def optional(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some("float32", rank=(1, 3))
    (made,) = g.node("Optional", [x])
    if name == "OptionalHasElement":
        g.node(name, [made], bound=1)
    else:
        g.node("OptionalGetElement", [made], bound=x.bound)
