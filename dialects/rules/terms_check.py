"""What an equation cannot say is refused where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.dialects.rules.patterns import (
    Alternatives,
    AttrVar,
    Composite,
    Computed,
    Constrained,
    ConstVar,
    Equation,
    Expr,
    OpPattern,
    Pattern,
    RuleError,
    Splat,
    TypeExpr,
    Var,
    Wildcard,
)

if TYPE_CHECKING:
    from lamina.dialects.relay.base import RelayOp


def check_equation(rule: Equation) -> None:
    """Raises RuleError when the left side has no root op, or the right side uses what the left does not bind."""
    if isinstance(rule.right, Composite):
        return  # a pattern table takes every kind of pattern
    for root in roots(rule.left):
        if not isinstance(root, OpPattern):
            raise RuleError(f"the left side {rule.left!r} must be an op")
    bound = bindings(rule.left)
    check_left(rule.left)
    if isinstance(rule.right, Splat) and rule.right.like is None:
        raise RuleError("a right side of a number alone has no element type: splat(number, like=x)")
    _check_right(rule.right, bound)


def check_guard(rule: Equation, guard: Any) -> None:
    if isinstance(guard, bool):
        raise RuleError("the guard is already decided: make its function @computed")
    if not isinstance(guard, Expr):
        raise RuleError(f"{guard!r} is no guard: call a @computed function of attributes, shapes or dtypes")
    _check_expr(guard, bindings(rule.left))


def roots(pattern: Pattern) -> list[Pattern]:
    """The patterns that the root may be, alternatives opened and constraints taken off."""
    if isinstance(pattern, Alternatives):
        return [r for c in pattern.choices for r in roots(c)]
    if isinstance(pattern, Constrained):
        return roots(pattern.pattern)
    return [pattern]


def sources(like: Pattern) -> list[OpPattern]:
    """The op patterns that `like=` may take attributes from."""
    found = [s for s in roots(like) if isinstance(s, OpPattern)]
    if len(found) < len(roots(like)):
        raise RuleError(f"like={like!r} is no op")
    return found


def bindings(pattern: Pattern) -> set[Any]:
    """Variables and sub-patterns that are bound whichever way the pattern matches."""
    bound: set[Any] = {pattern}
    if isinstance(pattern, Alternatives):
        first, *others = (bindings(c) for c in pattern.choices)
        return bound | first.intersection(*others)
    for child in pattern.children():
        bound |= bindings(child)
    if isinstance(pattern, OpPattern):
        bound.add(pattern.origin)
        bound |= {a for a in pattern.attrs.values() if isinstance(a, AttrVar)}
    return bound


def check_left(pattern: Pattern) -> None:
    if isinstance(pattern, OpPattern):
        if pattern.like is not None:
            raise RuleError("like= stands on the right side only")
        for name, value in pattern.attrs.items():
            if isinstance(value, Expr) and not isinstance(value, AttrVar):
                raise RuleError(f"{name}={value!r}: compare it in .when(...)")
        if pattern.index is None and results_of(pattern.op) != 1:
            raise RuleError(f"{pattern.op.name} has several results: say which by [i]")
    if isinstance(pattern, Splat) and isinstance(pattern.number, Expr):
        raise RuleError("a splat on the left side is a number")
    for child in pattern.children():
        check_left(child)


def results_of(op: type[RelayOp]) -> int:
    """How many results the op's definition has; -1 when it varies."""
    from xdsl.irdl import VarResultDef

    results = op.get_irdl_definition().results
    return -1 if any(isinstance(d, VarResultDef) for _, d in results) else len(results)


def _check_right(pattern: Pattern, bound: set[Any]) -> None:
    if pattern in bound:
        return
    if isinstance(pattern, (Var, ConstVar)):
        raise RuleError(f"{pattern.name} is not bound on the left side (or not in every alternative)")
    if isinstance(pattern, (Wildcard, Alternatives, Constrained)):
        raise RuleError(f"{pattern!r} stands on the left side only")
    if isinstance(pattern, Splat):
        if isinstance(pattern.number, Expr):
            _check_expr(pattern.number, bound)
        if pattern.like is not None and pattern.like not in bound:
            raise RuleError(f"like={pattern.like!r} is not bound on the left side")
        return
    assert isinstance(pattern, OpPattern)
    given = set(pattern.attrs)
    if pattern.like is not None:
        if pattern.like not in bound:
            raise RuleError(f"like={pattern.like!r} is not bound on the left side")
        first, *others = (set(s.op.get_irdl_definition().properties) for s in sources(pattern.like))
        given |= first.intersection(*others)
    missing = [n for n in pattern.op.get_irdl_definition().properties if n not in given]
    if missing:
        raise RuleError(f"{pattern.op.name} on the right side lacks {', '.join(missing)}: give it, or take it by like=")
    if pattern.index is None and results_of(pattern.op) != 1:
        raise RuleError(f"{pattern.op.name} has several results: say which by [i]")
    for value in pattern.attrs.values():
        if isinstance(value, Expr):
            _check_expr(value, bound)
    for child in pattern.args:
        _check_right(child, bound)
    if pattern.args and all(isinstance(a, Splat) and a.like is None and a not in bound for a in pattern.args):
        raise RuleError("a right side of numbers alone has no element type: splat(number, like=x)")


def _check_expr(expr: Expr, bound: set[Any]) -> None:
    if isinstance(expr, AttrVar) and expr not in bound:
        raise RuleError(f"{expr.name} is not bound on the left side (or not in every alternative)")
    if isinstance(expr, TypeExpr) and expr.pattern not in bound:
        raise RuleError(f"{expr.pattern!r} is not bound on the left side (or not in every alternative)")
    if isinstance(expr, Computed):
        for part in expr.parts():
            if isinstance(part, Expr):
                _check_expr(part, bound)
