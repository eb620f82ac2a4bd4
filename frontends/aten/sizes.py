"""Sizes of a program of torch's that were left open, as numbers over symbols.

torch says each as an expression of sympy, `Mul(Integer(2), Symbol('s17', positive=True, integer=True))`. It is read as
Python's syntax, of which only calls of the functions here have a meaning; nothing is evaluated by Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, reduce
from math import prod
from typing import Any, NamedTuple

from lamina.dialects.index.symbol_forms import extent_text
from lamina.dialects.index.symbol_range import ANY, MOST, SymbolRange
from lamina.dialects.index.symbol_ranges import values_text
from lamina.dialects.index.symbols import Symbols
from lamina.dialects.infos import greatest, is_symbolic
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.frontends.dimensions import Dimensions, Findings, OpenInput

MOST_TEXT = 1 << 14
"""Characters of an expression."""


def _power(base: Any, exponent: Any) -> Any:
    if is_symbolic(exponent) or not 0 <= exponent <= 8:
        raise SizesError(f"sizes to the power of {exponent} are not supported")
    return prod([base] * exponent)


def _quotient(a: Any, b: Any) -> Any:
    return a // b


def _rest(a: Any, b: Any) -> Any:
    return a % b


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda *parts: sum(parts),
    "Mul": lambda *parts: prod(parts),
    "Pow": _power,
    "FloorDiv": _quotient,
    "CleanDiv": _quotient,
    "Mod": _rest,
    "PythonMod": _rest,
    "Max": lambda *parts: reduce(greatest, parts),
    "Min": lambda *parts: -reduce(greatest, [-p for p in parts]),
}
"""The functions of sympy and of torch that sizes are made by."""


@cache
def _parsed(text: str) -> ast.expr:
    if len(text) > MOST_TEXT:
        raise InputError(f"an expression has {len(text)} characters")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{text[:60]!r} is no expression of sizes") from None


def value_of(text: str, symbol: Callable[[str], Any]) -> Any:
    """The value of an expression, whose symbols have those that `symbol` gives. Raises LaminaError."""

    def value(node: ast.expr) -> Any:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise InputError(f"{text[:60]!r} is no expression of sizes")
        if node.func.id in ("Symbol", "Integer"):
            (given,) = map(ast.literal_eval, node.args)
            if isinstance(given, str) and node.func.id == "Symbol":
                return symbol(given)
            if isinstance(given, int) and node.func.id == "Integer":
                return int(given)
            raise TypeError
        function = _FUNCTIONS.get(node.func.id)
        if function is None:
            raise SizesError(f"sizes by {node.func.id[:40]} are not supported")
        return function(*map(value, node.args))

    try:
        return value(_parsed(text))
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        raise InputError(f"{text[:60]!r} is no expression of sizes") from None


class OpenSizes:
    """The sizes of a program: those that its inputs' extents are named by, and what follows from them."""

    def __init__(
        self, label: str, inputs: Mapping[str, Sequence[int | str]], ranges: Mapping[str, tuple[Any, Any]],
        shapes: Mapping[str, Any], found: Findings,
    ) -> None:  # fmt: skip
        """`inputs` are shapes by name, an open extent as its expression; `ranges` the least and greatest value of each
        symbol, None for any; `shapes` are as users give them: of an input, or a number or range of a symbol."""
        self.label = label
        extents = [e for shape in inputs.values() for e in shape if isinstance(e, str)]
        self._multiples = _multiples(extents)
        given = {n: s for n, s in shapes.items() if n not in inputs}
        for name, shape in shapes.items():
            if name in inputs:
                self._bind(name, inputs[name], shape, given)
        names = [self._multiples[n].name if n in self._multiples else n for n in _symbols(extents)]
        divisors = {m.name: SymbolRange(0, divisor=m.factor) for m in self._multiples.values()}
        free = Symbols({n: divisors.get(n, ANY) for n in names})

        def text(extent: int | str) -> str | None:
            form: Any = value_of(extent, lambda n: self._of(n, free.extent)) if isinstance(extent, str) else extent
            return extent_text(form.form) if is_symbolic(form) else None

        opened = [OpenInput(name, tuple(map(text, shape))) for name, shape in inputs.items()]
        stated = {n: _range(*r) for n, r in ranges.items() if n not in self._multiples}
        stated |= {m.name: _range(*ranges.get(n, (0, None)), m.factor) for n, m in self._multiples.items()}
        self.dimensions = Dimensions(opened, given, True, found, stated)
        self.dimensions.check_names(label)
        for name, sizes in self.dimensions.shapes.items():
            _check_within(name, sizes, stated.get(name, ANY), label)
        for name, shape in shapes.items():
            if name in inputs:
                self._compare(name, inputs[name], shape)

    def number(self, text: str) -> Any:
        """The number of an expression, which may depend on symbols. Raises LaminaError."""
        return value_of(text, self._symbol)

    def _symbol(self, name: str) -> Any:
        return self._of(name, self._named)

    def _named(self, name: str) -> Any:
        found = self.dimensions.extent("", 0, name)
        if found is None:
            raise SizesError("sizes that values decide are not supported", where=self.label)
        return found

    def _of(self, name: str, extent: Callable[[str], Any]) -> Any:
        """The number of a symbol by the numbers of extents."""
        multiple = self._multiples.get(name)
        return extent(name) if multiple is None else extent(multiple.name) // multiple.factor

    def _bind(self, name: str, extents: Sequence[int | str], shape: Any, given: dict[str, Any]) -> None:
        """The numbers of the symbols that a given shape decides."""
        where = f"{self.label}: {name}"
        if isinstance(shape, (int, str)) or any(isinstance(e, str) or e < 0 for e in shape):
            raise UsageError("its shape must be a list of sizes", where=where, hint="e.g. [1, 3, 224, 224]")
        if len(shape) != len(extents):
            raise UsageError(f"has rank {len(extents)}, the given shape {list(shape)} does not", where=where)
        for extent, size in zip(extents, shape, strict=True):
            if isinstance(extent, str) and _is_symbol(_parsed(extent)):
                given.setdefault(_symbols([extent])[0], int(size))
            elif isinstance(extent, str):
                whole = [m.name for m in self._multiples.values() if m.extent == extent]
                given.update({n: int(size) for n in whole if n not in given})

    def _compare(self, name: str, extents: Sequence[int | str], shape: Sequence[int]) -> None:
        """Raise UsageError where a given shape is none that the program has."""
        for axis, (extent, size) in enumerate(zip(extents, shape, strict=True)):
            own = self.number(extent) if isinstance(extent, str) else extent
            if is_symbolic(own):
                raise UsageError(f"its extent {axis} is {own}", where=f"{self.label}: {name}", hint="give the symbols")
            if own != size:
                what = f"the given shape {list(shape)} contradicts the extent {own} of the program"
                raise UsageError(what, where=f"{self.label}: {name}")


class SizesError(UnsupportedError):
    """An argument of a call depends on sizes in a way that is not supported."""


class _Multiple(NamedTuple):
    """A multiple of a symbol, which is an extent where the symbol itself is none: an even one, `s * 2`."""

    name: str
    factor: int
    extent: str
    """The expression of the extent."""


def _multiples(extents: Sequence[str]) -> dict[str, _Multiple]:
    """The multiples by which arrays tell symbols that are no extents."""
    names = _symbols(extents)
    free = Symbols(dict.fromkeys(names, ANY))
    forms = {e: value_of(e, free.extent) for e in extents}
    plain = {str(f.form) for f in forms.values() if is_symbolic(f)}
    found: dict[str, _Multiple] = {}
    for extent, number in forms.items():
        if is_symbolic(number) and not number.form.const and len(number.form.terms) == 1:
            ((atom, factor),) = number.form.terms.items()
            if isinstance(atom, str) and atom in names and atom not in plain and factor > 1:
                found.setdefault(atom, _Multiple(f"{atom}x{factor}", factor, extent))
    return found


def _check_within(name: str, sizes: Any, stated: SymbolRange, label: str) -> None:
    """Raise UsageError for a size, or a range, that the program is not for."""
    ends = [sizes.min, sizes.max] if isinstance(sizes, SymbolRange) else [sizes]
    wrong = next((e for e in ends if e != MOST and not stated.min <= e <= stated.max), None)
    by = sizes.divisor if isinstance(sizes, SymbolRange) else sizes
    if wrong is None and by % stated.divisor:
        wrong = f"no multiple of {stated.divisor}"
    if wrong is not None:
        what = f"{name} is {wrong}, the program is for {values_text(name, stated)}"
        raise UsageError(what, where=label, hint="export it for more sizes")


def _range(least: Any, most: Any, factor: int = 1) -> SymbolRange:
    """The range of a multiple of a symbol. A least value of 2 is what torch has while it traces; it checks none."""
    first = 0 if least is None or int(least) <= 2 else int(least) * factor
    found = SymbolRange(first, MOST if most is None else min(int(most) * factor, MOST), factor)
    return ANY if found.says_nothing else found


def _is_symbol(node: ast.AST) -> bool:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Symbol"
    return named and len(node.args) == 1 and isinstance(node.args[0], ast.Constant)  # type: ignore[attr-defined]


def _symbols(texts: Iterable[str]) -> list[str]:
    """The names of the symbols in expressions, each once."""
    calls = [node for text in texts for node in ast.walk(_parsed(text)) if _is_symbol(node)]
    return list(dict.fromkeys(str(call.args[0].value) for call in calls))  # type: ignore[attr-defined]


__all__ = ["OpenSizes", "SizesError", "value_of"]
