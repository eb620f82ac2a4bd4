"""ONNX models: known by the suffix, or by field 1, the version of the format, which is at least 3."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(
    source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None, any_size: bool = False
) -> ImportedModel:
    """Import a model: a path, bytes or a ModelProto; with `any_size` for all sizes of extents that it leaves open.

    Raises LaminaError.
    """
    from lamina.frontends.onnx.importer import load_onnx
    from lamina.frontends.onnx.tensors import DEFAULT_MAX_TENSOR_BYTES

    limit = DEFAULT_MAX_TENSOR_BYTES if max_tensor_bytes is None else max_tensor_bytes
    return load_onnx(source, shapes, limit, any_size=any_size)


def check(source: Any) -> SupportReport:
    """Report which operators of a model are missing. Raises LaminaError for what is no valid model."""
    from lamina.frontends.onnx.support import check_model

    return check_model(source)


FORMAT = ModelFormat(
    name="onnx",
    what="an ONNX model",
    suffixes=(".onnx",),
    begins=lambda begin: begin[:1] == b"\x08" and begin[1:2] >= b"\3",
    read=read,
    read_any_size=partial(read, any_size=True),
    check=check,
    takes_ranges=True,
)
