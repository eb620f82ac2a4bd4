"""`relay.op`: all operators' functions, and the registry by name."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from lamina.compat.tvm.imports import modules_elsewhere
from lamina.compat.tvm.relay.namespace import OpNamespace
from lamina.frontends.tvm_text.expr import Op, get_op
from lamina.frontends.tvm_text.operators import op_names
from lamina.ir.tvm_names import not_bridged

get = get_op


def list_op_names() -> list[str]:
    """The names of all operators."""
    return op_names()


class _Everything(OpNamespace):
    """`relay.op.transform`, `relay.op.tensor`, `relay.op.reduce`: where TVM keeps root operators."""


for _name in ("transform", "tensor", "reduce", "algorithm"):
    sys.modules[f"{__name__}.{_name}"] = _Everything(f"relay.op.{_name}", "")

modules_elsewhere(__name__, {"op": __name__})
"""`relay.op.op`, where TVM keeps the registry."""

for _name in ("nn", "image", "vision", "annotation", "dyn"):
    sys.modules[f"{__name__}.{_name}"] = sys.modules[f"{__name__.rpartition('.')[0]}.{_name}"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("op", "transform", "tensor", "reduce", "algorithm"):
        return sys.modules[f"{__name__}.{name}"]
    if name in ("register_alter_op_layout", "register_legalize", "register_op_attr"):
        return getattr(import_module("lamina.compat.tvm.relay.op_attributes"), name)
    if name == "contrib":
        return import_module(f"{__name__}.contrib")
    from lamina.compat.tvm import relay

    if name in ("nn", "image", "vision", "annotation", "dyn"):
        return getattr(relay, name)
    from lamina.compat.tvm.relay.op_composites import function_of

    found = function_of(name)
    if found is None:
        raise not_bridged(f"relay.op.{name}", dir(relay))
    return found


__all__ = ["Op", "get", "list_op_names"]
