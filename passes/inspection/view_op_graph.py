"""view-op-graph: the ops and the values between them as a graph for Graphviz, on stderr; MLIR's pass, and its format.

Before: %0 = arith.addi %x, %x : i32
After:  the same; on stderr

        digraph G {
          ...
              v5 [label = "<res_x> %x i32", shape = Mrecord];
              v6 [fillcolor = ..., label = "{{<arg_x> %x|<arg_x> %x}|arith.addi\\l|{<res_0> %0 i32}}", ...];
          v5:res_x:s -> v6:arg_x:n[style = solid];
        }

`opt-tool f.mlir --view-op-graph -o /dev/null 2>&1 | dot -Tsvg` draws it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.passes.base import Context, ModuleOp, ModulePass

LARGE = 16
"""Constants and lists of more elements are elided."""


@dataclass(frozen=True)
class ViewOpGraph(ModulePass):
    """A node an op, with a port an operand and a result; a cluster an op with regions, and a block."""

    name = "view-op-graph"
    max_label_len: int = 20
    print_attrs: bool = True
    print_control_flow_edges: bool = False
    print_data_flow_edges: bool = True
    print_result_types: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sys.stderr.write(_Graph(self, op).text())


class _Node(NamedTuple):
    """A node of the graph; of a cluster the invisible one that edges end at, clipped at the cluster's border."""

    id: int
    cluster: int | None = None


class _Graph:
    def __init__(self, options: ViewOpGraph, root: Operation) -> None:
        self.options = options
        self.root = root
        self.lines: list[str] = []
        self.depth = 1
        self.last_id = 0
        self.nodes: dict[SSAValue, _Node] = {}
        self.names: dict[SSAValue, str] = {}
        self.taken: dict[str, int] = {}
        self.edges: list[str] = []
        self.flow: list[tuple[SSAValue, _Node]] = []
        kinds = list(dict.fromkeys(_name(o) for o in _inner_first(root)))
        self.hues = {kind: f"{n / len(kinds):.6f} 0.3 0.95" for n, kind in enumerate(kinds)}

    def text(self) -> str:
        self.line("compound = true;")
        self.op(self.root)
        # Values may be used in text before the op that makes them.
        self.edges += [self.edge_of_value(value, node) for value, node in self.flow]
        return "\n".join(["digraph G {", *self.lines, *(f"  {e};" for e in self.edges), "}"]) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    # -- nodes ---------------------------------------------------------------------------------------------------

    def node(self, **attributes: str) -> _Node:
        self.last_id += 1
        self.line(f"v{self.last_id} [{', '.join(f'{k} = {v}' for k, v in attributes.items())}];")
        return _Node(self.last_id)

    def cluster(self, label: str, inside: list[Block] | Block) -> _Node:
        """A cluster of the blocks of an op, or of the ops of a block."""
        self.last_id += 1
        cluster = self.last_id
        self.line(f"subgraph cluster_{cluster} {{")
        self.depth += 1
        anchor = self.node(label='" "', shape="plain")
        self.line(f'label = "{label}";')
        if isinstance(inside, Block):
            self.block(inside)
        else:
            for block in inside:
                self.cluster("", block)
        self.depth -= 1
        self.line("}")
        return _Node(anchor.id, cluster)

    def block(self, block: Block) -> None:
        for value in block.args:
            self.nodes[value] = self.node(label=f'"{self.result(value)}"', shape="Mrecord")
        last: _Node | None = None
        for op in block.ops:
            node = self.op(op)
            if last is not None and self.options.print_control_flow_edges:
                self.edges.append(_edge(last, node, "", "", "dashed"))
            last = node

    def op(self, op: Operation) -> _Node:
        for value in op.results:
            self.name_of(value)  # before those inside it, as in the text
        if op.regions:
            node = self.cluster(self.head(op), [b for region in op.regions for b in region.blocks])
        else:
            fill = f'"{self.hues[_name(op)]}"'
            node = self.node(fillcolor=fill, label=f'"{self.record(op)}"', shape="Mrecord", style="filled")
        self.nodes.update((value, node) for value in op.results)
        if self.options.print_data_flow_edges:
            self.flow += [(value, node) for value in op.operands]
        return node

    # -- labels --------------------------------------------------------------------------------------------------

    def head(self, op: Operation) -> str:
        """The label of an op that is a cluster."""
        label = _name(op)
        if self.options.print_result_types:
            label += f" : ({self.short(', '.join(str(t) for t in op.result_types))})".replace('"', '\\"')
        return "".join(f"{row}\\l" for row in [label, *self.attributes(op)]) if self.options.print_attrs else label

    def record(self, op: Operation) -> str:
        """The label of an op that is a node: operands, name and attributes, results."""
        attributes = self.attributes(op)
        parts = ["".join(f"{row}\\l" for row in [_name(op), *([""] if attributes else []), *attributes])]
        if op.operands:
            operands = [(self.port("arg", v), self.name_of(v)) for v in op.operands]
            parts.insert(0, "{" + "|".join(f"<{port}> {_escaped(name)}" for port, name in operands) + "}")
        if op.results:
            parts.append("{" + "|".join(map(self.result, op.results)) + "}")
        return "{" + "|".join(parts) + "}"

    def result(self, value: SSAValue) -> str:
        type_ = f" {_escaped(self.short(str(value.type)))}" if self.options.print_result_types else ""
        return f"<{self.port('res', value)}> {_escaped(self.name_of(value))}{type_}"

    def attributes(self, op: Operation) -> list[str]:
        if not self.options.print_attrs:
            return []
        found = {k: v for k, v in {**op.attributes, **op.properties}.items() if k != "op_name__"}
        return [f"{k}: {_escaped(self.attribute(v))}" for k, v in sorted(found.items())]

    def attribute(self, attribute: Attribute) -> str:
        """The text of an attribute, cut where it is long; one of equal elements is shown whole."""
        if isinstance(attribute, DenseIntOrFPElementsAttr):
            dense = cast(DenseIntOrFPElementsAttr[Any], attribute)
            if not dense.is_splat() and len(dense) > LARGE:
                rank = len(dense.get_shape())
                return f"{'[' * rank}...{']' * rank} : {self.short(str(dense.type))}"
            return str(dense) if dense.is_splat() else self.short(str(dense))
        if isinstance(attribute, ArrayAttr) and len(cast(ArrayAttr[Attribute], attribute)) > LARGE:
            return "[...]"
        return self.short(str(cast(Attribute, attribute)))

    def short(self, text: str) -> str:
        limit = self.options.max_label_len
        return text if len(text) <= limit else text[:limit] + "..."

    # -- values --------------------------------------------------------------------------------------------------

    def name_of(self, value: SSAValue) -> str:
        """The name of a value, another for each."""
        found = self.names.get(value)
        if found is None:
            stem = value.name_hint or ""
            n = self.taken.get(stem, 0)
            name = (f"{stem}_{n}" if n else stem) if stem else str(n)
            self.taken[stem] = n + 1
            # A hint may look like the name that a second value got.
            if name != stem and name in self.taken:
                return self.name_of(value)
            self.taken.setdefault(name, 1)
            found = self.names[value] = f"%{name}"
        return found

    def port(self, side: str, value: SSAValue) -> str:
        return f"{side}_{re.sub(r'[^0-9A-Za-z_]', '_', self.name_of(value)[1:])}"

    def edge_of_value(self, value: SSAValue, user: _Node) -> str:
        return _edge(self.nodes[value], user, f":{self.port('res', value)}:s", f":{self.port('arg', value)}:n", "solid")


def _edge(start: _Node, end: _Node, start_port: str, end_port: str, style: str) -> str:
    """An edge; one of a cluster ends at no port."""
    attributes = [f"lhead = cluster_{end.cluster}"] if end.cluster is not None else []
    attributes += [f"ltail = cluster_{start.cluster}"] if start.cluster is not None else []
    left = f"v{start.id}{start_port if start.cluster is None else ''}"
    right = f"v{end.id}{end_port if end.cluster is None else ''}"
    return f"{left} -> {right}[{', '.join([*attributes, f'style = {style}'])}]"


def _escaped(text: str) -> str:
    """Text in the label of a record, whose own signs are braces, bars and angles."""
    return re.sub(r'([{}<>|"])', r"\\\1", text).replace("\n", "\\n")


def _name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def _inner_first(op: Operation) -> list[Operation]:
    """The ops in an op, each before the op around it."""
    return [*(o for r in op.regions for b in r.blocks for inner in b.ops for o in _inner_first(inner)), op]
