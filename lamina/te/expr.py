"""Scalar expressions of tensor programs: what TVM calls PrimExpr. Nothing is built until a program is lowered.

An expression is a node with a dtype; operators make new nodes by TVM's typing rules: an integer beside
a float is converted to it, of two integers or two floats the wider type wins. `emit.py` turns nodes into te IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

from lamina.dialects import dtypes
from lamina.dialects.dtypes import bits_of, has_integer, is_float, itemsize
from lamina.errors import InputError
from lamina.te.mistakes import checked_name
from lamina.te.mistakes import fail as fail


def dtype_of(name: Any) -> str:
    """A dtype in any of its spellings as a numpy name. Raises LaminaError for one that does not exist."""
    try:
        return dtypes.dtype_of(name)
    except InputError as error:
        raise fail(error.what, hint=error.hint) from None


ExprLike: TypeAlias = Any
"""An expression, an axis, a slice of a tensor, or a Python number."""


class ExprOp:
    """The operators that expressions, axes and slices of tensors share."""

    def __add__(self, other: ExprLike) -> Expr:
        return add(self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return add(other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return subtract(self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return subtract(other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return multiply(self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return multiply(other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return divide(self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return divide(other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return binary(FloorDiv, self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return binary(FloorDiv, other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return binary(FloorMod, self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return binary(FloorMod, other, self)

    def __neg__(self) -> Expr:
        return multiply(self, const(-1, as_expr(self).dtype))

    def __pow__(self, other: ExprLike) -> Expr:
        a, b = matched(self, other)
        return Call("power", (a, b), a.dtype)

    def __lshift__(self, other: ExprLike) -> Expr:
        return binary(LeftShift, self, other)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return binary(LeftShift, other, self)

    def __rshift__(self, other: ExprLike) -> Expr:
        return binary(RightShift, self, other)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return binary(RightShift, other, self)

    def __and__(self, other: ExprLike) -> Expr:
        return binary(BitAnd, self, other)

    __rand__ = __and__

    def __or__(self, other: ExprLike) -> Expr:
        return binary(BitOr, self, other)

    __ror__ = __or__

    def __xor__(self, other: ExprLike) -> Expr:
        return binary(BitXor, self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Expr:
        x = as_expr(self)
        return Not(x) if x.dtype == "bool" else BitXor(x, const(-1, x.dtype), x.dtype)

    def __lt__(self, other: ExprLike) -> Expr:
        return comparison(LT, self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return comparison(LE, self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return comparison(GT, self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return comparison(GE, self, other)

    def __eq__(self, other: object) -> Any:
        """An expression; as a Python truth value, whether the two are the same object."""
        return comparison(EQ, self, other) if _is_operand(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        """An expression; as a Python truth value, whether the two are different objects."""
        return comparison(NE, self, other) if _is_operand(other) else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise fail(
            "an expression has no truth value before the program runs",
            hint="write te.all, te.any or te.if_then_else instead of and, or, not, if",
        )

    def equal(self, other: ExprLike) -> Expr:
        """Whether the two have the same value."""
        return comparison(EQ, self, other)

    def astype(self, dtype: str) -> Expr:
        """The value converted."""
        return cast(self, dtype)

    def __iter__(self) -> Any:
        raise TypeError(f"{type(self).__name__} is not iterable")


def _is_operand(value: object) -> bool:
    return isinstance(value, (ExprOp, int, float)) or hasattr(value, "__array_interface__")


class Expr(ExprOp):
    """A scalar value of a dtype."""

    dtype: str = "int32"

    def children(self) -> Sequence[Expr]:
        """The expressions that this one is made of."""
        return ()

    def head(self) -> str:
        """The name that stands before the children in the text."""
        return type(self).__name__

    def text(self) -> str:
        """The expression as TVM prints it."""
        return f"{self.head()}({', '.join(c.text() for c in self.children())})"

    def __repr__(self) -> str:
        return self.text()

    def same_as(self, other: object) -> bool:
        return self is other


class Var(Expr):
    """A value that stands for itself: a loop variable, a size, a scalar argument."""

    def __init__(self, name: str = "tindex", dtype: str = "int32") -> None:
        self.name = checked_name(name)
        self.dtype = dtype_of(dtype)

    def text(self) -> str:
        return self.name


class SizeVar(Var):
    """A variable that is not negative."""


class IntImm(int, Expr):
    """A known integer of a dtype: also a Python int."""

    def __new__(cls, dtype: str, value: int) -> IntImm:
        self = super().__new__(cls, value)
        self.dtype = dtype
        return self

    @property
    def value(self) -> int:
        return int(self)

    def _fold(self, operation: Callable[[int, int], int], other: Any, swapped: bool) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        dtype = other.dtype if isinstance(other, IntImm) else "int32"
        wider = self.dtype if itemsize(self.dtype) >= itemsize(dtype) else dtype
        return IntImm(wider, operation(other, int(self)) if swapped else operation(int(self), int(other)))

    def __add__(self, other: Any) -> Any:
        return self._fold(int.__add__, other, False)

    def __radd__(self, other: Any) -> Any:
        return self._fold(int.__add__, other, True)

    def __sub__(self, other: Any) -> Any:
        return self._fold(int.__sub__, other, False)

    def __rsub__(self, other: Any) -> Any:
        return self._fold(int.__sub__, other, True)

    def __mul__(self, other: Any) -> Any:
        return self._fold(int.__mul__, other, False)

    def __rmul__(self, other: Any) -> Any:
        return self._fold(int.__mul__, other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._fold(int.__floordiv__, other, False)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._fold(int.__floordiv__, other, True)

    def __mod__(self, other: Any) -> Any:
        return self._fold(int.__mod__, other, False)

    def __rmod__(self, other: Any) -> Any:
        return self._fold(int.__mod__, other, True)

    def __neg__(self) -> Any:
        return IntImm(self.dtype, -int(self))

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __bool__(self) -> bool:
        return int(self) != 0

    def text(self) -> str:
        if self.dtype == "int32":
            return str(int(self))
        return str(bool(self)) if self.dtype == "bool" else f"{self.dtype}({int(self)})"

    def __str__(self) -> str:
        return str(int(self))

    def __format__(self, spec: str) -> str:
        return format(int(self), spec)


class FloatImm(Expr):
    """A known float."""

    def __init__(self, dtype: str, value: float) -> None:
        self.dtype = dtype
        self.value = float(value)

    def __float__(self) -> float:
        return self.value

    def text(self) -> str:
        return f"{self.dtype}({self.value:g})"


class Binary(Expr):
    """An operation on two values of one dtype."""

    symbol: ClassVar[str] = ""

    def __init__(self, a: Expr, b: Expr, dtype: str) -> None:
        self.a = a
        self.b = b
        self.dtype = dtype

    def children(self) -> Sequence[Expr]:
        return self.a, self.b

    def head(self) -> str:
        return self.symbol

    def text(self) -> str:
        return super().text() if self.symbol.isidentifier() else f"({self.a.text()}{self.symbol}{self.b.text()})"


class Add(Binary):
    symbol = " + "


class Sub(Binary):
    symbol = " - "


class Mul(Binary):
    symbol = "*"


class Div(Binary):
    """Of floats; of integers towards zero."""

    symbol = "/"


class Mod(Binary):
    """The remainder of `Div` of integers."""

    symbol = "truncmod"


class FloorDiv(Binary):
    """The quotient rounded down, of integers and of floats: -7 floordiv 2 is -4."""

    symbol = "floordiv"


class FloorMod(Binary):
    """The remainder of `FloorDiv`, of integers and of floats: it has the sign of the divisor."""

    symbol = "floormod"


class Min(Binary):
    symbol = "min"


class Max(Binary):
    symbol = "max"


class BitAnd(Binary):
    symbol = " & "


class BitOr(Binary):
    symbol = " | "


class BitXor(Binary):
    symbol = " ^ "


class LeftShift(Binary):
    symbol = " << "


class RightShift(Binary):
    """Bits moved to lower places; the sign bit moves in for signed integers, zeros for unsigned ones."""

    symbol = " >> "


class Comparison(Binary):
    """A boolean about two values of one dtype; `kind` is its name in the te builder."""

    kind: ClassVar[str] = ""


class EQ(Comparison):
    """Equality; NaN equals nothing. As a Python truth value, whether the operands are the same object."""

    symbol, kind = " == ", "eq"

    def __bool__(self) -> bool:
        return self.a is self.b


class NE(Comparison):
    """Inequality, true of NaN. As a Python truth value, whether the operands are different objects."""

    symbol, kind = " != ", "ne"

    def __bool__(self) -> bool:
        return self.a is not self.b


class LT(Comparison):
    symbol, kind = " < ", "lt"


class LE(Comparison):
    symbol, kind = " <= ", "le"


class GT(Comparison):
    symbol, kind = " > ", "gt"


class GE(Comparison):
    symbol, kind = " >= ", "ge"


class And(Binary):
    symbol = " && "


class Or(Binary):
    symbol = " || "


class Not(Expr):
    dtype = "bool"

    def __init__(self, a: Expr) -> None:
        self.a = a

    def children(self) -> Sequence[Expr]:
        return (self.a,)

    def text(self) -> str:
        return f"!{self.a.text()}"


class Cast(Expr):
    """A value converted as by numpy's astype; floats beyond the range of an integer dtype give any value."""

    def __init__(self, dtype: str, value: ExprLike) -> None:
        self.dtype = dtype_of(dtype)
        self.value = as_expr(value)

    def children(self) -> Sequence[Expr]:
        return (self.value,)

    def head(self) -> str:
        return self.dtype


class Select(Expr):
    """One of two values. `lazy`: only the chosen one is evaluated, so it may read where the other must not."""

    def __init__(self, condition: Expr, true_value: Expr, false_value: Expr, lazy: bool = False) -> None:
        self.condition = condition
        self.true_value = true_value
        self.false_value = false_value
        self.lazy = lazy
        self.dtype = true_value.dtype

    def children(self) -> Sequence[Expr]:
        return self.condition, self.true_value, self.false_value

    def head(self) -> str:
        return "if_then_else" if self.lazy else "select"


class Call(Expr):
    """A function of scalars, by its name among the te builder's functions and relay's elementwise ops.

    With `function` it is built by that, and the name is for reading only.
    """

    def __init__(self, op: str, args: Sequence[Expr], dtype: str, function: Callable[..., Any] | None = None) -> None:
        self.op = op
        self.args = tuple(args)
        self.dtype = dtype
        self.function = function

    def children(self) -> Sequence[Expr]:
        return self.args

    def head(self) -> str:
        return self.op


# -- conversions ---------------------------------------------------------------------------------------------


def const(value: Any, dtype: str | None = None) -> Expr:
    """A constant; without a dtype int32, float32 or bool, as the Python value is."""
    if dtype is None:
        whole = "int32" if isinstance(value, int) and -(1 << 31) <= value < 1 << 31 else "int64"
        dtype = "bool" if isinstance(value, bool) else whole if isinstance(value, int) else "float32"
    dtype = dtype_of(dtype)
    try:
        found = FloatImm(dtype, float(value)) if is_float(dtype) else IntImm(dtype, int(value))
    except (TypeError, ValueError, OverflowError):
        raise fail(f"{value!r} is no constant of type {dtype}") from None
    if isinstance(found, IntImm) and dtype != "bool":
        bits = bits_of(dtype)
        if not -(1 << bits - 1) <= int(found) < 1 << bits:
            raise fail(f"{int(found)} is no constant of type {dtype}: it has more than {bits} bits")
        if not has_integer(dtype, int(found)):  # its bits are given as those of the other sign
            return IntImm(dtype, int(found) + (1 << bits if found < 0 else -1 << bits))
    return found


def as_expr(value: ExprLike) -> Expr:
    """Anything that may stand in an expression as one. Raises LaminaError for what may not."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (bool, int, float)):
        return const(value)
    convert = getattr(value, "as_expr", None)
    if convert is not None:
        return convert()
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a numpy scalar keeps its type
        return const(value.item(), str(value.dtype))
    raise fail(f"{value!r} is no scalar expression")


def cast(value: ExprLike, dtype: str) -> Expr:
    """The value converted to a dtype; constants at once."""
    x, dtype = as_expr(value), dtype_of(dtype)
    if x.dtype == dtype:
        return x
    if isinstance(x, IntImm) or (isinstance(x, FloatImm) and is_float(dtype)):
        return const(x.value, dtype)
    return Cast(dtype, x)


def matched(a: ExprLike, b: ExprLike) -> tuple[Expr, Expr]:
    """Two operands in one dtype, by TVM's rules."""
    x, y = as_expr(a), as_expr(b)
    if x.dtype == y.dtype:
        return x, y
    if is_float(x.dtype) != is_float(y.dtype):
        dtype = x.dtype if is_float(x.dtype) else y.dtype
    else:
        # Of signed and unsigned of equal width, the signed one.
        widest = max((x, y), key=lambda e: (bits_of(e.dtype), not e.dtype.startswith("uint")))
        dtype = widest.dtype
        if {x.dtype, y.dtype} == {"float16", "bfloat16"}:
            raise fail("float16 and bfloat16 do not mix", hint="convert one of them with astype")
    return cast(x, dtype), cast(y, dtype)


# -- operations ----------------------------------------------------------------------------------------------

_FOLDED: dict[type[Binary], Callable[[int, int], int]] = {
    Add: int.__add__,
    Sub: int.__sub__,
    Mul: int.__mul__,
    Min: min,
    Max: max,
    FloorDiv: int.__floordiv__,
    FloorMod: int.__mod__,
}


def binary(cls: type[Binary], a: ExprLike, b: ExprLike) -> Expr:
    """An operation on two values in their common dtype."""
    x, y = matched(a, b)
    if cls in (FloorDiv, FloorMod, Div, Mod) and isinstance(y, IntImm) and not int(y):
        raise fail("division by the constant 0")
    if cls in _FOLDED and isinstance(x, IntImm) and isinstance(y, IntImm):
        folded = _FOLDED[cls](int(x), int(y))
        if has_integer(x.dtype, folded):  # else it wraps when it runs
            return IntImm(x.dtype, folded)
    return cls(x, y, x.dtype)


def add(a: ExprLike, b: ExprLike) -> Expr:
    """The sum in the common dtype; adding the integer 0 gives the other operand."""
    if _is_number(b, 0):
        return matched(a, b)[0]
    return matched(a, b)[1] if _is_number(a, 0) else binary(Add, a, b)


def subtract(a: ExprLike, b: ExprLike) -> Expr:
    """The difference in the common dtype; subtracting the integer 0 gives the first operand."""
    return matched(a, b)[0] if _is_number(b, 0) else binary(Sub, a, b)


def multiply(a: ExprLike, b: ExprLike) -> Expr:
    """The product in the common dtype; multiplying by the integer 1 gives the other operand."""
    if _is_number(b, 1):
        return matched(a, b)[0]
    return matched(a, b)[1] if _is_number(a, 1) else binary(Mul, a, b)


def _is_number(value: ExprLike, number: int) -> bool:
    """Whether it is that integer, whose sum or product with another integer is that one."""
    return isinstance(value, int) and not isinstance(value, bool) and value == number


def divide(a: ExprLike, b: ExprLike) -> Expr:
    """The quotient of floats, in the common dtype. Raises InputError for two integers."""
    x, y = matched(a, b)
    if not is_float(x.dtype):
        raise fail(
            "integers are not divided by /",
            hint="call te.div, te.floordiv, te.truncdiv or te.indexdiv, which say how they round",
        )
    return Div(x, y, x.dtype)


def comparison(cls: type[Comparison], a: ExprLike, b: ExprLike) -> Expr:
    """A boolean about two values in their common dtype."""
    x, y = matched(a, b)
    return cls(x, y, "bool")
