"""Programs of torch.export in a `.pt2` archive: a zip file whose graph is JSON and whose weights are plain bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a program: a path or bytes. `shapes` are of inputs, or sizes and ranges of the symbols that the program
    has for extents; what it leaves out may have any size that the program takes. Raises LaminaError."""
    from lamina.errors import InputError, UnsupportedError
    from lamina.frontends.aten.importer import import_graph
    from lamina.frontends.builder import LIMIT
    from lamina.frontends.dimensions import Findings
    from lamina.frontends.pt2.reader import read_graph

    limit = LIMIT if max_tensor_bytes is None else max_tensor_bytes
    found = Findings()
    while True:
        graph, dimensions = read_graph(source, limit, shapes, found)
        try:
            return import_graph(graph, limit, dimensions=dimensions)
        except (UnsupportedError, InputError) as e:
            found.take(e, dimensions)


def check(source: Any) -> SupportReport:
    """Report which operators of a program are missing. Raises LaminaError for what is no program."""
    from lamina.frontends.aten.importer import report_of
    from lamina.frontends.builder import LIMIT
    from lamina.frontends.pt2.reader import read_graph

    graph, dimensions = read_graph(source, LIMIT)
    return replace(report_of(graph, LIMIT, dimensions), open_extents=dimensions.names)


FORMAT = ModelFormat(
    name="pt2",
    what="a program of torch.export",
    suffixes=(".pt2",),
    holds=lambda names: any(n.endswith(("/archive_format", "serialized_exported_program.json")) for n in names),
    read=read,
    takes_ranges=True,
    check=check,
)
