"""Patterns and equations as data: what `lamina.dialects.rules.terms` spells, and the rule engine compiles.

All of it is immutable; `lamina.passes.rules.matching` makes closures of it, `lamina.passes.rules.equations` draws
values for it. Import these names from `lamina.dialects.rules.terms`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from xdsl.dialects.builtin import TensorType

from lamina.dialects.relay.base import RelayOp


class RuleError(TypeError):
    """A rule that says what an equation cannot; raised where the rule is written."""


# -- values that a rule computes -------------------------------------------------------------------


class Expr:
    """A value that is known once the left side has matched: an attribute, a shape, or computed from such."""

    __slots__ = ()

    def parts(self) -> Sequence[Expr | Pattern]:
        """What it is computed from."""
        return ()


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

    def __init__(self, pattern: Pattern, what: str) -> None:
        self.pattern = pattern
        self.what = what

    def parts(self) -> Sequence[Expr | Pattern]:
        return (self.pattern,)

    def __repr__(self) -> str:
        return f"{self.pattern!r}.{self.what}"


class Computed(Expr):
    """A named function of other values: a guard or a computed attribute."""

    __slots__ = ("function", "args")

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function = function
        self.args = args

    def parts(self) -> Sequence[Expr | Pattern]:
        return [a for a in self.args if isinstance(a, (Expr, Pattern))]

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
            if isinstance(a, Pattern):
                raise RuleError(f"{function.__name__} takes attributes: give {a!r}.shape, .dtype, .rank or .value")
        if any(isinstance(a, Expr) for a in args):
            return Computed(function, args)
        return function(*args)  # type: ignore[call-arg]

    return apply


# -- patterns --------------------------------------------------------------------------------------


class Pattern:
    """What a value may be. Repeated use of one pattern object stands for one and the same value."""

    __slots__ = ("name",)
    name: str

    def children(self) -> Sequence[Pattern]:
        return ()

    def __or__(self, other: Any) -> Alternatives:
        if isinstance(other, Equation):
            raise RuleError("`a | b >> c` reads as `a | (b >> c)`: write `(a | b) >> c`")
        return Alternatives([self, as_pattern(other)])

    def __rshift__(self, right: Any) -> Equation:
        return Equation(self, as_pattern(right), caller())

    # Arithmetic on patterns is that of the ops.

    def __add__(self, other: Any) -> Pattern:
        return operator_pattern("add", self, other)

    def __sub__(self, other: Any) -> Pattern:
        return operator_pattern("subtract", self, other)

    def __mul__(self, other: Any) -> Pattern:
        return operator_pattern("multiply", self, other)

    def __truediv__(self, other: Any) -> Pattern:
        return operator_pattern("divide", self, other)

    def __radd__(self, other: Any) -> Pattern:
        return operator_pattern("add", other, self)

    def __rsub__(self, other: Any) -> Pattern:
        return operator_pattern("subtract", other, self)

    def __rmul__(self, other: Any) -> Pattern:
        return operator_pattern("multiply", other, self)

    def __rtruediv__(self, other: Any) -> Pattern:
        return operator_pattern("divide", other, self)

    def optional(self, option: Callable[[Any], Pattern]) -> Alternatives:
        """The pattern, or what the option makes of it: `conv.optional(lambda c: is_op("nn.relu")(c))`."""
        return Alternatives([self, option(self)])

    def dominates(self, parent: Pattern, path: Pattern | None = None) -> Pattern:
        """This pattern, where every way up to constants and inputs leads through `path` ops to one `parent`."""
        from lamina.dialects.rules.graph_patterns import Dominator

        return Dominator(parent, _ if path is None else path, self)

    def __call__(self, *args: Any) -> Pattern:
        """A call of whatever op or function this pattern matches; of `None`: with any operands."""
        from lamina.dialects.rules.graph_patterns import AnyCall

        return AnyCall(self, args)

    # Constraints stand beside what they constrain; the names are those of TVM's dataflow patterns.

    def has_dtype(self, *dtypes: str) -> Pattern:
        return Constrained(self, "has_dtype", dtypes)

    def has_shape(self, shape: Sequence[int | None]) -> Pattern:
        """Exactly that shape; None stands for any extent."""
        return Constrained(self, "has_shape", tuple(shape))

    def has_rank(self, rank: int) -> Pattern:
        return Constrained(self, "has_rank", rank)

    def has_type(self, type_: TensorType[Any]) -> Pattern:
        return Constrained(self, "has_type", type_)

    def has_attr(self, attrs: dict[str, Any]) -> Pattern:
        """On a call: attributes of its op; on a callee: of the function, or TVM's registry (`TOpPattern`)."""
        return Constrained(self, "has_attr", dict(attrs))

    def shared(self) -> Pattern:
        """It may have uses outside the match (and then stays, beside what the rule makes)."""
        raise RuleError("only an op inside the left side is .shared()")

    @property
    def shape(self) -> TypeExpr:
        return TypeExpr(self, "shape")

    @property
    def dtype(self) -> TypeExpr:
        return TypeExpr(self, "dtype")

    @property
    def rank(self) -> TypeExpr:
        return TypeExpr(self, "rank")

    @property
    def ssa(self) -> TypeExpr:
        """The value itself, for guards of pattern tables that look at the op that computes it."""
        return TypeExpr(self, "ssa")


class Var(Pattern):
    """Any value; the same one at every place. `target` is what it must be, where it was redirected."""

    __slots__ = ("target",)

    def __init__(self, name: str) -> None:
        self.name = name
        self.target: Pattern | None = None

    def redirect_to(self, pattern: Pattern) -> None:
        """From now on it stands for a pattern, which may contain it: so patterns of chains are written."""
        self.target = pattern

    def __repr__(self) -> str:
        return self.name or "*"


class ConstVar(Pattern):
    """A constant; the same one at every place."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def value(self) -> TypeExpr:
        """Its array, None for one that is not small and inline."""
        return TypeExpr(self, "value")

    def __repr__(self) -> str:
        return self.name or "constant"


class Wildcard(Pattern):
    """Any value, a different one at every place."""

    __slots__ = ()

    def __init__(self) -> None:
        self.name = "_"

    def __repr__(self) -> str:
        return "_"


class Splat(Pattern):
    """Left: an inline constant all of whose elements equal a number. Right: a scalar constant.

    On the right the number may be computed, and the element type is that of `like`, by default of the other
    operands of the op it stands in.
    """

    __slots__ = ("number", "like")

    def __init__(self, number: Any, like: Pattern | None = None) -> None:
        self.name = ""
        self.number = number
        self.like = like

    def children(self) -> Sequence[Pattern]:
        return ()

    def __repr__(self) -> str:
        return f"splat({self.number!r})"


class OpPattern(Pattern):
    """An op applied to patterns. `index` is the result meant, None for the only one.

    `any_args` leaves the operands open: how many, and what.
    """

    __slots__ = ("op", "args", "attrs", "like", "may_share", "origin", "index", "any_args")

    def __init__(
        self, op: type[RelayOp], args: Sequence[Pattern], attrs: dict[str, Any], like: Pattern | None = None
    ) -> None:
        self.name = ""
        self.op = op
        self.args = tuple(args)
        self.attrs = attrs
        self.like = like
        self.may_share = False
        self.origin: OpPattern = self
        self.index: int | None = None
        self.any_args = False

    def children(self) -> Sequence[Pattern]:
        return self.args

    def _copy(self, attrs: dict[str, Any]) -> OpPattern:
        copy = OpPattern(self.op, self.args, attrs, self.like)
        copy.may_share, copy.any_args = self.may_share, self.any_args
        return copy

    def shared(self) -> OpPattern:
        copy = self._copy(self.attrs)
        copy.may_share = True
        return copy

    def has_attr(self, attrs: dict[str, Any]) -> OpPattern:
        """With further attributes: the same as giving them by keyword."""
        known = self.op.get_irdl_definition().properties
        for name in attrs:
            if name not in known:
                raise RuleError(f"{self.op.name} has no attribute {name!r}; it has {', '.join(known) or 'none'}")
        return self._copy(self.attrs | attrs)

    def __getitem__(self, index: int) -> OpPattern:
        """The result of that number of an op with several."""
        copy = self._copy(self.attrs)
        copy.origin, copy.index = self.origin, index
        return copy

    def __iter__(self) -> Iterator[OpPattern]:
        raise RuleError(f"a pattern of {self.op.name} does not unpack: use [i]")

    def __repr__(self) -> str:
        attrs = [f"{k}={v!r}" for k, v in self.attrs.items()] + ([f"like={self.like!r}"] if self.like else [])
        args = ["..."] if self.any_args else list(map(repr, self.args))
        text = f"{self.op.name.removeprefix('relay.')}({', '.join([*args, *attrs])})"
        return text if self.index is None else f"{text}[{self.index}]"


class Alternatives(Pattern):
    """The first of several patterns that matches."""

    __slots__ = ("choices",)

    def __init__(self, choices: Sequence[Pattern]) -> None:
        self.name = ""
        flat: list[Pattern] = []
        for c in choices:
            flat += c.choices if isinstance(c, Alternatives) else [c]
        self.choices = tuple(flat)

    def children(self) -> Sequence[Pattern]:
        return self.choices

    def shared(self) -> Alternatives:
        return Alternatives([c.shared() for c in self.choices])

    def __call__(self, *args: Any) -> Alternatives:
        """A call of one of several callees."""
        return Alternatives([c(*args) for c in self.choices])

    def __repr__(self) -> str:
        return f"({' | '.join(map(repr, self.choices))})"


class Constrained(Pattern):
    """A pattern and a condition on the type of what it matches."""

    __slots__ = ("pattern", "kind", "wanted")

    def __init__(self, pattern: Pattern, kind: str, wanted: Any) -> None:
        self.name = pattern.name
        self.pattern = pattern
        self.kind = kind
        self.wanted = wanted

    def children(self) -> Sequence[Pattern]:
        return (self.pattern,)

    def shared(self) -> Constrained:
        return Constrained(self.pattern.shared(), self.kind, self.wanted)

    @property
    def value(self) -> TypeExpr:
        return TypeExpr(self, "value")

    def __repr__(self) -> str:
        return f"{self.pattern!r}.{self.kind}({self.wanted!r})"


class Composite(Pattern):
    """The right side of an equation in a pattern table: what matches becomes a function of that name."""

    __slots__ = ("composite",)

    def __init__(self, composite: str) -> None:
        self.name = ""
        self.composite = composite

    def __repr__(self) -> str:
        return f"composite({self.composite!r})"


_ = Wildcard()


def var(names: str) -> Any:
    """Pattern variables by their names, one or a tuple: `x, w = var("x w")`."""
    return _several(names, Var)


def const(names: str) -> Any:
    """Variables for constants."""
    return _several(names, ConstVar)


def attr(names: str) -> Any:
    """Variables for attributes."""
    return _several(names, AttrVar)


def _several(names: str, make: Callable[[str], Any]) -> Any:
    made = [make(n) for n in names.split()]
    return made[0] if len(made) == 1 else tuple(made)


def composite(name: str) -> Composite:
    """A function of that name, `<compiler>.<what>`: `nn.relu(conv) >> composite("dnnl.conv2d_relu")`."""
    return Composite(name)


def splat(number: Any, like: Pattern | None = None) -> Splat:
    """A constant of one repeated number: see `Splat`."""
    return Splat(number, like)


def operator_pattern(name: str, a: Any, b: Any) -> OpPattern:
    """The pattern of a binary op by its name."""
    from lamina.dialects.relay import find_op

    return OpPattern(find_op(f"relay.{name}"), [as_pattern(a), as_pattern(b)], {})  # type: ignore[arg-type]


def as_pattern(value: Any) -> Pattern:
    """A pattern as it is, a number as a splat. Raises RuleError for anything else."""
    if isinstance(value, Pattern):
        return value
    if isinstance(value, (int, float)):
        return Splat(value)
    if isinstance(value, Equation):
        raise RuleError("a rule is no part of a rule: put parentheses around alternatives, `(a | b) >> c`")
    raise RuleError(f"{value!r} is no pattern")


# -- rules -----------------------------------------------------------------------------------------


def caller() -> tuple[str, int]:
    """File and line outside this module: where the rule is written."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Equation:
    """`left >> right`: where the left side is found the right side may stand."""

    def __init__(self, left: Pattern, right: Pattern, written: tuple[str, int]) -> None:
        self.left = left
        self.right = right
        self.written = written
        self.guards: list[Expr] = []
        self.rtol = 1e-9
        self.is_finite = False
        self.draws: dict[str, Callable[[Any], Any]] = {}
        from lamina.dialects.rules.terms_check import check_equation

        check_equation(self)

    def when(self, *guards: Any) -> Equation:
        """It applies only where all guards hold: `@computed` functions of attributes, shapes and dtypes."""
        from lamina.dialects.rules.terms_check import check_guard

        for g in guards:
            check_guard(self, g)
            self.guards.append(g)
        return self

    def tolerance(self, rtol: float) -> Equation:
        """The relative error of the two sides in f64; 1e-9 where nothing is said."""
        self.rtol = rtol
        return self

    def finite(self) -> Equation:
        """It holds for finite values only: NaN and infinities are not promised."""
        self.is_finite = True
        return self

    def drawing(self, **draws: Callable[[Any], Any]) -> Equation:
        """How the checker draws a variable, where the ops' samples do not lead to a match.

        `x=lambda rng: TensorInfo(...)` for a value, a function that gives an attribute for an attribute variable.
        """
        self.draws.update(draws)
        return self

    def __rshift__(self, other: Any) -> Equation:
        raise RuleError("a rule has one right side")

    def __ror__(self, other: Any) -> Equation:
        raise RuleError("`a | b >> c` reads as `a | (b >> c)`: write `(a | b) >> c`")

    def __repr__(self) -> str:
        return f"{self.left!r} >> {self.right!r}"
