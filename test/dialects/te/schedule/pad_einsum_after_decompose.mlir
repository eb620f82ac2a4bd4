// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<3x10xf32>, %B: tensor<10x4xf32>) -> tensor<3x4xf32> {
  %c = te.compute "C" [3, 4] sum [10] (%i, %j, %k) : tensor<3x4xf32> {
    %a = te.read %A[%i, %k] : tensor<3x10xf32>
    %b = te.read %B[%k, %j] : tensor<10x4xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<3x4xf32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  te.decompose_reduction "C" at %k
  // expected-error@+1 {{pad_einsum of 'C': a part of it is computed elsewhere}}
  te.pad_einsum "C" [4, 4, 4]
}
