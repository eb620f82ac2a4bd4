"""The words that rules, gradients and decompositions are written in.

An op's term applied to pattern variables is a pattern, to SSA values it builds IR, to arrays it computes:

    x, w = var("x w");  p, q = attr("p q")
    r.transpose(r.transpose(x, axes=p), axes=q) >> r.transpose(x, axes=compose(p, q))
    (r.multiply(x, splat(1)) >> x).when(...)

On the left an omitted attribute matches anything. On the right every attribute that the op has is given, or taken
over by `like=c` from a matched op, or has the op's default stated; else it is an error where the rule is written.
Patterns are immutable data: `lamina.passes.rules.matching` compiles them, the equation checker draws values for them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from lamina.dialects.rules.op_protocol import RuleOp, rule_op
from lamina.dialects.rules.patterns import (
    Alternatives,
    Composite,
    Constrained,
    ConstVar,
    Equation,
    OpPattern,
    Pattern,
    Splat,
    Var,
    Wildcard,
    _,
    as_pattern,
    caller,
)
from lamina.dialects.rules.values import AttrVar, Computed, Expr, RuleError, TypeExpr, computed

__all__ = [
    "Alternatives",
    "AttrVar",
    "Composite",
    "Computed",
    "ConstVar",
    "Constrained",
    "Equation",
    "Expr",
    "OpPattern",
    "Pattern",
    "RuleError",
    "Splat",
    "Term",
    "TypeExpr",
    "Var",
    "Wildcard",
    "_",
    "all_results",
    "as_pattern",
    "attr",
    "caller",
    "composite",
    "computed",
    "const",
    "detached",
    "insert",
    "inserting",
    "splat",
    "term",
    "var",
]

_builders: list[Builder] = []


@contextmanager
def inserting(builder: Builder) -> Generator[None]:
    """While it lasts, terms applied to SSA values insert the ops they make; else these stay detached."""
    _builders.append(builder)
    try:
        yield
    finally:
        _builders.pop()


@contextmanager
def detached() -> Generator[None]:
    """While it lasts, terms applied to SSA values make ops that stand nowhere."""
    suspended = _builders[:]
    _builders.clear()
    try:
        yield
    finally:
        _builders[:] = suspended


class Term:
    """An op as a word: see the module docstring."""

    __slots__ = ("op", "facts")

    def __init__(self, op: type[Operation]) -> None:
        self.op = op
        self.facts: RuleOp = rule_op(op)

    def __call__(self, *args: Any, like: Any = None, **attrs: Any) -> Any:
        for value in (like, *args, *attrs.values()):
            if isinstance(value, (Pattern, Expr, Equation)):
                return self.pattern(*args, like=like, **attrs)
        for value in args:
            if isinstance(value, (SSAValue, Operation)):
                return self.build(*args, like=like, **attrs)
        if not args and _builders:
            return self.build(**attrs)
        return self.compute(*args, **attrs)

    def pattern(self, *args: Any, like: Any = None, **attrs: Any) -> OpPattern:
        """The op applied to patterns. Raises RuleError for a wrong number of operands or an unknown attribute."""
        op, known = self.op, self.facts.known_attributes()
        for name in attrs:
            if name not in known:
                raise RuleError(f"{op.name} has no attribute {name!r}; it has {', '.join(known) or 'none'}")
        expected = self.facts.operand_count()
        if expected is not None and len(args) != expected:
            raise RuleError(f"{op.name} takes {expected} operands, got {len(args)}")
        if like is not None and not isinstance(like, Pattern):
            raise RuleError(f"like= takes a pattern of the left side, got {like!r}")
        return OpPattern(op, [as_pattern(a) for a in args], attrs, like)

    def build(self, *args: Any, like: Any = None, **attrs: Any) -> Any:
        """A new op, inserted by the current builder: its result, a tuple of them when there are several.

        A Python number among the operands is a scalar constant of the first tensor operand's element type.
        """
        if like is not None:
            source: Any = like.owner if isinstance(like, SSAValue) else like  # pyright: ignore[reportUnknownMemberType]
            known = self.facts.known_attributes()
            attrs = {n: a for n, a in source.properties.items() if n in known} | attrs
        values: list[Any] = [a.results[0] if isinstance(a, Operation) else a for a in args]
        given: list[SSAValue] = [v for v in values if isinstance(v, SSAValue)]
        operands: list[SSAValue] = [v if isinstance(v, SSAValue) else self._constant(v, given) for v in values]
        made = self.facts.make(*operands, **attrs)
        insert(made)
        return made.results[0] if len(made.results) == 1 else tuple(made.results)

    def _constant(self, number: Any, given: list[SSAValue]) -> SSAValue:
        if not given:
            raise TypeError(f"no element type for the constant {number!r}")
        op = self.facts.make_constant(number, given[0])
        insert(op)
        return op.results[0]

    def compute(self, *args: Any, **attrs: Any) -> Any:
        """The value by the numpy oracle."""
        return self.facts.oracle(args, attrs)

    def __repr__(self) -> str:
        return f"term({self.op.name})"


def all_results(found: Any) -> list[Any]:
    """The results of an oracle, as a list: ops with several results return a tuple."""
    return list(found) if isinstance(found, (tuple, list)) else [found]  # pyright: ignore[reportUnknownArgumentType]


def insert(op: Operation) -> None:
    """Insert an op where the innermost `inserting` says; outside of any it stays unattached."""
    if _builders:
        _builders[-1].insert(op)


def term(op: type[Operation]) -> Term:
    """The word for an op class."""
    return Term(op)


# -- variables and what else stands in rules --------------------------------------------------------


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
