"""`relay.analysis`: what can be asked of expressions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lamina.compat.tvm.relay import adt
from lamina.compat.tvm.relay import expr as e
from lamina.compat.tvm.relay.expr_functor import bound_by, children, post_order, walk
from lamina.compat.tvm.relay.ty import TensorType, TupleType


def post_order_visit(expr: Any, fvisit: Any) -> None:
    """Call a function for every node once, operands before what they are operands of."""
    walk(e.as_expr(expr), fvisit)


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


def all_dtypes(expr: Any) -> set[str]:
    """The dtypes of all tensors."""
    found: set[str] = set()

    def add(type_: Any) -> None:
        if isinstance(type_, TensorType):
            found.add(type_.dtype)
        elif isinstance(type_, TupleType):
            for f in type_.fields:
                add(f)

    for n in post_order(e.as_expr(expr)):
        if not isinstance(n, (e.Op, e.Function, e.GlobalVar, adt.Constructor)):
            add(n.checked_type)
    return found


def well_formed(expr: Any) -> bool:
    """Whether no variable is bound twice."""
    counted: Counter[e.Var] = Counter()
    for n in post_order(e.as_expr(expr)):
        counted.update(bound_by(n))
    return all(c == 1 for c in counted.values())


def check_constant(expr: Any) -> bool:
    """Whether it is a constant, or a tuple of them."""
    expr = e.as_expr(expr)
    if isinstance(expr, e.Tuple):
        return all(map(check_constant, expr.fields))
    return isinstance(expr, e.Constant)


def all_type_vars(expr: Any, mod: Any = None) -> list[Any]:
    """No type parameters: functions here have none."""
    return []


free_type_vars = bound_type_vars = all_type_vars


def check_basic_block_normal_form(expr: Any) -> bool:
    """Whether values stand in the innermost block around their uses: in our IR they always do."""
    return e.as_expr(expr) is not None


def list_op_freqs(mod: Any) -> dict[str, int]:
    """How often each operator is called."""
    from lamina.compat.tvm.ir import IRModule

    functions = mod.functions.values() if isinstance(mod, IRModule) else [mod]
    calls = (n for f in functions for n in post_order(f) if isinstance(n, e.Call) and isinstance(n.op, e.Op))
    return dict(Counter(n.op.name for n in calls))


def extract_fused_functions(mod: Any) -> dict[str, Any]:
    """The Primitive functions, by a name made of their operators, in order."""
    found: dict[str, Any] = {}
    for f in mod.functions.values():
        for n in post_order(f):
            if isinstance(n, e.Function) and n.attrs.get("Primitive"):
                ops = [c.op.name for c in post_order(n) if isinstance(c, e.Call) and isinstance(c.op, e.Op)]
                found[f"fused_{'_'.join(ops)}_{len(found)}"] = n
    return found


__all__ = [
    "all_dtypes", "all_type_vars", "all_vars", "bound_type_vars", "bound_vars", "check_basic_block_normal_form",
    "check_constant", "children", "extract_fused_functions", "free_type_vars", "free_vars", "list_op_freqs",
    "post_order_visit", "well_formed",
]  # fmt: skip
