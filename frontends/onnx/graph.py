"""The nodes of a model in order: local functions put in place, names, order and attributes checked.

Everything here is iterative and linear in the size of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from onnx import GraphProto, ModelProto

from lamina.errors import InputError, LaminaError, UnsupportedError, did_you_mean, shown
from lamina.frontends.onnx.bodies import Bodies, RawNode, Scope
from lamina.frontends.onnx.source import check_text, opset_versions


@dataclass
class Graph:
    """A model's graph, checked: every name has one definition, and that before its uses."""

    label: str
    nodes: list[RawNode]
    inputs: list[Any]
    outputs: list[Any]
    initializers: dict[str, Any]
    opset: dict[str, int]
    bodies: Bodies
    sparse: list[str] = field(default_factory=list[str])


def read_graph(model: ModelProto, label: str, check: bool = True) -> Graph:
    """The checked graph of a model. Raises LaminaError naming the node; `check=False` leaves names unchecked."""
    graph = model.graph
    opset = opset_versions(model.opset_import, label)
    check_text(
        [v.name for part in (graph.input, graph.output, graph.initializer, model.functions) for v in part], label
    )
    bodies = Bodies(model.functions, label)
    nodes = list(bodies.flatten(graph.node, Scope(opset)))
    initializers: dict[str, Any] = {}
    for tensor in graph.initializer:
        if tensor.name in initializers:
            raise InputError(
                f"the initialiser {shown(tensor.name)} is defined twice", where=label, hint="give each its own name"
            )
        initializers[tensor.name] = tensor
    result = Graph(
        label,
        nodes,
        [i for i in graph.input if i.name not in initializers],
        list(graph.output),
        initializers,
        opset,
        bodies,
        [s.values.name for s in graph.sparse_initializer],
    )
    if check:
        if result.sparse:
            raise UnsupportedError(
                f"the sparse initialiser {shown(result.sparse[0])} is not supported",
                where=label,
                hint="store it as a dense tensor",
            )
        _check_names(result, graph)
    return result


# -- names and order -------------------------------------------------------------------------------


def _check_names(graph: Graph, proto: GraphProto) -> None:
    label = graph.label
    defined: set[str] = set(graph.initializers)
    seen_inputs: set[str] = set()
    for i in proto.input:
        if i.name in seen_inputs:
            raise InputError(f"the input {shown(i.name)} is defined twice", where=label, hint="give each its own name")
        seen_inputs.add(i.name)
    defined |= seen_inputs
    if "" in defined:
        raise InputError("an input or initialiser has no name", where=label, hint="give it one")
    if not graph.outputs:
        raise InputError("the graph has no outputs", where=label, hint="mark the tensors that are wanted as outputs")
    for node in graph.nodes:
        for i in node.inputs:
            if i and i not in defined:
                raise _undefined(graph, node, i, defined)
        for o in node.outputs:
            if o in defined:
                raise InputError(
                    f"the tensor {shown(o)} is defined twice", where=f"{label}: {node.title}", hint="rename one of them"
                )
            if o:
                defined.add(o)
    seen: set[str] = set()
    for o in graph.outputs:
        if o.name not in defined:
            raise InputError(
                f"the output {shown(o.name)} is computed by no node",
                where=label,
                hint=_near(o.name, defined) or "remove the output",
            )
        if o.name in seen:
            raise InputError(f"the output {shown(o.name)} is listed twice", where=label, hint="list it once")
        seen.add(o.name)


def _near(name: str, known: Iterable[str]) -> str:
    # Comparing every pair of long names takes quadratic time each: a model's names are short.
    return did_you_mean(name, [k for k in known if len(k) < 200][:20_000]) if len(name) < 200 else ""


def _undefined(graph: Graph, node: RawNode, name: str, defined: set[str]) -> LaminaError:
    """The error for a missing input: nobody makes it, a later node does, or the node itself in a cycle."""
    where = f"{graph.label}: {node.title}"
    makers = {o: n for n in graph.nodes for o in n.outputs if o}
    maker = makers.get(name)
    if maker is None:
        hint = _near(name, [*defined, *makers]) or "add an initialiser, an input or a node that makes it"
        return InputError(f"the input {shown(name)} is not defined", where=where, hint=hint)
    # Walk back from the maker through what is not defined yet; coming to the node closes a cycle.
    came_from: dict[int, RawNode] = {}
    stack, seen = [maker], {id(maker)}
    while stack:
        current = stack.pop()
        if current is node:
            chain = [node]
            while chain[-1] is not maker:
                chain.append(came_from[id(chain[-1])])
            names = [n.title.split(" (")[0].removeprefix("node ") for n in chain]
            cut = [*names[:6], "..."] if len(names) > 6 else names
            return InputError(
                f"the graph has a cycle: {' -> '.join([*cut, names[0]])}", where=where, hint="remove one of the edges"
            )
        for i in current.inputs:
            earlier = makers.get(i)
            if earlier is not None and i not in defined and id(earlier) not in seen:
                seen.add(id(earlier))
                came_from[id(earlier)] = current
                stack.append(earlier)
    return InputError(
        f"the input {shown(name)} is made only later, by {maker.title}",
        where=where,
        hint="sort the nodes so that each comes after those it uses",
    )
