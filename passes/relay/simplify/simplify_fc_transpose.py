"""relay-simplify-fc-transpose: the transpose of a weight before a dense layer is made once, when the model is compiled.

Before:
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<8x4xf32>
    %t = relay.transpose %w {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %y = relay.nn.dense %x, %t : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
After:
    %t = relay.constant #relay.param<"w/transpose", "fedcba9876543210"> : tensor<4x8xf32>
    %y = relay.nn.dense %x, %t : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>

The part of relay-fold-constant that models from other frameworks need even where nothing else is folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from lamina.dialects.relay.params import store_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_constant import fold_ops


@dataclass(frozen=True)
class SimplifyFCTranspose(ModulePass):
    """The transpose of a weight before a dense layer is made at compile time."""

    name = "relay-simplify-fc-transpose"
    opt_level: ClassVar[int] = 4

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = [o.operands[1].owner for o in op.walk() if o.name == "relay.nn.dense"]
        transposes = [o for o in weights if isinstance(o, Operation) and o.name == "relay.transpose"]
        fold_ops(transposes, store_of(ctx))
