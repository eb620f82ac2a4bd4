"""Graphs in graphs: regions under a mode of torch's are put in place; bodies of control flow are prepared alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lamina.errors import InputError, UnsupportedError
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
DEEPEST = 8
"""Graphs in graphs: models have two or three, and each loop in a loop is code twice (`convert_control`)."""
MOST_CALLS = 1 << 15
"""Calls of all regions, and of the bodies of loops each as often as it is put in place or tried: 15 s of import."""
_OF_AUTOCAST = "the casts of autocast are in torch's operators: give exported.run_decompositions({})"
_INSIDE = "/"
"""Between the names of a region and of a call in it."""


def prepared(graph: AtenGraph, keeps: bool = True) -> AtenGraph:
    """The graph, and those in it, without regions and without changes in place; `keeps` as in `functional`.

    Raises UnsupportedError where a change in place reaches other values or graphs are nested too deep, InputError for
    regions that are called otherwise than they are made.
    """
    return _prepared(graph, 0, {}, keeps)


def _prepared(graph: AtenGraph, depth: int, done: dict[int, AtenGraph], keeps: bool = False) -> AtenGraph:
    """`prepared`, a graph that several calls take once."""
    if id(graph) in done:
        return done[id(graph)]
    if depth > DEEPEST:
        raise UnsupportedError(f"graphs are nested deeper than {DEEPEST}", where=graph.label)
    try:
        flat = flattened(graph)
    except (IndexError, TypeError, ValueError) as e:
        raise InputError(f"a region is called otherwise than it is made: {e}"[:200], where=graph.label) from None
    calls = [
        replace(c, args=tuple(_prepared(a, depth + 1, done) if isinstance(a, AtenGraph) else a for a in c.args))
        if any(isinstance(a, AtenGraph) for a in c.args)
        else c
        for c in flat.calls
    ]
    found = done[id(graph)] = functional(replace(flat, calls=calls), keeps)
    return found


def outer_name(name: str) -> str:
    """The name that a call, or the region around it, has in the graph as it was given."""
    return name.partition(_INSIDE)[0]


def every_call(graph: AtenGraph, seen: set[int] | None = None) -> Iterator[AtenCall]:
    """The calls of a graph and of the graphs in it, each graph once."""
    seen = set() if seen is None else seen
    for call in graph.calls:
        yield call
        yield from calls_within(call, seen)


def calls_within(call: AtenCall, seen: set[int] | None = None) -> Iterator[AtenCall]:
    """The calls of the graphs among a call's arguments, as in `every_call`."""
    seen = set() if seen is None else seen
    for a in call.args:
        if isinstance(a, AtenGraph) and id(a) not in seen:
            seen.add(id(a))
            yield from every_call(a, seen)


def flattened(graph: AtenGraph) -> AtenGraph:
    """The graph with the calls of its regions in their place."""
    if not any(c.packet in REGIONS for c in graph.calls):
        return graph
    flat = _Flat(graph.label)
    same: dict[str, Any] = {}
    flat.add(graph.calls, (), same)
    outputs = [Output(o.name, _mapped(o.value, same)) for o in graph.outputs]
    return replace(graph, calls=flat.calls, outputs=outputs)


class _Flat:
    """The calls of a graph and of its regions as they are found."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.calls: list[AtenCall] = []
        self.visited = 0

    def add(self, given: list[AtenCall], around: tuple[str, ...], same: dict[str, Any]) -> None:
        """Add the calls of the regions of these names; `same` are the values that names stand for."""
        if len(around) > DEEPEST:
            raise UnsupportedError(f"regions are nested deeper than {DEEPEST}", where=self.label)
        for call in given:
            self.visited += 1
            if self.visited > MOST_CALLS:
                raise UnsupportedError(f"the regions have more than {MOST_CALLS} calls", where=self.label)
            args = [_mapped(a, same) for a in call.args]
            place = next((k for k, a in enumerate(args) if isinstance(a, AtenGraph)), None)
            if call.packet in REGIONS and place is not None and not _changes_types(call, args):
                body = args[place]
                operands = args[place + 1 + REGIONS[call.packet] :]
                within: dict[str, Any] = {i.name: o for i, o in zip(body.inputs, operands, strict=True)}
                self.add(body.calls, (*around, call.name), within)
                same[call.name] = [_mapped(o.value, within) for o in body.outputs]
            elif call.target == "getitem" and isinstance(args[0], list):
                same[call.name] = args[0][args[1]]
            else:
                name = _INSIDE.join((*around, call.name))
                refusal = _OF_AUTOCAST if call.packet in REGIONS else call.refusal
                kwargs = {k: _mapped(v, same) for k, v in call.kwargs.items()}
                self.calls.append(replace(call, name=name, args=tuple(args), kwargs=kwargs, refusal=refusal))
                if around:
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
