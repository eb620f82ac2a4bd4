"""Graphs whose calls change tensors in place, as graphs whose calls do not: `relu_(x)` is a new x from there on.

A change of a part of a tensor, `x[1:3].fill_(0)`, is one of the tensor: the part is written back into it. Where other
values share the memory of what is changed and are used later, the graph is refused, as where a weight is changed, which
the next call would see. An input is not changed: the program's results are those of the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lamina.errors import UnsupportedError
from lamina.frontends.aten.graph import AtenCall, AtenGraph, Output, Ref, refs

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


def functional(graph: AtenGraph) -> AtenGraph:
    """The graph without changes in place. Raises UnsupportedError where one would reach other values."""
    return _Functional(graph).run() if any(map(is_in_place, graph.calls)) else graph


@dataclass
class _Functional:
    graph: AtenGraph
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
        return replace(self.graph, calls=self.calls, outputs=outputs)

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
        weight = next((i for i in self.graph.inputs if i.name == root and i.array is not None), None)
        if weight is not None:
            raise self._refused(call, f"changes {weight.key or weight.name}, and a program keeps no state")
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
