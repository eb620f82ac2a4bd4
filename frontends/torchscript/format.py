"""TorchScript in a `.pt` archive: a zip file with code in Python's syntax, objects, and weights as plain bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.aten.graph import AtenGraph
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def _graph(source: Any, shapes: Shapes | None, limit: int) -> AtenGraph:
    from lamina.frontends.torchscript.script import traced_graph

    return traced_graph(source, shapes or {}, limit)


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a script: a path or bytes. `shapes` gives the shape of each input. Raises LaminaError."""
    from lamina.frontends.aten.importer import import_graph
    from lamina.frontends.builder import LIMIT

    limit = LIMIT if max_tensor_bytes is None else max_tensor_bytes
    return import_graph(_graph(source, shapes, limit), limit)


def check(source: Any) -> SupportReport:
    """Report which operators of a script have no row. Raises LaminaError for what is no script."""
    from lamina.frontends.torchscript.report import report_of

    return report_of(source)


FORMAT = ModelFormat(
    name="torchscript",
    what="a script of PyTorch",
    suffixes=(".pt", ".pth", ".ptl", ".torchscript", ".jit"),
    holds=lambda names: any(n.endswith("/data.pkl") for n in names) and any("/code/" in n for n in names),
    read=read,
    check=check,
)
