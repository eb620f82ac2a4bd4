// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) {
  // expected-error@+1 {{min has no bounds}}
  tir.for %i = 0 to min [] "y.i" {
  }
}
