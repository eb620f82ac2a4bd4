"""relay-convert-layout: convolutions, and all between them, in the layouts that are asked for.

Before (desired-layouts = nn.conv2d:NHWC:default):
    %1 = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x64x9x9xf32>, ...) -> tensor<1x64x9x9xf32>
    %2 = relay.nn.relu %1 : tensor<1x64x9x9xf32>
After:
    %0 = relay.layout_transform %x {dst_layout = "NHWC", src_layout = "NCHW"} : ... -> tensor<1x9x9x64xf32>
    %1 = relay.nn.conv2d %0, %v {data_layout = "NHWC", kernel_layout = "HWIO", padding = [1, 1]} : ...
    %2 = relay.nn.relu %1 : tensor<1x9x9x64xf32>
    %3 = relay.layout_transform %2 {dst_layout = "NCHW", src_layout = "NHWC"} : ... -> tensor<1x64x9x9xf32>

`desired-layouts` says for ops by name the layout of the data and that of the kernel, TVM's
`ConvertLayout({"nn.conv2d": ["NHWC", "default"]})`; the default kernel goes with the data. Ops in between follow by
layout inference (`layout_conversion.py`), and those that `skip-layers` counts are asked nothing. Blocks of channels
(`nn.conv2d:NCHW16c`), and those of the target where nothing is asked for, are the matter of relay-alter-op-layout,
with its options `block` and `v`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func

from lamina.dialects import edit
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.layout import block_of, plain
from lamina.dialects.relay.op_index import OPS
from lamina.dialects.relay.params import store_of
from lamina.errors import UsageError, did_you_mean
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_constant import fold_constants
from lamina.passes.relay.layout.alter_op_layout import AlterOpLayout, to_blocks
from lamina.passes.relay.layout.layout_conversion import Desired, LayoutConverter

LAYOUTS = ("NCHW", "NHWC")
"""Layouts that whole models are asked for in."""
CONVOLUTIONS = ("nn.conv2d", "nn.conv2d_transpose", "qnn.conv2d")
"""Operators that these are of; the rest of a graph follows them."""


def images_in(layout: str) -> dict[str, list[str]]:
    """The layouts of all convolutions on images in one of the data, as `desired-layouts` asks for them.

    Raises UsageError for one that is none of `LAYOUTS`.
    """
    if layout not in LAYOUTS:
        raise UsageError(f"no layout {layout!r}", hint=f"there are {', '.join(LAYOUTS)}")
    return {name: [layout, "default"] for name in CONVOLUTIONS}


@dataclass(frozen=True)
class ConvertLayout(ModulePass):
    """Convolutions, and all between them, in the layouts that are asked for."""

    name = "relay-convert-layout"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("CanonicalizeOps",)
    desired_layouts: tuple[str, ...] = ()
    """`op:data` or `op:data:kernel` each, as nn.conv2d:NHWC:default."""
    skip_layers: tuple[int, ...] = ()
    """TVM's LayoutConfig: which of these ops stay, counted from 0 in program order or from -1 at the end."""
    block: int = 0
    v: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.desired_layouts:
            AlterOpLayout(self.block, self.v).apply(ctx, op)
            return
        wanted = dict(map(desired, self.desired_layouts))
        blocks = wanted.get("relay.nn.conv2d")
        if blocks is not None and blocks.data != "default" and plain(blocks.data) != blocks.data:
            del wanted["relay.nn.conv2d"]
            lanes = block_of(blocks.data, "C")
            outputs = block_of(blocks.kernel, "O") if blocks.kernel != "default" else lanes * self.v
            if plain(blocks.data) != "NCHW" or outputs % lanes:
                raise UsageError(f"relay-convert-layout: no convolution works on {blocks.data} and {blocks.kernel}")
            to_blocks(op, lanes, outputs // lanes)
        layers = [o for o in op.walk() if o.name in wanted]
        skipped = {layers[n] for n in self.skip_layers if -len(layers) <= n < len(layers)}
        for function in op.body.block.ops:
            if wanted and isinstance(function, func.FuncOp):
                for block in function.body.blocks:
                    with edit.transaction():
                        LayoutConverter(block, wanted, skipped).run()
        fold_constants(op, store_of(ctx))


def desired(text: str) -> tuple[str, Desired]:
    """The op and the layouts that an option gives. Raises UsageError."""
    name, *layouts = text.split(":")
    name = f"relay.{name.removeprefix('relay.')}"
    if name not in OPS:
        raise UsageError(f"relay-convert-layout: there is no op {name!r}", hint=did_you_mean(name, list(OPS)))
    if not 1 <= len(layouts) <= 2:
        raise UsageError(
            f"relay-convert-layout: {text!r} gives {len(layouts)} layouts", hint="as in nn.conv2d:NHWC:default"
        )
    kernel = layouts[1] if len(layouts) == 2 else "default"
    try:
        for layout in (layouts[0], kernel):
            if layout != "default":
                plain(layout)
    except TypeMismatch as e:
        raise UsageError(f"relay-convert-layout: {e}") from None
    return name, Desired(layouts[0], kernel)
