"""The backend `dnnl`: graphs as primitives of oneDNN, described when a program is compiled, made when it is loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.func import FuncOp

from lamina.backends.byoc.dnnl.composites import PREFIX, lower_composite
from lamina.backends.byoc.dnnl.library import DnnlError, Library, load
from lamina.backends.byoc.dnnl.limits import misfit, refusal
from lamina.backends.byoc.dnnl.lowering import lower
from lamina.backends.byoc.dnnl.plan import Held, Plan, Program, arguments_of
from lamina.passes.relay.partition.external_backends import Code, ExternalBackend, Refusal
from lamina.passes.relay.partition.json_graphs import Graph, Node, Value, serialized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Dnnl(ExternalBackend):
    """oneDNN where its library is installed."""

    def unavailable(self) -> str:
        found = load()
        return found if isinstance(found, str) else ""

    def compile(self, function: FuncOp) -> Code:
        graph, constants = serialized(function)
        planned(graph)
        return Code(graph.text(), constants)

    def load(self, text: str, constants: Sequence[Array], threads: int) -> Callable[..., None]:
        return Loaded(text, constants, threads)


class Loaded:
    """A program for the process that calls it."""

    def __init__(self, text: str, constants: Sequence[Array], threads: int) -> None:
        self._text, self._constants, self._threads = text, constants, threads
        self._process, self._program = os.getpid(), self._made()

    def __call__(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        if self._process != os.getpid():
            self._process, self._program = os.getpid(), self._made()
        self._program(inputs, outputs)

    def _made(self) -> Program:
        found = _library()
        count = found.usable_threads(self._threads)
        # How primitives share their work is decided when they are described.
        with found.threads(count):
            return Program(planned(Graph.read(self._text)), self._constants, count)


dnnl = Dnnl("dnnl")


def _library() -> Library:
    found = load()
    if isinstance(found, str):
        raise Refusal(found)
    return found


def planned(graph: Graph) -> Plan:
    """The steps of a graph. Raises Refusal where oneDNN cannot do one."""
    plan = Plan(_library())
    values: dict[Value, Held] = {Value(n): held for n, held in arguments_of(plan, graph).items()}
    for n, node in enumerate(graph.nodes):
        if node.op != "kernel":
            continue
        try:
            values[Value(n)] = _lowered(plan, node, [values[v] for v in node.inputs])
        except DnnlError as e:
            raise Refusal(f"oneDNN cannot do {node.name} ({e})") from e
    plan.finish([values[v] for v in graph.heads])
    return plan


def _lowered(plan: Plan, node: Node, inputs: Sequence[Held]) -> Held:
    if node.name.startswith(f"{PREFIX}qnn."):
        if not plan.library.has_exact_bytes:
            raise Refusal("sums of 8-bit products may saturate on a machine without VNNI")
        why = misfit(node.name, node.attrs, node.input_types, node.types)
    else:
        why = refusal(node.name, node.attrs, node.input_types, node.types)
    if why:
        raise Refusal(f"{node.name}: {why}")
    if node.graph is not None:
        return lower_composite(plan, node, inputs)
    try:
        return lower(plan, node, inputs)
    except KeyError as e:
        raise Refusal(f"there is no primitive for {node.name}") from e
