"""Quotients of lanes that are zero in both operands, which LLVM's code generator takes for zero.

It follows lanes of constant zeros through sums, products and quotients alike: `0/0` counts as 0, and a choice between
that and 0 is left out, so that the NaN comes through (`SimplifyDemandedVectorElts`, LLVM 22). Such lanes come from
guards that are decided when a kernel is compiled, where concatenated or padded tensors are divided. Their numerator
becomes NaN, so that the quotient is what it was.

Before: %q = llvm.fdiv %a, %b : vector<4xf32>          (the last lane of both is a constant 0)
After:  %n = llvm.select %last, %nan, %a : vector<4xi1>, vector<4xf32>
        %q = llvm.fdiv %n, %b : vector<4xf32>
"""

from __future__ import annotations

from math import copysign
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import DivfOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType, i1
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.rules import Emit, emits
from lamina.passes.tir_to_llvm.scalars import FLOAT, computed_type, splat

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.builder import FunctionBuilder

MOST_STEPS = 8
"""The most steps that lanes are followed back; the code generator gives up after six steps."""

_LANEWISE = (llvm.FAddOp, llvm.FSubOp, llvm.FMulOp, llvm.FDivOp, llvm.FRemOp)


@emits(DivfOp)
def divide(op: DivfOp, b: FunctionBuilder) -> Emit:
    """llvm.fdiv; lanes of a vector that are zero in both operands stay NaN."""
    type_ = computed_type(op.result.type)
    if type(type_) is VectorType:
        return lambda operands: quotient(b, *operands)
    return lambda operands: b.emit(llvm.FDivOp, operands, type_, FLOAT)


def quotient(builder: FunctionBuilder, dividend: SSAValue, divisor: SSAValue) -> SSAValue:
    """The quotient of two vectors of floats."""
    type_ = dividend.type
    zeros = _common(zero_lanes(dividend), divisor)
    if any(zeros):
        bits = vector_type(i1, len(zeros))
        mask = builder.constant(DenseIntOrFPElementsAttr.from_list(bits, [int(z) for z in zeros]), bits)
        no_number = builder.constant(splat(float("nan"), type_), type_)
        dividend = builder.emit(llvm.SelectOp, [mask, no_number, dividend], type_, FLOAT)
    return builder.emit(llvm.FDivOp, [dividend, divisor], type_, FLOAT)


def zero_lanes(value: SSAValue, steps: int = MOST_STEPS) -> list[bool]:
    """For each lane of a vector of floats, whether it is zero because constants are."""
    op = value.owner
    lanes = cast("VectorType[Attribute]", value.type).get_shape()[0]
    if isinstance(op, llvm.InsertElementOp):
        known: dict[int | None, bool] = {}
        while isinstance(op, llvm.InsertElementOp) and len(known) < lanes:
            known.setdefault(_number(op.index), _is_zero(op.value))
            value = op.vector
            op = value.owner
        below = [False] * lanes if len(known) == lanes or None in known else zero_lanes(value, steps)
        return [known.get(lane, zero) and None not in known for lane, zero in enumerate(below)]
    if isinstance(op, llvm.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
        found = [isinstance(v, float) and _is_plus_zero(v) for v in op.value.get_values()]
        return found * lanes if len(found) == 1 else found
    if steps == 0:
        return [False] * lanes
    if isinstance(op, _LANEWISE):
        return _common(zero_lanes(op.lhs, steps - 1), op.rhs, steps - 1)
    if isinstance(op, llvm.SelectOp):
        then, mask = zero_lanes(op.lhs, steps - 1), _mask(op.cond, lanes)
        if mask is None:
            return _common(then, op.rhs, steps - 1)
        otherwise = zero_lanes(op.rhs, steps - 1)
        return [a if holds else b for a, b, holds in zip(then, otherwise, mask, strict=True)]
    if isinstance(op, llvm.MaskedLoadOp) and op.pass_thru is not None:
        mask = _mask(op.mask, lanes) or [True] * lanes
        return [not read and zero for read, zero in zip(mask, zero_lanes(op.pass_thru, steps - 1), strict=True)]
    if isinstance(op, llvm.ShuffleVectorOp):
        both = [*zero_lanes(op.v1, steps - 1), *zero_lanes(op.v2, steps - 1)]
        return [n >= 0 and both[n] for n in op.mask.get_values()]
    return [False] * lanes


def _common(lanes: list[bool], other: SSAValue, steps: int = MOST_STEPS) -> list[bool]:
    """Those of some lanes that are zero in another vector as well."""
    return [a and b for a, b in zip(lanes, zero_lanes(other, steps), strict=True)] if any(lanes) else lanes


def _mask(value: SSAValue, lanes: int) -> list[bool] | None:
    """The lanes of a constant mask."""
    op = value.owner
    if not isinstance(op, llvm.ConstantOp) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return None
    found = [bool(v) for v in op.value.get_values()]
    return found * lanes if len(found) == 1 else found


def _number(value: SSAValue) -> int | None:
    op = value.owner
    return op.value.value.data if isinstance(op, llvm.ConstantOp) and isinstance(op.value, IntegerAttr) else None


def _is_zero(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, llvm.ConstantOp) and isinstance(op.value, FloatAttr) and _is_plus_zero(op.value.value.data)


def _is_plus_zero(number: float) -> bool:
    return number == 0 and copysign(1, number) > 0
