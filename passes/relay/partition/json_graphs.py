"""Functions of external compilers as JSON: nodes in program order, as TVM's JSONSerializer writes them.

    {"nodes": [{"op": "input", "name": "openblas_0_i0", "shape": [[1, 8]], "dtype": ["float32"], ...},
               {"op": "const", "name": "..._const_0", ...},
               {"op": "kernel", "name": "nn.dense", "attrs": {"units": 4}, "inputs": [[0, 0, 0], [1, 0, 0]], ...}],
     "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3]}

A reference to a value is [node, result, version], the version always 0. A composite is a kernel by its name, with what
it consists of as `graph`; the constants inside are inputs of it. Other than in TVM shapes and dtypes do not stand among
`attrs`, where ops have attributes of these names, and numbers are numbers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp
from lamina.errors import InputError


class Value(NamedTuple):
    """A result of a node."""

    node: int
    result: int = 0


class Type(NamedTuple):
    """The type of a value: its shape and the name of its numpy dtype."""

    shape: tuple[int, ...]
    dtype: str


@dataclass
class Node:
    """An input, a constant, or something to compute."""

    op: str
    """`input`, `const` or `kernel`."""
    name: str
    """Of a kernel TVM's name of the op, or the composite's."""
    types: list[Type]
    """One for each result."""
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    inputs: list[Value] = field(default_factory=list[Value])
    graph: Graph | None = None
    """The graph of a composite; None for other nodes."""
    input_types: list[Type] = field(default_factory=list[Type])
    """Those of `inputs`."""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"op": self.op, "name": self.name}
        found["shape"] = [list(t.shape) for t in self.types]
        found["dtype"] = [t.dtype for t in self.types]
        if self.op == "kernel":
            found["attrs"] = self.attrs
            found["inputs"] = [[*v, 0] for v in self.inputs]
        if self.graph is not None:
            found["graph"] = self.graph.as_json()
        return found


@dataclass
class Graph:
    """The nodes of a function in an order in which they can be computed."""

    nodes: list[Node]
    heads: list[Value]
    """The results of the function."""

    @property
    def arguments(self) -> list[int]:
        """The inputs, in the order of the function's arguments, and behind them the constants."""
        inputs, constants = ([n for n, x in enumerate(self.nodes) if x.op == op] for op in ("input", "const"))
        return inputs + constants

    def as_json(self) -> dict[str, Any]:
        rows = [0]
        for node in self.nodes:
            rows.append(rows[-1] + len(node.types))
        return {
            "nodes": [n.as_json() for n in self.nodes],
            "arg_nodes": self.arguments,
            "heads": [[*v, 0] for v in self.heads],
            "node_row_ptr": rows,
        }

    def text(self) -> str:
        return json.dumps(self.as_json(), separators=(",", ":"))

    @staticmethod
    def of(data: dict[str, Any]) -> Graph:
        """The other way round."""
        nodes: list[Node] = []
        for given in data["nodes"]:
            types = [Type(tuple(s), d) for s, d in zip(given["shape"], given["dtype"], strict=True)]
            inputs = [Value(n, r) for n, r, _ in given.get("inputs", ())]
            inner = Graph.of(given["graph"]) if "graph" in given else None
            input_types = [nodes[v.node].types[v.result] for v in inputs]
            nodes.append(Node(given["op"], given["name"], types, given.get("attrs", {}), inputs, inner, input_types))
        return Graph(nodes, [Value(n, r) for n, r, _ in data["heads"]])

    @staticmethod
    def read(text: str) -> Graph:
        return Graph.of(json.loads(text))


def type_of(value: SSAValue) -> Type:
    """The shape and dtype of a value as JSON graphs hold them. Raises TypeMismatch for what is no tensor."""
    info = tensor_info(value.type)
    return Type(tuple(info.shape), info.dtype)


def serialized(function: FuncOp) -> tuple[Graph, list[Attribute]]:
    """The graph of an external function, and its constants in the order of the graph's.

    Raises InputError for what is neither an op on tensors nor a composite of such.
    """
    constants: list[Attribute] = []
    graph = _graph(function.body.block, list(function.body.block.args), f"{function.sym_name.data}_const", constants)
    return graph, constants


def _graph(
    block: Block, arguments: Sequence[SSAValue], constant: str, constants: list[Attribute] | None = None
) -> Graph:
    nodes: list[Node] = []
    values: dict[SSAValue, Value] = {}

    def add(node: Node, results: Sequence[SSAValue]) -> None:
        values.update({r: Value(len(nodes), n) for n, r in enumerate(results)})
        nodes.append(node)

    for n, argument in enumerate(arguments):
        add(Node("input", argument.name_hint or f"p{n}", [type_of(argument)]), [argument])
    for op in block.ops:
        if op is block.last_op or isinstance(op, FnOp):
            continue
        if isinstance(op, ConstantOp):
            if constants is not None:
                add(Node("const", f"{constant}_{len(constants)}", [type_of(op.result)]), [op.result])
                constants.append(op.value)
            continue
        inner: Graph | None = None
        operands = list(op.operands)
        if isinstance(op, CallOp):
            composite = op.function()
            name = composite.attributes.get("Composite") if composite is not None else None
            if composite is None or not isinstance(name, StringAttr):
                raise InputError("an external function calls no composite", op=op)
            inner, extra = _composite(composite)
            operands = operands[1:]
            for owner in extra:
                if constants is None:
                    raise InputError("a composite inside a composite has constants", op=op)
                add(Node("const", f"{constant}_{len(constants)}", [type_of(owner.result)]), [owner.result])
                constants.append(owner.value)
                operands.append(owner.result)
            node = Node("kernel", name.data, [type_of(r) for r in op.results], {}, [], inner)
        elif isinstance(op, RelayOp):
            attrs = {k: _plain(v) for k, v in attrs_of(op).items()}
            node = Node("kernel", op.name.removeprefix("relay."), [type_of(r) for r in op.results], attrs)
        else:
            raise InputError(f"{op.name} cannot stand in an external function", op=op)
        node.inputs = [values[v] for v in operands]
        node.input_types = [type_of(v) for v in operands]
        add(node, op.results)
    last = block.last_op
    assert last is not None
    return Graph(nodes, [values[v] for v in last.operands])


def _composite(function: FnOp) -> tuple[Graph, list[ConstantOp]]:
    """The graph of a composite; its constants are its last inputs."""
    block = function.body.block
    inside = [op for op in block.ops if isinstance(op, ConstantOp)]
    return _graph(block, [*block.args, *(c.result for c in inside)], ""), inside


def _plain(value: Any) -> Any:
    """An attribute's value as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]  # type: ignore[misc]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
