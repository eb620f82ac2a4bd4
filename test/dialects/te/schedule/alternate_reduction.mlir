// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] sum [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
te.schedule @f {
  %i, %k = te.loops "y" [2]
  // expected-error@+1 {{alternate of 'y.k': its iterations add into the same element, in their order}}
  te.alternate %k
}
