"""The regions that annotations part a block into, and which of them may become one.

An op belongs to the compiler that the `annotation.compiler_begin` of its operands names, together with the ops of
that compiler that it reads directly. Everything else, and what belongs to `default`, stays an op by itself.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.errors import InputError
from lamina.passes.rules.dataflow_partition import is_closed

BEGIN, END = "relay.annotation.compiler_begin", "relay.annotation.compiler_end"
DEFAULT = "default"
BUDGET = 1000
"""The most regions that are looked at to see whether two may be merged: beyond, they stay apart."""


def compiler_of(op: Operation) -> str:
    """The compiler that an annotation names."""
    return op.properties["compiler"].data  # type: ignore[attr-defined]


def source(value: SSAValue) -> SSAValue:
    """A value without the annotations on it."""
    while isinstance(value.owner, Operation) and value.owner.name in (BEGIN, END):
        value = value.owner.operands[0]
    return value


def open_blocks(root: Operation) -> list[Block]:
    """The blocks of functions, branches and closures; not those of composites, kernels and external functions."""
    found: list[Block] = []
    stack = [root]
    while stack:
        op = stack.pop()
        if op is not root and is_closed(op):
            continue
        blocks = [block for region in op.regions for block in region.blocks]
        found += blocks
        stack += reversed([o for block in blocks for o in block.ops if o.regions])
    return [b for b in found if b.parent_op() is not root]


class Regions:
    """The regions of a block: nodes are regions, by union-find, or ops by themselves; edges are uses and order."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops: list[Operation] = []
        """The ops that are no annotations, in program order: a node is an index into it."""
        self.node: dict[Operation, int] = {}
        self.compiler: list[str | None] = []
        """The external compiler of each node, None where there is none."""
        self.edges: list[tuple[int, int]] = []
        self._parent: list[int] = []
        self.level: dict[int, int] = {}
        self._scan()

    def find(self, node: int) -> int:
        """The node that stands for a region."""
        top = node
        while self._parent[top] != top:
            top = self._parent[top]
        while self._parent[node] != top:
            self._parent[node], node = top, self._parent[node]
        return top

    def union(self, a: int, b: int) -> int:
        a, b = self.find(a), self.find(b)
        first, second = min(a, b), max(a, b)
        self._parent[second] = first
        return first

    def _scan(self) -> None:
        effects: int | None = None
        for op in self.block.ops:
            if op.name in (BEGIN, END):
                continue
            n = len(self.ops)
            self.ops.append(op)
            self.node[op] = n
            self._parent.append(n)
            self.compiler.append(None)
            direct: list[int] = []
            for value in self._read(op):
                owner = value.owner
                if isinstance(owner, Operation) and owner.name == BEGIN and owner.parent is self.block:
                    # One inside a branch is about what stands there, not about the choice.
                    compiler = compiler_of(owner)
                    if compiler != DEFAULT:
                        self._belongs(n, compiler)
                    # What a begin reads outside a region of its own may be the same region's end.
                producer = self.node.get(source(value).owner)  # type: ignore[arg-type]
                if producer is not None:
                    self.edges.append((producer, n))
                    if isinstance(owner, Operation) and owner.name not in (BEGIN, END):
                        direct.append(producer)
            for producer in direct:
                compiler = self.compiler[self.find(producer)]
                if compiler is not None and _may_be_inside(op):
                    self._belongs(n, compiler)
                    self.compiler[self.union(producer, n)] = compiler
            if not _is_pure(op):
                if effects is not None:
                    self.edges.append((effects, n))
                effects = n

    def _read(self, op: Operation) -> list[SSAValue]:
        found = list(op.operands)
        if op.regions and not isinstance(op, FnOp):
            found += (v for inner in op.walk() if inner is not op for v in inner.operands)
        return found

    def _belongs(self, node: int, compiler: str) -> None:
        top = self.find(node)
        known = self.compiler[top]
        if known is not None and known != compiler:
            op = self.ops[node]
            raise InputError(f"{op.name} is in regions of two compilers, {known} and {compiler}", op=op)
        self.compiler[top] = compiler

    def members(self) -> dict[int, list[Operation]]:
        """The ops of each external region in program order; regions by their first op."""
        found: dict[int, list[Operation]] = {}
        for n, op in enumerate(self.ops):
            top = self.find(n)
            if self.compiler[top] is not None:
                found.setdefault(top, []).append(op)
        return found

    # -- order ---------------------------------------------------------------------------------------------------

    def graph(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Successors and predecessors of each node, regions being one node."""
        after: dict[int, dict[int, None]] = {}
        before: dict[int, dict[int, None]] = {}
        for n in range(len(self.ops)):
            top = self.find(n)
            after.setdefault(top, {})
            before.setdefault(top, {})
        for a, b in self.edges:
            a, b = self.find(a), self.find(b)
            if a != b:
                after[a][b] = None
                before[b][a] = None
        return {n: list(s) for n, s in after.items()}, {n: list(s) for n, s in before.items()}

    def order(self) -> list[int]:
        """The nodes in an order that respects all edges, near the program's. Raises InputError for a cycle."""
        after, before = self.graph()
        last = {self.find(n): n for n in range(len(self.ops))}
        waiting = {n: len(p) for n, p in before.items()}
        ready = [(last[n], n) for n, count in waiting.items() if not count]
        heapify(ready)
        order: list[int] = []
        while ready:
            _, n = heappop(ready)
            order.append(n)
            for m in after[n]:
                waiting[m] -= 1
                if not waiting[m]:
                    heappush(ready, (last[m], m))
        if len(order) < len(waiting):
            stuck = min(n for n, count in waiting.items() if count and self.compiler[n] is not None)
            raise InputError(
                f"the {self.compiler[stuck]} region of {self.ops[stuck].name} needs what is computed from it",
                hint="part it into two regions",
                op=self.ops[stuck],
            )
        return order

    # -- merging -------------------------------------------------------------------------------------------------

    def merge(self) -> None:
        """Make regions of one compiler that read each other one, where no region comes to depend on itself.

        A level counts the changes of compiler on the way to a region. Neighbours of equal level are merged at once:
        whatever leads out of a region and is not merged with it is of a higher level, so nothing leads back. The
        rest are tried one by one, by a search for another way from the one to the other.
        """
        after, before = self.graph()
        for n in self.order():
            own = self.compiler[n]
            level = 0
            for p in before[n]:
                other = self.compiler[p]
                level = max(level, self.level[p] + (own != other))
            self.level[n] = level
        order = list(self.level)
        for n in order:
            for p in before[n]:
                if self.compiler[n] is not None and self.compiler[p] == self.compiler[n]:
                    if self.level[p] == self.level[n]:
                        self._unite(p, n)
        after, before = self.graph()
        self.level = {self.find(n): level for n, level in self.level.items()}
        successors = {n: dict.fromkeys(s) for n, s in after.items()}
        for n in list(self.level):
            for p in before[n]:
                a, b = self.find(p), self.find(n)
                if a != b and self.compiler[b] is not None and self.compiler[a] == self.compiler[b]:
                    self._try(a, b, successors)

    def _unite(self, a: int, b: int) -> int:
        compiler = self.compiler[self.find(a)]
        top = self.union(a, b)
        self.compiler[top] = compiler
        return top

    def _try(self, a: int, b: int, after: dict[int, dict[int, None]]) -> None:
        """Merge two neighbours if there is no other way from the one to the other."""
        level = self.level[b]
        if len(after[a]) > BUDGET:
            return
        stack = [m for m in {self.find(s) for s in after[a]} if m != b]
        seen: set[int] = {a}
        raised: set[int] = set()
        while stack:
            n = stack.pop()
            if n == b:
                return
            # Levels never fall along an edge: from above there is no way to b.
            if n in seen or self.level[n] > level:
                continue
            seen.add(n)
            raised.add(n)
            if len(seen) > BUDGET or len(after[n]) > BUDGET:
                return
            stack += {self.find(s) for s in after[n]}
        top = self._unite(a, b)
        small, large = sorted((after.pop(a), after.pop(b)), key=len)
        large.update(small)
        after[top] = large
        self.level[top] = level
        for n in raised:
            self.level[n] = level


def _may_be_inside(op: Operation) -> bool:
    return isinstance(op, (RelayOp, CallOp, TupleOp, TupleGetItemOp)) and not op.regions


def _is_pure(op: Operation) -> bool:
    """Whether an op may change places with others: calls only of kernels and composites."""
    if isinstance(op, CallOp):
        function = op.function()
        return function is not None and not {"Composite", "Primitive"}.isdisjoint(function.attributes)
    return isinstance(op, (RelayOp, ConstantOp, FnOp)) or is_side_effect_free(op)
