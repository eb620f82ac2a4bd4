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

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from lamina.dialects.relay.base import RelayOp, arity, from_attribute
from lamina.dialects.rules.patterns import (
    Alternatives,
    AttrVar,
    Composite,
    Computed,
    Constrained,
    ConstVar,
    Equation,
    Expr,
    OpPattern,
    Pattern,
    RuleError,
    Splat,
    TypeExpr,
    Var,
    Wildcard,
    _,
    as_pattern,
    attr,
    caller,
    composite,
    computed,
    const,
    splat,
    var,
)

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array

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
    "compute",
    "computed",
    "const",
    "detached",
    "insert",
    "inserting",
    "scalar_constant",
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

    __slots__ = ("op",)

    def __init__(self, op: type[RelayOp]) -> None:
        self.op = op

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
        op = self.op
        known = op.get_irdl_definition().properties
        for name in attrs:
            if name not in known:
                raise RuleError(f"{op.name} has no attribute {name!r}; it has {', '.join(known) or 'none'}")
        expected = arity(op)
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
            known = self.op.get_irdl_definition().properties
            attrs = {n: a for n, a in source.properties.items() if n in known} | attrs
        values: list[Any] = [a.results[0] if isinstance(a, Operation) else a for a in args]
        given: list[SSAValue] = [v for v in values if isinstance(v, SSAValue)]
        first = given[0] if given else None
        operands: list[SSAValue] = [v if isinstance(v, SSAValue) else scalar_constant(v, first) for v in values]
        made = self.op.make(*operands, **attrs)
        insert(made)
        return made.results[0] if len(made.results) == 1 else tuple(made.results)

    def compute(self, *args: Any, **attrs: Any) -> Any:
        """The value by the numpy oracle."""
        return compute(self.op, args, attrs)

    def __repr__(self) -> str:
        return f"term({self.op.name})"


def compute(op: type[RelayOp], arrays: Sequence[Array | float], attrs: dict[str, Any]) -> Any:
    """`np_ref` with the op's defaults filled in, quietly."""
    import numpy as np

    given = {n: from_attribute(a) for n, a in op.defaults().items()} | {k: v for k, v in attrs.items() if v is not None}
    with np.errstate(all="ignore"):
        return op.np_ref(*(np.asarray(a) for a in arrays), **given)  # type: ignore[attr-defined]


def all_results(found: Any) -> list[Any]:
    """What an oracle returned, as a list: ops with several results return a tuple."""
    return list(found) if isinstance(found, (tuple, list)) else [found]  # pyright: ignore[reportUnknownArgumentType]


def insert(op: Operation) -> None:
    if _builders:
        _builders[-1].insert(op)


def scalar_constant(number: Any, like: SSAValue | None) -> SSAValue:
    """A rank 0 constant of the element type of another value."""
    from lamina.dialects.dtypes import dtype_name, numpy_dtype
    from lamina.dialects.lazy import np
    from lamina.dialects.relay.core import ConstantOp
    from lamina.dialects.relay.params import array_dense

    if like is None:
        raise TypeError(f"no element type for the constant {number!r}")
    type_: Any = like.type
    dtype = numpy_dtype(dtype_name(type_.element_type))
    op = ConstantOp.make(array_dense(np.asarray(number).astype(dtype)))
    insert(op)
    return op.result


def term(op: type[RelayOp]) -> Term:
    """The word for an op class."""
    return Term(op)
