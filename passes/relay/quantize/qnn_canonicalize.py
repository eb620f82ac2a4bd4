"""relay-qnn-canonicalize: writes quantised ops by plain ones on integers.

Before:
    %1 = relay.qnn.dense %0, %w, %a, %b, %s, %t : (tensor<4x8xui8>, tensor<5x8xi8>, ...) -> tensor<4x5xi32>
After:
    %c = relay.constant dense<[-228, 0, 342, 114, -114]> : tensor<5xi32>
    %2 = relay.nn.dense %0, %w {out_dtype = "int32"} : (tensor<4x8xui8>, tensor<5x8xi8>) -> tensor<4x5xi32>
    %1 = relay.subtract %2, %c : (tensor<4x5xi32>, tensor<5xi32>) -> tensor<4x5xi32>

What an op means is its own `decompose` facet. Scales and zero points that are constants give constants: the fixed-point
multiplier, the sums of weights. They are folded here, so that the result is the same at every level of optimisation.
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.params import store_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.decompose import expand


@dataclass(frozen=True)
class QnnCanonicalize(ModulePass):
    """Writes quantised ops by plain ones on integers."""

    name = "relay-qnn-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        quantised = [o for o in op.walk() if isinstance(o, RelayOp) and o.name.startswith("relay.qnn.")]
        for each in quantised:
            if hasattr(type(each), "decompose"):
                expand(each, store)
