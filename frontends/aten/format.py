"""Graphs of PyTorch's operators as torch prints them: `exported.graph_module.print_readable()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.frontends.formats import TextFormat

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamStore


def parse(text: str, name: str) -> tuple[ModuleOp, ParamStore]:
    """The module of a graph. Raises LaminaError with the line."""
    from lamina.frontends.aten.fx_text import read_graph
    from lamina.frontends.aten.importer import import_graph

    imported = import_graph(read_graph(text, name))
    return imported.module, imported.store


FORMAT = TextFormat(name="fx", what="a graph of PyTorch's", suffixes=(".fx",), parse=parse)
