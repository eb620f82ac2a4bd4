"""Backends that run graphs node by node: a kernel on arrays for every op, or for a composite as a whole.

    blas = JsonBackend("blas")

    @blas.op("nn.dense")
    def dense(node: Node) -> Kernel:
        if node.types[0].dtype != "float32":
            raise Refusal("float32 alone")
        return lambda data, weight, out: np.matmul(data, weight.T, out=out)

The function is called with each node when a program is compiled, to see whether it refuses, and again when it is
loaded, to get the kernel, which takes the inputs and then arrays for the results. A composite without a kernel of its
own is run op by op. `in_place` says that the result may be written over the first input, which then costs no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from xdsl.dialects.func import FuncOp

from lamina.dialects.dtypes import numpy_dtype
from lamina.passes.relay.partition.external_backends import Code, ExternalBackend, Refusal
from lamina.passes.relay.partition.json_graphs import Graph, Node, Value, serialized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Kernel = Callable[..., Any]
"""kernel(*inputs, *outputs)"""
Maker = Callable[[Node], Kernel]


class JsonBackend(ExternalBackend):
    """A backend whose code is the graph as JSON."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._makers: dict[str, Maker] = {}
        self._in_place: set[str] = set()

    def op(self, *names: str, in_place: bool = False) -> Callable[[Maker], Maker]:
        """Says of a function that it makes the kernels of ops, by TVM's names, or of composites."""

        def register(maker: Maker) -> Maker:
            self._makers.update(dict.fromkeys(names, maker))
            if in_place:
                self._in_place.update(names)
            return maker

        return register

    def compile(self, function: FuncOp) -> Code:
        graph, constants = serialized(function)
        flat = self._flat(graph)
        for node in flat.nodes:
            if node.op == "kernel":
                self._maker(node)(node)
        _Plan(flat, self._in_place)
        return Code(graph.text(), constants)

    def load(self, text: str, constants: Sequence[Array], threads: int) -> Callable[..., None]:
        graph = self._flat(Graph.read(text))
        plan = _Plan(graph, self._in_place)
        steps = [
            (self._maker(node)(node), [plan.place[v] for v in node.inputs], [plan.place[v] for v in _results(graph, n)])
            for n, node in enumerate(graph.nodes)
            if node.op == "kernel"
        ]
        temporaries = plan.temporaries()

        def run(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
            memory = (inputs, outputs, constants, temporaries)
            for kernel, read, written in steps:
                kernel(*(memory[p.kind][p.slot] for p in read), *(memory[p.kind][p.slot] for p in written))

        return run

    def _maker(self, node: Node) -> Maker:
        found = self._makers.get(node.name)
        if found is None:
            raise Refusal(f"it has no kernel for {node.name}")
        return found

    def _flat(self, graph: Graph) -> Graph:
        """The graph with what composites consist of in their place, where they have no kernel of their own."""
        nodes: list[Node] = []
        heads = self._flatten(graph, None, nodes)
        return Graph(nodes, heads)

    def _flatten(self, graph: Graph, given: Sequence[Value] | None, nodes: list[Node]) -> list[Value]:
        values: dict[Value, Value] = {}
        arguments = dict(zip(graph.arguments, given, strict=True)) if given is not None else {}
        for n, node in enumerate(graph.nodes):
            inputs = [values[v] for v in node.inputs]
            if n in arguments:
                results = [arguments[n]]
            elif node.graph is not None and node.name not in self._makers:
                results = self._flatten(node.graph, inputs, nodes)
            else:
                results = [Value(len(nodes), r) for r in range(len(node.types))]
                nodes.append(Node(node.op, node.name, node.types, node.attrs, inputs, node.graph, node.input_types))
            values.update({Value(n, r): v for r, v in enumerate(results)})
        return [values[v] for v in graph.heads]


INPUT, OUTPUT, CONSTANT, TEMPORARY = range(4)


class _Place(NamedTuple):
    """The place of a value."""

    kind: int
    slot: int


class _Plan:
    """A place for every value of a graph: temporaries share memory once nobody reads them any more."""

    def __init__(self, graph: Graph, in_place: set[str]) -> None:
        self.place: dict[Value, _Place] = {}
        self._sizes: list[int] = []
        """Bytes of the pieces of memory."""
        self._views: list[tuple[int, Value]] = []
        """Of each temporary its piece of memory, and the value."""
        self._graph = graph
        uses: dict[Value, int] = {}
        last: dict[Value, int] = {}
        for n, node in enumerate(graph.nodes):
            for v in node.inputs:
                uses[v] = uses.get(v, 0) + 1
                last[v] = n
        counts = {"input": 0, "const": 0}
        for n, node in enumerate(graph.nodes):
            if node.op in counts:
                self.place[Value(n)] = _Place(INPUT if node.op == "input" else CONSTANT, counts[node.op])
                counts[node.op] += 1
        for n, v in enumerate(graph.heads):
            if v in self.place:
                raise Refusal("a result is given by the caller, or twice the same")
            self.place[v] = _Place(OUTPUT, n)
        # What is written over what is read lies where the result does: from the last to the first.
        over: dict[Value, Value] = {}
        for n in range(len(graph.nodes) - 1, -1, -1):
            node = graph.nodes[n]
            if node.op == "kernel" and node.name in in_place and node.inputs:
                v, result = node.inputs[0], Value(n)
                alike = graph.nodes[v.node].types[v.result] == node.types[0]
                if graph.nodes[v.node].op == "kernel" and uses[v] == 1 and v not in self.place and alike:
                    if result in self.place:
                        self.place[v] = self.place[result]
                    else:
                        over[result] = v
        pieces: dict[Value, int] = {}
        free: list[int] = []
        for n, node in enumerate(graph.nodes):
            for v in _results(graph, n) if node.op == "kernel" else ():
                if v in self.place:
                    continue
                source = over.get(v)
                piece = pieces.pop(source) if source is not None else self._take(free, self._bytes(v))
                pieces[v] = piece
                self.place[v] = _Place(TEMPORARY, len(self._views))
                self._views.append((piece, v))
            for v in [*node.inputs, *_results(graph, n)]:
                if last.get(v, n) <= n and v in pieces:
                    free.append(pieces.pop(v))

    def _bytes(self, value: Value) -> int:
        type_ = self._graph.nodes[value.node].types[value.result]
        return prod(type_.shape) * numpy_dtype(type_.dtype).itemsize

    def _take(self, free: list[int], size: int) -> int:
        """A piece of memory: the smallest that is large enough, else the largest, made larger."""
        fitting = [p for p in free if self._sizes[p] >= size]
        if not free:
            self._sizes.append(size)
            return len(self._sizes) - 1
        piece = min(fitting, key=lambda p: self._sizes[p]) if fitting else max(free, key=lambda p: self._sizes[p])
        free.remove(piece)
        self._sizes[piece] = max(self._sizes[piece], size)
        return piece

    def temporaries(self) -> list[Array]:
        """Arrays for what is neither given nor asked for."""
        memory = [np.empty(size, np.uint8) for size in self._sizes]
        found: list[Array] = []
        for piece, value in self._views:
            type_ = self._graph.nodes[value.node].types[value.result]
            raw = memory[piece][: self._bytes(value)]
            found.append(raw.view(numpy_dtype(type_.dtype)).reshape(type_.shape))
        return found


def _results(graph: Graph, node: int) -> list[Value]:
    return [Value(node, r) for r in range(len(graph.nodes[node].types))]
