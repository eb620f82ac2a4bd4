// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{there is no team around it}}
  tir.team_barrier
}
