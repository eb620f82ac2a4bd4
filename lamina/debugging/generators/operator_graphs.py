"""Random graphs over the operators of the table, each operator as likely as any other."""

from __future__ import annotations

import onnx

from lamina.debugging.generators.draw import Draw
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph
from lamina.debugging.generators.operators.table import rows

OLDEST, NEWEST = 7, onnx.defs.onnx_opset_version()
"""Operator sets that are drawn. Those before 7 broadcast in a way of their own, which converters of models undo."""
RELEASED = 24
"""The last operator set that onnxruntime takes: rather one that a second implementation knows."""


def operator_graph(draw: Draw) -> OnnxGraph:
    """A graph of 3 to 16 nodes, in any operator set that has the first of them."""
    names = sorted(rows())
    wanted = [draw.choice(names) for _ in range(draw.integer(3, 16))]
    graph = OnnxGraph(draw, opset_with(draw, *wanted[0]), exact=draw.chance(0.6))
    for domain, name in wanted:
        draw_node(graph, domain, name)
    if not graph.nodes:
        draw_node(graph, "", "Add")
    return graph


def opset_with(draw: Draw, domain: str, name: str) -> int:
    """An operator set that has an operator, as likely an old as a new one; any for what ONNX does not have."""
    opsets = [n for n in range(OLDEST, NEWEST + 1) if domain or has_operator(name, n)]
    released = [n for n in opsets if n <= RELEASED]
    return draw.choice(released if released and draw.chance(0.9) else opsets or [17])


def has_operator(name: str, opset: int) -> bool:
    """Whether an operator set has an operator, and does not discourage it."""
    try:
        return not onnx.defs.get_schema(name, opset).deprecated
    except onnx.defs.SchemaError:
        return False


def draw_node(graph: OnnxGraph, domain: str, name: str, attempts: int = 6) -> bool:
    """Add a node of an operator, if one can be drawn in a few attempts."""
    row = rows()[(domain, name)]
    for _ in range(attempts):
        before = len(graph.nodes), len(graph.tensors)
        try:
            row(graph, name)
            return True
        except CannotDraw:
            # What was begun goes, with the inputs that it has made.
            del graph.nodes[before[0] :]
            for tensor in graph.tensors[before[1] :]:
                graph.inputs.pop(tensor.name, None)
                graph.free.discard(tensor.name)
            del graph.tensors[before[1] :]
    return False
