"""Graphs whose calls change tensors in place, as graphs whose calls do not: `relu_(x)` is a new x from there on.

A change of a part of a tensor, `x[1:3].fill_(0)`, is one of the tensor: the part is written back into it. Where other
values share the memory of what is changed and are used later, the graph is refused. A weight that is changed is state:
the next call finds what this one leaves. An input is not changed: the program's results are those of the change.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lamina.dialects.relay.program_state import StateVariable
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.aten.graph import AtenCall, AtenGraph, Input, Output, Ref, refs

VIEWS = frozenset(
    (
        *("alias", "as_strided", "chunk", "contiguous", "detach", "diagonal", "dropout", "expand", "expand_as"),
        *("flatten", "getitem", "lift_fresh", "mT", "movedim", "narrow", "numpy_T", "permute", "positive", "ravel"),
        *("reshape", "reshape_as", "select", "slice", "split", "split_with_sizes", "squeeze", "swapaxes", "swapdims"),
        *("t", "tensor_split", "to", "transpose", "type_as", "unbind", "unflatten", "unfold", "unsqueeze", "view"),
        "view_as",
    )
)
"""Operators whose results may share the memory of their first operand."""
_SCATTERS = {"slice": "slice_scatter", "select": "select_scatter", "diagonal": "diagonal_scatter"}
_RESHAPES = frozenset(("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "ravel", "alias", "detach"))
_SWAPS = frozenset(("transpose", "t", "swapaxes", "swapdims", "mT", "numpy_T"))


def is_in_place(call: AtenCall) -> bool:
    """Whether a call changes its first operand: ATen's names of such operators end with an underscore."""
    return call.packet.endswith("_") and not call.packet.endswith("__") and call.target.startswith("aten.")


def out_of_place(call: AtenCall) -> AtenCall:
    """The call whose result is what a call in place leaves in its first operand."""
    namespace, packet, *overload = call.target.split(".")
    return replace(call, target=".".join((namespace, packet[:-1], *overload)), in_place=True)


def functional(graph: AtenGraph, keeps: bool = False) -> AtenGraph:
    """The graph without changes in place; where it `keeps` state, weights that are changed become such.

    Raises UnsupportedError where a change would reach other values, or a weight of a graph that keeps nothing.
    """
    return _Functional(graph, keeps).run() if any(map(is_in_place, graph.calls)) else graph


def next_name(key: str) -> str:
    """The name of the output that holds what a weight becomes."""
    return f"{key}:next"


def with_state(graph: AtenGraph, becomes: Mapping[str, Any]) -> AtenGraph:
    """The graph with weights as state, by their names in the model: what a call makes of each is put out.

    Raises UnsupportedError where another weight lies in the memory of one, or one is quantised, InputError where a name
    is that of no weight.
    """
    kept = [i for i in graph.inputs if i.array is not None and i.key in becomes]
    missing = set(becomes) - {i.key for i in kept}
    if missing:
        raise InputError(f"{min(missing)} is changed, and is no weight", where=graph.label)
    for i in kept:
        shared = next((o.key for o in graph.inputs if o is not i and share_memory(i.array, o.array)), None)
        if shared is not None or i.quantization is not None:
            what = "is quantised" if shared is None else f"shares its memory with {shared}"
            raise UnsupportedError(f"{i.key} is changed, and {what}", where=graph.label)
    names = {i.name for i in kept}
    return replace(
        graph, inputs=[*(i for i in graph.inputs if i.name not in names), *(replace(i, array=None) for i in kept)],
        outputs=[*graph.outputs, *(Output(next_name(i.key), becomes[i.key]) for i in kept)],
        states=(*graph.states, *(StateVariable(i.key, next_name(i.key), np.asarray(i.array)) for i in kept)),
    )  # fmt: skip


def with_kept_outputs(graph: AtenGraph, kept: Container[int]) -> AtenGraph:
    """`with_state` of the outputs at some places, which have the names of the weights."""
    outputs = [o for k, o in enumerate(graph.outputs) if k not in kept]
    becomes = {o.name: o.value for k, o in enumerate(graph.outputs) if k in kept}
    return with_state(replace(graph, outputs=outputs), becomes) if becomes else graph


def share_memory(one: Any, other: Any) -> bool:
    """Whether two weights lie in the same memory."""
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other)  # pyright: ignore[reportUnknownArgumentType]


@dataclass
class _Functional:
    graph: AtenGraph
    keeps: bool
    weights: dict[str, Input] = field(default_factory=dict[str, Input])
    changed: set[str] = field(default_factory=set[str])
    """The weights that are changed."""
    calls: list[AtenCall] = field(default_factory=list[AtenCall])
    same: dict[str, str] = field(default_factory=dict[str, str])
    """The value that the result of a change is."""
    current: dict[str, str] = field(default_factory=dict[str, str])
    """The name that a value has now."""
    view_of: dict[str, AtenCall] = field(default_factory=dict[str, AtenCall])
    root: dict[str, str] = field(default_factory=dict[str, str])
    """The value whose memory another one shares."""

    def run(self) -> AtenGraph:
        last = self._last_uses()
        self.weights = {i.name: i for i in self.graph.inputs if i.array is not None}
        for k, call in enumerate(self.graph.calls):
            call = replace(
                call, args=tuple(_mapped(list(call.args), self._itself)),
                kwargs={n: _mapped(v, self._itself) for n, v in call.kwargs.items()},
            )  # fmt: skip
            first = call.args[0].name if call.args and isinstance(call.args[0], Ref) else ""
            if first and is_in_place(call):
                self._change(call, first, k, last)
                continue
            if first and call.packet in VIEWS:
                self.view_of[call.name] = call
                self.root[call.name] = self.root.get(first, first)
            self.calls.append(self._now(call))
        outputs = [Output(o.name, _mapped(_mapped(o.value, self._itself), self._latest)) for o in self.graph.outputs]
        graph = replace(self.graph, calls=self.calls, outputs=outputs)
        becomes = {self.weights[n].key: Ref(self._latest(n)) for n in self.weights if n in self.changed}
        return with_state(graph, becomes) if becomes else graph

    def _last_uses(self) -> dict[str, int]:
        """The last call that uses each value, where the results of changes are what they change."""
        last: dict[str, int] = {}
        same: dict[str, str] = {}
        for k, call in enumerate(self.graph.calls):
            for ref in refs((call.args, list(call.kwargs.values()))):
                last[same.get(ref.name, ref.name)] = k
            if is_in_place(call) and isinstance(call.args[0], Ref):
                same[call.name] = same.get(call.args[0].name, call.args[0].name)
        for ref in refs([o.value for o in self.graph.outputs]):
            last[same.get(ref.name, ref.name)] = len(self.graph.calls)
        return last

    def _change(self, call: AtenCall, first: str, k: int, last: dict[str, int]) -> None:
        """Add a call that makes the changed value, and those that write it back into what it is a part of."""
        chain = [first]
        while (view := self.view_of.get(chain[-1])) is not None:
            chain.append(view.args[0].name)
        root = chain[-1]
        sharing = [n for n in (root, *self.root) if self.root.get(n, n) == root and n not in chain]
        others = [n for n in sharing if last.get(n, -1) > k]
        if others:
            raise self._refused(call, f"changes {first}, whose memory {others[0]} shares")
        weight = self.weights.get(root)
        if weight is not None and not (self.keeps and weight.key):
            raise self._refused(call, f"changes {weight.key or weight.name}, and the graph keeps no state")
        self.changed.add(root)
        made = self._now(out_of_place(call))
        self.calls.append(made)
        self.same[call.name] = first
        self.current[first] = call.name
        for n, (part, whole) in enumerate(zip(chain, chain[1:], strict=False)):
            name = f"{call.name}.{n}"
            self.calls.append(self._written_back(call, self.view_of[part], name, self.current[part], whole))
            self.current[whole] = name

    def _written_back(self, call: AtenCall, view: AtenCall, name: str, part: str, whole: str) -> AtenCall:
        """The call that makes a tensor of which a view has changed."""
        into = Ref(self.current.get(whole, whole))
        if view.packet in _SCATTERS:
            target = f"aten.{_SCATTERS[view.packet]}.default"
            return AtenCall(name, target, (into, Ref(part), *view.args[1:]), view.kwargs, call.place)
        if view.packet in _RESHAPES:
            return AtenCall(name, "aten.view_as.default", (Ref(part), into), {}, call.place)
        if view.packet in _SWAPS:
            return AtenCall(name, view.target, (Ref(part), *view.args[1:]), view.kwargs, call.place)
        raise self._refused(call, f"changes {part}, which is {view.target} of {whole}")

    def _refused(self, call: AtenCall, what: str) -> UnsupportedError:
        hint = "give exported.run_decompositions({}), which has no changes in place"
        where = f"{self.graph.label}: {call.place or call.name}"
        return UnsupportedError(f"{call.target} {what}", where=where, hint=hint)

    def _now(self, call: AtenCall) -> AtenCall:
        kwargs = {n: _mapped(v, self._latest) for n, v in call.kwargs.items()}
        return replace(call, args=tuple(_mapped(list(call.args), self._latest)), kwargs=kwargs)

    def _itself(self, name: str) -> str:
        return self.same.get(name, name)

    def _latest(self, name: str) -> str:
        return self.current.get(name, name)


def _mapped(argument: Any, name_of: Callable[[str], str]) -> Any:
    if isinstance(argument, Ref):
        return Ref(name_of(argument.name))
    if isinstance(argument, (list, tuple)):
        return [_mapped(a, name_of) for a in argument]  # pyright: ignore[reportUnknownVariableType]
    return argument
