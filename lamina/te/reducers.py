"""Reductions: combining functions, by name or by their equation, and the expressions that they give.

te.sum(A[i, k], axis=k)
argmax = te.comm_reducer(lambda x, y: ..., lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="argmax")
argmax((index[k], A[i, k]), axis=k)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from lamina.dialects.dtypes import is_float
from lamina.te.expr import Expr, ExprLike, Max, Min, Var, add, as_expr, binary, const, fail, multiply
from lamina.te.mistakes import checked_function
from lamina.te.reduction import CommReducer, Reduce
from lamina.te.tensor import IterVar


def comm_reducer(fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str = "reduce") -> Any:
    """A reduction by its combining function, which must be associative and commutative, and its neutral element.

    For several values `fcombine(x, y)` takes and gives tuples, and `fidentity` takes their dtypes.
    """
    for what, function in (("fcombine", fcombine), ("fidentity", fidentity)):
        if not callable(function):
            raise fail(f"comm_reducer: {what} is a function, not {function!r}")
    return _reducer(fcombine, fidentity, name, "")


def _reducer(fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str, kind: str) -> Any:
    def make(source: Sequence[Expr], several: bool) -> CommReducer:
        lhs = [Var(f"x{n}", s.dtype) for n, s in enumerate(source)]
        rhs = [Var(f"y{n}", s.dtype) for n, s in enumerate(source)]
        checked_function(fcombine, 2, f"the combining function of {name!r}")
        checked_function(fidentity, len(source), f"the neutral element of {name!r}")
        result = fcombine(lhs, rhs) if several else fcombine(lhs[0], rhs[0])
        identity = fidentity(*(s.dtype for s in source))
        results = [as_expr(r) for r in _listed(result)]
        identities = [as_expr(i) for i in _listed(identity)]
        types = [s.dtype for s in source]
        for what, values in (("combines to", results), ("starts from", identities)):
            if [v.dtype for v in values] != types:
                found = ", ".join(v.dtype for v in values)
                raise fail(f"reducer {name!r} {what} {found}; its terms are {', '.join(types)}")
        return CommReducer(lhs, rhs, results, identities, kind)

    def reduce(expr: Any, axis: Any, where: Any = None, init: Any = None, *more: Any) -> Any:
        axes = list(cast("Sequence[Any]", axis)) if isinstance(axis, (list, tuple)) else [axis]
        if not all(isinstance(a, IterVar) for a in axes):  # reducer(a, b, c): of values, not over axes
            total = as_expr(expr)
            values: list[Any] = [axis, *(v for v in (where, init) if v is not None), *more]
            for value in values:
                total = as_expr(fcombine(total, value))
            return total
        if init is not None:
            raise fail(f"{name} with an initial value", hint="add it in a compute of its own")
        for a in axes:
            if a.iter_type != "CommReduce":
                raise fail(f"{name} over {a.name!r}, which is no reduction axis", hint="make it with te.reduce_axis")
        if len(set(map(id, axes))) != len(axes):
            raise fail(f"{name} over an axis twice")
        several = isinstance(expr, (list, tuple))
        source = [as_expr(e) for e in _listed(expr)]
        combiner = make(source, several)
        condition = None if where is None else as_expr(where)
        found = tuple(Reduce(combiner, source, axes, condition, n) for n in range(len(source)))
        return found if several else found[0]

    reduce.__name__ = name
    reduce.__doc__ = f"The {name} over axes made with te.reduce_axis, of the terms where a condition holds."
    return reduce


def _listed(value: Any) -> Iterator[Any]:
    return iter(cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else (value,))


def max_value(dtype: str) -> Expr:
    """The greatest number of a dtype, of floats the greatest finite one."""
    return _limit(dtype, "max")


def min_value(dtype: str) -> Expr:
    """The least number of a dtype, of floats the least finite one."""
    return _limit(dtype, "min")


def infinity(dtype: str) -> Expr:
    """Positive infinity of a float dtype. Raises InputError for a dtype of integers."""
    return const(float("inf"), dtype)


def _limit(dtype: str, which: str) -> Expr:
    if dtype == "bool":
        return const(which == "max", "bool")
    if not is_float(dtype):
        import numpy as np

        return const(int(getattr(np.iinfo(dtype), which)), dtype)
    import ml_dtypes

    return const(float(getattr(cast("Any", ml_dtypes.finfo(dtype)), which)), dtype)


def _lowest(dtype: str) -> Expr:
    return const(float("-inf"), dtype) if is_float(dtype) else min_value(dtype)


def _highest(dtype: str) -> Expr:
    return infinity(dtype) if is_float(dtype) else max_value(dtype)


def _added(a: ExprLike, b: ExprLike) -> Expr:
    return add(a, b)


def _multiplied(a: ExprLike, b: ExprLike) -> Expr:
    return multiply(a, b)


def _greater(a: ExprLike, b: ExprLike) -> Expr:
    return binary(Max, a, b)


def _smaller(a: ExprLike, b: ExprLike) -> Expr:
    return binary(Min, a, b)


def _zero(dtype: str) -> Expr:
    return const(0, dtype)


def _one(dtype: str) -> Expr:
    return const(1, dtype)


sum = _reducer(_added, _zero, "sum", "sum")  # noqa: A001
prod = _reducer(_multiplied, _one, "prod", "prod")
max = _reducer(_greater, _lowest, "max", "max")  # noqa: A001
min = _reducer(_smaller, _highest, "min", "min")  # noqa: A001
