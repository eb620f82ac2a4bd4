"""Arithmetic in bf16 as arithmetic in f32, rounded after each op, for machines that have no instruction for either.

LLVM would do the same, but round by a function of the C library, lane by lane. Of the rounding from f32 `tir-to-llvm`
makes integer arithmetic of vectors. Sums and products of bf16 are exact enough in f32 that rounding twice is rounding
once.

Before:
    %s = arith.addf %a, %b : vector<32xbf16>
After:
    %x = arith.extf %a : vector<32xbf16> to vector<32xf32>
    %y = arith.extf %b : vector<32xbf16> to vector<32xf32>
    %z = arith.addf %x, %y : vector<32xf32>
    %s = arith.truncf %z : vector<32xf32> to vector<32xbf16>
"""

from __future__ import annotations

from lamina.dialects.rules.terms import Var, var
from lamina.dialects.scalar.terms import arith, math
from lamina.passes.rules.rewriting import Rules

a, b = var("a b")
in_f32 = Rules("tir-expand-math")


def wide(x: Var) -> object:
    """A variable of bf16 extended to f32, which is exact."""
    return arith.extf(x, to="float32")


for op in (
    arith.addf,
    arith.subf,
    arith.mulf,
    arith.divf,
    arith.maximumf,
    arith.minimumf,
    arith.maxnumf,
    arith.minnumf,
):
    in_f32 += (op(a, b).has_dtype("bfloat16") >> arith.truncf(op(wide(a), wide(b)), to="bfloat16")).tolerance(0)
for op in (math.sqrt, math.floor, math.ceil, math.trunc, math.round, math.roundeven):
    in_f32 += (op(a).has_dtype("bfloat16") >> arith.truncf(op(wide(a)), to="bfloat16")).tolerance(0)
