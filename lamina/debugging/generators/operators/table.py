"""The table: which function draws a node of which operator, and which operators none draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from lamina.debugging.generators.onnx_graph import MICROSOFT, OnnxGraph

Row: TypeAlias = Callable[[OnnxGraph, str], None]
"""Adds a node of the operator of that name. Raises CannotDraw where the operator set does not have it."""

_ROWS: dict[tuple[str, str], Row] = {}

_FIXED = "no row yet: its tests compare fixed forms with onnxruntime"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("ai.onnx.ml", "LabelEncoder"): "no row yet: tables of keys and values",
    ("ai.onnx.ml", "TreeEnsemble"): "no row yet: trees as lists of nodes",
    ("ai.onnx.ml", "TreeEnsembleRegressor"): "no row yet: trees as lists of nodes",
    **{
        (MICROSOFT, name): _FIXED
        for name in (
            *("DynamicQuantizeLSTM", "EmbedLayerNormalization", "GatherBlockQuantized", "MatMulBnb4", "QAttention"),
            *("QEmbedLayerNormalization", "RotaryEmbedding"),
        )
    },
}
"""Operators that the importer knows and no row draws, each with the reason."""


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
