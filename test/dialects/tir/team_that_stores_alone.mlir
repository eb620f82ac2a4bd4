// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{tir.store would be done by every thread; it belongs into a parallel loop}}
  tir.team {
    tir.for %i = 0 to 4 "y.i" {
      %c = arith.constant 1.000000e+00 : f32
      tir.store %c, %y[%i] : memref<4xf32>
    }
  }
}
