// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<12xf32>, %W: tensor<3xf32>) -> tensor<10xf32> {
  %c = te.compute "C" [10] sum [3] (%i, %k) : tensor<10xf32> {
    %a = te.read %A[%i + %k] : tensor<12xf32>
    %b = te.read %W[%k] : tensor<3xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<10xf32>
}
te.schedule @f {
  // expected-error@+1 {{it reads A otherwise than by one loop for each dimension}}
  te.pad_einsum "C" [4, 4]
}
