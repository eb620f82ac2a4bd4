"""TVM's standard definitions, data types and functions of them, from the texts in `std/`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from lamina.errors import UsageError, did_you_mean
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import TypeData
from lamina.frontends.tvm_text.lexer import Source
from lamina.frontends.tvm_text.parser import Parser
from lamina.frontends.tvm_text.ty import GlobalTypeVar

_FOLDER = Path(__file__).parent / "std"


@cache
def _text(name: str) -> str:
    file = _FOLDER / name
    if not file.is_file() or file.parent != _FOLDER:
        known = sorted(f.name for f in _FOLDER.glob("*.rly"))
        raise UsageError(f"there is no {name!r}", hint=did_you_mean(name, known) or f"there are {', '.join(known)}")
    return file.read_text("utf-8")


def standard(
    name: str, functions: Iterable[e.GlobalVar], types: Iterable[TypeData]
) -> tuple[dict[e.GlobalVar, e.Function], dict[GlobalTypeVar, TypeData]]:
    """The definitions of a file, which may use those that are given. Raises UsageError where there is no such file."""
    parser = Parser(Source(_text(name), name), functions, types)
    return parser.program()[0], parser.types
