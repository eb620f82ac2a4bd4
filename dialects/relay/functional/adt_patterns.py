"""Patterns of the cases of relay.match: the patterns, their text, and whether some cases cover every value.

    pattern := `_`                            anything
             | `%`                            anything, which the case's region takes as an argument
             | Name | Name(pattern, ...)      what a constructor made
             | (pattern, ...)                 a tuple

The arguments of the region are the `%` of its pattern from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.value_types import AdtType


@dataclass(frozen=True)
class Anything:
    """`_`"""


@dataclass(frozen=True)
class Variable:
    """`%`"""


@dataclass(frozen=True)
class Made:
    """`Name(fields)`"""

    constructor: str
    fields: tuple[Pattern, ...]


@dataclass(frozen=True)
class Fields:
    """`(fields)`"""

    fields: tuple[Pattern, ...]


Pattern: TypeAlias = "Anything | Variable | Made | Fields"

Constructors: TypeAlias = "Mapping[str, Sequence[Attribute]]"
"""The constructors of a data type with the types of their fields, type parameters replaced."""
Declared: TypeAlias = "Callable[[AdtType], Constructors]"
"""The constructors of a data type. Raises VerifyException where it is not declared."""

_TOKEN = re.compile(r"\s*([A-Za-z_][\w.]*|[%(),])")


def pattern_text(pattern: Pattern) -> str:
    """The text of a pattern."""
    if isinstance(pattern, Anything):
        return "_"
    if isinstance(pattern, Variable):
        return "%"
    fields = ", ".join(map(pattern_text, pattern.fields))
    if isinstance(pattern, Fields):
        return f"({fields})"
    return f"{pattern.constructor}({fields})" if pattern.fields else pattern.constructor


def parse_pattern(text: str) -> Pattern:
    """The pattern of a text. Raises VerifyException."""
    tokens: list[str] = []
    place = 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if found is None:
            raise VerifyException(f"{text!r} is no pattern")
        tokens.append(found[1])
        place = found.end()
    tokens.reverse()

    def pattern() -> Pattern:
        token = tokens.pop() if tokens else ""
        if token == "_":
            return Anything()
        if token == "%":
            return Variable()
        if token == "(":
            return Fields(fields())
        if not token or not (token[0].isalpha() or token[0] == "_"):
            raise VerifyException(f"{text!r} is no pattern")
        if tokens and tokens[-1] == "(":
            tokens.pop()
            return Made(token, fields())
        return Made(token, ())

    def fields() -> tuple[Pattern, ...]:
        found = [pattern()]
        while (token := tokens.pop() if tokens else "") == ",":
            found.append(pattern())
        if token != ")":
            raise VerifyException(f"{text!r} is no pattern")
        return tuple(found)

    found = pattern()
    if tokens:
        raise VerifyException(f"{text!r} is no pattern")
    return found


def variable_types(pattern: Pattern, type_: Attribute, declared: Declared) -> list[Attribute]:
    """The types of a pattern's variables from left to right. Raises VerifyException where it cannot fit the type."""
    if isinstance(pattern, Anything):
        return []
    if isinstance(pattern, Variable):
        return [type_]
    if isinstance(pattern, Fields):
        if not isinstance(type_, TupleType):
            raise VerifyException(f"the pattern {pattern_text(pattern)} is a tuple, the value a {type_}")
        types: Sequence[Attribute] = type_.types.data
        what = f"a tuple of {len(types)}"
    else:
        if not isinstance(type_, AdtType):
            raise VerifyException(
                f"the pattern {pattern_text(pattern)} takes apart a {type_}, which nothing constructs"
            )
        constructors = declared(type_)
        if pattern.constructor not in constructors:
            known = ", ".join(constructors)
            raise VerifyException(f"@{type_.adt.data} has no constructor {pattern.constructor}; it has {known}")
        types = constructors[pattern.constructor]
        what = f"{pattern.constructor}, which has {len(types)} fields"
    if len(types) != len(pattern.fields):
        raise VerifyException(f"the pattern {pattern_text(pattern)} has {len(pattern.fields)} fields for {what}")
    return [t for p, field in zip(pattern.fields, types, strict=True) for t in variable_types(p, field, declared)]


def missing_case(patterns: Sequence[Pattern], type_: Attribute, declared: Declared) -> Pattern | None:
    """A pattern of values that none of the cases fits, None where they cover all (Maranget's matrix algorithm)."""
    found = _uncovered([(p,) for p in patterns], (type_,), declared)
    return found[0] if found is not None else None


_Row: TypeAlias = "tuple[Pattern, ...]"


def _uncovered(rows: Sequence[_Row], types: Sequence[Attribute], declared: Declared) -> _Row | None:
    """Patterns, one for each type, of values that no row fits."""
    if not types:
        return None if rows else ()
    first, rest = types[0], types[1:]
    taken_apart = [row[0] for row in rows if isinstance(row[0], (Made, Fields))]
    if not taken_apart:
        found = _uncovered([row[1:] for row in rows], rest, declared)
        return None if found is None else (Anything(), *found)
    if isinstance(first, TupleType):
        fields: Sequence[Attribute] = first.types.data
        found = _uncovered(_inside(rows, None, len(fields)), (*fields, *rest), declared)
        return None if found is None else (Fields(found[: len(fields)]), *found[len(fields) :])
    assert isinstance(first, AdtType)
    for constructor, fields in declared(first).items():
        found = _uncovered(_inside(rows, constructor, len(fields)), (*fields, *rest), declared)
        if found is not None:
            return (Made(constructor, found[: len(fields)]), *found[len(fields) :])
    return None


def _inside(rows: Sequence[_Row], constructor: str | None, count: int) -> list[_Row]:
    """The rows over the fields of their first value, where a constructor (None: a tuple) has made it."""
    found: list[_Row] = []
    for head, *rest in rows:
        if isinstance(head, (Anything, Variable)):
            found.append((*[Anything()] * count, *rest))
        elif isinstance(head, Fields) or head.constructor == constructor:
            found.append((*head.fields, *rest))
    return found
