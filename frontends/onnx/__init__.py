"""ONNX models as Relay modules.

    load_onnx("resnet50.onnx")      -> ImportedModel(module, store, inputs, outputs, ...)
    check_model("resnet50.onnx")    -> SupportReport: every operator that Lamina lacks, at once

A converter is one function per ONNX operator, `@onnx_op("Conv")`, in the `convert_*.py` file of its family; the text
of the operator's specification is the reference for each. What is here is read when it is asked for: files are known
as ONNX models (`format.py`) without the package `onnx`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel, Port
    from lamina.frontends.onnx.importer import load_onnx
    from lamina.frontends.onnx.support import check_model
    from lamina.frontends.support import SupportReport, UnsupportedOp

_HOMES = {
    **dict.fromkeys(("ImportedModel", "Port"), "lamina.frontends.imported"),
    "load_onnx": "lamina.frontends.onnx.importer",
    "check_model": "lamina.frontends.onnx.support",
    **dict.fromkeys(("SupportReport", "UnsupportedOp"), "lamina.frontends.support"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


__all__ = ["ImportedModel", "Port", "SupportReport", "UnsupportedOp", "check_model", "load_onnx"]
