"""Patterns of what is more than an op on values: calls of any callee, tuples, branches, functions, whole regions.

They complete `lamina.dialects.rules.patterns` to TVM's node kinds, and are written with the words of
`lamina.passes.rules.dataflow_pattern`. In SSA form every value is bound by a let: `LetPattern(v, value, body)`
matches what `body` matches if `value` matches what `v` stands for there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects.rules.op_protocol import rule_op
from lamina.dialects.rules.patterns import Constrained, ConstVar, OpPattern, Pattern, Var, Wildcard, as_pattern
from lamina.dialects.rules.values import RuleError


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

    def __init__(self, op: type[Operation]) -> None:
        self.name = ""
        self.op = op

    def __call__(self, *args: Any, **attrs: Any) -> Pattern:
        return op_pattern(self.op, args, attrs)

    def has_attr(self, attrs: dict[str, Any]) -> Pattern:
        return Constrained(self, "has_attr", dict(attrs))

    def __repr__(self) -> str:
        return self.op.name.removeprefix("relay.")


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


def op_pattern(op: type[Operation], args: Sequence[Any], attrs: dict[str, Any] | None = None) -> OpPattern:
    """An op applied to patterns; numbers and lists as `lamina.passes.rules.dataflow_pattern` says. Raises RuleError."""
    known = rule_op(op).known_attributes()
    for name in attrs or {}:
        if name not in known:
            raise RuleError(f"{op.name} has no attribute {name!r}; it has {', '.join(known) or 'none'}")
    expected = rule_op(op).operand_count()
    if len(args) == 1 and args[0] is None:
        return _open(op, attrs)
    patterns = [as_pattern(a) for a in args]
    if expected is None:
        if len(patterns) == 1 and isinstance(patterns[0], TuplePattern):
            fields = patterns[0].fields
            return _open(op, attrs) if fields is None else OpPattern(op, fields, attrs or {})
        if len(patterns) == 1 and _is_plain(patterns[0]):
            return _open(op, attrs)
    elif len(patterns) > expected and all(map(_is_plain, patterns[expected:])):
        patterns = patterns[:expected]
    elif len(patterns) != expected:
        raise RuleError(f"{op.name} takes {expected} operands, got {len(patterns)}")
    return OpPattern(op, patterns, attrs or {})


def _open(op: type[Operation], attrs: dict[str, Any] | None) -> OpPattern:
    made = OpPattern(op, (), attrs or {})
    made.any_args = True
    return made


def _is_plain(p: Pattern) -> bool:
    """Whether it says nothing that a number could not be."""
    return isinstance(p, (Wildcard, ConstVar)) or (isinstance(p, Var) and p.target is None)


def followed(pattern: Pattern) -> Sequence[Pattern]:
    """The sub-patterns, redirections included."""
    if isinstance(pattern, Var) and pattern.target is not None:
        return (pattern.target,)
    return pattern.children()


def identity(pattern: Pattern) -> Pattern:
    """The key of a pattern where bindings are kept: results of one op share theirs."""
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
