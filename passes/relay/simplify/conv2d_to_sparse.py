"""relay-conv2d-to-sparse: pointwise convolutions whose weights are mostly zeros multiply the blocks that are not.

Before (block-size = 1,1; most of %w are zeros):
    %w = relay.constant dense<...> : tensor<1x1x8x4xf32>
    %y = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : ...
After:
    %0 = relay.reshape %x {newshape = [25, 8]} : (tensor<1x5x5x8xf32>) -> tensor<25x8xf32>
    %4 = relay.nn.sparse_dense %0, %1, %2, %3 : (tensor<25x8xf32>, ...) -> tensor<25x4xf32>
    %y = relay.reshape %4 {newshape = [1, 5, 5, 4]} : (tensor<25x4xf32>) -> tensor<1x5x5x4xf32>

A kernel of one pixel, without strides, padding or groups, is a product over the channels: relay-dense-to-sparse has the
options. In NCHW the channels are brought to the end and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.ir import SSAValue

from lamina.dialects import relay as r
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

LAYOUTS = {("NHWC", "HWIO"): True, ("NCHW", "OIHW"): False}
"""Layouts of data and kernel, and whether the channels are last (and the kernel's inputs before its outputs)."""


@dataclass(frozen=True)
class Conv2dToSparse(ModulePass):
    """Pointwise convolutions whose weights are mostly zeros multiply the blocks that are not."""

    name = "relay-conv2d-to-sparse"
    opt_level: ClassVar[int] = 4
    block_size: tuple[int, ...] = (16, 1)
    """Output and input channels of a block."""
    sparsity_threshold: float = 0.8
    """The least share of blocks that are zeros."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        size = checked_size(self.name, self.block_size, self.sparsity_threshold)
        for conv in [o for o in op.walk() if o.name == "relay.nn.conv2d"]:
            assert isinstance(conv, RelayOp)
            make_sparse(conv, size, self.sparsity_threshold, store_of(ctx))


def make_sparse(op: RelayOp, size: tuple[int, int], threshold: float, store: ParamStore) -> bool:
    """Let a pointwise convolution multiply the blocks of its weight that are not zeros: whether it does."""
    x, weight = op.operands
    attrs = attrs_of(op)
    last = LAYOUTS.get((attrs["data_layout"], attrs["kernel_layout"]))
    if last is None or not isinstance(weight.owner, ConstantOp) or has_unknown_extents([x.type]):
        return False
    given, kernel = tensor_info(x.type), tensor_info(weight.type)
    pointwise = (kernel.shape[:2] if last else kernel.shape[2:]) == (1, 1)
    plain = attrs["groups"] == 1 and set(attrs["strides"]) == {1} and not any(attrs["padding"])
    same = given.dtype == kernel.dtype == tensor_info(op.results[0].type).dtype
    if not pointwise or not plain or not same or attrs["out_layout"] not in ("", attrs["data_layout"]):
        return False
    matrix = kernel.shape[2:] if last else kernel.shape[:2]
    blocks = weight_blocks(weight, (matrix[0], matrix[1]), last, size, threshold, store)
    if blocks is None:
        return False
    out = tensor_info(op.results[0].type).shape

    def product() -> SSAValue:
        rows = x if last else r.transpose(x, axes=(0, 2, 3, 1))
        *outer, channels = tensor_info(rows.type).shape
        y = sparse_product(r.reshape(rows, newshape=(prod(outer), channels)), blocks, store, hint_of(weight))
        whole = r.reshape(y, newshape=(*outer, out[3] if last else out[1]))
        return whole if last else r.transpose(whole, axes=(0, 3, 1, 2))

    put_in_place(op, product)
    return True
