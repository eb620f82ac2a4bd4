"""The symbols of a module, while something works on it: names in types and attributes are these."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Operation

from lamina.dialects.index.symbols import Symbols, with_symbols
from lamina.dialects.relay.symbolic import module_symbols
from lamina.errors import UnsupportedError


@contextmanager
def symbol_scope(module: Operation) -> Generator[Symbols]:
    """While it lasts the symbols of a module, which has some, are the current ones."""
    symbols = module_symbols(module)
    assert symbols is not None
    with with_symbols(symbols):
        yield symbols


@contextmanager
def changing(module: Operation, name: str) -> Generator[None]:
    """A pass of this name changes a module. Raises UnsupportedError where the outcome holds for some sizes only."""
    with symbol_scope(module) as symbols:
        symbols.general = True
        yield
    if symbols.guards:
        what = f"{name}: what it has made of the program would be right only where {symbols.guards[0]}"
        raise UnsupportedError(what, hint="compile the program for one size")
