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
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects.relay.base import OpPattern, RelayOp
from lamina.dialects.relay.functional.annotations import StopFusionOp
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.rules.terms import inserting, term
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location

PRODUCTS = ("relay.qnn.conv2d", "relay.qnn.dense")
DEQUANTIZE = "relay.qnn.dequantize"
stop_fusion = term(StopFusionOp)


@dataclass(frozen=True)
class BranchesOfBytes(ModulePass):
    """Of two products of bytes that are added, the first leaves bytes to the second's kernel."""

    name = "cpu-branches-of-bytes"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [o for o in op.walk() if o.name == "relay.add"]:
            products = [_product_of(v) for v in each.operands]
            if len(products) == 2 and products[0] is not None and products[1] is not None:
                first = 0 if products[0].is_before_in_block(products[1]) else 1
                _part(each.operands[first])


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


def _part(value: SSAValue) -> None:
    """Keep a dequantize out of the kernel that makes its bytes."""
    op = value.owner
    assert isinstance(op, RelayOp)
    with edit.transaction(op), inserting(Builder(InsertPoint.before(op))):
        parted = stop_fusion(op.operands[0])
        inherit_location(parted.owner, op)
        op.operands[0] = parted
