"""`tvm.relay`, as programs for TVM 0.8 to 0.19 use it: a bridge to our IR and our passes.

    from lamina.compat import tvm
    from lamina.compat.tvm import relay

    x = relay.var("x", shape=(1, 3, 224, 224))
    y = relay.nn.relu(relay.nn.conv2d(x, relay.var("w"), kernel_size=(3, 3), channels=16, padding=(1, 1)))
    mod = tvm.IRModule.from_expr(y)

The functions that build calls are made from the operators' declarations. A name that is not here is an
AttributeError that says what to use instead; docs/reference/tvm-names.md lists what there is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any as _Anything

from lamina.compat.tvm.imports import ROOT, modules_elsewhere
from lamina.compat.tvm.relay import answers, expr
from lamina.compat.tvm.relay.expr_functor import ExprFunctor, ExprMutator, ExprVisitor, bind
from lamina.compat.tvm.relay.namespace import OpNamespace
from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text.adt import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    TypeData,
)
from lamina.frontends.tvm_text.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    TupleWrapper,
    Var,
    const,
    var,
)
from lamina.frontends.tvm_text.ty import (
    Any,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeKind,
    TypeVar,
    scalar_type,
)
from lamina.ir.tvm_names import not_bridged

RelayExpr = Expr
answers.install()


def _namespaces() -> dict[str, OpNamespace]:
    found: dict[str, OpNamespace] = {}
    for name in ("nn", "image", "vision", "annotation", "dyn", "random"):
        found[name] = OpNamespace(f"relay.{name}", f"{name}.")
    qnn = OpNamespace("relay.qnn.op", "qnn.")
    transform = modules_elsewhere(f"{__name__}.qnn", {"transform": f"{__name__}.qnn_transform"})
    found["qnn"] = OpNamespace("relay.qnn", "qnn.", {"op": qnn, **transform})
    found["qnn.op"] = qnn
    for name, module in found.items():
        sys.modules[f"{__name__}.{name}"] = module
    return found


_SPACES = _namespaces()
nn = _SPACES["nn"]
image = _SPACES["image"]
vision = _SPACES["vision"]
annotation = _SPACES["annotation"]
dyn = _SPACES["dyn"]
random = _SPACES["random"]
qnn = _SPACES["qnn"]

_MODULES = (
    "analysis", "backend", "build_module", "dataflow_pattern", "expr_functor", "frontend", "loops", "op", "prelude",
    "testing", "transform",
)  # fmt: skip
_HOMES = {
    **dict.fromkeys(("build", "create_executor", "optimize", "bind_params_by_name"), "relay.build_module"),
    **dict.fromkeys(("save_param_dict", "load_param_dict"), "relay.param_dict"),
    **dict.fromkeys(("parse", "parse_expr", "fromtext", "SpanCheck"), "parser"),
    "ScopeBuilder": "relay.scope_builder",
    "astext": "relay.text_printer",
    "Prelude": "relay.prelude",
}


def build_config(opt_level: int = 2, **options: _Anything) -> _Anything:
    """A PassContext, as programs before TVM 0.7 make it: `with relay.build_config(opt_level=3): ...`."""
    from lamina.compat.tvm.transform import PassContext

    return PassContext(opt_level, **options)


def __getattr__(name: str) -> _Anything:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "vm":
        return import_module(f"{__name__}.backend.vm")
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{ROOT}.{_HOMES[name]}"), name)
    if name in ("structural_equal", "structural_hash"):
        return getattr(import_module(f"{__name__}.structural"), name)
    if name == "reverse_reshape" or not name[0].isupper():
        from lamina.compat.tvm.relay.op_composites import function_of

        found = function_of(name)
        if found is not None:
            globals()[name] = found
            return found
    raise not_bridged(f"relay.{name}", __dir__())


def __dir__() -> list[str]:
    from lamina.compat.tvm.relay.namespace import function_names

    roots = [n for n in function_names() if "." not in n]
    return sorted({*roots, *__all__, *_MODULES, *_HOMES, *_SPACES})


__all__ = [
    "Any", "Call", "Clause", "Constant", "Constructor", "Expr", "ExprFunctor", "ExprMutator", "ExprVisitor",
    "FuncType", "Function", "GlobalTypeVar", "GlobalVar", "If", "IncompleteType", "Let", "Match", "Pattern",
    "PatternConstructor", "PatternTuple", "PatternVar", "PatternWildcard", "RefCreate", "RefRead", "RefType",
    "RefWrite", "RelayExpr", "TensorType", "Tuple", "TupleGetItem", "TupleType", "TupleWrapper", "Type",
    "TypeCall", "TypeData", "TypeKind", "TypeVar", "Var", "adt", "annotation", "bind", "build_config", "const",
    "dyn", "expr", "image", "nn", "qnn", "random", "scalar_type", "ty", "var", "vision",
]  # fmt: skip
