"""Ops that `@main` is made of beside buffers: calls of kernels, copies and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class CallOp(IRDLOperation):
    """Runs a kernel on buffers and sizes: `tir.call @f(%n, %x, %y) : index, memref<?xf32>, memref<4xf32>`.

    A buffer may have another shape than the kernel says, with as many elements of the same type: a reshape moves none.
    Of extents that only a run knows the types do not say whether they are as many.
    """

    name = "tir.call"

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def(BaseAttr(MemRefType) | BaseAttr(IndexType))
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` type($arguments)"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


def fits(given: Sequence[Attribute], taken: Sequence[Attribute]) -> bool:
    """Whether a kernel that takes these types can be called with those."""
    return len(given) == len(taken) and all(map(_holds_as_much, given, taken))


def _holds_as_much(given: Attribute, taken: Attribute) -> bool:
    if given == taken:
        return True
    if type(given) is not MemRefType or type(taken) is not MemRefType:
        return False
    shapes = given.get_shape(), taken.get_shape()
    open_ = [DYNAMIC_INDEX in s for s in shapes]
    as_many = all(open_) or (not any(open_) and prod(shapes[0]) == prod(shapes[1]))
    return as_many and given.element_type == taken.element_type


@irdl_op_definition
class CopyOp(IRDLOperation):
    """Copies a buffer to another of its type: `tir.copy %x to %y : memref<8xf32>, memref<8xf32>`."""

    name = "tir.copy"

    source = operand_def(MemRefType)
    target = operand_def(MemRefType)
    assembly_format = "$source `to` $target attr-dict `:` type($source) `,` type($target)"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        if self.source.type != self.target.type:
            raise VerifyException(f"{self.source.type} to {self.target.type}; both are of one type")


@irdl_op_definition
class ParamOp(IRDLOperation):
    """A weight from the parameter store, in memory: `tir.param #relay.param<"w", "..."> : memref<64xf32>`."""

    name = "tir.param"

    param = prop_def()
    result = result_def(MemRefType)
    assembly_format = "$param attr-dict `:` type($result)"
    traits = traits_def(Pure())
