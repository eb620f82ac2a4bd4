"""Tensor expressions and their schedules, in TVM's names.

    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute(A.shape, lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=64)
    print(lamina.lower(s, [A, B]))

Programs only build te IR: nothing is lowered before `lamina.lower` or `lamina.build`. Functions of scalars that are
not imported here (`te.exp`, `te.tanh`, ...) are found by name where their meaning is declared.
"""

from typing import Any

from lamina.te.buffers import Buffer, decl_buffer
from lamina.te.expr import Expr, FloatImm, IntImm, SizeVar, Var, cast, const
from lamina.te.intrinsics import all_of as all  # noqa: A004
from lamina.te.intrinsics import any_of as any  # noqa: A004
from lamina.te.intrinsics import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    call_extern,
    call_intrin,
    call_pure_extern,
    ceildiv,
    div,
    floordiv,
    floormod,
    fma,
    fmod,
    hypot,
    if_then_else,
    indexdiv,
    indexmod,
    likely,
    logical_not,
    power,
    select,
    shift_left,
    shift_right,
    truncdiv,
    truncmod,
    unary,
)
from lamina.te.layouts import AXIS_SEPARATOR
from lamina.te.reducers import comm_reducer, infinity, max, max_value, min, min_value, prod, sum  # noqa: A004
from lamina.te.schedule import Schedule, create_schedule
from lamina.te.special import ExternOp, ScanOp, extern, scan
from lamina.te.stage import Stage
from lamina.te.tensor import (
    ComputeOp,
    IterVar,
    Operation,
    PlaceholderOp,
    Range,
    Tensor,
    TensorSlice,
    compute,
    placeholder,
    reduce_axis,
    thread_axis,
    var,
)
from lamina.te.tensor_intrin import TensorIntrin, decl_tensor_intrin

__all__ = [
    "Buffer",
    "decl_buffer",
    "TensorIntrin",
    "decl_tensor_intrin",
    "AXIS_SEPARATOR",
    "create_prim_func",
    "ExternOp",
    "ScanOp",
    "extern",
    "scan",
    "Schedule",
    "Stage",
    "create_schedule",
    "all",
    "any",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "call_extern",
    "call_intrin",
    "call_pure_extern",
    "cast",
    "ceildiv",
    "comm_reducer",
    "compute",
    "ComputeOp",
    "const",
    "div",
    "Expr",
    "FloatImm",
    "floordiv",
    "floormod",
    "fma",
    "fmod",
    "hypot",
    "if_then_else",
    "indexdiv",
    "indexmod",
    "infinity",
    "IntImm",
    "IterVar",
    "likely",
    "logical_not",
    "max",
    "max_value",
    "min",
    "min_value",
    "Operation",
    "placeholder",
    "PlaceholderOp",
    "pow",
    "power",
    "prod",
    "Range",
    "reduce_axis",
    "select",
    "shift_left",
    "shift_right",
    "size_var",
    "SizeVar",
    "sum",
    "Tensor",
    "TensorSlice",
    "thread_axis",
    "truncdiv",
    "truncmod",
    "var",
    "Var",
]

pow = power  # noqa: A001


def size_var(name: str = "size", dtype: str = "int32") -> SizeVar:
    """A size that is known when the program runs, and not negative."""
    return SizeVar(name, dtype)


def create_prim_func(ops: Any) -> Any:
    """The naive loops of some tensors, placeholders first, as a module of the tir level."""
    from lamina.tensor.program import create_prim_func as lowered

    return lowered(ops)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    from lamina.errors import LaminaError, did_you_mean

    try:
        return unary(name)
    except LaminaError as e:
        near = did_you_mean(name, __all__)
        raise AttributeError(f"lamina.te has no {name!r}" + (f"; {near}" if near else "")) from e
