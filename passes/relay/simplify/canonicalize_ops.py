"""relay-canonicalize-ops: writes convenience ops by the general ones.

Before:
    %1 = relay.nn.bias_add %0, %b : (tensor<1x8x6x6xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
After:
    %2 = relay.expand_dims %b {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
    %1 = relay.add %0, %2 : (tensor<1x8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<1x8x6x6xf32>

So a bias is an addition like any other: it gathers with other constants and fuses. relay-fold-constant makes the
expanded bias a constant again. An einsum becomes what its `decompose` facet says: products that have schedules of their
own, on weights that are packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects import relay as r
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.params import store_of
from lamina.dialects.relay.reduce.einsum import EinsumOp
from lamina.dialects.rules.terms import attr, computed, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.decompose import expand
from lamina.passes.rules.rewriting import Rules

x, b = var("x b")
a = attr("a")

canonicalize = Rules("relay-canonicalize-ops")


@computed
def axes_after(axis: int, rank: int) -> int:
    """The number of axes that follow one."""
    return rank - 1 - axis % rank


@computed
def is_last(axis: int, rank: int) -> bool:
    """Whether an axis, maybe counted from the end, is the last one."""
    return axis % rank == rank - 1


@computed
def is_inner(axis: int, rank: int) -> bool:
    """Whether further axes follow an axis, which may be counted from the end."""
    return axis % rank < rank - 1


canonicalize += (r.nn.bias_add(x, b, axis=a) >> r.add(x, b)).when(is_last(a, x.rank))
canonicalize += (
    r.nn.bias_add(x, b, axis=a) >> r.add(x, r.expand_dims(b, axis=1, num_newaxis=axes_after(a, x.rank)))
).when(is_inner(a, x.rank))


@dataclass(frozen=True)
class CanonicalizeOps(ModulePass):
    """Writes convenience ops by the general ones."""

    name = "relay-canonicalize-ops"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        canonicalize.apply(op)
        for each in [o for o in op.walk() if isinstance(o, EinsumOp)]:
            if not has_unknown_extents(each.operand_types):
                expand(each, store_of(ctx))
