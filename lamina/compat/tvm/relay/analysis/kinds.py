"""Kinds of types, and values that a match forgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.functional import adt_patterns as patterns
from lamina.dialects.relay.value_types import AdtType, substitute
from lamina.errors import InputError
from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text.adt_to_ir import tuple_of
from lamina.frontends.tvm_text.unify import Unknowns, with_arguments


def check_kind(t: Any, mod: Any = None) -> ty.TypeKind:
    """The kind of a type. Raises InputError for one that is put together wrongly.

    With a module the data types have to be in it, with as many type parameters.
    """
    if isinstance(t, adt.TypeData):
        for constructor in t.constructors:
            for field in constructor.inputs:
                _values(field, mod, f"a field of {constructor.name_hint}")
        return ty.TypeKind.TypeData
    if isinstance(t, ty.TypeVar):
        return ty.TypeKind(t.kind)
    if isinstance(t, ty.GlobalTypeVar):
        return ty.TypeKind(t.kind)
    if isinstance(t, ty.TypeCall):
        if check_kind(t.func, mod) != ty.TypeKind.AdtHandle:
            raise InputError(f"{t.func} takes no type arguments")
        if mod is not None:
            data = mod.type_definitions.get(t.func)
            if data is None:
                raise InputError(f"there is no data type {t.func} in the module")
            if len(data.type_vars) != len(t.args):
                raise InputError(f"{t.func} has {len(data.type_vars)} type parameters, {len(t.args)} are given")
    elif not isinstance(t, (ty.TensorType, ty.TupleType, ty.FuncType, ty.RefType)):
        raise InputError(f"{type(t).__name__} is no type")
    for inner in ty.parts_of(t):
        _values(inner, mod, f"a part of {t}")
    return ty.TypeKind.Type


def _values(t: Any, mod: Any, what: str) -> None:
    found = check_kind(t, mod)
    if found != ty.TypeKind.Type:
        raise InputError(f"{what} is {t}, which is no type of values")


def unmatched_cases(match: adt.Match, mod: Any = None) -> list[adt.Pattern]:
    """Patterns of the values that no clause fits, empty where they cover all."""
    known: dict[str, adt.Constructor] = {}
    for clause in match.clauses:
        _constructors(clause.lhs, known)
    types = {c.belong_to.name_hint: c.type_data for c in known.values()}
    if mod is not None:
        types.update((g.name_hint, d) for g, d in mod.type_definitions.items())

    def declared(type_: AdtType) -> patterns.Constructors:
        data = types.get(type_.adt.data)
        if data is None:
            raise VerifyException(f"the data type {type_.adt.data} is not declared")
        given = dict(zip((v.name_hint for v in data.type_vars), type_.arguments, strict=True))
        return {c.name_hint: [substitute(ty.to_ir(t), given) for t in c.inputs] for c in data.constructors}

    rows = [_plain(c.lhs) for c in match.clauses]
    root = _type_of([c.lhs for c in match.clauses])
    found: list[adt.Pattern] = []
    while (missing := patterns.missing_case(rows, root, declared)) is not None:
        rows.append(missing)
        found.append(_named(missing, types))
    return found


def _constructors(pattern: adt.Pattern, found: dict[str, adt.Constructor]) -> None:
    if isinstance(pattern, adt.PatternConstructor):
        found[pattern.constructor.name_hint] = pattern.constructor
    for inner in getattr(pattern, "patterns", ()):
        _constructors(inner, found)


def _plain(pattern: adt.Pattern) -> patterns.Pattern:
    """The pattern of our IR; what a variable is called is nothing to whether it fits."""
    if isinstance(pattern, adt.PatternConstructor):
        return patterns.Made(pattern.constructor.name_hint, tuple(map(_plain, pattern.patterns)))
    if isinstance(pattern, adt.PatternTuple):
        return patterns.Fields(tuple(map(_plain, pattern.patterns)))
    return patterns.Anything()


def _type_of(column: Sequence[adt.Pattern]) -> Attribute:
    """The type of what patterns take apart, as far as they say it. Raises InputError where they contradict."""
    unknowns = Unknowns()

    def type_of(pattern: adt.Pattern) -> Attribute:
        inner = [type_of(p) for p in getattr(pattern, "patterns", ())]
        if isinstance(pattern, adt.PatternTuple):
            return tuple_of(inner)
        if not isinstance(pattern, adt.PatternConstructor):
            return unknowns.fresh()
        data = pattern.constructor.type_data
        if data is None:
            raise InputError(f"the constructor {pattern.constructor} belongs to no data type that is declared")
        arguments = unknowns.instance([v.name_hint for v in data.type_vars])
        for field, found in zip(pattern.constructor.inputs, inner, strict=True):
            unknowns.expect(with_arguments(ty.to_ir(field), arguments), found, f"a field of {pattern.constructor}")
        return AdtType.of(data.header.name_hint, *arguments.values())

    whole = unknowns.fresh()
    for pattern in column:
        unknowns.expect(whole, type_of(pattern), "what is matched")
    return unknowns.resolve(whole)


def _named(pattern: patterns.Pattern, types: Any) -> adt.Pattern:
    if isinstance(pattern, patterns.Made):
        constructor = next(
            c for d in types.values() if d is not None for c in d.constructors if c.name_hint == pattern.constructor
        )
        return adt.PatternConstructor(constructor, [_named(p, types) for p in pattern.fields])
    if isinstance(pattern, patterns.Fields):
        return adt.PatternTuple([_named(p, types) for p in pattern.fields])
    return adt.PatternWildcard()


__all__ = ["check_kind", "unmatched_cases"]
