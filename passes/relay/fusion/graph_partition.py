"""Decides which ops are fused: TVM's three phases over the post-dominator tree (analysis/graph_partitioner.cc).

Nodes are the ops of a block in program order, with TVM's tuples as nodes of their own: one before an op that takes
any number of operands, one for each used result of an op with several. Every value that leaves the block makes its
op external. A scalar constant is no node (it is copied into each group), other constants are operands from outside.
So is what an annotation gives (`annotation.stop_fusion`): it is no node, and makes the op it reads external.

    phase 0  conv-like ops into an elementwise post-dominator, all paths at most broadcast;
             ops up to broadcast into a post-dominator reached by at most injective edges or one reduction
    phase 1  injective ops and tuples, where all paths are injective
    phase 2  ops up to injective into tuples that phase 1 fused into an injective op

The tree is built from the last op to the first by least common ancestors, with jump pointers, and a path is given
up once it is longer than `max_depth`: the work is linear in the ops times at most a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.relay.base import OpPattern, RelayOp, arity
from lamina.dialects.relay.core import ConstantOp, FnOp
from lamina.dialects.relay.functional.annotations import Annotation
from lamina.dialects.relay.value_dependent import ValueDependent

ELEMWISE, BROADCAST, INJECTIVE = OpPattern.ELEMWISE, OpPattern.BROADCAST, OpPattern.INJECTIVE
COMM_REDUCE, ANCHOR = OpPattern.COMM_REDUCE, OpPattern.OUT_ELEMWISE_FUSABLE
TUPLE, OPAQUE = OpPattern.TUPLE, OpPattern.OPAQUE


class Edge(NamedTuple):
    """A use of a node's value: the using node, and how it reads it."""

    node: int
    pattern: int


class Graph:
    """The forward graph of a block."""

    def __init__(self, block: Block) -> None:
        self.ops: list[Operation | None] = []
        """The op of each node; None for a tuple or one of its fields."""
        self.pattern: list[int] = []
        self.outputs: list[list[Edge]] = []
        self.external: list[bool] = []
        self._producer: dict[SSAValue, int] = {}
        for op in block.ops:
            if isinstance(op, (ConstantOp, FnOp)):
                self._read_by(op.operands)  # a closure's captures
                continue
            self._add_op(op, op is block.last_op)

    def _node(self, op: Operation | None, pattern: int) -> int:
        self.ops.append(op)
        self.pattern.append(pattern)
        self.outputs.append([])
        self.external.append(False)
        return len(self.ops) - 1

    def _add_op(self, op: Operation, is_last: bool) -> None:
        if not isinstance(op, RelayOp) or isinstance(op, (Annotation, ValueDependent)):
            # A call, a return, control flow: nothing is fused into it, and what it reads must be there.
            self._read_by(op.operands)
            for inner in op.walk() if op.regions else ():
                self._read_by(inner.operands)  # regions see the values around them
            if not is_last and not isinstance(op, Annotation):
                # An op that needs values is no kernel.
                node = self._node(None if isinstance(op, ValueDependent) else op, OPAQUE)
                self._producer.update(dict.fromkeys(op.results, node))
            return
        pattern = int(op.FUSION_KIND)
        if arity(type(op)) is None:
            fields = self._node(None, TUPLE)
            for value in op.operands:
                self._edge(value, fields, INJECTIVE)
            node = self._node(op, pattern)
            self.outputs[fields].append(Edge(node, pattern))
        else:
            node = self._node(op, pattern)
            result = op.results[0].type
            for value in op.operands:
                same = isinstance(result, TensorType) and isinstance(value.type, TensorType)
                same = same and result.get_shape() == value.type.get_shape()  # type: ignore[union-attr]
                self._edge(value, node, ELEMWISE if pattern == BROADCAST and same else pattern)
        if len(op.results) == 1:
            self._producer[op.results[0]] = node
            return
        for result in op.results:
            if result.first_use is not None:
                item = self._node(None, INJECTIVE)
                self.outputs[node].append(Edge(item, INJECTIVE))
                self._producer[result] = item

    def _read_by(self, values: Iterable[SSAValue]) -> None:
        """Something that is no node reads values: their ops end groups."""
        for value in values:
            if value in self._producer:
                self.external[self._producer[value]] = True

    def _edge(self, value: SSAValue, node: int, pattern: int) -> None:
        producer = self._producer.get(value)
        if producer is not None:
            self.outputs[producer].append(Edge(node, pattern))


class PostDominators:
    """For each node its immediate post-dominator (-1: none) and the strongest edge pattern on the way there."""

    def __init__(self, graph: Graph) -> None:
        n = len(graph.ops)
        self.parent = [-1] * n
        self.pattern = [int(OPAQUE)] * n
        # A jump pointer skips a power of two of ancestors; `_skipped` is the strongest pattern on the way.
        self._depth = [1] * n
        self._jump = [-1] * n
        self._skipped = [int(OPAQUE)] * n
        for node in range(n - 1, -1, -1):
            if not graph.external[node] and graph.outputs[node]:
                self._place(node, graph.outputs[node])

    def _place(self, node: int, outputs: list[Edge]) -> None:
        ancestor, pattern = outputs[0]
        for edge in outputs[1:]:
            if ancestor != -1:
                ancestor, pattern = self._common(ancestor, edge.node, pattern)
            pattern = max(pattern, edge.pattern)
        self.parent[node], self.pattern[node] = ancestor, pattern
        self._jump[node], self._skipped[node] = ancestor, pattern
        if ancestor == -1:
            return
        self._depth[node] = self._depth[ancestor] + 1
        far = self._jump[ancestor]
        if far != -1 and self._jump[far] != -1:
            if self._depth[ancestor] - self._depth[far] == self._depth[far] - self._depth[self._jump[far]]:
                self._jump[node] = self._jump[far]
                self._skipped[node] = max(pattern, self._skipped[ancestor], self._skipped[far])

    def _common(self, a: int, b: int, pattern: int) -> tuple[int, int]:
        """The least common ancestor of two nodes, and the strongest pattern on the ways to it."""
        depth, parent, jump = self._depth, self.parent, self._jump
        if depth[a] < depth[b]:
            a, b = b, a
        while depth[a] > depth[b]:
            if jump[a] != -1 and depth[jump[a]] >= depth[b]:
                pattern, a = max(pattern, self._skipped[a]), jump[a]
            else:
                pattern, a = max(pattern, self.pattern[a]), parent[a]
        while a != b:
            if parent[a] == -1 or parent[b] == -1:
                return -1, pattern
            if jump[a] != jump[b]:
                pattern = max(pattern, self._skipped[a], self._skipped[b])
                a, b = jump[a], jump[b]
            else:
                pattern = max(pattern, self.pattern[a], self.pattern[b])
                a, b = parent[a], parent[b]
        return a, pattern


class Partition:
    """Groups of nodes, by union-find: `root(i)` is the group's last node."""

    def __init__(self, graph: Graph, max_depth: int = 256, fuse: bool = True) -> None:
        self.graph = graph
        self.max_depth = max_depth
        self.steps = 0
        """Nodes looked at on paths: what a test of linear time counts."""
        n = len(graph.ops)
        self._group = list(range(n))
        self._size = [1] * n
        self.pattern = list(graph.pattern)
        self._anchored = [p == ANCHOR for p in graph.pattern]
        if fuse:
            self._tree = PostDominators(graph)
            for phase in range(3):
                for node in range(n):
                    self._visit(node, phase)

    def root(self, node: int) -> int:
        """The node that stands for the group, its sink."""
        top = node
        while self._group[top] != top:
            top = self._group[top]
        while self._group[node] != top:
            self._group[node], node = top, self._group[node]
        return top

    def _visit(self, node: int, phase: int) -> None:
        own = self.pattern[node]
        sink = self._tree.parent[node]
        if own == OPAQUE or sink == -1:
            return
        if phase == 2:
            root = self.pattern[self.root(sink)]
            # A tuple that is still alone stays so; one inside an injective group takes its fields.
            if own <= INJECTIVE and self.pattern[sink] == TUPLE and root <= INJECTIVE:
                self._fuse(node, sink, _injective)
            return
        if self.pattern[sink] == TUPLE or self.root(node) == self.root(sink):
            return
        edge = self._tree.pattern[node]
        if own == ANCHOR:
            if phase == 0 and edge == ELEMWISE:
                self._fuse(node, sink, _broadcast)
        elif own <= BROADCAST:
            if edge <= INJECTIVE or edge == COMM_REDUCE:
                self._fuse(node, sink, _into_anything)
        elif own in (INJECTIVE, TUPLE):
            if phase == 1:
                self._fuse(node, sink, _injective)

    def _fuse(self, node: int, sink: int, holds: Callable[[int, bool], bool]) -> None:
        """Merge all nodes on paths from a node to its post-dominator, if the condition holds for their groups."""
        between = self._between(node, sink)
        if between is None or not holds(self.pattern[self.root(sink)], True):
            return
        if not all(holds(self.pattern[self.root(i)], False) for i in between):
            return
        for i in (node, *between):
            self._merge(i, sink)

    def _between(self, node: int, sink: int) -> list[int] | None:
        """The nodes on paths between; None when the group would be larger than max_depth."""
        total = self._size[self.root(sink)] + self._size[node]
        seen: dict[int, None] = {}
        stack = [e.node for e in self.graph.outputs[node]]
        while stack:
            i = stack.pop()
            if i == sink or i in seen:
                continue
            self.steps += 1
            seen[i] = None
            total += self._size[i]
            if total > self.max_depth:
                return None
            stack.extend(e.node for e in self.graph.outputs[i])
        return list(seen) if total <= self.max_depth else None

    def _merge(self, child: int, sink: int) -> None:
        child, top = self.root(child), self.root(sink)
        if child == top:
            return
        self._size[top] += self._size[child]
        self._group[child] = top
        if self._anchored[child]:
            self._anchored[top] = True
            self.pattern[top] = max(self.pattern[child], self.pattern[top])

    def groups(self) -> list[list[Operation]]:
        """The relay ops of each group in program order, groups ordered by their last op."""
        members: dict[int, list[Operation]] = {}
        for node, op in enumerate(self.graph.ops):
            if isinstance(op, RelayOp):
                members.setdefault(self.root(node), []).append(op)
        return [members[root] for root in sorted(members)]


def _broadcast(kind: int, is_sink: bool) -> bool:
    return kind <= BROADCAST


def _injective(kind: int, is_sink: bool) -> bool:
    return kind <= INJECTIVE


def _into_anything(kind: int, is_sink: bool) -> bool:
    # Edges that are at most injective, or one into a reduction, lead to no tuple and to no opaque op.
    return kind <= INJECTIVE or is_sink
