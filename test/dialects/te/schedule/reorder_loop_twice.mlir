// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%A: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = te.compute "C" [4, 8] (%i, %j) : tensor<4x8xf32> {
    %a = te.read %A[%i, %j] : tensor<4x8xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<4x8xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  // expected-error@+1 {{reorder names a loop twice}}
  te.reorder %i, %i
}
