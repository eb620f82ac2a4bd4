"""The table: which function draws a node of which operator; there is one for each that the importer knows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from lamina.debugging.generators.onnx_graph import OnnxGraph

Row: TypeAlias = Callable[[OnnxGraph, str], None]
"""Adds a node of the operator of that name. Raises CannotDraw where the operator set does not have it."""

_ROWS: dict[tuple[str, str], Row] = {}


def row(*names: str, domain: str = "") -> Callable[[Row], Row]:
    """Register a function as the row of operators."""

    def register(draw: Row) -> Row:
        for name in names:
            if (domain, name) in _ROWS:
                raise TypeError(f"{name} has two rows")
            _ROWS[(domain, name)] = draw
        return draw

    return register


@cache
def rows() -> dict[tuple[str, str], Row]:
    """All rows by (domain, operator): those of the files beside this one."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        import_module(f"{__package__}.{path.stem}")
    return _ROWS
