"""relay-lazy-gradient-init: gradients start from no zeros and ones that are made only to be added or multiplied.

Before:
    %0 = relay.zeros_like %x : tensor<8xf32>
    %1 = relay.add %0, %g : tensor<8xf32>
    %2 = relay.ones_like %y : tensor<8xf32>
    %3 = relay.multiply %2, %1 : tensor<8xf32>
    return %3 : tensor<8xf32>
After:
    return %g : tensor<8xf32>

Zeros that are multiplied stay zeros: as TVM's, this gives up that 0 * infinity is NaN. What is returned, or goes into
another op, is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import attr, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x, y = var("x y")
shape, dtype = attr("shape dtype")

lazy = Rules("relay-lazy-gradient-init")

# 0 + x = x,  x - 0 = x,  0 * x = 0
for nothing in (r.zeros_like(y).shared(), r.zeros(shape=shape, dtype=dtype).shared()):
    lazy += r.add(nothing, x) >> x
    lazy += r.subtract(x, nothing) >> x
    lazy += (r.multiply(nothing, x) >> nothing).finite()

# 1 * x = x,  x / 1 = x
for one in (r.ones_like(y).shared(), r.ones(shape=shape, dtype=dtype).shared()):
    lazy += r.multiply(one, x) >> x
    lazy += r.divide(x, one) >> x


@dataclass(frozen=True)
class LazyGradientInit(ModulePass):
    """Gradients start from no zeros and ones that are only added or multiplied."""

    name = "relay-lazy-gradient-init"
    opt_level: ClassVar[int] = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lazy.apply(op)
