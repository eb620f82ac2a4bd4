// RUN: opt-tool %s --verify-diagnostics

te.func @f(%X: tensor<8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] (%i) : tensor<4xf32> {
    // expected-error@+1 {{2 indices for rank 1}}
    %x = te.read %X[%i, 0] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
