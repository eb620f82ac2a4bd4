"""TensorFlow's graphs: a frozen GraphDef in a `.pb` file, or the folder of a SavedModel.

A SavedModel begins with field 1, the version of its schema, which is 1; a GraphDef with its first node, as files of
others do: only the suffix tells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a graph: a path or bytes. Raises LaminaError."""
    from lamina.frontends.network import import_network
    from lamina.frontends.tensorflow.model import read_network
    from lamina.frontends.tensorflow.table import TABLE

    return import_network(read_network(source, shapes or {}), TABLE, shapes, max_tensor_bytes)


def check(source: Any) -> SupportReport:
    """Report which operators of a graph are missing. Raises LaminaError for what is no graph."""
    from lamina.frontends.network import report_of
    from lamina.frontends.tensorflow.model import read_network
    from lamina.frontends.tensorflow.table import TABLE

    return report_of(read_network(source), TABLE)


FORMAT = ModelFormat(
    name="tensorflow",
    what="a graph of TensorFlow",
    suffixes=(".pb", ".pbtxt"),
    folder_files=("saved_model.pb", "saved_model.pbtxt"),
    begins=lambda begin: begin[:3] == b"\x08\1\x12",
    read=read,
    check=check,
)
