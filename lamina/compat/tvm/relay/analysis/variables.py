"""The variables of expressions, their types, and whether they are well formed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lamina.frontends.tvm_text import adt
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.ty import FuncType, TensorType, TupleType, Type, TypeVar, parts_of
from lamina.frontends.tvm_text.walk import bound_by, post_order, walk


def post_order_visit(expr: Any, fvisit: Any) -> None:
    """Call a function for every node once, operands before what they are operands of."""
    walk(e.as_expr(expr), fvisit)


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


def _type_vars(expr: Any) -> tuple[dict[Any, None], dict[Any, None]]:
    """The type parameters that are met, and those that functions and data types bind."""
    met: dict[Any, None] = {}
    bound: dict[Any, None] = {}

    def look(type_: Any) -> None:
        if isinstance(type_, TypeVar):
            met[type_] = None
        elif isinstance(type_, FuncType):
            bound.update(dict.fromkeys(type_.type_params))
        for inner in parts_of(type_):
            look(inner)

    if isinstance(expr, Type):
        look(expr)
        return met, bound
    for n in post_order(e.as_expr(expr)):
        if isinstance(n, e.Function):
            bound.update(dict.fromkeys(n.type_params))
            look(n.ret_type)
        for v in [n] if isinstance(n, e.Var) else bound_by(n):
            look(v.type_annotation)
        for type_ in n.type_args if isinstance(n, e.Call) else ():
            look(type_)
    return met, bound


def all_type_vars(expr: Any, mod: Any = None) -> list[Any]:
    """The type parameters of an expression or a type, in the order in which they are met."""
    met, bound = _type_vars(expr)
    return list({**met, **bound})


def bound_type_vars(expr: Any, mod: Any = None) -> list[Any]:
    """The type parameters that functions inside have."""
    return list(_type_vars(expr)[1])


def free_type_vars(expr: Any, mod: Any = None) -> list[Any]:
    """The type parameters that no function inside has."""
    met, bound = _type_vars(expr)
    return [v for v in met if v not in bound]


def check_basic_block_normal_form(expr: Any) -> bool:
    """Whether values stand in the innermost block around their uses: in our IR they always do."""
    return e.as_expr(expr) is not None
