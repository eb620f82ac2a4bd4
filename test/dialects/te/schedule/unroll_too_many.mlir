// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%X: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %y = te.compute "y" [1048576] (%i) : tensor<1048576xf32> {
    %x = te.read %X[%i] : tensor<1048576xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<1048576xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
  // expected-error @below {{unroll of 'y.i': 1048576 iterations, at most 65536 are written out; split it first}}
  te.unroll %i
}
