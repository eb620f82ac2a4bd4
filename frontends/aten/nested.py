"""Graphs in graphs: regions under a mode of torch's are put in place; bodies of control flow are prepared alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lamina.frontends.aten.functional import functional
from lamina.frontends.aten.graph import AtenCall, AtenGraph, Output, Ref

REGIONS = {
    "higher_order.wrap_with_set_grad_enabled": 0,
    "higher_order.wrap_with_autocast": 0,
    "higher_order.wrap_activation_checkpoint": 0,
    "higher_order.tag_activation_checkpoint": 0,
    "higher_order.invoke_subgraph": 1,
}
"""Calls that compute what their graph computes, with the number of arguments between it and its operands."""
_OF_AUTOCAST = "the casts of autocast are in torch's operators: give exported.run_decompositions({})"
_INSIDE = "/"
"""Between the names of a region and of a call in it."""


def prepared(graph: AtenGraph) -> AtenGraph:
    """The graph, and those in it, without regions and without changes in place.

    Raises UnsupportedError where a change in place reaches other values.
    """
    flat = flattened(graph)
    calls = [
        replace(c, args=tuple(prepared(a) if isinstance(a, AtenGraph) else a for a in c.args))
        if any(isinstance(a, AtenGraph) for a in c.args)
        else c
        for c in flat.calls
    ]
    return functional(replace(flat, calls=calls))


def outer_name(name: str) -> str:
    """The name that a call, or the region around it, has in the graph as it was given."""
    return name.partition(_INSIDE)[0]


def every_call(graph: AtenGraph) -> Iterator[AtenCall]:
    """The calls of a graph and of the graphs in it."""
    for call in graph.calls:
        yield call
        yield from calls_within(call)


def calls_within(call: AtenCall) -> Iterator[AtenCall]:
    """The calls of the graphs among a call's arguments."""
    for a in call.args:
        if isinstance(a, AtenGraph):
            yield from every_call(a)


def flattened(graph: AtenGraph) -> AtenGraph:
    """The graph with the calls of its regions in their place."""
    if not any(c.packet in REGIONS for c in graph.calls):
        return graph
    calls: list[AtenCall] = []
    same: dict[str, Any] = {}
    _flatten(graph.calls, "", same, calls)
    outputs = [Output(o.name, _mapped(o.value, same)) for o in graph.outputs]
    return replace(graph, calls=calls, outputs=outputs)


def _flatten(given: list[AtenCall], prefix: str, same: dict[str, Any], calls: list[AtenCall]) -> None:
    """Add calls under names with a prefix; `same` are the values that names stand for."""
    for call in given:
        args = [_mapped(a, same) for a in call.args]
        place = next((k for k, a in enumerate(args) if isinstance(a, AtenGraph)), None)
        if call.packet in REGIONS and place is not None and not _changes_types(call, args):
            body = args[place]
            operands = args[place + 1 + REGIONS[call.packet] :]
            within: dict[str, Any] = {i.name: o for i, o in zip(body.inputs, operands, strict=True)}
            _flatten(body.calls, f"{prefix}{call.name}{_INSIDE}", within, calls)
            same[call.name] = [_mapped(o.value, within) for o in body.outputs]
        elif call.target == "getitem" and isinstance(args[0], list):
            same[call.name] = args[0][args[1]]
        else:
            name = prefix + call.name
            refusal = _OF_AUTOCAST if call.packet in REGIONS else call.refusal
            kwargs = {k: _mapped(v, same) for k, v in call.kwargs.items()}
            calls.append(replace(call, name=name, args=tuple(args), kwargs=kwargs, refusal=refusal))
            if prefix:
                same[call.name] = Ref(name)


def _changes_types(call: AtenCall, args: list[Any]) -> bool:
    """Whether a region casts what its operators take: torch casts in the operators, so that the graph has no casts."""
    return call.packet == "higher_order.wrap_with_autocast" and args[2] is not False


def _mapped(argument: Any, same: dict[str, Any]) -> Any:
    if isinstance(argument, Ref):
        return same.get(argument.name, argument)
    if isinstance(argument, (list, tuple)):
        return [_mapped(a, same) for a in argument]  # pyright: ignore[reportUnknownVariableType]
    return argument
