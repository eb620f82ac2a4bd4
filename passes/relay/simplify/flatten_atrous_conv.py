"""relay-flatten-atrous-conv: a convolution between space_to_batch and batch_to_space is a dilated convolution.

Before:
    %1 = relay.nn.space_to_batch_nd %0 {block_shape = [2, 2], paddings = [2, 2, 2, 2]} : ... -> tensor<4x5x5x3xf32>
    %2 = relay.nn.conv2d %1, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (...) -> tensor<4x3x3x8xf32>
    %3 = relay.nn.batch_to_space_nd %2 {block_shape = [2, 2], crops = [0, 0, 0, 0]} : ...
After:
    %3 = relay.nn.conv2d %0, %w {data_layout = "NHWC", dilation = [2, 2], padding = [2, 2, 2, 2], ...} : ...

This is how TensorFlow writes dilation. Of places a block apart each phase is a picture of its own; a window over it
has its taps a block apart in the whole. Padding before the blocks adds, padding of the convolution counts for a block
each, and crops take away: what is left must not be negative. Strides must be 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lamina.dialects import relay as r
from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.rules.terms import attr, computed, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.draws import one_of
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]

x, w = var("x w")
block, pads, crops, inner, spread = attr("block pads crops inner spread")
data, kernel, groups, channels, size, dtype = attr("data kernel groups channels size dtype")

flatten = Rules("relay-flatten-atrous-conv")


def of_image(values: Ints, layout: str, each: int, fill: int) -> list[Ints] | None:
    """The parts for H and for W of a list about axes 1, 2, ...; None when it says something of another axis."""
    parts = {1 + i: values[i * each : (i + 1) * each] for i in range(len(values) // each)}
    found = [parts.pop(axis_of(layout, a), (fill,) * each) for a in "HW"]
    return found if all(set(p) == {fill} for p in parts.values()) else None


def whole_padding(block: Ints, pads: Ints, crops: Ints, inner: Ints, layout: str) -> Ints | None:
    """[top, left, bottom, right] of the dilated convolution."""
    blocks, before, after = (of_image(v, layout, e, f) for v, e, f in ((block, 1, 1), (pads, 2, 0), (crops, 2, 0)))
    if blocks is None or before is None or after is None:
        return None
    own = {1: inner * 4, 2: inner * 2, 4: inner}[len(inner)]
    sides = [(0, 0), (1, 0), (0, 1), (1, 1)]  # (H or W, before or after)
    return tuple(before[a][s] - after[a][s] + blocks[a][0] * own[i] for i, (a, s) in enumerate(sides))


@computed
def flattens(block: Ints, pads: Ints, crops: Ints, inner: Ints, layout: str) -> bool:
    """Whether one dilated convolution does the same: blocks, pads and crops are of H and W alone.

    Where crops take more away than padding adds, the convolution itself refuses the negative padding.
    """
    if len(layout) != 4 or axis_of(layout, "N") != 0:
        return False
    return whole_padding(block, pads, crops, inner, layout) is not None


@computed
def padding(block: Ints, pads: Ints, crops: Ints, inner: Ints, layout: str) -> Ints | None:
    """[top, left, bottom, right] of the dilated convolution; None where blocks or pads are of other axes, too."""
    return whole_padding(block, pads, crops, inner, layout)


@computed
def dilation(block: Ints, spread: Ints, layout: str) -> Ints:
    """The dilation of H and of W: that of the convolution times the block of the axis."""
    blocks = of_image(block, layout, 1, 1) or [(1,), (1,)]
    own = spread * 2 if len(spread) == 1 else spread
    return tuple(b[0] * d for b, d in zip(blocks, own, strict=True))


apart = r.nn.space_to_batch_nd(x, block_shape=block, paddings=pads, pad_value=0.0)
conv = r.nn.conv2d(
    apart, w, strides=(1, 1), padding=inner, dilation=spread, groups=groups, channels=channels, kernel_size=size,
    data_layout=data, kernel_layout=kernel, out_layout="", out_dtype=dtype,
)  # fmt: skip
together = r.nn.batch_to_space_nd(conv, block_shape=block, crops=crops)
whole = r.nn.conv2d(
    x, w, padding=padding(block, pads, crops, inner, data), dilation=dilation(block, spread, data), like=conv
)
rule = (together >> whole).when(flattens(block, pads, crops, inner, data)).finite()


def widths(high: int) -> Any:
    """Draws pairs of small numbers for one to three axes."""

    def choose(rng: Any) -> Ints:
        return tuple(int(i) for i in rng.integers(0, high, 2 * rng.integers(1, 4)))

    return choose


flatten += rule.drawing(
    x=one_of(TensorInfo((1, 6, 4, 3), "float64"), TensorInfo((2, 4, 6, 3), "float64")),
    w=one_of(TensorInfo((2, 1, 3, 3), "float64"), TensorInfo((1, 2, 1, 3), "float64")),
    block=one_of((2, 2), (2, 1), (1, 2), (2,), (2, 2, 1)),
    pads=widths(3),
    crops=widths(2),
    inner=one_of((0, 0), (1,), (1, 0, 0, 1)),
    spread=one_of((1, 1), (2, 1), (1,)),
    data=one_of("NHWC"),
    kernel=one_of("HWIO"),
    groups=one_of(1, 3),
    channels=one_of(None, 3),
    size=one_of(None, (2, 1), (1, 2)),
    dtype=one_of("", "float64"),
)


@dataclass(frozen=True)
class FlattenAtrousConv(ModulePass):
    """A convolution between space_to_batch and batch_to_space is a dilated convolution."""

    name = "relay-flatten-atrous-conv"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        flatten.apply(op)
