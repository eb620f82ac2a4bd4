"""relay-fold-scale-axis: moves factors along channels into the weights of convolutions and dense layers.

Before:
    %1 = relay.nn.conv2d %0, %w : (...) -> tensor<1x8x6x6xf32>
    %2 = relay.multiply %1, %s : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
    %3 = relay.add %2, %t : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
After:
    %v = relay.constant #relay.param<"w/multiply", ...> : tensor<8x3x3x3xf32>
    %1 = relay.nn.conv2d %0, %v : (...) -> tensor<1x8x6x6xf32>
    %3 = relay.add %1, %t : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>

Backward into what comes before, with its bias and activation, then forward into what follows. Weights and factors must
be constants; what becomes of them is folded at once. A factor passes a ReLU, also a leaky one, when it is known to be
positive (small inline constants only: parameters are not computed for it).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import TensorInfo
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.terms import OpPattern, Pattern, attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold_constant import fold_constants
from lamina.passes.rewriting import Rules

Ints = tuple[int, ...]

x = var("x")
w, s, b = const("w s b")
data, kernel, a, alpha = attr("data kernel a alpha")

backward = Rules("relay-fold-scale-axis")
forward = Rules("relay-fold-scale-axis")


@computed
def along_channels(shape: Ints, layout: str) -> bool:
    """Whether a factor of that shape has one number a channel, or one for all, of a tensor in the layout."""
    channel = axis_of(layout, "C") - len(layout) + len(shape)
    return len(shape) <= len(layout) and all(e == 1 or i == channel for i, e in enumerate(shape))


@computed
def on_axis(shape: Ints, layout: str, letter: str) -> Ints:
    """The shape that puts the numbers of a factor on an axis of the kernel."""
    return tuple(prod(shape) if name == letter else 1 for name in layout)


@computed
def along_last(shape: Ints) -> bool:
    return all(e == 1 for e in shape[:-1])


@computed
def column(shape: Ints) -> Ints:
    return (prod(shape), 1)


@computed
def row(shape: Ints) -> Ints:
    return (1, prod(shape))


@computed
def positive(value: Any) -> bool:
    return value is not None and bool(np.all(value > 0))


@computed
def floating(dtype: str) -> bool:
    """A ReLU does not commute with integers that wrap."""
    return is_float(dtype)


def reshaped(value: Pattern, newshape: Any) -> OpPattern:
    return r.reshape(value, newshape=newshape, allowzero=False)


def scaled_kernel(letter: str) -> OpPattern:
    """The weights times the factor on their O or I axis."""
    return r.multiply(w, reshaped(s, on_axis(s.shape, kernel, letter)))


# -- backward: conv(x, w) * s = conv(x, w * s on the output channels) ------------------------------


def some_input(op: Any) -> Any:
    """Draws an input that the convolution's samples have weights for."""
    shapes = [o.operands[0].shape for o in op.op.samples() if o.error is None]

    def choose(rng: Any) -> TensorInfo:
        return TensorInfo(shapes[rng.integers(len(shapes))], "float64")

    return choose


def same(y: Any, bias: Any) -> Any:
    return y


def leaky(y: Any) -> Any:
    return r.nn.leaky_relu(y, alpha=alpha)


def unchanged(y: Any) -> Any:
    return y


BIASES = (same, r.add, r.subtract)
ACTIVATIONS = (unchanged, r.nn.relu, leaky)


def after(y: Pattern, folded: Pattern, fits: Any) -> Rules:
    """The rules for a factor behind y, its bias and its activation; `folded` is y with the factor in its weights.

    (y + b) * s = y * s + b * s,   relu(y) * s = relu(y * s) for s > 0
    """
    found = Rules("relay-fold-scale-axis")
    for bias in BIASES:
        for activation in ACTIVATIONS:
            rule = r.multiply(activation(bias(y, b)), s) >> activation(bias(folded, r.multiply(b, s)))
            guards = () if activation is unchanged else (positive(s.value), floating(s.dtype))
            found += rule.when(fits, *guards).finite()
    return found


@computed
def axes_after(axis: int, rank: int) -> int:
    return rank - 1 - axis % rank


# A bias before a factor is an addition like any other.
for activation in ACTIVATIONS:
    biased = r.multiply(activation(r.nn.bias_add(x, b, axis=a)), s)
    column_of_b = r.expand_dims(b, axis=1, num_newaxis=axes_after(a, x.rank))
    backward += biased >> r.multiply(activation(r.add(x, column_of_b)), s)

for op in (r.nn.conv1d, r.nn.conv2d, r.nn.conv3d):
    conv = op(x, w, data_layout=data, kernel_layout=kernel, out_layout="", out_dtype="")
    fits = along_channels(s.shape, data)
    backward += after(conv, op(x, scaled_kernel("O"), like=conv), fits)
    # forward: conv(x * s, w) = conv(x, w * s on the input channels)
    for activation in ACTIVATIONS:
        given = {"groups": 1, "data_layout": data, "kernel_layout": kernel, "out_layout": "", "out_dtype": ""}
        conv = op(activation(r.multiply(x, s)), w, **given)
        rule = (conv >> op(activation(x), scaled_kernel("I"), like=conv)).when(fits).finite().drawing(x=some_input(op))
        forward += rule if activation is unchanged else rule.when(positive(s.value), floating(s.dtype))

# The kernel of a group of a transposed convolution holds the output channels of that group only.
conv = r.nn.conv2d_transpose(x, w, groups=1, data_layout=data, kernel_layout=kernel, out_layout="", out_dtype="")
backward += after(conv, r.nn.conv2d_transpose(x, scaled_kernel("O"), like=conv), along_channels(s.shape, data))

dense = r.nn.dense(x, w, out_dtype="")
dense_folded = r.nn.dense(x, r.multiply(w, reshaped(s, column(s.shape))), like=dense)
backward += after(dense, dense_folded, along_last(s.shape))
for activation in ACTIVATIONS:
    scaled_dense = r.nn.dense(activation(r.multiply(x, s)), w, out_dtype="")
    rule = scaled_dense >> r.nn.dense(activation(x), r.multiply(w, reshaped(s, row(s.shape))), like=scaled_dense)
    rule = rule.when(along_last(s.shape)).finite()
    forward += rule if activation is unchanged else rule.when(positive(s.value), floating(s.dtype))


@dataclass(frozen=True)
class FoldScaleAxis(ModulePass):
    """Moves factors along channels into weights."""

    name = "relay-fold-scale-axis"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_scales(op, store_of(ctx), backward, forward)


def fold_scales(module: ModuleOp, store: ParamStore, *directions: Rules) -> None:
    """Move factors until none moves any more."""
    # A folded factor makes the weights no constant until they are folded: then the next factor may follow.
    fired = True
    while fired:
        fold_constants(module, store)
        fired = sum(rules.apply(module) for rules in directions) > 0
