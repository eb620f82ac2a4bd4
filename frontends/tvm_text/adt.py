"""Data types and their values taken apart, as expressions: `TypeData`, `Constructor`, `Match`, clauses, patterns.

a = relay.TypeVar("a")
tree = relay.GlobalTypeVar("Tree")
node = relay.Constructor("Node", [a, tree(a), tree(a)], tree)
leaf = relay.Constructor("Leaf", [], tree)
mod[tree] = relay.TypeData(tree, [a], [node, leaf])

relay.Match(x, [relay.Clause(relay.PatternConstructor(node, [relay.PatternVar(v), ...]), v), ...])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lamina.errors import UsageError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text import ty


class Constructor(e.Expr):
    """Makes values of a data type: a call of it, or a function where one is wanted."""

    def __init__(self, name_hint: str, inputs: Sequence[ty.Type], belong_to: ty.GlobalTypeVar) -> None:
        self.name_hint = name_hint
        self.inputs = list(inputs)
        self.belong_to = belong_to
        self.type_data: TypeData | None = None
        """The declaration, once there is one."""

    @property
    def tag(self) -> int:
        """Its place among the constructors of its type, -1 where that is not declared."""
        found = self.type_data.constructors if self.type_data is not None else []
        return next((n for n, c in enumerate(found) if c is self), -1)

    def __repr__(self) -> str:
        return self.name_hint

    __str__ = __repr__


class TypeData(ty.Type):
    """The declaration of a data type: its name, its type parameters, its constructors."""

    def __init__(
        self, header: ty.GlobalTypeVar, type_vars: Sequence[ty.TypeVar], constructors: Sequence[Constructor]
    ) -> None:
        self.header = header
        self.type_vars = list(type_vars)
        self.constructors = list(constructors)
        names = [c.name_hint for c in self.constructors]
        if len(set(names)) != len(names):
            raise UsageError(f"a constructor of {header.name_hint} is declared twice")
        for c in self.constructors:
            if c.belong_to != header:
                raise UsageError(f"{c.name_hint} belongs to {c.belong_to}, not to {header}")
            c.type_data = self

    def __str__(self) -> str:
        return type_data_text(self)

    __repr__ = __str__


def type_data_text(data: TypeData) -> str:
    """`type List[A] { Cons(A, List[A]), Nil }`."""
    parameters = ty.parameters_text(data.type_vars).rstrip()
    cases = [
        f"  {c.name_hint}" + (f"({', '.join(map(ty.type_text, c.inputs))})" if c.inputs else "")
        for c in data.constructors
    ]
    head = f"type {data.header.name_hint}{parameters}"
    return f"{head} {{\n" + ",\n".join(cases) + (",\n" if cases else "") + "}\n"


class Pattern:
    """Base of what a clause fits."""


class PatternWildcard(Pattern):
    """Anything: `_`."""


class PatternVar(Pattern):
    """Anything, by a name."""

    def __init__(self, var: e.Var) -> None:
        self.var = var


class PatternConstructor(Pattern):
    """A pattern of a constructor's value whose fields fit patterns."""

    def __init__(self, constructor: Constructor, patterns: Sequence[Pattern] | None = None) -> None:
        self.constructor = constructor
        self.patterns = list(patterns or ())


class PatternTuple(Pattern):
    """A tuple of fields that fit patterns."""

    def __init__(self, patterns: Sequence[Pattern] | None = None) -> None:
        self.patterns = list(patterns or ())


def pattern_vars(pattern: Pattern) -> Iterator[e.Var]:
    """The variables of a pattern from left to right."""
    if isinstance(pattern, PatternVar):
        yield pattern.var
    elif isinstance(pattern, (PatternConstructor, PatternTuple)):
        for p in pattern.patterns:
            yield from pattern_vars(p)


class Clause:
    """A case: a pattern, and what the match gives where it fits."""

    def __init__(self, lhs: Pattern, rhs: Any) -> None:
        if not isinstance(lhs, Pattern):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"a clause begins with a pattern, not with {type(lhs).__name__}")
        self.lhs = lhs
        self.rhs: e.Expr = e.as_expr(rhs)


class Match(e.Expr):
    """The value of the first clause that fits. A complete one has a clause for every value."""

    def __init__(self, data: Any, clauses: Sequence[Clause], complete: bool = True, span: Any = None) -> None:
        self.data = e.as_expr(data)
        self.clauses = list(clauses)
        self.complete = complete
        if span is not None:
            self.span = span


__all__ = [
    "Clause", "Constructor", "Match", "Pattern", "PatternConstructor", "PatternTuple", "PatternVar",
    "PatternWildcard", "TypeData", "pattern_vars",
]  # fmt: skip
