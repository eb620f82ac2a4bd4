"""Patterns of what is more than an op on values: calls of any callee, tuples, branches, functions, whole regions.

They complete `lamina.dialects.rules.patterns` to TVM's node kinds, and are written with the words of
`lamina.dialects.rules.dataflow_pattern`. In SSA form every value is bound by a let: `LetPattern(v, value, body)`
matches what `body` matches if `value` matches what `v` stands for there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import SSAValue

from lamina.dialects.relay.base import RelayOp
from lamina.dialects.rules.patterns import Constrained, OpPattern, Pattern, RuleError, Var, as_pattern


class InputVar(Pattern):
    """A parameter of a function, by its name if one is given (`is_var`)."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"is_var({self.name!r})" if self.name else "is_var()"


class SameAs(Pattern):
    """A value that is computed in the same way as a given one: the same ops, attributes, constants and inputs.

    Inputs are the same when they are one value, or where `same_input` says so of inputs of two programs.
    """

    __slots__ = ("same_input", "value")

    def __init__(self, value: SSAValue, same_input: Callable[[SSAValue, SSAValue], bool] | None = None) -> None:
        self.name = ""
        self.value = value
        self.same_input = same_input

    def __repr__(self) -> str:
        return f"is_expr(%{self.value.name_hint or '_'})"


class OpWord(Pattern):
    """An op by itself, without operands: applied to patterns it is an `OpPattern`."""

    __slots__ = ("op",)

    def __init__(self, op: type[RelayOp]) -> None:
        self.name = ""
        self.op = op

    def __call__(self, *args: Any, **attrs: Any) -> Pattern:
        from lamina.dialects.rules.dataflow_pattern import op_pattern

        return op_pattern(self.op, args, attrs)

    def has_attr(self, attrs: dict[str, Any]) -> Pattern:
        return Constrained(self, "has_attr", dict(attrs))

    def __repr__(self) -> str:
        return self.op.name.removeprefix("relay.")


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


class TuplePattern(Pattern):
    """A tuple of these fields, of any where None."""

    __slots__ = ("fields",)

    def __init__(self, fields: Sequence[Any] | None) -> None:
        self.name = ""
        self.fields = None if fields is None else tuple(map(as_pattern, fields))

    def children(self) -> Sequence[Pattern]:
        return self.fields or ()

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.fields))})" if self.fields is not None else "(...)"


class ItemPattern(Pattern):
    """A field of a tuple, or a result of an op with several; of any number where the index is None."""

    __slots__ = ("tuple_", "index")

    def __init__(self, tuple_: Pattern, index: int | None) -> None:
        self.name = ""
        self.tuple_ = tuple_
        self.index = index

    def children(self) -> Sequence[Pattern]:
        return (self.tuple_,)

    def __repr__(self) -> str:
        return f"{self.tuple_!r}.{'*' if self.index is None else self.index}"


class IfPattern(Pattern):
    """A branch: its condition and what the two sides yield."""

    __slots__ = ("parts",)

    def __init__(self, condition: Any, then: Any, otherwise: Any) -> None:
        self.name = ""
        self.parts = (as_pattern(condition), as_pattern(then), as_pattern(otherwise))

    def children(self) -> Sequence[Pattern]:
        return self.parts

    def __repr__(self) -> str:
        return "if({!r}, {!r}, {!r})".format(*self.parts)


class LetPattern(Pattern):
    """See the module docstring."""

    __slots__ = ("variable", "value", "body")

    def __init__(self, variable: Pattern, value: Any, body: Any) -> None:
        self.name = ""
        self.variable = variable
        self.value = as_pattern(value)
        self.body = as_pattern(body)
        if variable not in reachable(self.body):
            raise RuleError(f"the body {self.body!r} of is_let does not use {variable!r}: match the body alone")

    def children(self) -> Sequence[Pattern]:
        return (self.body, self.variable, self.value)

    def __repr__(self) -> str:
        return f"let({self.variable!r}, {self.value!r}, {self.body!r})"


class FunctionPattern(Pattern):
    """A local function: its parameters (any where None) and what it returns."""

    __slots__ = ("params", "body")

    def __init__(self, params: Sequence[Pattern] | None, body: Any) -> None:
        self.name = ""
        self.params = None if params is None else tuple(params)
        self.body = as_pattern(body)

    def children(self) -> Sequence[Pattern]:
        return (*(self.params or ()), self.body)

    def __repr__(self) -> str:
        params = "..." if self.params is None else ", ".join(map(repr, self.params))
        return f"fn({params}) {self.body!r}"


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


def followed(pattern: Pattern) -> Sequence[Pattern]:
    """The sub-patterns, redirections included."""
    if isinstance(pattern, Var) and pattern.target is not None:
        return (pattern.target,)
    return pattern.children()


def identity(pattern: Pattern) -> Pattern:
    """What stands for the pattern where bindings are kept: results of one op share theirs."""
    return pattern.origin if isinstance(pattern, OpPattern) else pattern


def reachable(pattern: Pattern, without: frozenset[Pattern] = frozenset()) -> dict[Pattern, None]:
    """A pattern and all that it is made of, parts before what they are parts of; not entering `without`."""
    order: dict[Pattern, None] = {}
    seen: set[Pattern] = set()
    stack: list[tuple[Pattern, bool]] = [(pattern, False)]
    while stack:
        p, done = stack.pop()
        if done:
            order[p] = None
        elif p not in seen and p not in without:
            seen.add(p)
            stack.append((p, True))
            stack.extend((c, False) for c in reversed(followed(p)))
    return order
