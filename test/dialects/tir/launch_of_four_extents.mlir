// RUN: opt-tool %s --verify-diagnostics

tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{a grid and a block have one to three extents}}
  tir.launch @k grid [1, 1, 1, 1] block [4] (%y) : memref<4xf32>
}
