"""Memory of a body's own buffers: in registers, on the stack, or in memory of the C library.

A register buffer is a table of SSA values (`registers.py`). Another one is on the calling thread's stack, made once in
the function's entry; one in a loop that is too large for that, or has a size that only the caller knows, is taken from
`malloc` and given back where the block ends.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntAttr, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.dtypes import bytes_of_type, dtype_name, itemsize, scalar_type
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.ops import AllocOp
from lamina.passes.tir_to_llvm.builder import POINTER, FunctionBuilder
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import OVERFLOW, Properties, memory_type

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay

LARGEST_ON_STACK = 1 << 20
"""Bytes of a buffer in a loop."""


def is_on_heap(op: AllocOp) -> bool:
    """Whether a buffer in a loop is one whose size only the caller knows, or too large for the stack."""
    if op.scope.data == "register":
        return False
    return bool(op.sizes) or bytes_of_type(op.result.type) > LARGEST_ON_STACK


def stack_buffer(b: FunctionBuilder, type_: Attribute) -> SSAValue:
    """Memory of the calling thread for a buffer."""
    assert type(type_) is MemRefType
    size = prod(type_.get_shape())
    properties: Properties = {
        "elem_type": memory_type(scalar_type(type_.element_type)),
        "alignment": IntegerAttr(b.stack_alignment, i64),
    }
    own = llvm.LLVMPointerType(IntAttr(b.stack_space)) if b.stack_space else POINTER
    return b.at_level(0, lambda: b.emit(llvm.AllocaOp, [b.integer(max(size, 1))], own, properties))


@tir_to_llvm.lowers(AllocOp)
def alloc(op: AllocOp, replay: Replay) -> Step:
    """A table of values for a register buffer; else memory on the stack or of the C library."""
    buffer = op.result
    if op.scope.data == "register":
        # A new execution starts empty: what an earlier iteration left is dead.
        name = op.stage.data
        replay.registers[buffer] = Register(name)

        def reset() -> None:
            replay.registers[buffer].slots.clear()

        return reset
    if is_on_heap(op):
        return _compile_heap_alloc(replay, op)
    pointer = stack_buffer(replay.b, buffer.type)
    replay.pointers[buffer] = pointer

    def forget() -> None:
        replay.loaded.pop(buffer, None)

    return forget


def _compile_heap_alloc(replay: Replay, op: AllocOp) -> Step:
    """A buffer in a loop that the stack does not hold: memory of the C library, until the block ends."""
    buffer, b, extents = op.result, replay.b, op.extents()
    size = itemsize(dtype_name(buffer.type.element_type))
    replay.known_from[buffer] = None

    def step() -> None:
        replay.loaded.pop(buffer, None)
        count = b.emit(llvm.MulOp, [b.product(extents), b.integer(size)], b.index, OVERFLOW)
        replay.pointers[buffer] = b.call("malloc", [count], POINTER)

    return step


def release(replay: Replay, op: AllocOp) -> Step:
    """Give the memory of a buffer back."""
    return lambda: replay.b.call_for_effect("free", [replay.pointers[op.result]])
