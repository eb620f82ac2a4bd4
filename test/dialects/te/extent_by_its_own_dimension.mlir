// RUN: opt-tool %s --verify-diagnostics

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{te.compute: operand #0 is used before its definition}}
  %y = te.compute "y" [%i] (%i) : tensor<?xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?xf32>
}
