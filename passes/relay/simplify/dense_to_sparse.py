"""relay-dense-to-sparse: layers whose weights are mostly zeros multiply the blocks that are not.

Before (block-size = 2,2; three quarters of %w are zeros):
    %w = relay.constant dense<...> : tensor<4x8xf32>
    %y = relay.nn.dense %x, %w : (tensor<3x8xf32>, tensor<4x8xf32>) -> tensor<3x4xf32>
After:
    %0 = relay.constant dense<...> : tensor<2x2x2xf32>
    %1 = relay.constant dense<[0, 3]> : tensor<2xi32>
    %2 = relay.constant dense<[0, 1, 2]> : tensor<3xi32>
    %y = relay.nn.sparse_dense %x, %0, %1, %2 : (tensor<3x8xf32>, tensor<2x2x2xf32>, ...) -> tensor<3x4xf32>

A weight [N, K] is cut into blocks; where at least `sparsity-threshold` of them are zeros the others alone are kept
(BSR). TVM's takes the names of weights that were cut before; here the weights themselves say it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects.infos import has_unknown_extents, tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.sparse_weights import (
    checked_size,
    hint_of,
    put_in_place,
    sparse_product,
    weight_blocks,
)


@dataclass(frozen=True)
class DenseToSparse(ModulePass):
    """Layers whose weights are mostly zeros multiply the blocks that are not."""

    name = "relay-dense-to-sparse"
    opt_level: ClassVar[int] = 4
    block_size: tuple[int, ...] = (16, 1)
    """Rows and columns of a block."""
    sparsity_threshold: float = 0.8
    """The least share of blocks that are zeros."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        size = checked_size(self.name, self.block_size, self.sparsity_threshold)
        for dense in [o for o in op.walk() if o.name == "relay.nn.dense"]:
            assert isinstance(dense, RelayOp)
            make_sparse(dense, size, self.sparsity_threshold, store_of(ctx))


def make_sparse(op: RelayOp, size: tuple[int, int], threshold: float, store: ParamStore) -> bool:
    """Let a layer multiply the blocks of its weight that are not zeros: whether it does."""
    x, weight = op.operands
    if not isinstance(weight.owner, ConstantOp) or has_unknown_extents([x.type]):
        return False
    given, matrix = tensor_info(x.type), tensor_info(weight.type)
    if len(given.shape) != 2 or given.dtype != matrix.dtype or attrs_of(op)["out_dtype"] not in ("", given.dtype):
        return False
    n, k = matrix.shape
    blocks = weight_blocks(weight, (n, k), False, size, threshold, store)
    if blocks is None:
        return False
    put_in_place(op, lambda: sparse_product(x, blocks, store, hint_of(weight)))
    return True
