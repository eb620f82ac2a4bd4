"""relay-fuse-state-reads: products read the rows of a state where they lie.

Before:
    %0 = relay.state_append %past, %new {axis = 2, kept = [k], capacity = [p + s + r]} : (...)
    %1 = relay.strided_slice %0 {axes = [2], begin = [0], end = [p + s]} : (...) -> tensor<1x4x?x64xf32>
    %2 = relay.reshape %1 {newshape = [4, p + s, 64]} : (...) -> tensor<4x?x64xf32>
    %y = relay.nn.batch_matmul %q, %2 : (...) -> tensor<4x?x?xf32>
After:
    %f = relay.fn (%p0: ..., %p1: ...) attributes {Primitive = 1 : i64} { slice, reshape and product of %p1 and %p0 }
    %y = relay.call %f(%q, %0)

By TVM's rules no op is fused into a product that reads it. The rows that a state has are a part of its memory, so they
would be copied before each product, which costs as much as it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.nn.products import BatchMatmulOp
from lamina.dialects.relay.shape.indexing import StridedSliceOp
from lamina.dialects.relay.shape.state import StateAppendOp
from lamina.dialects.relay.shape.views import ReshapeOp
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fusion.fuse_ops import outline


@dataclass(frozen=True)
class FuseStateReads(ModulePass):
    """Products read the rows of a state where they lie."""

    name = "relay-fuse-state-reads"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in [o for o in op.walk() if isinstance(o, StateAppendOp)]:
            for use in list(found.result.uses):
                group = read_by_product(use.operation)
                if group is not None:
                    with edit.transaction(group[-1]):
                        outline(group)


def read_by_product(op: Operation) -> list[Operation] | None:
    """A slice of a state, what gives it another shape, and the product that alone reads it; None for another reader."""
    if not isinstance(op, StridedSliceOp):
        return None
    group: list[Operation] = [op]
    value: SSAValue = op.result
    while value.has_one_use():
        reader = value.get_user_of_unique_use()
        if reader is None or reader.parent is not op.parent:
            return None
        group.append(reader)
        if isinstance(reader, BatchMatmulOp):
            return group
        if not isinstance(reader, ReshapeOp):
            return None
        value = reader.result
    return None
