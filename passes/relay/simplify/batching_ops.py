"""relay-batching-ops: branches that read one value merge, whatever their kind.

Before:
    %1 = relay.nn.conv2d %x, %a : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
    %2 = relay.nn.conv2d %x, %b : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
    %3 = relay.nn.conv2d %x, %c : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
After:
    %w = relay.concatenate %a, %b, %c : (...) -> tensor<12x8x1x1xf32>
    %0 = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<12x8x1x1xf32>) -> tensor<1x12x6x6xf32>
    %1 = relay.strided_slice %0 {axes = [1], begin = [0], end = [4], strides = [1]} : ...

The three passes relay-combine-parallel-conv2d, -dense and -batch-matmul with their defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.combine_parallel import combine
from lamina.passes.relay.simplify.combine_parallel_batch_matmul import Products
from lamina.passes.relay.simplify.combine_parallel_conv2d import Convolutions
from lamina.passes.relay.simplify.combine_parallel_dense import BatchOfLayers


@dataclass(frozen=True)
class BatchingOps(ModulePass):
    """Branches that read one value merge, whatever their kind."""

    name = "relay-batching-ops"
    opt_level: ClassVar[int] = 4

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for family in (Convolutions(), BatchOfLayers(), Products()):
            combine(op, family, 3)
