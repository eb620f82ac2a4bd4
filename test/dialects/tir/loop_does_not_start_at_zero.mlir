// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) {
  // expected-error@+1 {{a loop starts at 0; offsets belong into the accesses}}
  tir.for %i = 1 to 4 "i" {
  }
}
