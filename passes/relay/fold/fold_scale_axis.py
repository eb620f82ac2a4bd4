"""relay-fold-scale-axis: moves factors along channels into the weights of convolutions and dense layers.

Before:
    %1 = relay.nn.conv2d %0, %w : (...) -> tensor<1x8x6x6xf32>
    %2 = relay.multiply %1, %s : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
    %3 = relay.add %2, %t : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
After:
    %v = relay.constant #relay.param<"w/multiply", ...> : tensor<8x3x3x3xf32>
    %1 = relay.nn.conv2d %0, %v : (...) -> tensor<1x8x6x6xf32>
    %3 = relay.add %1, %t : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>

Backward into what comes before, through biases and activations, then forward into what follows (`scale_paths.py` says
which way). A bias is multiplied, or divided, with it. Constants are folded at once. A factor passes a ReLU, also a
leaky one, when it is known to be positive, and goes ahead of a bias when it is known not to be zero (small inline
constants only: parameters are not computed for it). Weights and factors must be constants, unless `everything` is set,
as in TVM: then they are multiplied in each run, and weights that were constants can no longer be packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from lamina.dialects import relay as r
from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.rules.terms import OpPattern, Pattern, attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_constant import fold_constants
from lamina.passes.relay.fold.scale_paths import (
    absorbed_above,
    absorbed_below,
    along_channels,
    along_last,
    beside,
    depthwise,
    fills,
    floating,
    nonzero,
    on_axis,
    on_bias,
    positive,
)
from lamina.passes.rules.draws import one_of
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]

NAME = "relay-fold-scale-axis"
CONVOLUTIONS = (r.nn.conv1d, r.nn.conv2d, r.nn.conv3d)

x, y, b = var("x y b")
c, known = const("c w")
v, unknown = var("v w")
data, out, kernel, a, g, alpha = attr("data out kernel a g alpha")


@computed
def column(shape: Ints) -> Ints:
    """The shape [n, 1] for the n numbers of a factor."""
    return (prod(shape), 1)


@computed
def row(shape: Ints) -> Ints:
    """The shape [1, n] for the n numbers of a factor."""
    return (1, prod(shape))


@computed
def line(shape: Ints) -> Ints:
    """The shape [n] for the n numbers of a factor."""
    return (prod(shape),)


def reshaped(value: Pattern, newshape: Any) -> OpPattern:
    """The pattern of a value in another shape, in which 0 copies the extent and -1 takes the rest."""
    return r.reshape(value, newshape=newshape, allowzero=False)


def scaled(weight: Pattern, factor: Pattern, letter: str) -> OpPattern:
    """The weights times the factor on their O or I axis."""
    return r.multiply(weight, reshaped(factor, on_axis(factor.shape, kernel, letter)))


def plain(value: Any) -> Any:
    """A relu, past which a positive factor moves."""
    return r.nn.relu(value)


def leaky(value: Any) -> Any:
    """A leaky relu of any slope, past which a positive factor moves."""
    return r.nn.leaky_relu(value, alpha=alpha)


def some_input(op: Any) -> Any:
    """Draws an input that the convolution's samples have weights for."""
    return one_of(*(TensorInfo(o.operands[0].shape, "float64") for o in op.op.samples() if o.error is None))


def a_factor(rng: Any) -> TensorInfo:
    """Draws one number, or one for each channel in blocks of 16."""
    blocks = int(rng.integers(4))
    return TensorInfo((1, blocks, 1, 1, 16) if blocks else (), "float64")


# -- backward: conv(x, w) * s = conv(x, w * s on the output channels) ------------------------------


def behind(w: Pattern, s: Any, is_positive: Any, everything: bool) -> Rules:
    """The rules for a factor behind what it is multiplied with.

    (y + b) * s = y * s + b * s,   relu(y) * s = relu(y * s) for s > 0
    """
    found = Rules(NAME)
    taken = absorbed_above(y.ssa, s.shape, is_positive, everything)
    for bias in (r.add, r.subtract):
        for left, right in ((y, b), (b, y)) if bias is r.subtract else ((y, b),):
            rule = r.multiply(bias(left, right), s) >> bias(r.multiply(left, s), r.multiply(right, s))
            found += rule.when(taken, beside(b.ssa, s.shape, is_positive, everything)).finite()
    rule = r.multiply(r.nn.bias_add(y, b, axis=a), s)
    moved = r.nn.bias_add(r.multiply(y, s), r.multiply(b, reshaped(s, line(s.shape))), axis=a)
    found += (rule >> moved).when(taken, on_bias(s.shape, y.rank, a)).finite()
    if is_positive is not False:
        for activation in (plain, leaky):
            rule = r.multiply(activation(y), s) >> activation(r.multiply(y, s))
            found += rule.when(is_positive, floating(s.dtype), taken).finite()

    for op in CONVOLUTIONS:
        conv = op(x, w, data_layout=data, kernel_layout=kernel, out_layout="", out_dtype="")
        rule = r.multiply(conv, s) >> op(x, scaled(w, s, "O"), like=conv)
        found += rule.when(along_channels(s.shape, data, conv.shape)).finite()
    # The kernel of a group of a transposed convolution holds the output channels of that group only.
    op = r.nn.conv2d_transpose
    conv = op(x, w, groups=1, data_layout=data, kernel_layout=kernel, out_layout="", out_dtype="")
    rule = r.multiply(conv, s) >> op(x, scaled(w, s, "O"), like=conv)
    found += rule.when(along_channels(s.shape, data, conv.shape)).finite()
    op = r.nn.contrib_conv2d_NCHWc
    conv = op(x, w, kernel_layout=kernel, out_layout=out, out_dtype="")
    rule = (r.multiply(conv, s) >> op(x, scaled(w, s, "O"), like=conv)).drawing(**{s.name: a_factor})
    found += rule.when(along_channels(s.shape, out, conv.shape), fills(s.shape, w.shape, kernel, "O")).finite()

    dense = r.nn.dense(x, w, out_dtype="")
    folded = r.nn.dense(x, r.multiply(w, reshaped(s, column(s.shape))), like=dense)
    found += (r.multiply(dense, s) >> folded).when(along_last(s.shape)).finite()
    return found


# -- forward: conv(x * s, w) = conv(x, w * s on the input channels) --------------------------------


def before(w: Pattern, s: Any, is_positive: Any, has_quotients: Any, everything: bool) -> Rules:
    """The rules for a factor before what reads the product.

    x * s + b = (x + b / s) * s,   relu(x * s) = relu(x) * s for s > 0
    """
    found = Rules(NAME)
    product = r.multiply(x, s).shared()
    taken = absorbed_below(product.ssa, s.shape, is_positive, has_quotients, everything)
    if is_positive is not False:
        for bias in (r.add, r.subtract):
            rule = bias(product, b) >> r.multiply(bias(x, r.divide(b, s)), s)
            found += rule.when(has_quotients, floating(s.dtype), taken).finite()
        for activation in (plain, leaky):
            rule = activation(product) >> r.multiply(activation(x), s)
            found += rule.when(is_positive, floating(s.dtype), taken).finite()

    for op in CONVOLUTIONS:
        given = {"data_layout": data, "kernel_layout": kernel, "out_layout": "", "out_dtype": ""}
        fits = along_channels(s.shape, data, x.shape)
        conv = op(product, w, groups=1, **given)
        rule = conv >> op(x, scaled(w, s, "I"), like=conv)
        found += rule.when(fits, taken).finite().drawing(x=some_input(op))
        # Each channel has a kernel of its own.
        conv = op(product, w, groups=g, **given)
        rule = conv >> op(x, scaled(w, s, "O"), like=conv)
        found += rule.when(depthwise(w.shape, kernel, g), fits, taken).finite().drawing(x=some_input(op))
    op = r.nn.contrib_conv2d_NCHWc
    conv = op(product, w, groups=1, data_layout=data, kernel_layout=kernel, out_dtype="")
    rule = (conv >> op(x, scaled(w, s, "I"), like=conv)).drawing(x=some_input(op), **{s.name: a_factor})
    found += rule.when(along_channels(s.shape, data, x.shape), fills(s.shape, w.shape, kernel, "I"), taken).finite()

    dense = r.nn.dense(product, w, out_dtype="")
    folded = r.nn.dense(x, r.multiply(w, reshaped(s, row(s.shape))), like=dense)
    found += (dense >> folded).when(along_last(s.shape), taken).finite()
    return found


backward = behind(known, c, positive(c.value), False)
forward = before(known, c, positive(c.value), nonzero(c.value), False)

backward_of_everything = behind(unknown, c, positive(c.value), True)
backward_of_everything += behind(unknown, v, False, True)
forward_of_everything = before(unknown, c, positive(c.value), nonzero(c.value), True)
forward_of_everything += before(unknown, v, False, False, True)


@dataclass(frozen=True)
class FoldScaleAxis(ModulePass):
    """Moves factors along channels into weights."""

    name = "relay-fold-scale-axis"
    opt_level: ClassVar[int] = 3
    numerics: ClassVar[str] = "fast"
    everything: bool = False
    """Weights and factors move also where they are no constants."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        both = (backward_of_everything, forward_of_everything) if self.everything else (backward, forward)
        fold_scales(op, store_of(ctx), *both)


def fold_scales(module: ModuleOp, store: ParamStore, *directions: Rules) -> None:
    """Move factors until none moves any more."""
    # A folded factor makes the weights no constant until they are folded: then the next factor may follow.
    fired = True
    while fired:
        fold_constants(module, store)
        fired = sum(rules.apply(module) for rules in directions) > 0
