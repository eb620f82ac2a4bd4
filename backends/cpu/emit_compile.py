"""Rows of the emitter's table, split once into closures.

A template is cut into literals, values (`{r}`, `{0}`, `{t0}` ...) and properties. Properties are spelled once for
each distinct set of attributes, which leaves a %-format with the values; the tuple of those is gathered by a
closure written out for the common arrangements, since every op of a kernel passes through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.ir import Operation, SSAValue

from lamina.backends.cpu.emit_rows import SPELLINGS, Row
from lamina.backends.cpu.emit_values import EmitError

if TYPE_CHECKING:
    from lamina.backends.cpu.emit import Emitter

Line = Callable[[Operation], str]
Gather = Callable[[Operation], tuple[str, ...]]

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""The operands as the tuple that the op holds; `op.operands` makes a new view each time."""

_SLOT = re.compile(r"\{([^{}]*)\}")
_VALUE = re.compile(r"r|t|f|t?\d|\d\|\w+")


class _Property(NamedTuple):
    spelling: str
    name: str


class Template(NamedTuple):
    """A row cut up: literals and properties in text order, a `%s` standing for each value."""

    parts: tuple[str | _Property, ...]
    values: tuple[str, ...]

    @staticmethod
    def of(row: Row) -> Template:
        parts: list[str | _Property] = []
        values: list[str] = []
        for i, piece in enumerate(_SLOT.split("  " + row.template)):
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

    def format(self, op: Operation, ignored: tuple[str, ...]) -> str:
        """The %-format for the properties of `op`."""
        properties = op.properties
        known = {p.name for p in self.parts if isinstance(p, _Property)}
        for name in properties:
            if name not in known and name not in ignored:
                raise EmitError(f"property '{name}' has no row")
        return "".join(
            p if isinstance(p, str) else SPELLINGS[p.spelling](properties.get(p.name)).replace("%", "%%")
            for p in self.parts
        )


def compile_row(emitter: Emitter, row: Row) -> Line:
    template = Template.of(row)
    gather = _gather(emitter, row, template)
    formats: dict[tuple[object, ...], str] = {}
    kept = emitter.kept
    ignored = row.ignored

    def line(op: Operation) -> str:
        properties = op.properties
        key = (*properties, *map(id, properties.values())) if properties else ()
        form = formats.get(key)
        if form is None:
            form = formats[key] = template.format(op, ignored)
            # The key holds identities, so the attributes must outlive it.
            kept.extend(properties.values())
        return form % gather(op)

    return line


def _gather(emitter: Emitter, row: Row, template: Template) -> Gather:
    names_of = emitter.values
    types = emitter.types
    new_type = emitter.type
    function = _intrinsic(emitter, row, template)

    def typ(value: SSAValue) -> str:
        type_ = value.type
        return types.get(id(type_)) or new_type(type_)

    arrangement = " ".join(template.values)
    # Written out by hand: a loop over getters costs three times as much.
    if arrangement == "r t 0 1":

        def two(op: Operation) -> tuple[str, ...]:
            a, b = operands_of(op)
            r = op.results[0]
            names = names_of()
            return names[id(r)], typ(r), names[id(a)], names[id(b)]

        return two
    if arrangement == "r t t0 0":

        def load(op: Operation) -> tuple[str, ...]:
            (a,) = operands_of(op)
            r = op.results[0]
            names = names_of()
            return names[id(r)], typ(r), typ(a), names[id(a)]

        return load
    if arrangement == "t0 0 t1 1":

        def store(op: Operation) -> tuple[str, ...]:
            a, b = operands_of(op)
            names = names_of()
            return typ(a), names[id(a)], typ(b), names[id(b)]

        return store
    if arrangement == "r t0 0 t1 1":

        def pair(op: Operation) -> tuple[str, ...]:
            a, b = operands_of(op)
            names = names_of()
            return names[id(op.results[0])], typ(a), names[id(a)], typ(b), names[id(b)]

        return pair
    if arrangement == "r t0 0 t1 1 t2 2":

        def triple(op: Operation) -> tuple[str, ...]:
            a, b, c = operands_of(op)
            names = names_of()
            r = op.results[0]
            return names[id(r)], typ(a), names[id(a)], typ(b), names[id(b)], typ(c), names[id(c)]

        return triple
    if arrangement == "r t f t0 0 t1 1 t2 2":

        def call3(op: Operation) -> tuple[str, ...]:
            a, b, c = operands_of(op)
            names = names_of()
            r = op.results[0]
            return (
                names[id(r)],
                typ(r),
                function(op),
                typ(a),
                names[id(a)],
                typ(b),
                names[id(b)],
                typ(c),
                names[id(c)],
            )

        return call3
    getters = [_getter(emitter, slot, typ, function) for slot in template.values]
    return lambda op: tuple([get(op) for get in getters])


def _getter(
    emitter: Emitter, slot: str, typ: Callable[[SSAValue], str], function: Callable[[Operation], str]
) -> Callable[[Operation], str]:
    names_of = emitter.values
    if slot == "r":
        return lambda op: names_of()[id(op.results[0])]
    if slot == "t":
        return lambda op: typ(op.results[0])
    if slot == "f":
        return function
    if slot[0] == "t":
        index = int(slot[1:])
        return lambda op: typ(operands_of(op)[index])
    place, _, default = slot.partition("|")
    index = int(place)
    if default:
        return lambda op: names_of()[id(operands_of(op)[index])] if len(operands_of(op)) > index else default
    return lambda op: names_of()[id(operands_of(op)[index])]


def _intrinsic(emitter: Emitter, row: Row, template: Template) -> Callable[[Operation], str]:
    """The mangled name of the row's intrinsic, declared at first use."""
    base, overload = row.intrinsic, row.overload
    # The types of immediates are in the template: `i1 {bool:isVolatile}`.
    immediates = re.findall(r"(i\d+) \{(?:bool|int):", row.template)
    known: dict[Any, str] = {}
    kept = emitter.kept
    defaulted = "|" in "".join(template.values)

    def name(op: Operation) -> str:
        if overload == "r":
            key: object = id(op.results[0].type)
        else:
            key = tuple(
                [id((op.results if p == "r" else operands_of(op))[0 if p == "r" else int(p)].type) for p in overload]
            )
        text = known.get(key)
        if text is None:
            arguments = [v.type for v in operands_of(op)]
            if defaulted and len(arguments) == 2:
                arguments.append(op.results[0].type)
            text = known[key] = emitter.intrinsic(base, overload, op, arguments, immediates)
            kept.extend(arguments)
            kept.extend(r.type for r in op.results)
        return text

    return name
