// RUN: opt-tool %s -p te-to-tir,tir-lower-blocks,tir-simplify,tir-to-llvm --verify-diagnostics
// A stage that a schedule puts into registers is indexed by loops that the schedule unrolls.

te.func @f(%A: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{register buffer 'B' is indexed by the loop variable of 'B.j'; unroll that loop}}
  %b = te.compute "B" [8, 4] (%i, %j) : tensor<8x4xf32> {
    %a = te.read %A[%i, %j] : tensor<8x4xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 4] (%i, %j) : tensor<8x4xf32> {
    %x = te.read %b[%i, %j] : tensor<8x4xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8x4xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %bi, %bj = te.compute_at "B" at %i [2]
  te.set_scope "B" "register"
  te.unroll %j
}
