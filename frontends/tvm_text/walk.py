"""Expressions looked through: what nodes are made of, in which order, and their variables. Nothing recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import Constructor, Match, pattern_vars


def children(node: e.Expr) -> list[e.Expr]:
    """The nodes that a node is made of, in TVM's order."""
    if isinstance(node, e.Call):
        return [node.op, *node.args]
    if isinstance(node, e.Function):
        return [*node.params, node.body]
    if isinstance(node, e.Tuple):
        return list(node.fields)
    if isinstance(node, e.TupleGetItem):
        return [node.tuple_value]
    if isinstance(node, e.Let):
        return [node.var, node.value, node.body]
    if isinstance(node, e.If):
        return [node.cond, node.true_branch, node.false_branch]
    if isinstance(node, Match):
        return [node.data, *(c.rhs for c in node.clauses)]
    if isinstance(node, e.RefCreate):
        return [node.value]
    if isinstance(node, e.RefRead):
        return [node.ref]
    return [node.ref, node.value] if isinstance(node, e.RefWrite) else []


def post_order(root: e.Expr) -> Iterator[e.Expr]:
    """Every node once, what it is made of before it."""
    seen = {root}
    stack: list[tuple[e.Expr, Iterator[e.Expr]]] = [(root, iter(children(root)))]
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            stack.pop()
            yield node
        elif child not in seen:
            seen.add(child)
            stack.append((child, iter(children(child))))


def operands_of(node: e.Expr) -> list[e.Expr]:
    """The expressions that are computed before a node, in order."""
    if isinstance(node, e.Call):
        return [*([] if isinstance(node.op, (e.Op, e.GlobalVar, Constructor)) else [node.op]), *node.args]
    if isinstance(node, e.Tuple):
        return list(node.fields)
    if isinstance(node, e.TupleGetItem):
        return [node.tuple_value]
    if isinstance(node, e.If):
        return [node.cond]
    if isinstance(node, Match):
        return [node.data]
    if isinstance(node, e.RefCreate):
        return [node.value]
    if isinstance(node, e.RefRead):
        return [node.ref]
    return [node.ref, node.value] if isinstance(node, e.RefWrite) else []


def walk(expr: e.Expr, visit: Callable[[e.Expr], Any]) -> None:
    """Call a function for every node, operands first."""
    for node in post_order(expr):
        visit(node)


def bound_by(node: e.Expr) -> list[e.Var]:
    """The variables that a node binds for what is inside it."""
    if isinstance(node, e.Function):
        return list(node.params)
    if isinstance(node, Match):
        return [v for c in node.clauses for v in pattern_vars(c.lhs)]
    return [node.var] if isinstance(node, e.Let) else []


def all_vars(expr: Any) -> list[e.Var]:
    """The variables in the order in which they are met."""
    found: dict[e.Var, None] = {}
    for n in post_order(e.as_expr(expr)):
        found.update(dict.fromkeys([n] if isinstance(n, e.Var) else bound_by(n)))
    return list(found)


def bound_vars(expr: Any) -> list[e.Var]:
    """The variables that functions and lets inside bind."""
    found: dict[e.Var, None] = {}
    for n in post_order(e.as_expr(expr)):
        found.update(dict.fromkeys(bound_by(n)))
    return list(found)


def free_vars(expr: Any) -> list[e.Var]:
    """The variables that nothing inside binds, in the order in which they are met."""
    bound = set(bound_vars(expr))
    return [v for v in all_vars(expr) if v not in bound]
