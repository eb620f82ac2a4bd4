"""Bodies of nodes - graphs, functions, branches and loops - and their nodes in order, functions put in place.

A call of a local function becomes the nodes of its body, under names of their own; what a name means in a body is
its scope's matter. Everything here is iterative and linear in the size of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnx import AttributeProto, FunctionProto, GraphProto

from lamina.errors import InputError, shown
from lamina.frontends.onnx.source import NEWEST_OPSET, check_text, opset_versions

# Functions that call functions can describe exponentially many nodes in a small file.
MOST_NODES = 2_000_000


@dataclass
class Scope:
    """The meaning of names, attributes and operators in a body: with `names` None, names mean themselves."""

    opset: dict[str, int]
    attrs: dict[str, AttributeProto] = field(default_factory=dict[str, AttributeProto])
    prefix: str = ""
    names: dict[str, str] | None = None
    calls: tuple[tuple[str, str, str], ...] = ()
    """The local functions that this is the inside of, the outermost first."""
    outer: Scope | None = None
    """The scope of names that are not in `names`: a branch or loop sees what is around it."""

    def resolve(self, name: str) -> str:
        """The tensor that a name means, unique in the whole model."""
        scope = self
        while name and scope.names is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            if scope.outer is None:
                return scope.names.setdefault(name, f"{scope.prefix}/{name}")
            scope = scope.outer
        return name

    def inside(self, graph: GraphProto, prefix: str) -> Scope:
        """The scope of a branch or loop body that stands in this one."""
        local = [v.name for part in (graph.input, graph.initializer) for v in part]
        local += [o for node in graph.node for o in node.output if o]
        names = {name: f"{prefix}/{name}" for name in local}
        return Scope(self.opset, self.attrs, prefix, names, self.calls, self)


@dataclass
class RawNode:
    """A node as the model states it, with the operator set version that it means."""

    op_type: str
    domain: str
    version: int
    name: str
    index: int
    inputs: list[str]
    outputs: list[str]
    attrs: dict[str, AttributeProto]
    scope: Scope

    @property
    def title(self) -> str:
        """`node "conv1" (Conv, opset 9)`; a node without a name goes by its first output."""
        name = self.name or next((o for o in self.outputs if o), "")
        shown_name = shown(name) if name else f"{self.index}"
        return f"node {shown_name} ({_plain(self.op_type)}, opset {self.version})"


def _plain(op_type: str) -> str:
    return op_type if op_type.isidentifier() and len(op_type) < 80 else shown(op_type)


def subgraphs(node: RawNode) -> list[GraphProto]:
    """The branches and loop bodies among a node's attributes."""
    return [a.g for a in node.attrs.values() if a.type == AttributeProto.GRAPH]


@dataclass
class _Body:
    """A body being put in place: its remaining nodes and its scope."""

    nodes: Iterator[Any]
    scope: Scope
    after: list[RawNode] = field(default_factory=list[RawNode])


class Bodies:
    """The local functions of a model, and how many nodes have been met."""

    def __init__(self, functions: Iterable[FunctionProto], label: str) -> None:
        self.functions = {_key(f.domain, f.name, f.overload): f for f in functions}
        self.label = label
        self.index = 0

    def flatten(self, nodes: Sequence[Any], scope: Scope) -> Iterator[RawNode]:
        """The nodes of a body in order, those of local functions in place of their calls."""
        stack = [_Body(iter(nodes), scope)]
        while stack:
            body = stack[-1]
            proto = next(body.nodes, None)
            if proto is None:
                stack.pop()
                yield from body.after
                continue
            node = self._raw(proto, body.scope)
            function = self.functions.get(_key(node.domain, node.op_type, proto.overload))
            if function is None:
                yield node
                continue
            self._refuse_recursion(function, node)
            stack.append(self._expand(function, node))

    def expand(self, function: FunctionProto, node: RawNode) -> Iterator[RawNode]:
        """The nodes of a function in place of a node that it gives the meaning of."""
        body = self._expand(function, node)
        # The bodies that ONNX gives need not say which standard operators they mean.
        body.scope.opset.setdefault("", node.scope.opset.get("", NEWEST_OPSET))
        yield from self.flatten(list(body.nodes), body.scope)
        yield from body.after

    def _raw(self, proto: Any, scope: Scope) -> RawNode:
        self.index += 1
        index, label = self.index, self.label
        if index > MOST_NODES:
            raise InputError(f"more than {MOST_NODES} nodes", where=label, hint="split the model")
        check_text((proto.name, proto.op_type, proto.domain, *proto.input, *proto.output), f"{label}: node {index}")
        attrs: dict[str, AttributeProto] = {}
        for a in proto.attribute:
            check_text((a.name, a.ref_attr_name), f"{label}: node {index}")
            if a.ref_attr_name:
                given = scope.attrs.get(a.ref_attr_name)
                if given is None:
                    continue
                renamed = AttributeProto()
                renamed.CopyFrom(given)
                renamed.name = a.name
                a = renamed
            attrs[a.name] = a
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        inputs, outputs = [[scope.resolve(v) for v in side] for side in (proto.input, proto.output)]
        name = f"{scope.prefix}/{proto.name}" if scope.prefix and proto.name else proto.name
        return RawNode(proto.op_type, domain, scope.opset.get(domain, 0), name, index, inputs, outputs, attrs, scope)

    def _refuse_recursion(self, function: FunctionProto, node: RawNode) -> None:
        key, chain = _key(function.domain, function.name, function.overload), node.scope.calls
        if key in chain:
            cycle = " -> ".join(shown(k[1]) for k in [*chain[chain.index(key) :], key][:8])
            raise InputError(
                f"the local function {shown(function.name)} calls itself: {cycle}",
                where=f"{self.label}: {node.title}",
                hint="functions must not be recursive",
            )

    def _expand(self, function: FunctionProto, node: RawNode) -> _Body:
        where = f"{self.label}: {node.title}"
        if len(node.inputs) > len(function.input) or len(node.outputs) > len(function.output):
            raise InputError(
                f"the function {shown(function.name)} has {len(function.input)} inputs and {len(function.output)} "
                f"outputs, the call {len(node.inputs)} and {len(node.outputs)}",
                where=where,
                hint="make the call fit the function",
            )
        prefix = f"{node.name or function.name}.{node.index}"
        actual = [*node.inputs, *[""] * (len(function.input) - len(node.inputs))]
        names = dict(zip(function.input, actual, strict=True))
        attrs = {a.name: a for a in function.attribute_proto} | node.attrs
        calls = (*node.scope.calls, _key(function.domain, function.name, function.overload))
        scope = Scope(opset_versions(function.opset_import, where), attrs, prefix, names, calls)
        after: list[RawNode] = []
        for formal, outer in zip(function.output, node.outputs, strict=False):
            if formal in names:  # an input handed through
                version = scope.opset.get("", 13)
                after.append(
                    RawNode("Identity", "", version, node.name, node.index, [names[formal]], [outer], {}, scope)
                )
            elif outer:
                names[formal] = outer
        return _Body(iter(function.node), scope, after)


def _key(domain: str, name: str, overload: str) -> tuple[str, str, str]:
    return ("" if domain == "ai.onnx" else domain, name, overload)
