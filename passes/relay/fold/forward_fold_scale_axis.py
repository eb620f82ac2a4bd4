"""relay-forward-fold-scale-axis: moves factors before convolutions and dense layers into their weights.

Before:
    %1 = relay.multiply %0, %s : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    %2 = relay.nn.dense %1, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
After:
    %v = relay.constant #relay.param<"w/multiply", ...> : tensor<4x8xf32>
    %2 = relay.nn.dense %0, %v : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>

One half of relay-fold-scale-axis, which does both; the rules are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects.relay.params import store_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_scale_axis import fold_scales, forward, forward_of_everything


@dataclass(frozen=True)
class ForwardFoldScaleAxis(ModulePass):
    """Moves factors before convolutions and dense layers into their weights."""

    name = "relay-forward-fold-scale-axis"
    opt_level: ClassVar[int] = 3
    everything: bool = False
    """Weights and factors move also where they are no constants."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_scales(op, store_of(ctx), forward_of_everything if self.everything else forward)
