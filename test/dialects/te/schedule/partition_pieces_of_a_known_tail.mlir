// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// The tail of a known extent is one piece.

te.func @f(%A: tensor<10xf32>) -> tensor<10xf32> {
  %c = te.compute "C" [10] (%i) : tensor<10xf32> {
    %a = te.read %A[%i] : tensor<10xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<10xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 4]
  // expected-error@+1 {{partition of 'C.i.0': its extent is a number, so its tail needs no pieces}}
  te.partition %io tails [2, 1]
}
