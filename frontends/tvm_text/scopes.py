"""Scopes for the values of an expression: each in the innermost branch or function around all that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block

from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import Constructor, Match
from lamina.frontends.tvm_text.walk import operands_of


class Scope:
    """A block that values are computed in: a function's, or a branch's."""

    __slots__ = ("_inner", "block", "depth", "outer")

    def __init__(self, outer: Scope | None, block: Block) -> None:
        self.outer = outer
        self.block = block
        self.depth = outer.depth + 1 if outer is not None else 0
        self._inner: dict[tuple[int, int], Scope] = {}

    @staticmethod
    def at(block: Block) -> Scope:
        """A scope of its own."""
        return Scope(None, block)

    def branch(self, node: e.Expr, place: int) -> Scope:
        """The scope of one of the branches of a node that is computed here."""
        key = (id(node), place)
        if key not in self._inner:
            self._inner[key] = Scope(self, Block())
        return self._inner[key]


@dataclass
class Scopes:
    """The scopes of the nodes of an expression. An inner function is as a branch."""

    root: Scope
    of: dict[e.Expr, Scope]
    stopped: list[e.Expr] = field(default_factory=list[e.Expr])


def parts(node: e.Expr) -> list[tuple[e.Expr, int]]:
    """The parts of a node, each with the number of the branch that it is in, -1 outside of all."""
    if isinstance(node, e.If):
        return [(node.cond, -1), (node.true_branch, 0), (node.false_branch, 1)]
    if isinstance(node, Match):
        return [(node.data, -1), *((c.rhs, n) for n, c in enumerate(node.clauses))]
    if isinstance(node, e.Let):
        return [(node.value, -1), (node.body, -1)]
    if isinstance(node, e.Function):
        return [(node.body, 0)]
    return [(c, -1) for c in operands_of(node)]


def scopes_of(root: e.Expr, block: Block, stop: Callable[[e.Expr], bool] | None = None) -> Scopes:
    """The scope of each node. What `stop` holds for is not looked into."""
    found = Scopes(Scope(None, block), {})
    order: list[e.Expr] = []
    seen = {root}
    stack: list[tuple[e.Expr, Iterator[tuple[e.Expr, int]]]] = [(root, iter(parts(root)))]
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            order.append(node)
            stack.pop()
        elif child[0] not in seen:
            seen.add(child[0])
            if stop is not None and stop(child[0]):
                found.stopped.append(child[0])
                continue
            stack.append((child[0], iter(parts(child[0]))))
    found.of[root] = found.root
    for node in reversed(order):
        scope = found.of[node]
        for child, branch in parts(node):
            inner = scope if branch < 0 else scope.branch(node, branch)
            before = found.of.get(child)
            found.of[child] = inner if before is None else _common(before, inner)
    return found


def _common(a: Scope, b: Scope) -> Scope:
    while a is not b:
        if a.depth >= b.depth:
            assert a.outer is not None
            a = a.outer
        else:
            assert b.outer is not None
            b = b.outer
    return a


def shared_inside(node: e.Expr, scopes: Mapping[e.Expr, Scope]) -> list[e.Expr]:
    """Expressions to compute before an if or an inner function that they stand in: used outside, or twice."""
    own = scopes.get(node)
    if own is None or not isinstance(node, (e.If, e.Function, Match)):
        return []
    found: list[e.Expr] = []
    seen: set[e.Expr] = set()
    stack = [child for child, branch in reversed(parts(node)) if branch >= 0]
    while stack:
        at = stack.pop()
        if at in seen or isinstance(at, (e.Var, e.Constant, e.Op, e.GlobalVar, Constructor)):
            continue
        seen.add(at)
        scope = scopes.get(at)
        if scope is not None and scope.depth <= own.depth:
            found.append(at)
        else:
            stack.extend(child for child, _ in reversed(parts(at)))
    return found
