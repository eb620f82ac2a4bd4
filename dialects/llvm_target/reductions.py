"""Reductions of a vector in the llvm dialect; fadd and fmul replace xDSL's, which print unlike MLIR."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.llvm import FastMathAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.llvm_target.intrinsics import IntrinsicOp

__all__ = [
    "VectorReduceAddOp",
    "VectorReduceAndOp",
    "VectorReduceFAddOp",
    "VectorReduceFMaxOp",
    "VectorReduceFMaximumOp",
    "VectorReduceFMinOp",
    "VectorReduceFMinimumOp",
    "VectorReduceFMulOp",
    "VectorReduceMulOp",
    "VectorReduceOrOp",
    "VectorReduceSMaxOp",
    "VectorReduceSMinOp",
    "VectorReduceUMaxOp",
    "VectorReduceUMinOp",
    "VectorReduceXorOp",
]

# The others have no custom syntax in MLIR.
_FORMAT = "`(` operands `)` attr-dict `:` functional-type(operands, results)"


class _Reduction(IntrinsicOp):
    """`"llvm.intr.vector.reduce.add"(%v) : (vector<8xi32>) -> i32`"""

    arg = operand_def(VectorType)

    def verify_(self) -> None:
        element = cast("VectorType[Attribute]", self.arg.type).element_type
        if self.res.type != element:
            raise VerifyException(f"reduces {self.arg.type} to {element}, not {self.res.type}")


class _FloatReduction(_Reduction):
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    assembly_format = _FORMAT


class _StartReduction(IntrinsicOp):
    """Reduces from a start value; in order, unless `reassoc` is among the flags."""

    start_value = operand_def()
    input = operand_def(VectorType)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    def verify_(self) -> None:
        element = cast("VectorType[Attribute]", self.input.type).element_type
        if not self.res.type == self.start_value.type == element:
            raise VerifyException(f"reduces {self.input.type} from and to {element}")


@irdl_op_definition
class VectorReduceAddOp(_Reduction):
    """The sum of all lanes of a vector of integers, wrapped."""

    name = "llvm.intr.vector.reduce.add"


@irdl_op_definition
class VectorReduceAndOp(_Reduction):
    """The bits that are set in all lanes of a vector of integers."""

    name = "llvm.intr.vector.reduce.and"


@irdl_op_definition
class VectorReduceMulOp(_Reduction):
    """The product of all lanes of a vector of integers, wrapped."""

    name = "llvm.intr.vector.reduce.mul"


@irdl_op_definition
class VectorReduceOrOp(_Reduction):
    """The bits that are set in any lane of a vector of integers."""

    name = "llvm.intr.vector.reduce.or"


@irdl_op_definition
class VectorReduceSMaxOp(_Reduction):
    """The greatest lane of a vector of signed integers."""

    name = "llvm.intr.vector.reduce.smax"


@irdl_op_definition
class VectorReduceSMinOp(_Reduction):
    """The least lane of a vector of signed integers."""

    name = "llvm.intr.vector.reduce.smin"


@irdl_op_definition
class VectorReduceUMaxOp(_Reduction):
    """The greatest lane of a vector of unsigned integers."""

    name = "llvm.intr.vector.reduce.umax"


@irdl_op_definition
class VectorReduceUMinOp(_Reduction):
    """The least lane of a vector of unsigned integers."""

    name = "llvm.intr.vector.reduce.umin"


@irdl_op_definition
class VectorReduceXorOp(_Reduction):
    """The bits that are set in an odd number of lanes of a vector of integers."""

    name = "llvm.intr.vector.reduce.xor"


@irdl_op_definition
class VectorReduceFMaxOp(_FloatReduction):
    """The greatest lane of a vector of floats that is not NaN, as `llvm.maxnum`: the sign of a zero is unspecified."""

    name = "llvm.intr.vector.reduce.fmax"


@irdl_op_definition
class VectorReduceFMinOp(_FloatReduction):
    """The least lane of a vector of floats that is not NaN, as `llvm.minnum`: the sign of a zero is unspecified."""

    name = "llvm.intr.vector.reduce.fmin"


@irdl_op_definition
class VectorReduceFMaximumOp(_FloatReduction):
    """The greatest lane of a vector of floats, as `llvm.maximum`: NaN when one is NaN; +0 above -0."""

    name = "llvm.intr.vector.reduce.fmaximum"


@irdl_op_definition
class VectorReduceFMinimumOp(_FloatReduction):
    """The least lane of a vector of floats, as `llvm.minimum`: NaN when one is NaN; -0 below +0."""

    name = "llvm.intr.vector.reduce.fminimum"


@irdl_op_definition
class VectorReduceFAddOp(_StartReduction):
    """start + lane 0 + lane 1 + ..., in that order; in any order with `reassoc`. A start of -0 changes nothing."""

    name = "llvm.intr.vector.reduce.fadd"


@irdl_op_definition
class VectorReduceFMulOp(_StartReduction):
    """start * lane 0 * lane 1 * ..., in that order; in any order with `reassoc`. A start of 1 changes nothing."""

    name = "llvm.intr.vector.reduce.fmul"
