// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%X: tensor<65536xf32>) -> tensor<65536xf32> {
  %y = te.compute "y" [65536] (%i) : tensor<65536xf32> {
    %x = te.read %X[%i] : tensor<65536xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<65536xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
  // expected-error @below {{vectorize of 'y.i': 65536 iterations, a vector has at most 4096 lanes; split it first}}
  te.vectorize %i
}
