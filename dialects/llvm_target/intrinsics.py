"""Intrinsic ops of the llvm dialect that xDSL lacks. One class an intrinsic, by kind of signature."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.dialects.llvm import FastMathAttr, LLVMPointerType
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "ACosOp",
    "ASinOp",
    "ATan2Op",
    "ATanOp",
    "AbsOp",
    "BitReverseOp",
    "ByteSwapOp",
    "CoshOp",
    "CtLzOp",
    "CtPopOp",
    "CtTzOp",
    "Exp10Op",
    "FMulAddOp",
    "FShlOp",
    "FShrOp",
    "FTruncOp",
    "Log10Op",
    "MaximumOp",
    "MemcpyOp",
    "MemmoveOp",
    "MemsetOp",
    "MinimumOp",
    "NearbyIntOp",
    "PrefetchOp",
    "RintOp",
    "RoundEvenOp",
    "RoundOp",
    "SAddSatOp",
    "SMaxOp",
    "SMinOp",
    "SShlSatOp",
    "SSubSatOp",
    "SinhOp",
    "TanOp",
    "TanhOp",
    "UAddSatOp",
    "UMaxOp",
    "UMinOp",
    "UShlSatOp",
    "USubSatOp",
]

# MLIR gives the other intrinsics (abs, ctlz, memcpy, most reductions ...) no custom syntax.
_FORMAT = "`(` operands `)` attr-dict `:` functional-type(operands, results)"


class IntrinsicOp(IRDLOperation):
    """`%r = llvm.intr.smax(%a, %b) : (i32, i32) -> i32`"""

    res = result_def()

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        """All operands have the type of the result, unless a subclass says otherwise."""
        for operand in self._operands:
            if operand.type != self.res.type:
                raise VerifyException(f"operand is {operand.type}, the result {self.res.type}")


class _FloatUnary(IntrinsicOp):
    arg = operand_def()
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    assembly_format = _FORMAT


class _FloatBinary(IntrinsicOp):
    a = operand_def()
    b = operand_def()
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    assembly_format = _FORMAT


class _FloatTernary(IntrinsicOp):
    a = operand_def()
    b = operand_def()
    c = operand_def()
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    assembly_format = _FORMAT


class _IntUnary(IntrinsicOp):
    arg = operand_def()

    assembly_format = _FORMAT


class _IntBinary(IntrinsicOp):
    a = operand_def()
    b = operand_def()

    assembly_format = _FORMAT


class _IntTernary(IntrinsicOp):
    a = operand_def()
    b = operand_def()
    c = operand_def()

    assembly_format = _FORMAT


@irdl_op_definition
class ACosOp(_FloatUnary):
    name = "llvm.intr.acos"


@irdl_op_definition
class ASinOp(_FloatUnary):
    name = "llvm.intr.asin"


@irdl_op_definition
class ATanOp(_FloatUnary):
    name = "llvm.intr.atan"


@irdl_op_definition
class CoshOp(_FloatUnary):
    name = "llvm.intr.cosh"


@irdl_op_definition
class Exp10Op(_FloatUnary):
    name = "llvm.intr.exp10"


@irdl_op_definition
class Log10Op(_FloatUnary):
    name = "llvm.intr.log10"


@irdl_op_definition
class NearbyIntOp(_FloatUnary):
    name = "llvm.intr.nearbyint"


@irdl_op_definition
class RintOp(_FloatUnary):
    """Nearest integer in the current rounding mode."""

    name = "llvm.intr.rint"


@irdl_op_definition
class RoundOp(_FloatUnary):
    """Nearest integer, ties away from zero."""

    name = "llvm.intr.round"


@irdl_op_definition
class RoundEvenOp(_FloatUnary):
    """Nearest integer, ties to even."""

    name = "llvm.intr.roundeven"


@irdl_op_definition
class SinhOp(_FloatUnary):
    name = "llvm.intr.sinh"


@irdl_op_definition
class TanOp(_FloatUnary):
    name = "llvm.intr.tan"


@irdl_op_definition
class TanhOp(_FloatUnary):
    name = "llvm.intr.tanh"


@irdl_op_definition
class FTruncOp(_FloatUnary):
    """Toward zero."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class ATan2Op(_FloatBinary):
    name = "llvm.intr.atan2"


@irdl_op_definition
class MaximumOp(_FloatBinary):
    """The greater; NaN when one is NaN; +0 above -0."""

    name = "llvm.intr.maximum"


@irdl_op_definition
class MinimumOp(_FloatBinary):
    """The lesser; NaN when one is NaN; -0 below +0."""

    name = "llvm.intr.minimum"


@irdl_op_definition
class FMulAddOp(_FloatTernary):
    """a * b + c, fused where that is fast."""

    name = "llvm.intr.fmuladd"


@irdl_op_definition
class BitReverseOp(_IntUnary):
    name = "llvm.intr.bitreverse"


@irdl_op_definition
class ByteSwapOp(_IntUnary):
    name = "llvm.intr.bswap"


@irdl_op_definition
class CtPopOp(_IntUnary):
    """Number of set bits."""

    name = "llvm.intr.ctpop"


@irdl_op_definition
class SMaxOp(_IntBinary):
    name = "llvm.intr.smax"


@irdl_op_definition
class SMinOp(_IntBinary):
    name = "llvm.intr.smin"


@irdl_op_definition
class UMaxOp(_IntBinary):
    name = "llvm.intr.umax"


@irdl_op_definition
class UMinOp(_IntBinary):
    name = "llvm.intr.umin"


@irdl_op_definition
class SAddSatOp(_IntBinary):
    name = "llvm.intr.sadd.sat"


@irdl_op_definition
class UAddSatOp(_IntBinary):
    name = "llvm.intr.uadd.sat"


@irdl_op_definition
class SSubSatOp(_IntBinary):
    name = "llvm.intr.ssub.sat"


@irdl_op_definition
class USubSatOp(_IntBinary):
    name = "llvm.intr.usub.sat"


@irdl_op_definition
class SShlSatOp(_IntBinary):
    name = "llvm.intr.sshl.sat"


@irdl_op_definition
class UShlSatOp(_IntBinary):
    name = "llvm.intr.ushl.sat"


@irdl_op_definition
class FShlOp(_IntTernary):
    name = "llvm.intr.fshl"


@irdl_op_definition
class FShrOp(_IntTernary):
    name = "llvm.intr.fshr"


@irdl_op_definition
class AbsOp(IntrinsicOp):
    """The absolute value; of INT_MIN itself, or poison if `is_int_min_poison`."""

    name = "llvm.intr.abs"

    arg = operand_def()
    is_int_min_poison = prop_def(IntegerAttr[IntegerType])


@irdl_op_definition
class CtLzOp(IntrinsicOp):
    """Number of leading zero bits."""

    name = "llvm.intr.ctlz"

    arg = operand_def()
    is_zero_poison = prop_def(IntegerAttr[IntegerType])


@irdl_op_definition
class CtTzOp(IntrinsicOp):
    """Number of trailing zero bits."""

    name = "llvm.intr.cttz"

    arg = operand_def()
    is_zero_poison = prop_def(IntegerAttr[IntegerType])


@irdl_op_definition
class MemcpyOp(IRDLOperation):
    """Copies `len` bytes between places that do not overlap."""

    name = "llvm.intr.memcpy"

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    len = operand_def(IntegerType)
    isVolatile = prop_def(IntegerAttr[IntegerType])


@irdl_op_definition
class MemmoveOp(IRDLOperation):
    """Copies `len` bytes; the places may overlap."""

    name = "llvm.intr.memmove"

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    len = operand_def(IntegerType)
    isVolatile = prop_def(IntegerAttr[IntegerType])


@irdl_op_definition
class MemsetOp(IRDLOperation):
    """Sets `len` bytes to `val`."""

    name = "llvm.intr.memset"

    dst = operand_def(LLVMPointerType)
    val = operand_def(IntegerType)
    len = operand_def(IntegerType)
    isVolatile = prop_def(IntegerAttr[IntegerType])


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """`rw` 0 read or 1 write, `hint` locality 0 to 3, `cache` 0 instructions or 1 data."""

    name = "llvm.intr.prefetch"

    addr = operand_def(LLVMPointerType)
    rw = prop_def(IntegerAttr[IntegerType])
    hint = prop_def(IntegerAttr[IntegerType])
    cache = prop_def(IntegerAttr[IntegerType])
