"""relay-simplify-expr-post-alter-op: algebra once more, on what changed layouts have left behind.

Before:
    %0 = relay.layout_transform %x {dst_layout = "NCHW", src_layout = "NCHW16c"} : ...
    %1 = relay.layout_transform %0 {dst_layout = "NCHW16c", src_layout = "NCHW"} : ...
    %2 = relay.cast %1 {dtype = "float32"} : tensor<1x4x9x9x16xf32>
    %3 = relay.nn.relu %2 : tensor<1x4x9x9x16xf32>
After:
    %3 = relay.nn.relu %x : tensor<1x4x9x9x16xf32>

Transposes, reshapes, layouts, copies, casts and clips: the rules of relay-simplify-expr that move or round elements.
Those that make other ops of products and sums have had their turn, and layouts were chosen by what they left.
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.simplify_expr import after_layouts


@dataclass(frozen=True)
class SimplifyExprPostAlterOp(ModulePass):
    """Algebra once more, on what changed layouts have left behind."""

    name = "relay-simplify-expr-post-alter-op"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        after_layouts.apply(op)
