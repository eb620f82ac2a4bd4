// RUN: opt-tool %s -p te-to-tir --trace-rules -o %t 2>&1 | filecheck %s --check-prefix=TE
// RUN: opt-tool %s -p te-to-tir -o %t && opt-tool %t -p tir-lower-blocks,tir-to-llvm --debug-only=tir-to-llvm -o %t.llvm 2>&1 | filecheck %s --check-prefix=LLVM
// The trace has a line for each op that a rule of a stair lowers. A stair is one edit, its parts are indented; a
// primitive is an edit of its own.

// TE:      te_to_tir.py:{{[0-9]+}}  builtin.module rewritten
// TE-NEXT:   te_to_tir.py:{{[0-9]+}}  te.func @f lowered
// TE-NEXT:   computes.py:{{[0-9]+}}  te.compute %y, "y" lowered
// TE-NEXT:   elements.py:{{[0-9]+}}  te.read %x lowered
// TE-NEXT:   rules.py:{{[0-9]+}}  math.exp %e lowered
// TE-NEXT:   elements.py:{{[0-9]+}}  te.yield lowered
// TE-NEXT:   te_to_tir.py:{{[0-9]+}}  te.return lowered
// TE-NEXT:   te_to_tir.py:{{[0-9]+}}  te.schedule lowered
// TE-NEXT: loops.py:{{[0-9]+}}  te.loops %i, "y" applied
// TE-NEXT: unroll.py:{{[0-9]+}}  te.unroll applied

// LLVM:      tir_to_llvm.py:{{[0-9]+}}  builtin.module rewritten
// LLVM-NEXT:   tir_to_llvm.py:{{[0-9]+}}  tir.func @f lowered
// LLVM-NEXT:   loop_kinds.py:{{[0-9]+}}  tir.for "y.i" lowered
// LLVM-NEXT:   loads_and_stores.py:{{[0-9]+}}  tir.load %x lowered
// LLVM-NEXT:   arithmetic.py:{{[0-9]+}}  math.exp %e lowered
// LLVM-NEXT:   loads_and_stores.py:{{[0-9]+}}  tir.store lowered
te.func @f(%X: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] (%i) : tensor<4xf32> {
    %x = te.read %X[%i] : tensor<4xf32>
    %e = math.exp %x : f32
    te.yield %e : f32
  }
  te.return %y : tensor<4xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
  te.unroll %i
}
