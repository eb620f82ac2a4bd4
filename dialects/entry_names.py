"""Names that the user gave to the arguments and results of a function, and the level that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, StringAttr
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.value_names import NAME


def level_of(op: Operation) -> str:
    """The level that a function's (or module's) ops belong to: relay, te, tir or llvm."""
    for inner in op.walk():
        dialect = inner.name.partition(".")[0]
        if dialect in ("relay", "te", "tir", "llvm"):
            return dialect
    if isinstance(op, MainOp) and any(isinstance(t, MemRefType) for t in op.function_type.inputs):
        return "tir"
    return "relay"


def argument_names(function: Operation, values: Sequence[SSAValue]) -> list[str]:
    """The user's names of the arguments of a function."""
    attrs = attrs_of(function, "arg_attrs", len(values))
    return unique(
        [given_name(a) or v.name_hint or f"arg{n}" for n, (a, v) in enumerate(zip(attrs, values, strict=True))]
    )


def result_names(function: Operation, count: int, values: Sequence[SSAValue] = ()) -> list[str]:
    """The user's names of the results of a function."""
    attrs = attrs_of(function, "res_attrs", count)
    hints = [v.name_hint for v in values] if values else [None] * count
    return unique([given_name(a) or hints[n] or f"out{n}" for n, a in enumerate(attrs)])


def attrs_of(function: Operation, name: str, count: int) -> list[Attribute | None]:
    """The attributes of the arguments (`arg_attrs`) or results (`res_attrs`); Nones where there are not `count`."""
    attrs = function.get_attr_or_prop(name)
    found: list[Attribute | None] = []
    if isinstance(attrs, ArrayAttr):
        found.extend(cast(ArrayAttr[Attribute], attrs))
    return found if len(found) == count else [None] * count


def given_name(attr: Attribute | None) -> str | None:
    """The user's name in the attributes of an argument or result; None where it has none."""
    name = attr.data.get(NAME) if isinstance(attr, DictionaryAttr) else None
    return name.data if isinstance(name, StringAttr) else None


def unique(names: list[str]) -> list[str]:
    """The names in order; the second and further ones of a name get _1, _2, ..., as far as no other has that name."""
    taken = set(names)
    numbers: dict[str, Iterator[int]] = {}
    found: dict[str, None] = {}
    for name in names:
        if name in found:
            following = numbers.setdefault(name, count(1))
            name = next(numbered for n in following if (numbered := f"{name}_{n}") not in taken)
        found[name] = None
    return list(found)


def named_attrs(attrs: Attribute | None, names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    """The attributes of arguments or results, with the name that each goes by; those beyond `attrs` have no others."""
    given = cast("ArrayAttr[DictionaryAttr]", attrs).data if isinstance(attrs, ArrayAttr) else ()
    known = [*given, *(DictionaryAttr({}) for _ in range(len(names) - len(given)))]
    return ArrayAttr([DictionaryAttr({**a.data, NAME: StringAttr(name)}) for a, name in zip(known, names, strict=True)])
