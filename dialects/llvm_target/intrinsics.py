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
    """The arccosine of each lane in radians, 0 to pi, as C's acos but without errno; NaN outside -1 to 1."""

    name = "llvm.intr.acos"


@irdl_op_definition
class ASinOp(_FloatUnary):
    """The arcsine of each lane in radians, -pi/2 to pi/2, as C's asin but without errno; NaN outside -1 to 1."""

    name = "llvm.intr.asin"


@irdl_op_definition
class ATanOp(_FloatUnary):
    """The arctangent of each lane in radians, -pi/2 to pi/2, as C's atan but without errno."""

    name = "llvm.intr.atan"


@irdl_op_definition
class CoshOp(_FloatUnary):
    """The hyperbolic cosine of each lane, as C's cosh but without errno; infinite where it overflows."""

    name = "llvm.intr.cosh"


@irdl_op_definition
class Exp10Op(_FloatUnary):
    """10 to the power of each lane, as exp10 of a C library but without errno; infinite where it overflows."""

    name = "llvm.intr.exp10"


@irdl_op_definition
class Log10Op(_FloatUnary):
    """The logarithm of each lane to base 10, as C's log10 but without errno; -inf of zero, NaN of negative numbers."""

    name = "llvm.intr.log10"


@irdl_op_definition
class NearbyIntOp(_FloatUnary):
    """Nearest integer of each lane in the current rounding mode, as a float; `RintOp` but for the inexact exception."""

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
    """The hyperbolic sine of each lane, as C's sinh but without errno; infinite where it overflows."""

    name = "llvm.intr.sinh"


@irdl_op_definition
class TanOp(_FloatUnary):
    """The tangent of each lane in radians, as C's tan but without errno; NaN of infinities."""

    name = "llvm.intr.tan"


@irdl_op_definition
class TanhOp(_FloatUnary):
    """The hyperbolic tangent of each lane, -1 to 1, as C's tanh but without errno."""

    name = "llvm.intr.tanh"


@irdl_op_definition
class FTruncOp(_FloatUnary):
    """Toward zero."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class ATan2Op(_FloatBinary):
    """The arctangent of a / b lane by lane, in radians: -pi to pi, in the quadrant that both signs tell."""

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
    """The bits of each lane in reverse order."""

    name = "llvm.intr.bitreverse"


@irdl_op_definition
class ByteSwapOp(_IntUnary):
    """The bytes of each lane in reverse order; the width is a multiple of 16 bits."""

    name = "llvm.intr.bswap"


@irdl_op_definition
class CtPopOp(_IntUnary):
    """Number of set bits."""

    name = "llvm.intr.ctpop"


@irdl_op_definition
class SMaxOp(_IntBinary):
    """The greater of two signed integers, lane by lane."""

    name = "llvm.intr.smax"


@irdl_op_definition
class SMinOp(_IntBinary):
    """The smaller of two signed integers, lane by lane."""

    name = "llvm.intr.smin"


@irdl_op_definition
class UMaxOp(_IntBinary):
    """The greater of two unsigned integers, lane by lane."""

    name = "llvm.intr.umax"


@irdl_op_definition
class UMinOp(_IntBinary):
    """The smaller of two unsigned integers, lane by lane."""

    name = "llvm.intr.umin"


@irdl_op_definition
class SAddSatOp(_IntBinary):
    """a + b of signed integers, lane by lane; on overflow the least or the greatest value."""

    name = "llvm.intr.sadd.sat"


@irdl_op_definition
class UAddSatOp(_IntBinary):
    """a + b of unsigned integers, lane by lane; on overflow the greatest value."""

    name = "llvm.intr.uadd.sat"


@irdl_op_definition
class SSubSatOp(_IntBinary):
    """a - b of signed integers, lane by lane; on overflow the least or the greatest value."""

    name = "llvm.intr.ssub.sat"


@irdl_op_definition
class USubSatOp(_IntBinary):
    """a - b of unsigned integers, lane by lane; 0 where b is greater."""

    name = "llvm.intr.usub.sat"


@irdl_op_definition
class SShlSatOp(_IntBinary):
    """a * 2^b of signed integers, lane by lane; the nearest value on overflow, poison for b >= the width."""

    name = "llvm.intr.sshl.sat"


@irdl_op_definition
class UShlSatOp(_IntBinary):
    """a * 2^b of unsigned integers, lane by lane; the greatest value on overflow, poison for b >= the width."""

    name = "llvm.intr.ushl.sat"


@irdl_op_definition
class FShlOp(_IntTernary):
    """The high half of a:b, a number of twice the width with a on top, moved left by c mod width: rotates for a = b."""

    name = "llvm.intr.fshl"


@irdl_op_definition
class FShrOp(_IntTernary):
    """The low half of a:b, a number of twice the width with a on top, moved right by c mod width: rotates for a = b."""

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
