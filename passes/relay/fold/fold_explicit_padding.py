"""relay-fold-explicit-padding: pads add up, and convolutions and pools pad by themselves.

Before:
    %1 = relay.nn.pad %0 {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x6x6xf32>) -> tensor<1x3x8x8xf32>
    %2 = relay.nn.conv2d %1, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
After:
    %2 = relay.nn.conv2d %0, %w {padding = [1, 1, 1, 1]} : (tensor<1x3x6x6xf32>, ...) -> tensor<1x8x6x6xf32>

The pad must be of the image axes with what the op itself pads: zeros, for max pools the lowest value. Its rules are
part of relay-simplify-expr.
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
p, q, k = attr("p q k")

fold_padding = Rules("relay-fold-explicit-padding")


@computed
def only_grows(a: Ints, b: Ints = ()) -> bool:
    """Whether no width is negative, which would crop."""
    return min((*a, *b), default=0) >= 0


@computed
def total(a: Ints, b: Ints) -> Ints:
    """The sums of two lists, element by element."""
    return tuple(i + j for i, j in zip(a, b, strict=True))


def image_pads(pad_width: Ints, layout: str) -> Ints | None:
    """[top, left, bottom, right] of a pad of the image axes, None when it pads others or crops."""
    if len(pad_width) != 8 or min(pad_width) < 0 or len(layout) != 4:
        return None
    h, v = axis_of(layout, "H"), axis_of(layout, "W")
    if any(pad_width[2 * a] or pad_width[2 * a + 1] for a in range(4) if a not in (h, v)):
        return None
    return pad_width[2 * h], pad_width[2 * v], pad_width[2 * h + 1], pad_width[2 * v + 1]


@computed
def pads_image(pad_width: Ints, layout: str) -> bool:
    """Whether a pad is of the image axes alone and crops nothing."""
    return image_pads(pad_width, layout) is not None


@computed
def with_image_pads(padding: Ints, pad_width: Ints, layout: str) -> Ints:
    """An op's own padding and that of a pad before it."""
    own = {1: padding * 4, 2: padding * 2, 4: padding}[len(padding)]
    return tuple(i + j for i, j in zip(own, image_pads(pad_width, layout) or (), strict=True))


fold_padding += (r.nn.pad(x, pad_width=p, pad_mode="constant") >> x).when(only_grows(p))
first = r.nn.pad(x, pad_width=p, pad_value=k, pad_mode="constant")
second = r.nn.pad(first, pad_width=q, pad_value=k, pad_mode="constant")
fold_padding += (second >> r.nn.pad(x, pad_width=total(p, q), like=second)).when(only_grows(p, q))


# The samples of convolutions and pools have weights for these.
some_image = one_of(*(TensorInfo(s, "float64") for s in ((1, 3, 7, 6), (1, 5, 6, 3), (2, 4, 5, 5), (1, 6, 8, 8))))


def some_pads(rng: Any) -> Ints:
    """Pads of the image axes of NCHW or NHWC."""
    a, b, c, d = (int(i) for i in rng.integers(0, 3, 4))
    return (0, 0, 0, 0, a, b, c, d) if rng.random() < 0.7 else (0, 0, a, b, c, d, 0, 0)


zeros = r.nn.pad(x, pad_width=p, pad_value=0.0, pad_mode="constant")
lowest = r.nn.pad(x, pad_width=p, pad_value=float("-inf"), pad_mode="constant")
conv = r.nn.conv2d(zeros, w, padding=q, data_layout=k)
pool = r.nn.max_pool2d(lowest, padding=q, layout=k, ceil_mode=False)
mean = r.nn.avg_pool2d(zeros, padding=q, layout=k, ceil_mode=False, count_include_pad=True)
for padded, direct in (
    (conv, r.nn.conv2d(x, w, padding=with_image_pads(q, p, k), like=conv)),
    (pool, r.nn.max_pool2d(x, padding=with_image_pads(q, p, k), like=pool)),
    (mean, r.nn.avg_pool2d(x, padding=with_image_pads(q, p, k), like=mean)),
):
    rule = (padded >> direct).when(pads_image(p, k))
    fold_padding += rule.drawing(x=some_image, p=some_pads)


@dataclass(frozen=True)
class FoldExplicitPadding(ModulePass):
    """Pads add up, and convolutions and pools pad by themselves."""

    name = "relay-fold-explicit-padding"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_padding.apply(op)
