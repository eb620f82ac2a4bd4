"""relay-combine-parallel-dense: dense layers of one value become one product.

Before:
    %1 = relay.nn.dense %x, %a : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
    %2 = relay.nn.dense %x, %b : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
After:
    %w = relay.stack %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
    %e = relay.expand_dims %x : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
    %0 = relay.nn.batch_matmul %e, %w : (tensor<1x2x8xf32>, tensor<2x4x8xf32>) -> tensor<2x2x4xf32>
    %s = relay.strided_slice %0 {axes = [0], begin = [0], end = [1], strides = [1]} : ...
    %1 = relay.squeeze %s {axis = [0]} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>

With `to_batch` (TVM's default) layers with as many units become a batch of products; without, any of them one layer
with more units. So with at least `min_num_branches`, and elementwise ops that follow alike (`combine_parallel.py`).
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


class Layers(Family):
    """Dense layers of one value: side by side."""

    def key(self, op: Operation) -> tuple[Any, ...] | None:
        if op.name != "relay.nn.dense" or not isinstance(op, RelayOp):
            return None
        return shared(op, 0, tensor_info(op.operands[1].type).dtype, without=("units",))

    def merge(self, ops: Sequence[RelayOp]) -> Merged:
        extents = tuple(tensor_info(op.operands[1].type).shape[0] for op in ops)
        weight = r.concatenate(*(op.operands[1] for op in ops), axis=0)
        value = r.nn.dense(ops[0].operands[0], weight, out_dtype=attrs_of(ops[0])["out_dtype"])
        return Merged(value, len(tensor_info(ops[0].results[0].type).shape) - 1, extents)


class BatchOfLayers(Layers):
    """Dense layers of one matrix with as many units: one behind the other."""

    def key(self, op: Operation) -> tuple[Any, ...] | None:
        found = super().key(op)
        if found is None or len(tensor_info(op.operands[0].type).shape) != 2:
            return None
        return (*found, tensor_info(op.operands[1].type).shape)

    def merge(self, ops: Sequence[RelayOp]) -> Merged:
        weights = r.stack(*(op.operands[1] for op in ops), axis=0)
        data = r.expand_dims(ops[0].operands[0], axis=0, num_newaxis=1)
        out_dtype = attrs_of(ops[0])["out_dtype"]
        value = r.nn.batch_matmul(data, weights, out_dtype=out_dtype, transpose_a=False, transpose_b=True)
        return Merged(value, 0, (1,) * len(ops), True)


@dataclass(frozen=True)
class CombineParallelDense(ModulePass):
    """Dense layers of one value become one product."""

    name = "relay-combine-parallel-dense"
    opt_level: ClassVar[int] = 4
    min_num_branches: int = 3
    """The least number of branches, at least 2."""
    to_batch: bool = True
    """Into a batch of products rather than a layer with more units."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        combine(op, BatchOfLayers() if self.to_batch else Layers(), self.min_num_branches)
