"""Whether a kernel may write a result over one of its operands: each element is read last where it is written."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from lamina.dialects.tir.memory import AccessOp, LoadOp, StoreOp, type_of
from lamina.dialects.tir.ops import ForOp, FuncOp


def may_share(source: SSAValue, result: SSAValue) -> bool:
    """Whether two arguments of a kernel, of one type and of known extents, may be one buffer.

    The result's elements must be written once each, and each load of the operand must stand before a store to the same
    place, beside it in the same loops: then no iteration reads what another one has written.
    """
    loads, stores = [u.operation for u in source.uses], [u.operation for u in result.uses]
    if source.type != result.type or not stores or DYNAMIC_INDEX in type_of(result).get_shape():
        return False
    if not all(type(op) is StoreOp and op.guard is None and op.buffer is result for op in stores):
        return False
    if not all(type(op) is LoadOp and op.guard is None and _is_overwritten(op, result) for op in loads):
        return False
    return sum(_elements(op) for op in stores if isinstance(op, StoreOp)) == prod(type_of(result).get_shape())


def _is_overwritten(load: LoadOp, result: SSAValue) -> bool:
    """Whether a store to the same place of the result follows in the same block."""
    op = load.next_op
    while op is not None:
        if type(op) is StoreOp and op.buffer is result and _is_same_place(load, op):
            return True
        op = op.next_op
    return False


def _is_same_place(a: AccessOp, b: AccessOp) -> bool:
    same = a.properties["map"] == b.properties["map"] and a.lanes == b.lanes
    return same and tuple(a.index_operands()) == tuple(b.index_operands())


def _elements(store: StoreOp) -> int:
    """The number of elements that a store writes in all iterations of its loops, rewrites included; -1 if open."""
    count = store.lanes or 1
    op: Operation | None = store.parent_op()
    while op is not None and not isinstance(op, FuncOp):
        if not isinstance(op, ForOp) or op.bounds or op.is_dynamic or op.thread is not None:
            return -1
        count *= op.trip
        op = op.parent_op()
    return count
