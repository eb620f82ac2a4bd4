// RUN: opt-tool %s -p tir-vectorize-loop --verify-diagnostics

tir.func @f(%A: memref<16x4xf32>, %y: memref<16x4xf32>) attributes {outputs = 1 : i64} {
  // expected-error@+1 {{'y.i' contains tir.for; reorder it to be innermost}}
  tir.for %i = 0 to 16 vectorized "y.i" {
    tir.for %j = 0 to 4 "y.j" {
      %a = tir.load %A[%i, %j] : memref<16x4xf32>
      tir.store %a, %y[%i, %j] : memref<16x4xf32>
    }
  }
}
