"""Random graphs over the operators of the table, each operator as likely as any other."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import onnx

from lamina.debugging.generators.draw import Draw
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph
from lamina.debugging.generators.operators.table import rows

OLDEST, NEWEST = 1, onnx.defs.onnx_opset_version()
"""Operator sets that are drawn."""
USUAL = 7
"""The first that onnxruntime takes whole, and the first with operators of other domains. Of what came before it, it has
some operators, ONNX's reference others; with neither - BatchNormalization, Clip, Dropout, Upsample - ours is alone."""
EARLY = 0.08
"""The probability of an earlier one for an operator that has others."""
RELEASED = 24
"""The last operator set that onnxruntime takes: rather one that a second implementation knows."""
LATE = 0.1
"""The probability of a later one for an operator that both have."""
FURTHER = 3, 18
"""Nodes behind the first: in 5,000 cases of all kinds an operator occurs some 100 times, the rarest of 233 some 80,
less those that are refused; a campaign wants 50 of each."""


def operator_graph(draw: Draw) -> OnnxGraph:
    """A graph of 4 to 19 nodes, in any operator set that has the first of them."""
    first = draw.choice(sorted(rows()))
    graph = OnnxGraph(draw, opset_with(draw, *first), exact=draw.chance(0.6))
    names, weights = likely(graph.opset)
    for domain, name in [first, *draw.random.choices(names, weights, k=draw.integer(*FURTHER))]:
        draw_node(graph, domain, name)
    if not graph.nodes:
        draw_node(graph, "", "Add")
    return graph


def opset_with(draw: Draw, domain: str, name: str) -> int:
    """An operator set that has an operator, as likely an old as a new one; any for what ONNX does not have."""
    found = opsets(domain, name)
    return draw.random.choices(list(found), list(found.values()))[0]


@cache
def opsets(domain: str, name: str) -> dict[int, float]:
    """The operator sets that have an operator, with how likely each is to be drawn for it."""
    first = USUAL if domain else OLDEST
    found = [n for n in range(first, NEWEST + 1) if domain or has_operator(name, n)] or list(range(USUAL, RELEASED + 1))
    spans = [(EARLY, OLDEST, USUAL - 1), (1 - EARLY - LATE, USUAL, RELEASED), (LATE, RELEASED + 1, NEWEST)]
    shares: dict[int, float] = {}
    for share, least, most in spans:
        inside = [n for n in found if least <= n <= most]
        shares |= {n: share / len(inside) for n in inside}
    return {n: share / sum(shares.values()) for n, share in shares.items()}


@cache
def likely(opset: int) -> tuple[list[tuple[str, str]], list[float]]:
    """The operators of an operator set, and how likely each follows: the more, the fewer graphs can have it."""
    graphs: dict[int, float] = defaultdict(float)
    for key in rows():
        for n, share in opsets(*key).items():
            graphs[n] += share
    names = sorted(key for key in rows() if opset in opsets(*key))
    return names, [1 / sum(graphs[n] for n in opsets(*key)) for key in names]


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
