"""Masked and scattered access of the llvm dialect. xDSL has the store alone, and for floats only."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr, VectorType
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

__all__ = ["MaskedGatherOp", "MaskedLoadOp", "MaskedScatterOp", "MaskedStoreOp"]


class _MaskedOp(IRDLOperation):
    """The checks that masked accesses share: one mask bit for each lane."""

    alignment = prop_def(IntegerAttr[IntegerType])

    irdl_options = (ParsePropInAttrDict(),)

    def check_lanes(self, *values: SSAValue) -> None:
        lanes: set[object] = set()
        for value in values:
            type_: Attribute = value.type
            if not isinstance(type_, VectorType):
                raise VerifyException(f"masked access takes vectors, not {type_}")
            lanes.add(cast(VectorType[Attribute], type_).get_shape())
        if len(lanes) > 1:
            raise VerifyException(f"vectors of different length: {', '.join(str(v.type) for v in values)}")


@irdl_op_definition
class MaskedLoadOp(_MaskedOp):
    """Lanes whose mask bit is clear touch no memory and take the value of `pass_thru`."""

    name = "llvm.intr.masked.load"

    data = operand_def(LLVMPointerType)
    mask = operand_def()
    pass_thru = opt_operand_def()
    res = result_def()
    nontemporal = opt_prop_def(UnitAttr)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        self.check_lanes(self.mask, self.res, *self.operands[2:])


@irdl_op_definition
class MaskedStoreOp(_MaskedOp):
    """Stores the lanes whose mask bit is set."""

    name = "llvm.intr.masked.store"

    value = operand_def()
    data = operand_def(LLVMPointerType)
    mask = operand_def()
    nontemporal = opt_prop_def(UnitAttr)

    assembly_format = "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)"

    def verify_(self) -> None:
        self.check_lanes(self.value, self.mask)


@irdl_op_definition
class MaskedGatherOp(_MaskedOp):
    """Loads each lane from its own address."""

    name = "llvm.intr.masked.gather"

    ptrs = operand_def()
    mask = operand_def()
    pass_thru = opt_operand_def()
    res = result_def()

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        self.check_lanes(self.ptrs, self.mask, self.res, *self.operands[2:])


@irdl_op_definition
class MaskedScatterOp(_MaskedOp):
    """Stores each lane to its own address."""

    name = "llvm.intr.masked.scatter"

    value = operand_def()
    ptrs = operand_def()
    mask = operand_def()

    assembly_format = "$value `,` $ptrs `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($ptrs)"

    def verify_(self) -> None:
        self.check_lanes(self.value, self.ptrs, self.mask)
