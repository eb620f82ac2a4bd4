"""Types that are not known yet while a function is built, and what its uses say they are.

`Nil` makes a list of something; `Cons(1, Nil)` says what. Until then the something is a type variable of our IR with a
name that no program has (`?3`). When the function is done, all of them are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.relay.value_types import AdtType, RefType, TypeVar, accepts, rebuild, substitute
from lamina.errors import InputError

UNKNOWN = TypeVar(StringAttr("unknown"))
"""The type of what nothing says the type of, where expressions are matched and rewritten as they are written."""


def is_known(type_: Attribute) -> bool:
    """Whether nothing in a type is UNKNOWN."""
    return type_ != UNKNOWN and not _mentions(type_, UNKNOWN)


class Unknowns:
    """The types that are not known yet in the functions of one module."""

    def __init__(self) -> None:
        self._known: dict[str, Attribute] = {}
        self.count = 0

    def fresh(self) -> TypeVar:
        """Another one."""
        self.count += 1
        return TypeVar(StringAttr(f"?{self.count}"))

    def instance(self, names: Sequence[str]) -> dict[str, Attribute]:
        """One for each type parameter."""
        return {n: self.fresh() for n in names}

    def resolve(self, type_: Attribute) -> Attribute:
        """A type with all that is known by now."""
        if not self._known:
            return type_

        def change(t: Attribute) -> Attribute | None:
            if isinstance(t, TypeVar):
                found = self._known.get(t.label.data)
                return None if found is None else self.resolve(found)
            if isinstance(t, FunctionType):
                inputs = [self.resolve(i) for i in t.inputs]
                return FunctionType.from_lists(inputs, self.spread([self.resolve(o) for o in t.outputs]))
            return None

        return rebuild(type_, change)

    @staticmethod
    def spread(outputs: Sequence[Attribute]) -> list[Attribute]:
        """The results of a function whose only one is a tuple: its fields."""
        first = outputs[0] if len(outputs) == 1 else None
        return list(first.types) if isinstance(first, TupleType) and len(first.types) != 1 else list(outputs)

    def is_open(self, type_: Attribute) -> bool:
        """Whether anything in a type is still unknown."""
        found = False

        def look(t: Attribute) -> Attribute | None:
            nonlocal found
            found = found or (isinstance(t, TypeVar) and t.label.data.startswith("?"))
            return None

        rebuild(self.resolve(type_), look)
        return found

    def unify(self, declared: Attribute, actual: Attribute) -> bool:
        """Let two types be the same one; a tensor of known extents may stand for one of unknown ones."""
        a, b = self.resolve(declared), self.resolve(actual)
        if a == b:
            return True
        for one, other in ((a, b), (b, a)):
            if isinstance(one, TypeVar) and one.label.data.startswith("?"):
                if _mentions(other, one):
                    return False
                self._known[one.label.data] = other
                return True
        if isinstance(a, FunctionType) and isinstance(b, FunctionType):
            return self._all(b.inputs.data, a.inputs.data) and self._outputs(a.outputs.data, b.outputs.data)
        if isinstance(a, AdtType) and isinstance(b, AdtType):
            return a.adt == b.adt and self._all(a.arguments.data, b.arguments.data)
        if isinstance(a, TupleType) and isinstance(b, TupleType):
            return self._all(a.types.data, b.types.data)
        if isinstance(a, RefType) and isinstance(b, RefType):
            return self.unify(a.value, b.value)
        return type(a) is TensorType and accepts(cast(Attribute, a), b, names=False)

    def _all(self, declared: Sequence[Attribute], actual: Sequence[Attribute]) -> bool:
        return len(declared) == len(actual) and all(map(self.unify, declared, actual))

    def _outputs(self, declared: Sequence[Attribute], actual: Sequence[Attribute]) -> bool:
        if len(declared) != len(actual):
            declared, actual = ([_together(side)] for side in (declared, actual))
        return self._all(declared, actual)

    def expect(self, declared: Attribute, actual: Attribute, what: str) -> None:
        """Let two types be the same one. Raises InputError that begins with what it is about."""
        if not self.unify(declared, actual):
            raise InputError(f"{what} is {self.resolve(declared)}, got {self.resolve(actual)}")

    def settle(self, op: Operation, where: str) -> None:
        """Replace the unknown types of an op and everything in it. Raises InputError for one that nothing says."""
        if not self.count:
            return
        for inner in op.walk():
            for value in (*inner.results, *(a for r in inner.regions for b in r.blocks for a in b.args)):
                self._settle(value, where)

    def _settle(self, value: SSAValue, where: str) -> None:
        found = self.resolve(value.type)
        if found == value.type and not self.is_open(found):
            return
        if self.is_open(found):
            raise InputError(
                f"the type {found} of a value in {where} is not known: nothing says what its type parameters are",
                hint="give a variable its type, or a call its type_args",
            )
        cast("Any", value)._type = found


def _together(types: Sequence[Attribute]) -> Attribute:
    from xdsl.dialects.builtin import ArrayAttr
    from xdsl.ir import TypeAttribute

    return types[0] if len(types) == 1 else TupleType(ArrayAttr([cast(TypeAttribute, t) for t in types]))


def _mentions(type_: Attribute, what: TypeVar) -> bool:
    found = False

    def look(t: Attribute) -> Attribute | None:
        nonlocal found
        found = found or t == what
        return None

    rebuild(type_, look)
    return found


def nesting(type_: Attribute) -> int:
    """The depth of nested tuple and function types."""
    inner: Sequence[Attribute] = ()
    if isinstance(type_, TupleType):
        inner = type_.types.data
    elif isinstance(type_, FunctionType):
        inner = (*type_.inputs, *type_.outputs)
    elif isinstance(type_, AdtType):
        inner = type_.arguments.data
    elif isinstance(type_, RefType):
        inner = (type_.value,)
    return 1 + max(map(nesting, inner), default=0)


def with_arguments(type_: Attribute, arguments: Mapping[str, Attribute]) -> Attribute:
    """A type where type parameters are what a use says; a function that gives a tuple has several results."""

    def change(t: Attribute) -> Attribute | None:
        if isinstance(t, FunctionType):
            sides = [[with_arguments(i, arguments) for i in side] for side in (t.inputs, t.outputs)]
            return FunctionType.from_lists(sides[0], Unknowns.spread(sides[1]))
        return None

    return substitute(rebuild(type_, change), arguments) if arguments else type_


__all__ = ["UNKNOWN", "Unknowns", "is_known", "nesting", "with_arguments"]
