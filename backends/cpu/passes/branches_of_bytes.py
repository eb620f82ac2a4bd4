"""cpu-branches-of-bytes: of two products of bytes that are added, the first leaves bytes to the second's kernel.

Before:
    %0 = relay.qnn.conv2d ...                                         // and its rounding: %a, bytes
    %1 = relay.qnn.conv2d ...                                         // and its rounding: %b, bytes
    %2 = relay.qnn.dequantize %a, %s, %z : (tensor<1x64x7x7xui8>, ...) -> tensor<1x64x7x7xf32>
    %3 = relay.qnn.dequantize %b, %t, %z : (tensor<1x64x7x7xui8>, ...) -> tensor<1x64x7x7xf32>
    %4 = relay.add %2, %3 : tensor<1x64x7x7xf32>
After:
    %p = relay.annotation.stop_fusion %a : tensor<1x64x7x7xui8>
    %2 = relay.qnn.dequantize %p, %s, %z : (tensor<1x64x7x7xui8>, ...) -> tensor<1x64x7x7xf32>
    ...

The sum is part of one product's kernel. What comes from the other one's would be the floats that are added, since
fusion takes all that only one kernel's result goes through: four times the memory that its bytes take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import relay as r
from lamina.dialects.relay.base import OpPattern, RelayOp
from lamina.dialects.relay.functional.annotations import StopFusionOp
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.rules.terms import inserting, term
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.rules.rewriting import Rules

PRODUCTS = ("relay.qnn.conv2d", "relay.qnn.dense")
DEQUANTIZE = "relay.qnn.dequantize"
stop_fusion = term(StopFusionOp)
branches = Rules("cpu-branches-of-bytes")


def _product_of(value: SSAValue) -> Operation | None:
    """The product whose bytes, which nobody else reads, an operand of a sum is dequantized from."""
    op = value.owner
    if not isinstance(op, RelayOp) or op.name != DEQUANTIZE or qs.info_of(op.operands[0]).dtype not in qs.NARROW:
        return None
    while isinstance(op, RelayOp) and op.results[0].has_one_use():
        if op.name in PRODUCTS:
            return op
        if op.FUSION_KIND > OpPattern.BROADCAST:
            return None
        op = op.operands[0].owner
    return None


@branches.lower(r.add)
def part(op: RelayOp) -> bool:
    """Keep the dequantize of the first product's bytes out of the kernel that makes them.

    Before: add(dequantize(%a), dequantize(%b))    After: add(dequantize(stop_fusion(%a)), dequantize(%b))
    """
    products = [_product_of(v) for v in op.operands]
    if products[0] is None or products[1] is None:
        return False
    dequantize: Any = op.operands[0 if products[0].is_before_in_block(products[1]) else 1].owner
    with inserting(Builder(InsertPoint.before(dequantize))):
        parted = stop_fusion(dequantize.operands[0])
    inherit_location(parted.owner, dequantize)
    dequantize.operands[0] = parted
    return True


@dataclass(frozen=True)
class BranchesOfBytes(ModulePass):
    """Of two products of bytes that are added, the first leaves bytes to the second's kernel."""

    name = "cpu-branches-of-bytes"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        branches.apply(op)
