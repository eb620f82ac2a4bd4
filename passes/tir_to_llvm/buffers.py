"""Memory of a body's own buffers: in registers, on the stack, in the thread's memory, or in that of the C library.

A register buffer is a table of SSA values (`registers.py`). Another one is on the calling thread's stack, made once in
the function's entry. What is too large for that lies in memory that the program has for each of its threads, behind
the arena: the phase is given its thread's, and kernels that run one after the other use the same. One with a size that
only the caller knows is taken from `malloc` once in the function, and given back where that ends: its loops may have
many rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntAttr, IntegerAttr, MemRefType, i8, i64
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.dtypes import bytes_of_type, dtype_name, itemsize, scalar_type
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.machine_spec import stack_bytes
from lamina.dialects.tir.ops import AllocOp
from lamina.passes.tir.memory.plan_memory import LARGEST_ON_STACK
from lamina.passes.tir_to_llvm.builder import LINE_BYTES, POINTER, FunctionBuilder
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import OVERFLOW, Properties, memory_type

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr
    from lamina.passes.tir_to_llvm.replay import Replay


def largest_on_stack(target: TargetAttr | None) -> int:
    """The most bytes that the buffers of a phase take of a target's stack."""
    return LARGEST_ON_STACK if target is None else stack_bytes(target.triple.data, LARGEST_ON_STACK)


def places_of_thread(ops: Iterable[Operation], target: TargetAttr | None) -> tuple[dict[Operation, int], int]:
    """The offsets of the buffers of a phase that the stack does not hold in its thread's memory, and the bytes of all;
    of its `ops` at any depth. The stack holds the smallest ones."""
    buffers = [op for op in ops if type(op) is AllocOp and op.scope.data != "register" and not op.sizes]
    left, places, at = largest_on_stack(target), dict[Operation, int](), 0
    for op in sorted(buffers, key=lambda op: bytes_of_type(op.result.type)):
        size = bytes_of_type(op.result.type)
        if size <= left:
            left -= size
        else:
            places[op] = at
            at += -(-size // LINE_BYTES) * LINE_BYTES
    return places, at


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
    """A table of values for a register buffer; else memory on the stack, of the thread or of the C library."""
    buffer = op.result
    if op.scope.data == "register":
        # A new execution starts empty: what an earlier iteration left is dead.
        name = op.stage.data
        replay.registers[buffer] = Register(name)

        def reset() -> None:
            replay.registers[buffer].slots.clear()

        return reset
    if op.sizes:
        return _compile_heap_alloc(replay, op)
    b, place = replay.b, replay.places_of_thread.get(op)
    if place is None:
        replay.pointers[buffer] = stack_buffer(b, buffer.type)
    else:
        memory = replay.memory_of_thread
        assert memory is not None
        replay.pointers[buffer] = b.at_level(0, lambda: b.element_pointer(memory, i8, b.integer(place)))

    def forget() -> None:
        replay.loaded.pop(buffer, None)

    return forget


def _compile_heap_alloc(replay: Replay, op: AllocOp) -> Step:
    """A buffer in a loop whose size only the caller knows: memory of the C library, the same in each round."""
    buffer, b, extents = op.result, replay.b, op.extents()
    size = itemsize(dtype_name(buffer.type.element_type))

    def take() -> SSAValue:
        bytes_ = b.emit(llvm.MulOp, [b.product(extents), b.integer(size)], b.index, OVERFLOW)
        # Vectors do not straddle cache lines.
        room = b.emit(llvm.AddOp, [bytes_, b.integer(LINE_BYTES)], b.index, OVERFLOW)
        found = b.call("malloc", [room], POINTER)
        replay.taken.append(found)
        address = b.emit(llvm.PtrToIntOp, [found], b.index, {})
        over = b.emit(llvm.AndOp, [address, b.integer(LINE_BYTES - 1)], b.index, {})
        return b.element_pointer(found, i8, b.emit(llvm.SubOp, [b.integer(LINE_BYTES), over], b.index, {}))

    def step() -> None:
        replay.loaded.pop(buffer, None)
        if buffer not in replay.pointers:
            replay.pointers[buffer] = b.at_level(0, take)

    return step


def release(replay: Replay) -> None:
    """Give the memory back that the function has taken."""
    for pointer in replay.taken:
        replay.b.call_for_effect("free", [pointer])
