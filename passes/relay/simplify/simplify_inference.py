"""relay-simplify-inference: writes training-time ops as the arithmetic that inference needs.

Before:
    %1 = relay.nn.batch_norm %0, %gamma, %beta, %mean, %var : (...) -> tensor<1x8x6x6xf32>
    %2 = relay.nn.dropout %1 : tensor<1x8x6x6xf32>
After:
    %s = relay.divide %gamma, sqrt(%var + epsilon)        %t = relay.subtract %beta, %mean * %s
    %1 = relay.multiply %0, %s[:, None, None] : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>
    %2 = relay.add %1, %t[:, None, None] : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>

Scale and shift depend on constants alone, so relay-fold-constant makes them constants, and relay-fold-scale-axis
moves the scale into the convolution before. The other normalisations have equations of their own and stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import Pattern, attr, computed, splat, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x, gamma, beta, mean, variance = var("x gamma beta mean variance")
a, e = attr("axis epsilon")

simplify = Rules("relay-simplify-inference")


@computed
def axes_after(axis: int, rank: int) -> int:
    """The number of axes that follow one."""
    return rank - 1 - axis % rank


def along(vector: Pattern) -> Any:
    """A vector along axis `a`, ready to broadcast against x."""
    return r.expand_dims(vector, axis=1, num_newaxis=axes_after(a, x.rank))


def norm(scale: bool, center: bool) -> Any:
    """The pattern of a batch normalisation that multiplies by gamma or not and adds beta or not."""
    return r.nn.batch_norm(x, gamma, beta, mean, variance, axis=a, epsilon=e, scale=scale, center=center)


# (x - mean) / d * gamma + beta  =  x * (gamma / d) + (beta - mean * (gamma / d)),  d = sqrt(variance + epsilon)
deviation = r.sqrt(r.add(variance, splat(e)))
factor = r.divide(gamma, deviation)
inverse = r.divide(splat(1), deviation)


def scaled(factor: Pattern) -> Any:
    """x times a vector along the axis of channels."""
    return r.multiply(x, along(factor))


def times_mean(factor: Pattern) -> Any:
    """The mean times a vector: the part of the result that does not depend on x."""
    return r.multiply(mean, factor)


simplify += (norm(True, True) >> r.add(scaled(factor), along(r.subtract(beta, times_mean(factor))))).finite()
simplify += (norm(True, False) >> r.subtract(scaled(factor), along(times_mean(factor)))).finite()
simplify += (norm(False, True) >> r.add(scaled(inverse), along(r.subtract(beta, times_mean(inverse))))).finite()
simplify += (norm(False, False) >> r.subtract(scaled(inverse), along(times_mean(inverse)))).finite()

# Dropout is the identity when nothing is trained.
simplify += r.nn.dropout(x) >> x


@dataclass(frozen=True)
class SimplifyInference(ModulePass):
    """Writes training-time ops as the arithmetic that inference needs."""

    name = "relay-simplify-inference"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify.apply(op)
