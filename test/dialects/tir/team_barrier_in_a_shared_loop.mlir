// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{a barrier in a parallel loop: threads run different iterations, and not all come}}
  tir.team {
    tir.for %i = 0 to 4 parallel "y.i" {
      %c = arith.constant 1.000000e+00 : f32
      tir.store %c, %y[%i] : memref<4xf32>
      tir.team_barrier
    }
  }
}
