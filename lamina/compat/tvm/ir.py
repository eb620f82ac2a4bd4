"""`tvm.ir`: modules, nodes and types, and whether two of them are alike."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.imports import NO_FOLDER, modules_elsewhere
from lamina.compat.tvm.ir_module import IRModule, build_module
from lamina.compat.tvm.parser import parse
from lamina.compat.tvm.relay.structural import assert_structural_equal, structural_equal, structural_hash
from lamina.errors import UsageError
from lamina.frontends.tvm_text import ty
from lamina.frontends.tvm_text.expr import Attrs, Call, Expr, GlobalVar, Op
from lamina.frontends.tvm_text.names import value_name
from lamina.frontends.tvm_text.ty import FuncType, GlobalTypeVar, TupleType, Type, TypeCall, TypeVar
from lamina.frontends.tvm_text.ty import TensorType as IRTensorType
from lamina.ir.tvm_names import missing

__path__ = NO_FOLDER

RelayExpr = Expr


def save_json(node: Any) -> str:
    """A module as text, from which `load_json` makes an equal one."""
    return node.astext()


def load_json(text: str) -> Any:
    """The module of a text that `save_json` made."""
    return parse(text)


def make_node(type_key: str, **kwargs: Any) -> Attrs:
    """Attributes by their names, for a call or a function: `make_node("DictAttrs", Primitive=1)`. Raises UsageError."""
    if not type_key.endswith("Attrs"):
        raise UsageError(f"nodes of the kind {type_key!r} are not made by name", hint="use its class")
    return Attrs(kwargs)


_MODULES = modules_elsewhere(
    __name__,
    {
        "instrument": "lamina.compat.tvm.instrument",
        "op": "lamina.compat.tvm.ir",
        "module": "lamina.compat.tvm.ir",
        "transform": "lamina.compat.tvm.transform",
    },
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _MODULES[name]
    if name == "register_op_attr":
        from lamina.compat.tvm.relay import op_attributes

        return op_attributes.register_op_attr
    raise missing(__name__, name, [*globals(), *_MODULES])


__all__ = [
    "Attrs", "Call", "FuncType", "GlobalTypeVar", "GlobalVar", "IRModule", "IRTensorType", "Op", "RelayExpr",
    "TupleType", "Type", "TypeCall", "TypeVar", "assert_structural_equal", "build_module", "load_json", "make_node",
    "save_json", "structural_equal", "structural_hash", "ty", "value_name",
]  # fmt: skip
