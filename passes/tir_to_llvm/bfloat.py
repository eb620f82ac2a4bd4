"""bf16 on the level of llvm: held as i16, computed in f32, which a machine may round by one instruction.

LLVM makes wrong code of some vectors of bf16 that are put together lane by lane, in shuffles and selects. For machines
with AVX512-BF16 it ends the process at vectors of 8n + 1 lanes that it has to split. Of integers it does neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import VectorType, bf16, f32, i1, i32
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.builder import UNORDERED
from lamina.passes.tir_to_llvm.scalars import (
    FLOAT,
    NO_OVERFLOW,
    OVERFLOW,
    element_of,
    llvm_type,
    splat,
    with_element,
)

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.builder import FunctionBuilder

SPLIT = 8
"""Lanes of the vectors that LLVM splits longer ones into."""


def extended(b: FunctionBuilder, value: SSAValue) -> SSAValue:
    """The f32 of a held bf16: its bits are the upper half."""
    word, single = with_element(value.type, i32), with_element(value.type, f32)
    bits = b.emit(llvm.ZExtOp, [value], word, {})
    upper = b.emit(llvm.ShlOp, [bits, b.constant(splat(16, word), word)], word, OVERFLOW)
    return b.emit(llvm.BitcastOp, [upper], single, {})


def rounded(b: FunctionBuilder, value: SSAValue, by_instruction: bool) -> SSAValue:
    """The held bf16 that is nearest to a float; of two the even one.

    Of f32 by integers where the machine has no instruction for it: half of the last place is added, a bit less if that
    is 0. LLVM would call a function for each lane, as it does still of f64.
    """
    type_ = value.type
    held = llvm_type(with_element(type_, bf16))
    lanes = type_.get_shape()[0] if type(type_) is VectorType else 0
    if element_of(type_) != f32 and lanes:
        return _lane_by_lane(b, value, held)
    if element_of(type_) != f32 or by_instruction and lanes % SPLIT == 0:
        return b.emit(llvm.BitcastOp, [b.emit(llvm.FPTruncOp, [value], with_element(type_, bf16), {})], held, {})
    bit, word = with_element(type_, i1), with_element(type_, i32)
    half_place, quiet, one, places = (b.constant(splat(n, word), word) for n in (0x7FFF, 0x40, 1, 16))
    bits = b.emit(llvm.BitcastOp, [value], word, {})
    upper = b.emit(llvm.LShrOp, [bits, places], word, {})
    odd = b.emit(llvm.AndOp, [upper, one], word, {})
    sum_ = b.emit(llvm.AddOp, [b.emit(llvm.AddOp, [bits, half_place], word, OVERFLOW), odd], word, OVERFLOW)
    nearest = b.emit(llvm.LShrOp, [sum_, places], word, {})
    # The sum of a NaN could be an infinity.
    no_number = b.emit(llvm.FCmpOp, [value, value], bit, {"predicate": UNORDERED, **FLOAT})
    of_nan = b.emit(llvm.OrOp, [upper, quiet], word, {})
    chosen = b.emit(llvm.SelectOp, [no_number, of_nan, nearest], word, FLOAT)
    return b.emit(llvm.TruncOp, [chosen], held, NO_OVERFLOW)


def _lane_by_lane(b: FunctionBuilder, value: SSAValue, held: Attribute) -> SSAValue:
    found, type_ = b.constant_op(llvm.PoisonOp, held), value.type
    assert type(type_) is VectorType
    for n in range(type_.get_shape()[0]):
        lane = b.emit(llvm.ExtractElementOp, [value, b.lane(n)], element_of(type_), {})
        found = b.emit(llvm.InsertElementOp, [found, rounded(b, lane, False), b.lane(n)], held, {})
    return found
