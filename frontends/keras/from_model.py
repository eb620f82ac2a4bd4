"""Models as TVM imports them: images in the order NCHW at the border, whatever the order inside is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lamina.frontends.builder import LIMIT
from lamina.frontends.formats import Shapes
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.keras.config import LayerConfig
from lamina.frontends.keras.graph import Slot
from lamina.frontends.keras.reader import read_network
from lamina.frontends.keras.table import TABLE
from lamina.frontends.network import Network, NetworkNode, import_network


def import_model(source: Any, shapes: Shapes | None, channels_first: bool) -> ImportedModel:
    """Import a file with all weights as parameters; with `channels_first` images come in and go out in this order."""
    network = read_network(source, LIMIT)
    if channels_first and not any(n.attr("layer").get("data_format") == "channels_first" for n in network.nodes):
        network = _turned(network)
    return import_network(network, TABLE, shapes, named_weights=True)


def _turned(network: Network) -> Network:
    """The network with images turned behind its inputs and before its results."""
    inner = {p.name: f"{p.name}@last" for p in network.inputs if len(p.shape) == 4}
    inputs = [
        Port(p.name, tuple(p.shape[a] for a in (0, 3, 1, 2)), p.dtype) if p.name in inner else p for p in network.inputs
    ]
    nodes = [_node("Images.last", name, value) for name, value in inner.items()]
    nodes += [replace(n, inputs=tuple(inner.get(i, i) for i in n.inputs)) for n in network.nodes]
    results: list[str] = []
    for value in network.results:
        results.append(f"{value}@first")
        nodes.append(_node("Images.first", inner.get(value, value), results[-1]))
    return replace(network, inputs=tuple(inputs), nodes=tuple(nodes), results=tuple(results))


def _node(op: str, value: str, result: str) -> NetworkNode:
    layer = LayerConfig(op, value, {})
    return NetworkNode(op, value, (value,), (result,), {"layer": layer, "args": [Slot(0)], "kwargs": {}, "weights": {}})
