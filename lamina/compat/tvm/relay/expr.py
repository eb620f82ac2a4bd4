"""`relay.expr`: the nodes of expressions. They stand in the frontend of TVM's text."""

from __future__ import annotations

from lamina.compat.tvm.relay.expr_functor import bind
from lamina.frontends.tvm_text.expr import (
    Attrs,
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    RelayExpr,
    Tuple,
    TupleGetItem,
    TupleWrapper,
    Var,
    const,
    var,
)

__all__ = [
    "Attrs", "Call", "Constant", "Expr", "Function", "GlobalVar", "If", "Let", "Op", "RefCreate", "RefRead",
    "RefWrite", "RelayExpr", "Tuple", "TupleGetItem", "TupleWrapper", "Var", "bind", "const", "var",
]  # fmt: skip
