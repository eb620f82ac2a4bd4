"""The builder of TensorFlow Lite's converters: fused activations, quantisation, subgraphs and variables."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from lamina.frontends.builder import Value
from lamina.frontends.network import ConverterTable, NodeBuilder
from lamina.frontends.tflite.graph import TensorQuantization, TfliteModel, TfliteNode

TABLE = ConverterTable("tflite")
"""The converters by operator: `CONV_2D`, `quantized CONV_2D`, `hybrid CONV_2D`, `custom NAME` (graph.TfliteNode)."""
MOST_NODES = 8192
"""Nodes of subgraphs that are put in place: those that call others could describe any number."""


def moves(name: str) -> tuple[str, str]:
    """The names of an operator that moves elements, whatever they stand for."""
    return name, f"quantized {name}"


class TfliteBuilder(NodeBuilder):
    """Emits the Relay ops of a model."""

    model: TfliteModel
    inside: tuple[int, ...] = (0,)
    """The subgraphs that are being put in place, the outermost first."""
    placed: int = 0

    def activated(self, x: Value, node: TfliteNode) -> Value:
        """The result of an operator after its fused activation function."""
        return self.activation(x, node.attr("fused_activation_function", "NONE"))

    def activation(self, x: Value, name: str) -> Value:
        """An activation function by its name in the schema."""
        if name == "NONE":
            return x
        if name == "RELU":
            return self.op("nn.relu", x)
        if name == "RELU6":
            return self.op("clip", x, a_min=0.0, a_max=6.0)
        if name == "RELU_N1_TO_1":
            return self.op("clip", x, a_min=-1.0, a_max=1.0)
        if name == "TANH":
            return self.op("tanh", x)
        raise self.unsupported(f"the fused activation function {name} is not supported")

    def integers(self, x: Value, what: str) -> list[int]:
        """The elements of an operand of integers that must be constant."""
        return [int(v) for v in self.known(x, what).reshape(-1)]

    def extents(self, x: Value, what: str) -> list[int]:
        """The same where none may be negative."""
        found = self.integers(x, what)
        if min(found, default=0) < 0:
            raise self.fail(f"{what} is {found}")
        return found

    def quantization(self, name: str) -> TensorQuantization | None:
        """The quantisation of an operand or a result of the node, by its name; None for one that has none."""
        node = self.node
        assert isinstance(node, TfliteNode)
        tensors = [*(t for t in node.operands if t is not None), *node.results]
        return next((t.quantization for t in tensors if t.name == name and t.is_quantized), None)

    def subgraph(self, place: int, operands: Sequence[Value]) -> list[Value]:
        """The results of a subgraph on these operands, its nodes put here."""
        network = self.model.subgraphs[place]
        if place in self.inside:
            raise self.unsupported(f"subgraph {place} calls itself")
        self.placed += len(network.nodes)
        if self.placed > MOST_NODES:
            raise self.unsupported(f"subgraphs with more than {MOST_NODES} operators in all are not supported")
        if len(operands) != len(network.inputs):
            raise self.fail(f"subgraph {place} takes {len(network.inputs)} operands, {len(operands)} are given")
        outer = self.node
        with self._within(place):
            results = self.inline(network, operands)
        self.enter(outer)
        return results

    @contextmanager
    def _within(self, place: int) -> Generator[None]:
        before = self.inside
        self.inside = (*before, place)
        try:
            yield
        finally:
            self.inside = before
