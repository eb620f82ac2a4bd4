"""cpu-channels-first: convolutions whose images have the channels last get these first, with all between them.

Before: %1 = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x9x9x8xf32>, ...) -> ...
        %2 = relay.nn.relu %1 : tensor<1x9x9x16xf32>
After:  %0 = relay.layout_transform %x {dst_layout = "NCHW", src_layout = "NHWC"} : ... -> tensor<1x8x9x9xf32>
        %1 = relay.nn.conv2d %0, %v {padding = [0, 0, 0, 0]} : (tensor<1x8x9x9xf32>, ...) -> tensor<1x16x9x9xf32>
        %2 = relay.nn.relu %1 : tensor<1x16x9x9xf32>
        %3 = relay.layout_transform %2 {dst_layout = "NHWC", src_layout = "NCHW"} : ... -> tensor<1x9x9x16xf32>

Layouts with blocks of channels, which the fast kernels have, are made of that order. It is `relay-convert-layout` where
a sum over channels is worth the moves: a graph whose convolutions are all depthwise stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.layout import axis_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.layout.convert_layout import ConvertLayout


@dataclass(frozen=True)
class ChannelsFirst(ModulePass):
    """Convolutions on images with the channels last get these first."""

    name = "cpu-channels-first"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(_sums_channels_last(o) for o in op.walk() if isinstance(o, RelayOp)):
            ConvertLayout(desired_layouts=("nn.conv2d:NCHW:default",)).apply(ctx, op)


def _sums_channels_last(op: RelayOp) -> bool:
    """Whether an op is a convolution over several channels, which are last."""
    if op.name != "relay.nn.conv2d":
        return False
    attrs = attrs_of(op)
    kernel = tensor_info(op.operands[1].type).shape
    return attrs["data_layout"] == "NHWC" and kernel[axis_of(attrs["kernel_layout"], "I")] > 1
