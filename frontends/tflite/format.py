"""TensorFlow Lite models: FlatBuffers whose identifier, the bytes 4 to 7, is `TFL3`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a model: a path or bytes. Raises LaminaError."""
    from lamina.frontends.tflite.importer import load_tflite

    return load_tflite(source, shapes, max_tensor_bytes)


def check(source: Any) -> SupportReport:
    """Report which operators of a model are missing. Raises LaminaError for what is no model."""
    from lamina.frontends.tflite.importer import check_tflite

    return check_tflite(source)


FORMAT = ModelFormat(
    name="tflite",
    what="a TensorFlow Lite model",
    suffixes=(".tflite", ".lite"),
    begins=lambda begin: begin[4:8] == b"TFL3",
    read=read,
    check=check,
)
