// RUN: opt-tool %s --verify-diagnostics

te.func @f(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{unknown combiner 'mean'; it is one of sum, prod, max, min}}
  %y = te.compute "y" [4] mean [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
