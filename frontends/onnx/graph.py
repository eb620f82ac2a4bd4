"""The nodes of a model in order: local functions put in place, names, order and attributes checked.

Everything here is iterative and linear in the size of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto

from lamina.errors import InputError, LaminaError, UnsupportedError, did_you_mean
from lamina.frontends.onnx.source import opset_versions, shown

# Functions that call functions can describe exponentially many nodes in a small file.
MOST_NODES = 2_000_000


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

    @property
    def title(self) -> str:
        """`node "conv1" (Conv, opset 9)`; a node without a name goes by its first output."""
        name = self.name or next((o for o in self.outputs if o), "")
        shown_name = shown(name) if name else f"{self.index}"
        return f"node {shown_name} ({_plain(self.op_type)}, opset {self.version})"


def _plain(op_type: str) -> str:
    return op_type if op_type.isidentifier() and len(op_type) < 80 else shown(op_type)


@dataclass
class Graph:
    """A model's graph, checked: every name has one definition, and that before its uses."""

    label: str
    nodes: list[RawNode]
    inputs: list[Any]
    outputs: list[Any]
    initializers: dict[str, Any]
    opset: dict[str, int]
    sparse: list[str] = field(default_factory=list[str])


def read_graph(model: ModelProto, label: str, check: bool = True) -> Graph:
    """The checked graph of a model. Raises LaminaError naming the node; `check=False` leaves names unchecked."""
    graph = model.graph
    opset = opset_versions(model.opset_import, label)
    _check_text(
        [v.name for part in (graph.input, graph.output, graph.initializer, model.functions) for v in part], label
    )
    nodes = list(_flatten(model, opset, label))
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


def _check_text(names: Iterable[Any], where: str) -> None:
    # protobuf gives a string that is not UTF-8 as bytes.
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"the name {name[:60]!r} is not UTF-8", where=where, hint="export the model again")


# -- local functions -------------------------------------------------------------------------------


@dataclass
class _Call:
    """A body being put in place: its remaining nodes, and what its names are outside."""

    nodes: Iterator[Any]
    opset: dict[str, int]
    names: dict[str, str] | None
    attrs: dict[str, AttributeProto]
    prefix: str
    function: tuple[str, str, str] | None
    after: list[RawNode] = field(default_factory=list[RawNode])


def _flatten(model: ModelProto, opset: dict[str, int], label: str) -> Iterator[RawNode]:
    functions = {_key(f.domain, f.name, f.overload): f for f in model.functions}
    stack = [_Call(iter(model.graph.node), opset, None, {}, "", None)]
    index = 0
    while stack:
        call = stack[-1]
        proto = next(call.nodes, None)
        if proto is None:
            stack.pop()
            yield from call.after
            continue
        index += 1
        if index > MOST_NODES:
            raise InputError(f"more than {MOST_NODES} nodes", where=label, hint="split the model")
        _check_text((proto.name, proto.op_type, proto.domain, *proto.input, *proto.output), f"{label}: node {index}")
        node = _raw(proto, call, index, label)
        function = functions.get(_key(node.domain, node.op_type, proto.overload))
        if function is None:
            yield node
            continue
        key = _key(function.domain, function.name, function.overload)
        chain = [c.function for c in stack if c.function is not None]
        if key in chain:
            cycle = " -> ".join(shown(k[1]) for k in [*chain[chain.index(key) :], key][:8])
            raise InputError(
                f"the local function {shown(function.name)} calls itself: {cycle}",
                where=f"{label}: {node.title}",
                hint="functions must not be recursive",
            )
        stack.append(_expand(function, node, label, index))


def _key(domain: str, name: str, overload: str) -> tuple[str, str, str]:
    return ("" if domain == "ai.onnx" else domain, name, overload)


def _raw(proto: Any, call: _Call, index: int, label: str) -> RawNode:
    attrs: dict[str, AttributeProto] = {}
    for a in proto.attribute:
        _check_text((a.name, a.ref_attr_name), f"{label}: node {index}")
        if a.ref_attr_name:
            given = call.attrs.get(a.ref_attr_name)
            if given is None:
                continue
            renamed = AttributeProto()
            renamed.CopyFrom(given)
            renamed.name = a.name
            a = renamed
        attrs[a.name] = a
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    inputs, outputs = list(proto.input), list(proto.output)
    name = proto.name
    if call.names is not None:
        names = call.names
        inputs = [names.setdefault(i, f"{call.prefix}/{i}") if i else i for i in inputs]
        outputs = [names.setdefault(o, f"{call.prefix}/{o}") if o else o for o in outputs]
        name = f"{call.prefix}/{name}" if name else ""
    return RawNode(proto.op_type, domain, call.opset.get(domain, 0), name, index, inputs, outputs, attrs)


def _expand(function: FunctionProto, node: RawNode, label: str, index: int) -> _Call:
    where = f"{label}: {node.title}"
    if len(node.inputs) > len(function.input) or len(node.outputs) > len(function.output):
        raise InputError(
            f"the local function {shown(function.name)} has {len(function.input)} inputs and {len(function.output)} "
            f"outputs, the call {len(node.inputs)} and {len(node.outputs)}",
            where=where,
            hint="make the call fit the function",
        )
    prefix = f"{node.name or function.name}.{index}"
    actual = [*node.inputs, *[""] * (len(function.input) - len(node.inputs))]
    names = dict(zip(function.input, actual, strict=True))
    attrs = {a.name: a for a in function.attribute_proto} | node.attrs
    opset = opset_versions(function.opset_import, where)
    after: list[RawNode] = []
    for formal, outer in zip(function.output, node.outputs, strict=False):
        if formal in names:  # an input handed through
            after.append(RawNode("Identity", "", opset.get("", 13), node.name, index, [names[formal]], [outer], {}))
        elif outer:
            names[formal] = outer
    return _Call(
        iter(function.node), opset, names, attrs, prefix, _key(function.domain, function.name, function.overload), after
    )


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
    """Why an input is not there yet: nobody makes it, a later node does, or the node itself in a cycle."""
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


# -- attributes ------------------------------------------------------------------------------------

_KIND = AttributeProto.AttributeType


def attribute_values(node: RawNode, where: str) -> dict[str, Any]:
    """The attributes as Python values (tensors and graphs as protos), checked against the operator's schema."""
    schema = schema_of(node)
    values: dict[str, Any] = {}
    for name, a in node.attrs.items():
        if schema is not None:
            declared = schema.attributes.get(name)
            if declared is None:
                known = sorted(schema.attributes)
                raise InputError(
                    f"there is no attribute {shown(name)}",
                    where=where,
                    hint=did_you_mean(name, known) or f"the operator has {', '.join(known) or 'none'}",
                )
            if int(declared.type.value) != a.type:
                raise InputError(
                    f"attribute {shown(name)} is of type {_kind_name(a.type)}, expects {declared.type.name}",
                    where=where,
                    hint="export the model again",
                )
        values[name] = _attribute(a, where)
    if schema is not None:
        for name, declared in schema.attributes.items():
            if declared.required and name not in values:
                raise InputError(f"the attribute {shown(name)} is missing", where=where, hint="export the model again")
        if not schema.min_input <= len(node.inputs) <= schema.max_input:
            raise InputError(
                f"{len(node.inputs)} inputs, expects {_span(schema.min_input, schema.max_input)}",
                where=where,
                hint="export the model again",
            )
        if not schema.min_output <= len(node.outputs) <= schema.max_output:
            raise InputError(
                f"{len(node.outputs)} outputs, expects {_span(schema.min_output, schema.max_output)}",
                where=where,
                hint="export the model again",
            )
    return values


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} or more" if high > 1000 else f"{low} to {high}"


def _kind_name(kind: int) -> str:
    try:
        return _KIND.Name(kind)
    except ValueError:
        return str(kind)


_SCHEMAS: dict[tuple[str, str, int], Any] = {}


def schema_of(node: RawNode) -> Any:
    """ONNX's declaration of the operator at the node's version, None when there is none."""
    key = (node.op_type, node.domain, node.version)
    if key not in _SCHEMAS:
        try:
            _SCHEMAS[key] = onnx.defs.get_schema(node.op_type, max(node.version, 1), node.domain)
        except onnx.defs.SchemaError:
            _SCHEMAS[key] = None
    return _SCHEMAS[key]


def _attribute(a: AttributeProto, where: str) -> Any:
    if a.type == _KIND.INT:
        return int(a.i)
    if a.type == _KIND.FLOAT:
        return float(a.f)
    if a.type == _KIND.STRING:
        return _text(a.s, a.name, where)
    if a.type == _KIND.INTS:
        return tuple(int(v) for v in a.ints)
    if a.type == _KIND.FLOATS:
        return tuple(float(v) for v in a.floats)
    if a.type == _KIND.STRINGS:
        return tuple(_text(s, a.name, where) for s in a.strings)
    if a.type == _KIND.TENSOR:
        return a.t
    if a.type == _KIND.GRAPH:
        return a.g
    return a


def _text(raw: bytes, name: str, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"attribute {shown(name)} is not UTF-8", where=where, hint="export the model again") from None
