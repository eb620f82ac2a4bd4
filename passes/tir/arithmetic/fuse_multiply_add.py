"""Contract a product that is only added into one fused operation, rounded once.

IEEE 754 calls this contraction; it is the only floating-point liberty taken by default. Nothing is contracted for
an x86-64 target without the feature `fma`.

Before:
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
After:
    %s = math.fma %a, %b, %acc : f32
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp, VectorType

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class FuseMultiplyAddPass(ModulePass):
    name = "tir-fuse-multiply-add"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is not None and not target.multiplies_and_adds():
            return
        for add in [o for o in all_ops(op) if type(o) is arith.AddfOp]:
            _contract(add)


def _contract(add: arith.AddfOp) -> None:
    type_ = add.result.type
    element = type_.element_type if isinstance(type_, VectorType) else type_
    if not isinstance(element, (Float32Type, Float64Type)):
        return
    for product, other in ((add.rhs, add.lhs), (add.lhs, add.rhs)):
        multiply = product.owner
        if type(multiply) is arith.MulfOp and product.has_one_use() and multiply.parent is add.parent:
            fma = math.FmaOp.create(
                operands=[multiply.lhs, multiply.rhs, other],
                result_types=[type_],
                properties={"fastmath": arith.FastMathFlagsAttr("none")},
            )
            inherit_location(fma, add)
            assert add.parent is not None
            add.parent.insert_op_before(fma, add)
            fma.result.name_hint = add.result.name_hint
            add.result.replace_all_uses_with(fma.result)
            add.detach()
            add.erase()
            multiply.detach()
            multiply.erase()
            return
