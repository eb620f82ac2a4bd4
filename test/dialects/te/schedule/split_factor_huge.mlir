// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
  // expected-error @below {{te.split: the factors [-1, 9223372036854775807]; one is at most 1099511627776}}
  %io, %ii = te.split %i [-1, 9223372036854775807]
}
