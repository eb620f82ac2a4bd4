// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// What is computed and in which order stand apart; primitives are applied from the top.

te.func @f(%X: tensor<64xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [64] (%i) : tensor<64xf32> {
    %x = te.read %X[%i] : tensor<64xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %y : tensor<64xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
  %io, %ii = te.split %i [-1, 16]
  te.parallel %io
  te.vectorize %ii
}

// CHECK: te.schedule @f
// AFTER: tir.for %io = 0 to 4 parallel "y.i.0"
// AFTER: tir.for %ii = 0 to 16 vectorized "y.i.1"
