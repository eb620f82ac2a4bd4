"""relay-div-to-mul: a division by a constant number is a multiplication by its reciprocal.

Before:
    %c = relay.constant dense<4.0> : tensor<f32>
    %1 = relay.divide %0, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
After:
    %c = relay.constant dense<0.25> : tensor<f32>
    %1 = relay.multiply %0, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

For floats, and for inline constants all of whose elements are one finite number other than zero. The last bit may
differ where the reciprocal is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float
from lamina.dialects.lazy import np
from lamina.dialects.rules.terms import computed, const, splat, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x = var("x")
c = const("c")

div_to_mul = Rules("relay-div-to-mul")


@computed
def one_number(value: Any, dtype: str) -> bool:
    """Whether all elements are one number that has a finite reciprocal."""
    if value is None or not is_float(dtype) or not value.size:
        return False
    first = value.reshape(-1)[0].astype(np.float64)
    if not np.isfinite(first) or first == 0 or not bool(np.all(value == value.reshape(-1)[0])):
        return False
    return bool(np.isfinite(np.asarray(1 / first).astype(value.dtype)))


@computed
def reciprocal(value: Any) -> float:
    """1 / c in double precision, for the one number c that a constant holds."""
    return 1 / float(value.reshape(-1)[0])


div_to_mul += (r.divide(x, c) >> r.multiply(x, splat(reciprocal(c.value)))).when(one_number(c.value, c.dtype)).finite()


@dataclass(frozen=True)
class DivToMul(ModulePass):
    """A division by a constant number is a multiplication by its reciprocal."""

    name = "relay-div-to-mul"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        div_to_mul.apply(op)
