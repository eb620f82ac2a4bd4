"""ONNX models as Relay modules.

    load_onnx("resnet50.onnx")      -> ImportedModel(module, store, inputs, outputs, ...)
    check_model("resnet50.onnx")    -> SupportReport: every operator that Lamina lacks, at once

A converter is one function per ONNX operator, `@onnx_op("Conv")`, in the `convert_*.py` file of its family; the text
of the operator's specification is the reference for each.
"""

from __future__ import annotations

from lamina.frontends.onnx.importer import ImportedModel, Port, load_onnx
from lamina.frontends.onnx.support import SupportReport, UnsupportedOp, check_model

__all__ = ["ImportedModel", "Port", "SupportReport", "UnsupportedOp", "check_model", "load_onnx"]
