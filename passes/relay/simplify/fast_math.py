"""relay-fast-math: exp, tanh, erf and softmax by polynomials of a stated accuracy.

Before:
    %1 = relay.exp %0 : tensor<8xf32>
    %2 = relay.nn.softmax %1 : tensor<8xf32>
After:
    %1 = relay.fast_exp %0 : tensor<8xf32>
    %2 = relay.nn.fast_softmax %1 : tensor<8xf32>

The errors are those that the fast ops state (`dialects/relay/elementwise/fast_math.py`), some units in the last place
of f32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x = var("x")

fast_math = Rules("relay-fast-math")

fast_math += r.exp(x) >> r.fast_exp(x)
fast_math += r.tanh(x) >> r.fast_tanh(x)
fast_math += r.erf(x) >> r.fast_erf(x)
softmax = r.nn.softmax(x)
fast_math += softmax >> r.nn.fast_softmax(x, like=softmax)


@dataclass(frozen=True)
class FastMath(ModulePass):
    """exp, tanh, erf and softmax by polynomials."""

    name = "relay-fast-math"
    opt_level: ClassVar[int] = 4
    numerics: ClassVar[str] = "fast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fast_math.apply(op)
