"""Programs of torch.export in a `.pt2` archive: a zip file whose graph is JSON and whose weights are plain bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a program: a path or bytes. Raises LaminaError."""
    from lamina.errors import UsageError
    from lamina.frontends.aten.importer import import_graph
    from lamina.frontends.builder import LIMIT
    from lamina.frontends.pt2.reader import read_graph

    limit = LIMIT if max_tensor_bytes is None else max_tensor_bytes
    graph = read_graph(source, limit)
    if shapes:
        raise UsageError("the shapes of an exported program are fixed", where=graph.label, hint="export it anew")
    return import_graph(graph, limit)


def check(source: Any) -> SupportReport:
    """Report which operators of a program are missing. Raises LaminaError for what is no program."""
    from lamina.frontends.aten.importer import report_of
    from lamina.frontends.builder import LIMIT
    from lamina.frontends.pt2.reader import read_graph

    return report_of(read_graph(source, LIMIT))


FORMAT = ModelFormat(
    name="pt2",
    what="a program of torch.export",
    suffixes=(".pt2",),
    holds=lambda names: any(n.endswith(("/archive_format", "serialized_exported_program.json")) for n in names),
    read=read,
    check=check,
)
