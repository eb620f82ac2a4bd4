// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4x10xf32>, %W: tensor<4xf32>) -> tensor<4xf32> {
  %c = te.compute "C" [4] sum [10] (%i, %k) : tensor<4xf32> {
    %a = te.read %A[%i, %k] : tensor<4x10xf32>
    %b = te.read %W[%i] : tensor<4xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<4xf32>
}
te.schedule @f {
  // expected-error@+1 {{zero would be multiplied by W, which may be infinite or no number}}
  te.pad_einsum "C" [1, 4]
}
