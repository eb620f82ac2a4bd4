"""cpu-order-weights: weights of direct convolutions lie in the order in which their kernels go through the window.

Before:
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {padding = [1, 1], ...}
        : (tensor<1x32x7x7x16xf32>, tensor<16x32x3x3x16x32xf32>) -> tensor<1x32x7x7x16xf32>
After:
    %v = relay.layout_transform %w {src_layout = "OIHW16i32o", dst_layout = "OHWI16i32o"} : ...
    %y = relay.nn.contrib_conv2d_NCHWc %x, %v {kernel_layout = "OHWI16i32o", padding = [1, 1], ...} : ...

A kernel takes one tap after the other, with all input channels of each (`schedules/borders.py`). Weights that no cache
holds are then one stream from memory, and not a part of a page here and there. relay-fold-constant moves them at
compile time. Winograd's convolutions have weights of their own, and kernels of one tap no order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float
from lamina.dialects.relay.layout import parse_layout, plain
from lamina.dialects.relay.nn.conv_blocked import BY_TAPS
from lamina.dialects.rules.terms import attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

x, w = var("x"), const("w")
k, d, g, n = attr("k d g n")

order_weights = Rules("cpu-order-weights")


@computed
def has_taps(shape: tuple[int, ...], layout: str) -> bool:
    """Whether there are several taps, and several blocks of input channels in front of them."""
    blocks = [a.letter for a in parse_layout(layout)][4:]
    return plain(layout) == "OIHW" and blocks == ["i", "o"] and shape[1] > 1 and shape[2] * shape[3] > 1


@computed
def by_taps(layout: str) -> str:
    """The same blocks, the taps before the input channels."""
    return BY_TAPS + layout[len(BY_TAPS) :]


@computed
def real(dtype: str) -> bool:
    """Whole numbers are multiplied by other kernels."""
    return is_float(dtype)


conv = r.nn.contrib_conv2d_NCHWc(x, w, kernel_layout=k, data_layout=d, groups=g, channels=n)
ordered = r.layout_transform(w, src_layout=k, dst_layout=by_taps(k), channels=0)
moved = r.nn.contrib_conv2d_NCHWc(x, ordered, kernel_layout=by_taps(k), like=conv)
rule = (conv >> moved).when(has_taps(w.shape, k), real(x.dtype))
# Few of the op's samples have both taps and blocks to order.
order_weights += rule.drawing(
    x=tensor(1, 4, 5, 4, 8), w=tensor(2, 2, 3, 2, 8, 16), k=one_of("OIHW8i16o"), d=one_of("NCHW8c"),
    g=one_of(2), n=one_of(32),
)  # fmt: skip


@dataclass(frozen=True)
class CpuOrderWeights(ModulePass):
    """Weights of direct convolutions lie in the order in which their kernels go through the window."""

    name = "cpu-order-weights"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        order_weights.apply(op)
