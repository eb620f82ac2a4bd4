// RUN: opt-tool %s -p tir-vectorize-loop --verify-diagnostics

tir.func @f(%A: memref<16xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 16 vectorized "y.i" {
    %a = tir.load %A[%i] : memref<16xf32>
    // expected-error@+1 {{the lanes of 'y.i' all store to the same element}}
    tir.store %a, %y[0] : memref<1xf32>
  }
}
