"""Patterns and equations as data: what `lamina.dialects.rules.terms` spells, and the rule engine compiles.

All of it is immutable; `lamina.passes.rules.matching` makes closures of it, `lamina.passes.rules.equations` draws
values for it. Import these names from `lamina.dialects.rules.terms`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from lamina.dialects.rules.op_protocol import RuleOp, operator_op, rule_op
from lamina.dialects.rules.values import AttrVar, Computed, Expr, Part, RuleError, TypeExpr

# -- patterns --------------------------------------------------------------------------------------


class Pattern(Part):
    """A pattern of values. Repeated use of one pattern object stands for one and the same value."""

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
        return Dominator(parent, _ if path is None else path, self)

    def __call__(self, *args: Any) -> Pattern:
        """A call of whatever op or function this pattern matches; of `None`: with any operands."""
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

    __slots__ = ("op", "facts", "args", "attrs", "like", "may_share", "origin", "index", "any_args")

    def __init__(
        self, op: type[Operation], args: Sequence[Pattern], attrs: dict[str, Any], like: Pattern | None = None
    ) -> None:
        self.name = ""
        self.op = op
        self.facts = rule_op(op)
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
        known = self.facts.known_attributes()
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


class AnyCall(Pattern):
    """A call of a callee: an op that the callee pattern admits, or a function value that it matches.

    `args` is None where the operands are left open.
    """

    __slots__ = ("callee", "args")

    def __init__(self, callee: Pattern, args: Sequence[Any]) -> None:
        self.name = ""
        self.callee = callee
        open_ = len(args) == 1 and args[0] is None
        self.args = None if open_ else tuple(map(as_pattern, args))

    def children(self) -> Sequence[Pattern]:
        return (self.callee, *(self.args or ()))

    def __repr__(self) -> str:
        args = "..." if self.args is None else ", ".join(map(repr, self.args))
        return f"{self.callee!r}({args})"


class Dominator(Pattern):
    """`child`, all of whose inputs but constants and parameters lead through `path` to one `parent`."""

    __slots__ = ("parent", "path", "child")

    def __init__(self, parent: Pattern, path: Pattern, child: Pattern) -> None:
        self.name = ""
        self.parent = parent
        self.path = path
        self.child = child

    def children(self) -> Sequence[Pattern]:
        return (self.child, self.parent, self.path)

    def __repr__(self) -> str:
        return f"dominates({self.parent!r}, {self.path!r}, {self.child!r})"


_ = Wildcard()


def operator_pattern(name: str, a: Any, b: Any) -> OpPattern:
    """The pattern of a binary op by its name."""
    return OpPattern(operator_op(name), [as_pattern(a), as_pattern(b)], {})


def as_pattern(value: Any) -> Pattern:
    """A pattern as it is, a number as a splat. Raises RuleError for anything else."""
    if isinstance(value, Pattern):
        return value
    if isinstance(value, (int, float)):
        return Splat(value)
    if isinstance(value, Equation):
        raise RuleError("a rule is no part of a rule: put parentheses around alternatives, `(a | b) >> c`")
    hint = f": splat({value!r}, like=x) is a constant of that value" if isinstance(value, Expr) else ""
    raise RuleError(f"{value!r} is no pattern{hint}")


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
        check_equation(self)

    @cached_property
    def bound(self) -> set[Any]:
        """Variables and parts of the left side that every match binds."""
        return bindings(self.left)

    def when(self, *guards: Any) -> Equation:
        """It applies only where all guards hold: `@computed` functions of attributes, shapes and dtypes."""
        for g in guards:
            check_guard(self, g)
            self.guards.append(g)
        return self

    def tolerance(self, rtol: float) -> Equation:
        """The relative error of the two sides in f64, 1e-9 where nothing is said; 0 allows none, in any type."""
        self.rtol = rtol
        return self

    def finite(self) -> Equation:
        """It holds for finite values only: NaN and infinities are not promised."""
        self.is_finite = True
        return self

    def drawing(self, **draws: Callable[[Any], Any]) -> Equation:
        """Set how the checker draws a variable, where the ops' samples do not lead to a match.

        `x=lambda rng: TensorInfo(...)` for a value, or an array where its type does not say what is to be tried; a
        function that gives an attribute for an attribute variable.
        """
        self.draws.update(draws)
        return self

    def __rshift__(self, other: Any) -> Equation:
        raise RuleError("a rule has one right side")

    def __ror__(self, other: Any) -> Equation:
        raise RuleError("`a | b >> c` reads as `a | (b >> c)`: write `(a | b) >> c`")

    def __repr__(self) -> str:
        return f"{self.left!r} >> {self.right!r}"


# -- what an equation cannot say is refused where it is written ------------------------------------


def check_equation(rule: Equation) -> None:
    """Raises RuleError when the left side has no root op, or the right side uses what the left does not bind."""
    if isinstance(rule.right, Composite):
        return  # a pattern table takes every kind of pattern
    for root in roots(rule.left):
        if not isinstance(root, OpPattern):
            raise RuleError(f"the left side {rule.left!r} must be an op")
    check_left(rule.left)
    if isinstance(rule.right, Splat) and rule.right.like is None:
        raise RuleError("a right side of a number alone has no element type: splat(number, like=x)")
    _check_right(rule.right, rule.bound)


def check_guard(rule: Equation, guard: Any) -> None:
    """Raises RuleError for a guard that is decided, is no expression, or uses what the left side does not bind."""
    if isinstance(guard, bool):
        raise RuleError("the guard is already decided: make its function @computed")
    if not isinstance(guard, Expr):
        raise RuleError(f"{guard!r} is no guard: call a @computed function of attributes, shapes or dtypes")
    _check_expr(guard, rule.bound)


def roots(pattern: Pattern) -> list[Pattern]:
    """The patterns that the root may be, alternatives opened and constraints taken off."""
    if isinstance(pattern, Alternatives):
        return [r for c in pattern.choices for r in roots(c)]
    if isinstance(pattern, Constrained):
        return roots(pattern.pattern)
    return [pattern]


def root_op(pattern: Pattern) -> RuleOp:
    """The op of a left side, or one of them: whose constants a right side has that is nothing but a constant."""
    return next(r.facts for r in roots(pattern) if isinstance(r, OpPattern))


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
    """Raises RuleError for a left side with `like=`, computed attributes, or all results of an op with several."""
    if isinstance(pattern, OpPattern):
        if pattern.like is not None:
            raise RuleError("like= stands on the right side only")
        for name, value in pattern.attrs.items():
            if isinstance(value, Expr) and not isinstance(value, AttrVar):
                raise RuleError(f"{name}={value!r}: compare it in .when(...)")
        if pattern.index is None and pattern.facts.result_count() != 1:
            raise RuleError(f"{pattern.op.name} has several results: say which by [i]")
    if isinstance(pattern, Splat) and isinstance(pattern.number, Expr):
        raise RuleError("a splat on the left side is a number")
    for child in pattern.children():
        check_left(child)


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
        first, *others = (set(s.facts.known_attributes()) for s in sources(pattern.like))
        given |= first.intersection(*others)
    missing = [n for n in pattern.facts.known_attributes() if n not in given]
    if missing:
        raise RuleError(f"{pattern.op.name} on the right side lacks {', '.join(missing)}: give it, or take it by like=")
    if pattern.index is None and pattern.facts.result_count() != 1:
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
