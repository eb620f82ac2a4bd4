"""The values that a rule computes once its left side has matched: attributes, shapes, and functions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeVar


class RuleError(TypeError):
    """A rule that says what an equation cannot; raised where the rule is written."""


# -- values that a rule computes -------------------------------------------------------------------


class Part:
    """A part of a rule: a value or a pattern."""

    __slots__ = ()


class Expr(Part):
    """A value that is known once the left side has matched: an attribute, a shape, or computed from such."""

    __slots__ = ()

    def parts(self) -> Sequence[Part]:
        """The parts that it is computed from."""
        return ()

    def _refuse(self, *_: object) -> NoReturn:
        raise RuleError(f"{self!r} is not known yet: a @computed function of it is called when the rule fires")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __mod__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __bool__ = __iter__ = __len__ = __getitem__ = _refuse


class AttrVar(Expr):
    """A variable for an attribute, as its Python value (None where an optional one is absent)."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class TypeExpr(Expr):
    """`x.shape`, `x.dtype`, `x.rank` of a matched value, the value `x.ssa`, or of a small inline constant `c.value`."""

    __slots__ = ("pattern", "what")

    def __init__(self, pattern: Part, what: str) -> None:
        self.pattern: Any = pattern
        self.what = what

    def parts(self) -> Sequence[Part]:
        return (self.pattern,)

    def __repr__(self) -> str:
        return f"{self.pattern!r}.{self.what}"


class Computed(Expr):
    """A named function of other values: a guard or a computed attribute."""

    __slots__ = ("function", "args")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = args

    def parts(self) -> Sequence[Part]:
        return [a for a in self.args if isinstance(a, Part)]

    def __repr__(self) -> str:
        return f"{self.function.__name__}({', '.join(map(repr, self.args))})"


_P = ParamSpec("_P")
_R = TypeVar("_R")


def computed(function: Callable[_P, _R]) -> Callable[..., Any]:
    """Makes a function usable in rules: `compose(p, q)` of attribute variables is computed when the rule fires.

    Of plain values it is the function itself.
    """

    @wraps(function)
    def apply(*args: Any) -> Any:
        for a in args:
            if isinstance(a, Part) and not isinstance(a, Expr):
                raise RuleError(f"{function.__name__} takes attributes: give {a!r}.shape, .dtype, .rank or .value")
        if any(isinstance(a, Expr) for a in args):
            return Computed(function, args)
        return function(*args)  # type: ignore[call-arg]

    return apply
