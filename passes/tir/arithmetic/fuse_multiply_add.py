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

from lamina.dialects.rules.terms import var
from lamina.dialects.scalar.terms import arith, math
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

a, b, c = var("a b c")
contract = Rules("tir-fuse-multiply-add")

# Narrower floats are computed in f32, and have no operation of their own.
contract += arith.addf(c, arith.mulf(a, b)).has_dtype("float32", "float64") >> math.fma(a, b, c)


@dataclass(frozen=True)
class FuseMultiplyAddPass(ModulePass):
    name = "tir-fuse-multiply-add"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None or target.multiplies_and_adds():
            contract.apply(op)
