"""Functions of scalar expressions: choices, conditions, divisions that say how they round, and mathematics.

The mathematics is not listed here: `unary("tanh")` finds a function among the te builder's scalars and relay's
elementwise ops, which is where its meaning is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

from lamina.dialects.dtypes import is_float
from lamina.errors import did_you_mean
from lamina.te.expr import (
    And,
    BitAnd,
    BitOr,
    BitXor,
    Call,
    Div,
    Expr,
    ExprLike,
    FloorDiv,
    FloorMod,
    LeftShift,
    Max,
    Min,
    Mod,
    Not,
    Or,
    RightShift,
    Select,
    as_expr,
    binary,
    cast,
    const,
    fail,
    matched,
)

# -- conditions and choices ----------------------------------------------------------------------------------


def as_condition(value: ExprLike) -> Expr:
    """A boolean; a number is true where it is not zero."""
    x = as_expr(value)
    return x if x.dtype == "bool" else x != const(0, x.dtype)


def all_of(*conditions: ExprLike) -> Expr:
    """Whether all hold: `te.all`."""
    return _joined(And, conditions)


def any_of(*conditions: ExprLike) -> Expr:
    """Whether one holds: `te.any`."""
    return _joined(Or, conditions)


def _joined(cls: Callable[[Expr, Expr, str], Expr], conditions: Sequence[ExprLike]) -> Expr:
    if not conditions:
        raise fail("te.all and te.any take at least one condition")
    return reduce(lambda a, b: cls(a, b, "bool"), [as_condition(c) for c in conditions])


def logical_not(condition: ExprLike) -> Expr:
    """Whether a condition does not hold: a boolean; a number counts as true where it is not zero."""
    return Not(as_condition(condition))


def if_then_else(cond: ExprLike, t: ExprLike, f: ExprLike, span: Any = None) -> Expr:
    """One of two values; only the chosen one is evaluated, so it may read where the other must not."""
    a, b = matched(t, f)
    return Select(as_condition(cond), a, b, lazy=True)


def select(condition: ExprLike, true_value: ExprLike, false_value: ExprLike, span: Any = None) -> Expr:
    """One of two values, both evaluated."""
    a, b = matched(true_value, false_value)
    return Select(as_condition(condition), a, b)


def likely(condition: ExprLike, span: Any = None) -> Expr:
    """The condition itself: a hint that nothing here needs."""
    return as_condition(condition)


# -- integer division ----------------------------------------------------------------------------------------


def floordiv(a: ExprLike, b: ExprLike, span: Any = None) -> Expr:
    """The quotient rounded down."""
    return binary(FloorDiv, a, b)


def floormod(a: ExprLike, b: ExprLike, span: Any = None) -> Expr:
    """The remainder of `floordiv`, which has the sign of the divisor."""
    return binary(FloorMod, a, b)


def truncdiv(a: ExprLike, b: ExprLike, span: Any = None) -> Expr:
    """The quotient rounded towards zero."""
    return binary(Div, a, b)


def truncmod(a: ExprLike, b: ExprLike, span: Any = None) -> Expr:
    """The remainder of `truncdiv`, which has the sign of the dividend."""
    return binary(Mod, a, b)


def ceildiv(a: ExprLike, b: ExprLike, span: Any = None) -> Expr:
    """The quotient rounded up, by a positive divisor."""
    x, y = matched(a, b)
    return binary(FloorDiv, x + (y - const(1, y.dtype)), y)


def div(a: ExprLike, b: ExprLike, span: Any = None) -> Expr:
    """Of floats the quotient, of integers `truncdiv`."""
    return truncdiv(a, b)


indexdiv, indexmod = floordiv, floormod
"""Of indices, which are not negative."""


# -- two operands --------------------------------------------------------------------------------------------


def minimum(a: ExprLike, b: ExprLike) -> Expr:
    """The smaller of two values in their common dtype; NaN where one is NaN."""
    return binary(Min, a, b)


def maximum(a: ExprLike, b: ExprLike) -> Expr:
    """The greater of two values in their common dtype; NaN where one is NaN."""
    return binary(Max, a, b)


def power(x: ExprLike, y: ExprLike, span: Any = None) -> Expr:
    """x to the power of y."""
    a, b = matched(x, y)
    return Call("power", (a, b), a.dtype)


def fmod(x: ExprLike, y: ExprLike) -> Expr:
    """The remainder of a division of floats towards zero."""
    a, b = matched(x, y)
    return Call("fmod", (a, b), a.dtype)


def fma(x: ExprLike, y: ExprLike, z: ExprLike) -> Expr:
    """x * y + z, rounded once."""
    a, b = matched(x, y)
    return Call("fma", (a, b, cast(z, a.dtype)), a.dtype)


def hypot(x: ExprLike, y: ExprLike) -> Expr:
    """The square root of x * x + y * y."""
    a, b = matched(x, y)
    return unary("sqrt")(a * a + b * b)


def shift_left(x: ExprLike, y: ExprLike, span: Any = None) -> Expr:
    """x * 2^y of integers, wrapped, for y from 0 up to the width less one."""
    return binary(LeftShift, x, y)


def shift_right(x: ExprLike, y: ExprLike, span: Any = None) -> Expr:
    """x / 2^y of integers, rounded down, for y from 0 up to the width less one."""
    return binary(RightShift, x, y)


def bitwise_and(x: ExprLike, y: ExprLike, span: Any = None) -> Expr:
    """The bits that are set in both of two integers, in their common dtype."""
    return binary(BitAnd, x, y)


def bitwise_or(x: ExprLike, y: ExprLike, span: Any = None) -> Expr:
    """The bits that are set in either of two integers, in their common dtype."""
    return binary(BitOr, x, y)


def bitwise_xor(x: ExprLike, y: ExprLike, span: Any = None) -> Expr:
    """The bits that are set in one of two integers alone, in their common dtype."""
    return binary(BitXor, x, y)


def bitwise_not(x: ExprLike, span: Any = None) -> Expr:
    """All bits of an integer inverted: -1 - x if it is signed; of a boolean its negation."""
    return ~as_expr(x)


# -- mathematics ---------------------------------------------------------------------------------------------

_RESULT = {"isnan": "bool", "isinf": "bool", "isfinite": "bool"}
_SPELT = {"fabs": "abs", "nearbyint": "roundeven", "round": "roundeven"}
_OF_SEVERAL = ("power", "fmod", "fma")


@cache
def scalar_functions() -> frozenset[str]:
    """The names of the te builder's functions of one scalar."""
    import inspect

    from lamina.dialects.te import scalars

    own = {n: f for n, f in inspect.getmembers(scalars, inspect.isfunction) if f.__module__ == scalars.__name__}
    return frozenset(n for n, f in own.items() if list(inspect.signature(f).parameters) == ["x"])


def scalar_function(name: str) -> Callable[..., Any] | None:
    """The builder of a function of scalars: the te builder's, else the element of a relay op; None for neither."""
    from lamina.dialects.relay import find_op
    from lamina.dialects.te import lib

    if name in scalar_functions() or name in _OF_SEVERAL:
        return getattr(lib, name)
    op = find_op(f"relay.{name}")
    return getattr(op, "te_element", None) if _is_unary(op) else None


def _is_unary(op: Any) -> bool:
    return hasattr(op, "te_element") and len(op.get_irdl_definition().operands) == 1


@cache
def unary(name: str) -> Callable[..., Expr]:
    """The function of one expression by its name. Raises LaminaError where there is none."""
    name = _SPELT.get(name, name)
    if scalar_function(name) is None:
        raise fail(f"no function {name!r} of scalars", hint=did_you_mean(name, sorted(scalar_functions())))

    def build(x: ExprLike, *_: Any, **__: Any) -> Expr:
        value = as_expr(x)
        if not is_float(value.dtype) and name in ("floor", "ceil", "trunc", "round", "roundeven"):
            return value  # whole already
        return Call(name, (value,), _RESULT.get(name, value.dtype))

    build.__name__ = name
    build.__doc__ = f"{name} of an expression."
    return build


# -- calls by name -------------------------------------------------------------------------------------------


def call_intrin(dtype: str, func_name: str, *args: ExprLike, span: Any = None) -> Expr:
    """A function by TVM's name for it: `tir.exp`."""
    return cast(_by_name(func_name.rpartition(".")[2], args), dtype)


def call_pure_extern(dtype: str, func_name: str, *args: ExprLike, span: Any = None) -> Expr:
    """A function of C's mathematics by its name: `expf` and `__expf` are `exp`. Raises LaminaError for another."""
    name = func_name.strip("_")
    for candidate in (name, name.removesuffix("f")):
        known = {"pow": "power"}.get(candidate, candidate)
        if known in scalar_functions() or known in _OF_SEVERAL:
            return cast(_by_name(known, args), dtype)
    raise fail(
        f"call of the external function {func_name!r}: only the functions of C's mathematics can be called",
        hint="write it with te expressions",
    )


call_extern = call_pure_extern


def _by_name(name: str, args: Sequence[ExprLike]) -> Expr:
    if len(args) == 1:
        return unary(name)(args[0])
    functions: dict[str, Callable[..., Expr]] = {
        "power": power, "pow": power, "fma": fma, "fmod": fmod, "hypot": hypot, "if_then_else": if_then_else,
        "floordiv": floordiv, "floormod": floormod, "shift_left": shift_left, "shift_right": shift_right,
    }  # fmt: skip
    if name not in functions:
        raise fail(f"no function {name!r} of {len(args)} scalars", hint=did_you_mean(name, list(functions)))
    return functions[name](*args)
