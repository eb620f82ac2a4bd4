"""relay-combine-parallel-conv2d: convolutions of one value with kernels of one size become one with more channels.

Before:
    %1 = relay.nn.conv2d %x, %a : (tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x6x6xf32>
    %2 = relay.nn.conv2d %x, %b : (tensor<1x8x6x6xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x6x6xf32>
After:
    %w = relay.concatenate %a, %b : (tensor<4x8x1x1xf32>, tensor<2x8x1x1xf32>) -> tensor<6x8x1x1xf32>
    %0 = relay.nn.conv2d %x, %w : (tensor<1x8x6x6xf32>, tensor<6x8x1x1xf32>) -> tensor<1x6x6x6xf32>
    %1 = relay.strided_slice %0 {axes = [1], begin = [0], end = [4], strides = [1]} : ...
    %2 = relay.strided_slice %0 {axes = [1], begin = [4], end = [6], strides = [1]} : ...

So with at least `min_num_branches` of them, as in the modules of Inception; grouped convolutions stay. Elementwise ops
that follow alike come along (`combine_parallel.py`). relay-fold-constant puts constant weights together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.ir import Operation

from lamina.dialects import relay as r
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.layout import axis_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.combine_parallel import Family, Merged, combine, shared


class Convolutions(Family):
    """Convolutions of one value with the same window."""

    def key(self, op: Operation) -> tuple[Any, ...] | None:
        if op.name != "relay.nn.conv2d" or not isinstance(op, RelayOp):
            return None
        attrs, weight = attrs_of(op), tensor_info(op.operands[1].type)
        if attrs["groups"] != 1:
            return None
        kernel = attrs["kernel_layout"]
        window = tuple(weight.shape[axis_of(kernel, a)] for a in "HW")
        return shared(op, 0, window, weight.dtype, without=("channels", "kernel_size"))

    def merge(self, ops: Sequence[RelayOp]) -> Merged:
        attrs = attrs_of(ops[0])
        place = axis_of(attrs["kernel_layout"], "O")
        extents = tuple(tensor_info(op.operands[1].type).shape[place] for op in ops)
        weight = r.concatenate(*(op.operands[1] for op in ops), axis=place)
        value = r.nn.conv2d(ops[0].operands[0], weight, **attrs | {"channels": None, "kernel_size": None})
        return Merged(value, axis_of(attrs["out_layout"] or attrs["data_layout"], "C"), extents)


@dataclass(frozen=True)
class CombineParallelConv2D(ModulePass):
    """Convolutions of one value become one with more channels."""

    name = "relay-combine-parallel-conv2d"
    opt_level: ClassVar[int] = 4
    min_num_branches: int = 3
    """The least number of branches, at least 2."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        combine(op, Convolutions(), self.min_num_branches)
