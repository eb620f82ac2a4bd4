"""`tvm.tir`: the expressions of tensor programs; functions of scalars are those of `lamina.te`."""

from __future__ import annotations

from typing import Any

from lamina import te
from lamina.compat.tvm.imports import NO_FOLDER
from lamina.ir.tvm_names import INSTEAD, not_bridged
from lamina.te import statements as ir_builder
from lamina.te.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    Not,
    Or,
    SizeVar,
    Sub,
    Var,
    as_expr,
    const,
)
from lamina.te.reduction import CommReducer, Reduce
from lamina.te.tensor import IterVar, ProducerLoad

__path__ = NO_FOLDER

PrimExpr = Expr
Select = te.select
convert = as_expr


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if f"tir.{name}" in INSTEAD:
        raise not_bridged(f"tir.{name}", [])
    return getattr(te, name)


__all__ = [
    "EQ", "GE", "GT", "LE", "LT", "NE", "Add", "And", "Call", "Cast", "CommReducer", "Div", "Expr", "FloatImm",
    "FloorDiv", "FloorMod", "IntImm", "IterVar", "Max", "Min", "Mod", "Mul", "Not", "Or", "PrimExpr", "ProducerLoad",
    "Reduce", "Select", "ir_builder", "SizeVar", "Sub", "Var", "const", "convert",
]  # fmt: skip
