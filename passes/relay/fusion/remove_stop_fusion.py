"""relay-remove-stop-fusion: takes away what keeps kernels apart.

Before:
    %1 = relay.annotation.stop_fusion %0 : tensor<8xf32>
    %2 = relay.nn.relu %1 : tensor<8xf32>
After:
    %2 = relay.nn.relu %0 : tensor<8xf32>

Other annotations stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects.relay.functional.annotations import StopFusionOp
from lamina.dialects.rules.terms import term, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x = var("x")

remove = Rules("relay-remove-stop-fusion")
remove += term(StopFusionOp)(x) >> x


@dataclass(frozen=True)
class RemoveStopFusion(ModulePass):
    """Takes away what keeps kernels apart."""

    name = "relay-remove-stop-fusion"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove.apply(op)
