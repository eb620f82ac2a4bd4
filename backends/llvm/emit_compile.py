"""Rows of the emitter's table, split once into closures.

A template is cut into literals, values (`{r}`, `{0}`, `{t0}` ...) and properties. Properties are spelled once for
each distinct set of attributes, which leaves a %-format with the values; the tuple of those is gathered by a
closure written out for the common arrangements, since every op of a kernel passes through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Operation

from lamina.backends.llvm.emit_rows import SPELLINGS, Row
from lamina.backends.llvm.emit_values import EmitError
from lamina.dialects.fast_ir import operands_of, type_of
from lamina.dialects.llvm_target import ops as llvm

if TYPE_CHECKING:
    from lamina.backends.llvm.emit import Emitter

Line = Callable[[Operation], str]
Gather = Callable[[Operation], tuple[str, ...]]
Function = Callable[[Operation], str]
"""Gives the name of the intrinsic that an op calls."""

_SLOT = re.compile(r"\{([^{}]*)\}")
_TYPED = re.compile(r"\{t(\d)\} \{\1\}")
_VALUE = re.compile(r"r|t|f|s|[tv]?\d|\d\|\w+")


class _Property(NamedTuple):
    spelling: str
    name: str


class Template(NamedTuple):
    """A row cut up: literals and properties in text order, a `%s` standing for each value."""

    parts: tuple[str | _Property, ...]
    values: tuple[str, ...]

    @staticmethod
    @cache
    def of(row: Row) -> Template:
        parts: list[str | _Property] = []
        values: list[str] = []
        # `{t0} {0}` is so common that values have that text ready: slot `v0`.
        for i, piece in enumerate(_SLOT.split(_TYPED.sub(r"{v\1}", "  " + row.template))):
            if i % 2 == 0:
                parts.append(piece.replace("%", "%%"))
            elif _VALUE.fullmatch(piece):
                parts.append("%s")
                values.append(piece)
            else:
                spelling, _, name = piece.partition(":")
                if spelling not in SPELLINGS:
                    raise ValueError(f"row '{row.template}': no spelling '{spelling}'")
                parts.append(_Property(spelling, name or spelling))
        return Template(tuple(parts), tuple(values))

    def format(self, op: Operation) -> str:
        """The %-format for the properties of `op`."""
        properties = op.properties
        known = {p.name for p in self.parts if isinstance(p, _Property)}
        for name in properties:
            if name not in known:
                raise EmitError(f"property '{name}' has no row")
        return "".join(
            p if isinstance(p, str) else SPELLINGS[p.spelling](properties.get(p.name)).replace("%", "%%")
            for p in self.parts
        )


def compile_row(emitter: Emitter, row: Row) -> Line:
    """A function from an op to its line of LLVM assembly, by one row of the table.

    It raises EmitError for a property that the row does not spell.
    """
    template = Template.of(row)
    gather = _gather(emitter, row, template)
    formats: dict[tuple[object, ...], str] = {}
    kept = emitter.kept

    def line(op: Operation) -> str:
        properties = op.properties
        key = (*properties, *map(id, properties.values())) if properties else ()
        form = formats.get(key)
        if form is None:
            form = formats[key] = template.format(op)
            # The key holds identities, so the attributes must outlive it.
            kept.extend(properties.values())
        return form % gather(op)

    return line


def _gather(emitter: Emitter, row: Row, template: Template) -> Gather:
    function = _intrinsic(emitter, row, template)
    common = COMMON.get(" ".join(template.values))
    return common(emitter, function) if common is not None else _any_arrangement(emitter, template, function)


def _two_operands(emitter: Emitter, function: Function) -> Gather:
    names, types = emitter.names, emitter.types

    def gather(op: Operation) -> tuple[str, ...]:
        a, b = operands_of(op)
        (r,) = op.results
        return names[id(r)], types[id(type_of(r))], names[id(a)], names[id(b)]

    return gather


def _load(emitter: Emitter, function: Function) -> Gather:
    names, typed, types = emitter.names, emitter.typed, emitter.types

    def gather(op: Operation) -> tuple[str, ...]:
        (a,) = operands_of(op)
        (r,) = op.results
        return names[id(r)], types[id(type_of(r))], typed[id(a)]

    return gather


def _store(emitter: Emitter, function: Function) -> Gather:
    typed = emitter.typed

    def gather(op: Operation) -> tuple[str, ...]:
        a, b = operands_of(op)
        return typed[id(a)], typed[id(b)]

    return gather


def _two_typed(emitter: Emitter, function: Function) -> Gather:
    names, typed = emitter.names, emitter.typed

    def gather(op: Operation) -> tuple[str, ...]:
        a, b = operands_of(op)
        (r,) = op.results
        return names[id(r)], typed[id(a)], typed[id(b)]

    return gather


def _three_typed(emitter: Emitter, function: Function) -> Gather:
    names, typed = emitter.names, emitter.typed

    def gather(op: Operation) -> tuple[str, ...]:
        a, b, c = operands_of(op)
        (r,) = op.results
        return names[id(r)], typed[id(a)], typed[id(b)], typed[id(c)]

    return gather


def _call_of_three(emitter: Emitter, function: Function) -> Gather:
    names, typed, types = emitter.names, emitter.typed, emitter.types

    def gather(op: Operation) -> tuple[str, ...]:
        a, b, c = operands_of(op)
        (r,) = op.results
        return names[id(r)], types[id(type_of(r))], function(op), typed[id(a)], typed[id(b)], typed[id(c)]

    return gather


COMMON: dict[str, Callable[[Emitter, Function], Gather]] = {
    "r t 0 1": _two_operands,
    "r t v0": _load,
    "v0 v1": _store,
    "r v0 v1": _two_typed,
    "r v0 v1 v2": _three_typed,
    "r t f v0 v1 v2": _call_of_three,
}
"""The common arrangements of values, written out by hand: a loop over getters costs three times as much."""


def _any_arrangement(emitter: Emitter, template: Template, function: Function) -> Gather:
    getters = [_getter(emitter, slot, function) for slot in template.values]
    arity = 1 + max((int(s.lstrip("tv")[0]) for s in template.values if s not in "rtfs"), default=-1)
    optional = any("|" in slot for slot in template.values)

    def gather(op: Operation) -> tuple[str, ...]:
        count = len(operands_of(op))
        if count != arity and not (optional and count == arity - 1):
            raise EmitError(f"takes {arity} operands, has {count}")
        return tuple([get(op) for get in getters])

    return gather


def _getter(emitter: Emitter, slot: str, function: Function) -> Callable[[Operation], str]:
    names, typed, types = emitter.names, emitter.typed, emitter.types
    if slot == "r":
        return lambda op: names[id(op.results[0])]
    if slot == "t":
        return lambda op: types[id(op.results[0].type)]
    if slot == "f":
        return function
    if slot == "s":
        return _space_of_result
    if slot[0] == "t":
        index = int(slot[1:])
        return lambda op: types[id(operands_of(op)[index].type)]
    if slot[0] == "v":
        index = int(slot[1:])
        return lambda op: typed[id(operands_of(op)[index])]
    place, _, default = slot.partition("|")
    index = int(place)
    if default:
        return lambda op: names[id(operands_of(op)[index])] if len(operands_of(op)) > index else default
    return lambda op: names[id(operands_of(op)[index])]


def _space_of_result(op: Operation) -> str:
    type_ = op.results[0].type
    space = type_.addr_space if isinstance(type_, llvm.LLVMPointerType) else None
    number = space.data if isinstance(space, IntAttr) else 0
    return f", addrspace({number})" if number else ""


def _intrinsic(emitter: Emitter, row: Row, template: Template) -> Function:
    """The mangled name of the row's intrinsic, declared at first use."""
    base, overload = row.intrinsic, row.overload
    # The types of immediates are in the template: `i1 {bool:isVolatile}`.
    immediates = re.findall(r"(i\d+) \{(?:bool|int):", row.template)
    known: dict[object, str] = {}
    kept = emitter.kept
    defaulted = "|" in "".join(template.values)

    def declared(op: Operation, key: object) -> str:
        arguments = [v.type for v in operands_of(op)]
        if defaulted and len(arguments) == 2:
            arguments.append(op.results[0].type)
        text = known[key] = emitter.intrinsic(base, overload, op, arguments, immediates)
        kept.extend(arguments)
        kept.extend(r.type for r in op.results)
        return text

    if overload == "r":

        def by_result(op: Operation) -> str:
            (r,) = op.results
            key = id(type_of(r))
            return known.get(key) or declared(op, key)

        return by_result

    def by_types(op: Operation) -> str:
        operands = operands_of(op)
        values = [op.results[0] if place == "r" else operands[int(place)] for place in overload]
        key = tuple([id(type_of(v)) for v in values])
        return known.get(key) or declared(op, key)

    return by_types
