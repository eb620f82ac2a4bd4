"""relay-combine-parallel-batch-matmul: products of one batch of matrices become one with more columns.

Before:
    %1 = relay.nn.batch_matmul %x, %a : (tensor<2x3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x3x4xf32>
    %2 = relay.nn.batch_matmul %x, %b : (tensor<2x3x8xf32>, tensor<2x5x8xf32>) -> tensor<2x3x5xf32>
After:
    %w = relay.concatenate %a, %b {axis = 1} : (...) -> tensor<2x9x8xf32>
    %0 = relay.nn.batch_matmul %x, %w : (tensor<2x3x8xf32>, tensor<2x9x8xf32>) -> tensor<2x3x9xf32>
    %1 = relay.strided_slice %0 {axes = [2], begin = [0], end = [4], strides = [1]} : ...
    %2 = relay.strided_slice %0 {axes = [2], begin = [4], end = [9], strides = [1]} : ...

So with at least `min_num_branches` of them, as with the heads of an attention. Elementwise ops that follow alike come
along (`combine_parallel.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.ir import Operation

from lamina.dialects import relay as r
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.combine_parallel import Family, Merged, combine, shared


class Products(Family):
    """Products of one batch of matrices."""

    def key(self, op: Operation) -> tuple[Any, ...] | None:
        if op.name != "relay.nn.batch_matmul" or not isinstance(op, RelayOp):
            return None
        right = tensor_info(op.operands[1].type)
        return shared(op, 0, right.shape[0], right.dtype)

    def merge(self, ops: Sequence[RelayOp]) -> Merged:
        attrs = attrs_of(ops[0])
        place = 1 if attrs["transpose_b"] else 2
        extents = tuple(tensor_info(op.operands[1].type).shape[place] for op in ops)
        right = r.concatenate(*(op.operands[1] for op in ops), axis=place)
        return Merged(r.nn.batch_matmul(ops[0].operands[0], right, **attrs), 2, extents)


@dataclass(frozen=True)
class CombineParallelBatchMatmul(ModulePass):
    """Products of one batch of matrices become one with more columns."""

    name = "relay-combine-parallel-batch-matmul"
    opt_level: ClassVar[int] = 4
    min_num_branches: int = 3
    """The least number of branches, at least 2."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        combine(op, Products(), self.min_num_branches)
