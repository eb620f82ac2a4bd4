"""Extents of a model's inputs: numbers that are given, and symbols where there is a range, or any size may come.

    dimensions = Dimensions([OpenInput("x", ("batch", "seq", None))], {"batch": 8, "seq": "1..512"}, True, Findings())
    dimensions.extent("x", 0, "batch")      # 8, a symbol, None where nothing says it

Exporters name an extent `past + 1` that is so long. Where nothing is said of a symbol and nodes need it to be as long
as another extent, as a mask is to what it masks, it is that extent: the model is read again with what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.utils.exceptions import ParseError

from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.index.symbol_forms import extent_text, form_of, symbols_of
from lamina.dialects.index.symbol_range import ANY, SymbolRange
from lamina.dialects.index.symbol_ranges import narrowed, parse_range, range_text, range_under
from lamina.dialects.index.symbols import USUAL, Guard, Symbols
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError, did_you_mean, shown

MOST_FOUND = 8
"""Ranges that are found by reading a model again."""


class OpenInput(NamedTuple):
    """An input and its dimensions: None for a number, the name or form of one that is open, which may be empty."""

    name: str
    dims: tuple[str | None, ...]


class FoundError(UnsupportedError):
    """Nodes need a symbol of which nothing is said to be another extent, or to have less values."""

    def __init__(self, name: str, found: Linear | SymbolRange) -> None:
        is_form = isinstance(found, Linear)
        super().__init__(f"needs {name} == {extent_text(found)}" if is_form else f"needs {range_text(name, found)}")
        self.name = name
        self.found = found


class Findings:
    """Forms and ranges that earlier readings of a model have found of its symbols."""

    def __init__(self) -> None:
        self.forms: dict[str, Linear] = {}
        """Symbols that are other extents."""
        self.ranges: dict[str, SymbolRange] = {}
        """Symbols that have less values."""
        self.count = 0
        """So many ranges were found."""
        self.hints = list(USUAL)
        """Values by which questions about symbols are answered, this reading's first: of a model with short tables the
        larger ones are none that fit."""
        self._refused: LaminaError | None = None

    def take(self, error: LaminaError, dimensions: Dimensions) -> None:
        """Take the error of a reading. Raises that of the first where no other one may lead further."""
        if isinstance(error, FoundError) and self.add(error):
            return
        cause = error.__cause__ if isinstance(error, FoundError) else None
        self._refused = self._refused or (cause if isinstance(cause, LaminaError) else error)
        if not dimensions.is_any or not self.start_again():
            raise self._refused from None

    def start_again(self) -> bool:
        """Forget what was found, and answer by smaller values. Returns whether there are such."""
        self.forms, self.ranges, self.count = {}, {}, 0
        self.hints.pop(0)
        return bool(self.hints)

    def add(self, error: FoundError) -> bool:
        """Take what a reading has found. Returns whether another one may lead further."""
        if isinstance(error.found, SymbolRange):
            self.count += 1
            if self.count > MOST_FOUND or self.ranges.get(error.name) == error.found:
                return False
            self.ranges[error.name] = error.found
        else:
            # What was found before may be over this one.
            self.forms = {name: form.substitute({error.name: error.found}) for name, form in self.forms.items()}
            self.forms[error.name] = error.found
        return True


class Dimensions:
    """The extents of inputs by the names that the model gives them, or by place where it gives none."""

    def __init__(
        self, inputs: Sequence[OpenInput], shapes: Mapping[str, Any], any_size: bool, found: Findings,
        stated: Mapping[str, SymbolRange] | None = None,
    ) -> None:  # fmt: skip
        """`shapes` are as users give them; with `any_size` what they leave out may have any size, of those `stated` by
        the model only what it says."""
        self.inputs = inputs
        self.shapes = {n: parse_range(given) if isinstance(given, str) else given for n, given in shapes.items()}
        ranges = dict(self._open(any_size, stated or {}))
        taken = {given.name for given in inputs}
        known: dict[str, SymbolRange] = {}
        self._said: set[str] = set()
        """Symbols of which users have said something."""
        self._forms = {n: constant(given) for n, given in self.shapes.items() if isinstance(given, int)}
        """Of the dimensions that have names of their own, what they are over the symbols."""
        for key, range_ in ranges.items():
            if range_.min == range_.max:
                self._forms[key] = constant(range_.min)
            elif _written_form(key, ranges) is None:
                name = _symbol(key, taken)
                taken.add(name)
                known[name] = found.ranges.get(name, range_)
                if key in self.shapes and not range_.says_nothing:
                    self._said.add(name)
                self._forms[key] = found.forms.get(name, Linear.dim(name))
        free = {n: r for n, r in known.items() if n not in found.forms}
        hints = {n: found.hints[0] + 2 * k for k, n in enumerate(free) if n not in self._said}
        self.symbols = Symbols(free, hints if found.hints[0] != USUAL[0] else None) if known else None
        """None where all are numbers."""
        if self.symbols is not None:
            self.symbols.takes_guards = True

    def _open(self, any_size: bool, stated: Mapping[str, SymbolRange]) -> Iterator[tuple[str, SymbolRange]]:
        """The dimensions that are no numbers, with their ranges."""
        yield from ((n, given) for n, given in self.shapes.items() if isinstance(given, SymbolRange))
        for given in self.inputs if any_size else ():
            if given.name in self.shapes:
                continue
            for axis, dim in enumerate(given.dims):
                if dim is not None and (key := _key(given.name, axis, dim)) not in self.shapes:
                    yield key, stated.get(key, ANY)

    def check_names(self, label: str) -> None:
        """Raise UsageError where a shape is given for what is neither an input nor a dimension of one."""
        known = [i.name for i in self.inputs if i.name] + sorted({d for i in self.inputs for d in i.dims if d})
        for name in self.shapes:
            if name not in known:
                hint = did_you_mean(name, known) or f"the inputs are {', '.join(map(shown, known[:8]))}"
                raise UsageError(f"a shape is given for {shown(name)}, which is no input", where=label, hint=hint)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the symbols."""
        return tuple(self.symbols.known) if self.symbols is not None else ()

    @property
    def is_any(self) -> bool:
        """Whether there are symbols of which users have said nothing."""
        return self.symbols is not None and not self.symbols.known.keys() <= self._said

    def extent(self, name: str, axis: int, dim: str) -> int | None:
        """The number of an open dimension of the input of that name, None where nothing says it."""
        key = _key(name, axis, dim)
        form = self._forms.get(key)
        if form is None:
            written = _written_form(key, self._forms)
            form = written.substitute(self._forms) if written is not None else None  # type: ignore[arg-type]
        if form is None or form.is_constant and form.const < 0:
            return None
        return self.symbols.number(form) if self.symbols is not None else form.const

    @property
    def guards(self) -> list[Guard]:
        """The conditions under which questions about the symbols were answered so far."""
        return self.symbols.guards if self.symbols is not None else []

    def narrowed(self, where: str) -> Symbols:
        """The symbols for whose values the nodes so far do what was imported.

        Raises LaminaError where none say it, FoundError where one is another extent.
        """
        assert self.symbols is not None
        for guard in self.symbols.guards:
            self._unify(guard)
        try:
            declared = {n: r for n, r in self.symbols.known.items() if n in self._said}
            return narrowed(self.symbols, declared, [*map(self._beyond, self.symbols.guards)])
        except (UnsupportedError, InputError) as e:
            raise type(e)(e.what, where=where, hint=e.hint) from None

    def _beyond(self, guard: Guard) -> Guard:
        """`n >= 2` for `n != 1`, where nothing is said of n: what is left out has programs of its own."""
        names = symbols_of(guard.form)
        free = guard.kind == "ne" and not guard.taken and len(names) == 1 and names[0] not in self._said
        if not free or [*guard.form.terms.values()] not in ([1], [-1]):
            return guard
        return Guard((guard.form if guard.form.terms.get(names[0]) == 1 else -guard.form) - 1, "ge")

    def refused(self, count: int, error: LaminaError) -> None:
        """Try another answer for a node that fits for none so far: raises FoundError where, of the questions after the
        first `count`, one was whether a symbol is another extent, or the last was answered by a part of its values."""
        asked = self.guards[count:]
        for n, guard in enumerate(reversed(asked)):
            if guard.kind == "ne":
                self._unify(guard.negated(), error)
            elif n == 0 and self.symbols is not None:
                found = range_under(guard.negated(), self.symbols.known)
                if found is not None and found[0] not in self._said:
                    raise FoundError(*found) from error

    def _unify(self, guard: Guard, error: LaminaError | None = None) -> None:
        """Raises FoundError for `n == m + 1` where nothing is said of n."""
        if guard.kind != "eq" or guard.taken or len(symbols_of(guard.form)) < 2:
            return
        assert self.symbols is not None
        for name, coefficient in reversed(guard.form.terms.items()):
            if isinstance(name, str) and name in self.symbols.known.keys() - self._said and abs(coefficient) == 1:
                rest = Linear({a: c for a, c in guard.form.terms.items() if a != name}, guard.form.const)
                if name not in symbols_of(rest):
                    raise FoundError(name, rest * -coefficient) from error


def _key(where: str, axis: int, dim: str) -> str:
    """The name of a dimension: the model's, or one by its place."""
    return dim or f"{where}[{axis}]"


def _written_form(key: str, known: Mapping[str, Any]) -> Linear | None:
    """The form that the name of a dimension is, over names of others; None for a name of its own."""
    try:
        form = form_of(key)
    except ParseError:
        return None
    names = symbols_of(form)
    return form if names and names != [key] and all(n in known for n in names) else None


def _symbol(key: str, taken: set[str]) -> str:
    """A name for a symbol that texts can have, the dimension's own where it is one; sizes and arrays share names."""
    name = re.sub(r"\W+", "_", key).rstrip("_")
    while name in taken or not _is_plain(name):
        name = f"{name}_" if name[:1].isalpha() else f"d{name}"
    return name


def _is_plain(name: str) -> bool:
    try:
        return form_of(name) == Linear.dim(name)
    except ParseError:
        return False
