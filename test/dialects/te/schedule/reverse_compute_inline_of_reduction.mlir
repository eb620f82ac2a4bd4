// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4x10xf32>) -> tensor<4xf32> {
  %b = te.compute "B" [4] sum [10] (%i, %k) : tensor<4xf32> {
    %a = te.read %A[%i, %k] : tensor<4x10xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [4] (%i) : tensor<4xf32> {
    %x = te.read %b[%i] : tensor<4xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %c : tensor<4xf32>
}
te.schedule @f {
  // expected-error@+1 {{a reduction reads its producer many times for one element}}
  te.reverse_compute_inline "B"
}
