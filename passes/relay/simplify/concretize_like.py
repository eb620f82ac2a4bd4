"""Rules of relay-simplify-expr: what takes a shape or a dtype from another tensor takes it from its type; constants of
one number broadcast.

    %1 = relay.zeros_like %x : tensor<2x3xf32>             ->  %1 = relay.zeros {shape = [2, 3]} : tensor<2x3xf32>
    %2 = relay.reshape_like %y, %x : ... -> tensor<2x3xf32> ->  %2 = relay.reshape %y {newshape = [2, 3]} : ...
    %3 = relay.add %x, %ones : tensor<2x3xf32>             ->  %3 = relay.add %x, dense<1.0> : ...

So nothing is computed for its type alone.
"""

from __future__ import annotations

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import attr, computed, splat, var
from lamina.passes.rules.draws import one_of
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]

x, y, v = var("x y v")
k = attr("k")

concretize = Rules("relay-simplify-expr")


@computed
def has_zero(shape: Ints) -> bool:
    """Whether an extent is 0, which `newshape` needs `allowzero` to say."""
    return 0 in shape


# -- ops that read nothing but the type of an operand ----------------------------------------------

concretize += r.zeros_like(x) >> r.zeros(shape=x.shape, dtype=x.dtype)
concretize += r.ones_like(x) >> r.ones(shape=x.shape, dtype=x.dtype)
concretize += r.full_like(x, v) >> r.full(v, shape=x.shape, dtype=x.dtype)
alike = r.reshape_like(x, y)
concretize += alike >> r.reshape(x, newshape=alike.shape, allowzero=has_zero(alike.shape))
concretize += r.collapse_sum_like(x, y) >> r.collapse_sum_to(x, shape=y.shape)
concretize += r.broadcast_to_like(x, y) >> r.broadcast_to(x, shape=y.shape)
concretize += r.cast_like(x, y) >> r.cast(x, dtype=y.dtype)

# -- a tensor of one number against another of its shape is that number ----------------------------


@computed
def keeps(dtype: str, value: str) -> bool:
    """Whether `full` gives the number as it is."""
    return dtype in ("", value)


for op in (r.add, r.subtract, r.multiply, r.divide, r.maximum, r.minimum, r.power):
    for tensor, number in ((r.ones.pattern(), splat(1)), (r.zeros.pattern(), splat(0)), (r.full(v, dtype=k), v)):
        sides = [(op(x, tensor), op(x, number))]
        if op in (r.subtract, r.divide, r.power):
            sides.append((op(tensor, x), op(number, x)))
        for left, right in sides:
            rule = left >> right
            concretize += rule.when(keeps(k, v.dtype)).drawing(k=one_of("", "float64")) if number is v else rule
