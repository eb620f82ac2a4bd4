"""The operators of Python on expressions, axes and slices of tensors: `A[i] + 1`, `x < n`, `-x`."""

from __future__ import annotations

from typing import Any, TypeAlias

# The expressions that the operators make have these operators themselves: this module is only imported by `expr.py`,
# and looks into that one when an operator runs.
import lamina.te.expr as e
from lamina.te.mistakes import fail

ExprLike: TypeAlias = Any
"""An expression, an axis, a slice of a tensor, or a Python number."""


class ExprOp:
    """The operators that expressions, axes and slices of tensors share."""

    def __add__(self, other: ExprLike) -> e.Expr:
        return e.add(self, other)

    def __radd__(self, other: ExprLike) -> e.Expr:
        return e.add(other, self)

    def __sub__(self, other: ExprLike) -> e.Expr:
        return e.subtract(self, other)

    def __rsub__(self, other: ExprLike) -> e.Expr:
        return e.subtract(other, self)

    def __mul__(self, other: ExprLike) -> e.Expr:
        return e.multiply(self, other)

    def __rmul__(self, other: ExprLike) -> e.Expr:
        return e.multiply(other, self)

    def __truediv__(self, other: ExprLike) -> e.Expr:
        return e.divide(self, other)

    def __rtruediv__(self, other: ExprLike) -> e.Expr:
        return e.divide(other, self)

    def __floordiv__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.FloorDiv, self, other)

    def __rfloordiv__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.FloorDiv, other, self)

    def __mod__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.FloorMod, self, other)

    def __rmod__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.FloorMod, other, self)

    def __neg__(self) -> e.Expr:
        return e.multiply(self, e.const(-1, e.as_expr(self).dtype))

    def __pow__(self, other: ExprLike) -> e.Expr:
        a, b = e.matched(self, other)
        return e.Call("power", (a, b), a.dtype)

    def __lshift__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.LeftShift, self, other)

    def __rlshift__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.LeftShift, other, self)

    def __rshift__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.RightShift, self, other)

    def __rrshift__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.RightShift, other, self)

    def __and__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.BitAnd, self, other)

    __rand__ = __and__

    def __or__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.BitOr, self, other)

    __ror__ = __or__

    def __xor__(self, other: ExprLike) -> e.Expr:
        return e.binary(e.BitXor, self, other)

    __rxor__ = __xor__

    def __invert__(self) -> e.Expr:
        x = e.as_expr(self)
        return e.Not(x) if x.dtype == "bool" else e.BitXor(x, e.const(-1, x.dtype), x.dtype)

    def __lt__(self, other: ExprLike) -> e.Expr:
        return e.comparison(e.LT, self, other)

    def __le__(self, other: ExprLike) -> e.Expr:
        return e.comparison(e.LE, self, other)

    def __gt__(self, other: ExprLike) -> e.Expr:
        return e.comparison(e.GT, self, other)

    def __ge__(self, other: ExprLike) -> e.Expr:
        return e.comparison(e.GE, self, other)

    def __eq__(self, other: object) -> Any:
        """An expression; as a Python truth value, whether the two are the same object."""
        return e.comparison(e.EQ, self, other) if _is_operand(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        """An expression; as a Python truth value, whether the two are different objects."""
        return e.comparison(e.NE, self, other) if _is_operand(other) else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise fail(
            "an expression has no truth value before the program runs",
            hint="write te.all, te.any or te.if_then_else instead of and, or, not, if",
        )

    def equal(self, other: ExprLike) -> e.Expr:
        """Whether the two have the same value."""
        return e.comparison(e.EQ, self, other)

    def astype(self, dtype: str) -> e.Expr:
        """The value converted."""
        return e.cast(self, dtype)

    def __iter__(self) -> Any:
        raise TypeError(f"{type(self).__name__} is not iterable")


def _is_operand(value: object) -> bool:
    return isinstance(value, (ExprOp, int, float)) or hasattr(value, "__array_interface__")
