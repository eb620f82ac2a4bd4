// RUN: opt-tool %s --verify-diagnostics

te.func @f(%X: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{shape [5] differs from the result type tensor<4xf32>}}
  %y = te.compute "y" [5] (%i) : tensor<4xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
