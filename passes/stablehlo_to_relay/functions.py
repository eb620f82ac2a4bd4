"""Functions that StableHLO has no op for, and Relay has: a softmax of exponentials, their sum and a quotient.

Before: %m = relay.max %x {axis = [1]} ...       reshaped to one column
        %e = relay.exp (%x - %m)
        %s = relay.sum %e {axis = [1]} ...       reshaped to one column
        %y = relay.divide %e, %s
After:  %y = relay.nn.softmax %x {axis = 1}
"""

from __future__ import annotations

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import attr, computed, var
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]
x = var("x")
p, k = attr("p k")

functions = Rules("stablehlo-to-relay")


@computed
def keeps(shape: Ints, axes: Ints, reshaped: Ints) -> bool:
    """Whether a reshape puts the one axis back that a reduction has dropped, as one element."""
    if len(axes) != 1:
        return False
    axis = axes[0] % len(shape)
    return tuple(reshaped) == (*shape[:axis], 1, *shape[axis + 1 :])


@computed
def only(axes: Ints) -> int:
    """The one axis of a list."""
    return axes[0]


largest = r.max(x, axis=p, keepdims=False, exclude=False)
powers = r.exp(r.subtract(x, r.reshape(largest, newshape=k))).shared()
total = r.sum(powers, axis=p, keepdims=False, exclude=False)
functions += (
    (r.divide(powers, r.reshape(total, newshape=k)) >> r.nn.softmax(x, axis=only(p)))
    .when(keeps(x.shape, p, k))
    .drawing(x=tensor(2, 3, 4), p=one_of((1,), (2,)), k=one_of((2, 1, 4), (2, 3, 1)))
    .finite()
)
