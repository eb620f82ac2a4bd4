"""Ops that LLVM's targets for GPUs select. They end the process at others, so only what stands here reaches them."""

from __future__ import annotations

from xdsl.ir import Operation

from lamina.dialects.llvm_target import ops as llvm
from lamina.errors import InputError

# fmt: off
PLAIN: frozenset[type[Operation]] = frozenset({
    llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.ShlOp, llvm.UDivOp, llvm.SDivOp, llvm.LShrOp, llvm.AShrOp, llvm.URemOp,
    llvm.SRemOp, llvm.AndOp, llvm.OrOp, llvm.XOrOp, llvm.ICmpOp, llvm.FAddOp, llvm.FSubOp, llvm.FMulOp, llvm.FDivOp,
    llvm.FNegOp, llvm.FCmpOp, llvm.TruncOp, llvm.ZExtOp, llvm.SExtOp, llvm.BitcastOp, llvm.AddrSpaceCastOp,
    llvm.SIToFPOp, llvm.UIToFPOp, llvm.FPToSIOp, llvm.FPToUIOp, llvm.FPExtOp, llvm.FPTruncOp, llvm.InsertElementOp,
    llvm.ExtractElementOp, llvm.ShuffleVectorOp, llvm.SelectOp, llvm.FreezeOp, llvm.AllocaOp, llvm.LoadOp,
    llvm.StoreOp, llvm.MaskedLoadOp, llvm.MaskedStoreOp, llvm.GEPOp, llvm.ReturnOp, llvm.BrOp, llvm.CondBrOp,
    llvm.ConstantOp, llvm.AddressOfOp, llvm.UndefOp, llvm.PoisonOp, llvm.ZeroOp, llvm.CallIntrinsicOp,
    llvm.FenceOp, llvm.SMaxOp, llvm.SMinOp, llvm.UMaxOp, llvm.UMinOp, llvm.AbsOp,
})
"""On all types."""

ROUNDING: frozenset[type[Operation]] = frozenset({
    llvm.FAbsOp, llvm.FCeilOp, llvm.FFloorOp, llvm.FTruncOp, llvm.RoundEvenOp, llvm.RoundOp, llvm.RintOp,
    llvm.NearbyIntOp, llvm.FSqrtOp, llvm.FMAOp, llvm.FCopySignOp, llvm.VectorFMaxOp, llvm.VectorFMinOp,
    llvm.MaximumOp, llvm.MinimumOp,
})
"""Functions of floats."""
# fmt: on


def check_legal(func: llvm.FuncOp, name: str, code: str) -> None:
    """Raises InputError at the first op of a function that has no `code`, such as PTX; `name` is the pass's."""
    for op in func.body.walk():
        cls = type(op)
        if cls in PLAIN or cls in ROUNDING:
            continue
        what = f"{op.name} of {op.results[0].type}" if op.results else op.name
        raise InputError(
            f"{name}: @{func.sym_name.data}: {what} has no {code}",
            op=op,
            hint="tir-expand-math writes exp, exp2, log, log2, tanh and erf of f32, f16 and bf16 as arithmetic",
        )
