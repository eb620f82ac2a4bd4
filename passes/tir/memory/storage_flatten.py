"""Lay buffers out in memory: one dimension each, with the strides that `te.storage_align` asks for.

An element of a buffer of several dimensions stands at the sum of its indices times the strides, row-major. A buffer
marked `storage_align = [axis, factor, offset]` has its axis' stride increased to the next number that is `offset`
modulo `factor`. Arguments of the function keep their place in memory: an argument of several dimensions stays as it
is. With `aligned-only` none but the marked buffers are laid out, which is what machine code needs: it finds the
row-major place of every other by itself. Buffers of unknown extent, whose strides are no numbers, stay as well.

Before:
    %B = tir.alloc "B" scope "global" {storage_align = array<i64: 0, 32, 1>} : memref<8x32xf32>
    %b = tir.load %B[%i, %j] : memref<8x32xf32>
After:
    %B = tir.alloc "B" scope "global" : memref<264xf32>
    %b = tir.load %B[%i * 33 + %j] : memref<264xf32>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, ModuleOp

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE
from lamina.dialects.index.linear import Linear, recombine
from lamina.dialects.schedule.nest.annotations import STORAGE_ALIGN
from lamina.dialects.tir.memory import AccessOp, AllocOp, buffer_type, type_of
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass
from lamina.passes.rules.rewriting import Rules

flatten = Rules("tir-storage-flatten")


def strides_of(shape: Sequence[int], align: tuple[int, int, int] | None) -> list[int]:
    """The strides of the dimensions of a buffer, and before them its size."""
    strides = [1]
    for axis in range(len(shape) - 1, -1, -1):
        if align is not None and axis == align[0] and axis < len(shape) - 1:
            _, factor, offset = align
            strides[0] += (offset - strides[0]) % factor
        strides.insert(0, strides[0] * max(shape[axis], 1))
    return strides


def _alignment(alloc: AllocOp) -> tuple[int, int, int] | None:
    asked = alloc.attributes.get(STORAGE_ALIGN)
    if asked is None:
        return None
    numbers = [int(n) for n in asked.get_values()] if isinstance(asked, DenseArrayBase) else []
    rank = type_of(alloc.result).get_num_dims()
    if len(numbers) != 3 or not 0 <= numbers[0] < rank or numbers[1] < 1:
        raise InputError(f"tir-storage-flatten: {STORAGE_ALIGN} of {alloc.stage.data!r} is {asked}", op=alloc)
    return numbers[0], numbers[1], numbers[2]


@flatten.lower(AllocOp)
def lay_out(alloc: AllocOp) -> bool:
    """A buffer of one dimension in the place of one of several, and the accesses to it.

    Before: alloc memref<8x32xf32>; load [%i, %j]    After: alloc memref<256xf32>; load [%i * 32 + %j]
    """
    align = _alignment(alloc)
    shape = alloc.result.type.get_shape()
    users = [use.operation for use in alloc.result.uses]
    if (len(shape) == 1 and align is None) or DYNAMIC_INDEX in shape:
        return False
    for user in users:
        if not isinstance(user, AccessOp):
            return False  # a buffer that is used as a whole keeps its shape
    size, *strides = strides_of(shape, align)
    new = AllocOp.make(alloc.stage.data, buffer_type([size], alloc.result.type.element_type), alloc.scope.data)
    new.attributes |= {k: v for k, v in alloc.attributes.items() if k != STORAGE_ALIGN}
    new.location = alloc.location
    new.result.name_hint = alloc.result.name_hint
    edit.insert_before(alloc, new)
    for user in dict.fromkeys(users):
        assert isinstance(user, AccessOp)
        lanes = user.lanes
        ranges = RangeCache({LANE: (0, lanes - 1)} if lanes is not None else None)
        flat, conditions = Linear(), user.conditions()
        for form, stride in zip(user.forms(), strides, strict=True):
            flat = flat + form * stride
        operands = list(user.operands)
        operands[user.buffer_position()] = new.result
        user.operands = operands
        user.set_access([recombine(flat).simplify(ranges)], conditions)
    edit.erase(alloc)
    return True


@dataclass(frozen=True)
class StorageFlattenPass(ModulePass):
    name = "tir-storage-flatten"

    aligned_only: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        flatten.apply(op, only=(lambda alloc: STORAGE_ALIGN in alloc.attributes) if self.aligned_only else None)
