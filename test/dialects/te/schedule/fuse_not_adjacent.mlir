// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4x16xf32>, %W: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] sum [16] (%i, %j, %k) : tensor<4x8xf32> {
    %a = te.read %A[%i, %k] : tensor<4x16xf32>
    %w = te.read %W[%k, %j] : tensor<16x8xf32>
    %p = arith.mulf %a, %w : f32
    te.yield %p : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  // expected-error@+1 {{fuse: 'C.k' is not all that stands in 'C.i'}}
  %g = te.fuse %i, %k
}
